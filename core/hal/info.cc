// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/hal/error.h"
#include "stria/hal/sized.h"

namespace stria::hal {
namespace {
constexpr stria_string kNone = {nullptr, 0};
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
}  // namespace

std::string_view view_of(stria_string text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

std::string one_line(std::string_view text) {
  for (const std::string& line : split(text, '\n')) {
    std::string out(trim(line));
    for (char& c : out)
      if (is_control(c)) c = ' ';
    if (!trim(out).empty()) return out;
  }
  return "";
}

stria_string to_c(std::string_view text) { return {text.data(), text.size()}; }

namespace {

// Longest text that is copied, and most arguments of a kernel: sizes might be anything.
constexpr uint64_t kMaxText = uint64_t{1} << 30;
constexpr uint64_t kMaxArguments = uint64_t{1} << 16;

template <typename... Args>
Status broken(fmt::format_string<Args...> text, Args&&... args) {
  return make_error(kPluginFault, text, std::forward<Args>(args)...);
}

// Copies texts; remembers the first that is none.
class Texts {
 public:
  std::string copy(stria_string text, const char* what) {
    if (!text.data && text.size > 0)
      fail(what, "a null pointer", text.size);
    else if (text.size > kMaxText)
      fail(what, "a text", text.size);
    return status_.ok() ? std::string(view_of(text)) : std::string();
  }
  // For people.
  std::string line(stria_string text, const char* what) {
    std::string out = copy(text, what);
    for (char& c : out)
      if (is_control(c)) c = ' ';
    return out;
  }
  const Status& status() const { return status_; }

 private:
  void fail(const char* what, const char* kind, uint64_t bytes) {
    if (status_.ok()) status_ = broken("{} is {} of {} bytes", what, kind, bytes);
  }
  Status status_;
};

Status check_list(uint64_t count, const void* list, const char* noun, const std::string& name,
                  const char* verb, const char* what) {
  if (count > kMaxArguments)
    return broken("{} '{}' {} {} {}, the limit is {}", noun, name, verb, count, what,
                  kMaxArguments);
  if (count > 0 && !list)
    return broken("{} '{}' {} {} {} and has no list of them", noun, name, verb, count, what);
  return Status();
}

Result<ArgumentInfo> copy_of(const stria_argument_info& from) {
  Texts texts;
  ArgumentInfo argument;
  argument.name = texts.line(STRIA_SIZED(from, name, kNone), "an argument's name");
  STRIA_RETURN_IF_ERROR(texts.status());
  const stria_direction direction = STRIA_SIZED(from, direction, STRIA_IN);
  if (direction < STRIA_IN || direction > STRIA_INOUT)
    return broken("argument '{}' has the unknown direction {}", argument.name, direction);
  argument.direction = static_cast<Direction>(direction);
  argument.bytes = STRIA_SIZED(from, bytes, uint64_t{0});
  const uint64_t pairs = STRIA_SIZED(from, may_overlap_count, uint64_t{0});
  STRIA_RETURN_IF_ERROR(
      check_list(pairs, from.may_overlap, "argument", argument.name, "overlaps", "others"));
  if (pairs > 0) argument.may_overlap.assign(from.may_overlap, from.may_overlap + pairs);
  return argument;
}

}  // namespace

Result<DeviceInfo> copy_of(const stria_device_info& info) {
  Texts texts;
  DeviceInfo out;
  out.id = texts.copy(STRIA_SIZED(info, id, kNone), "a device's id");
  out.name = texts.line(STRIA_SIZED(info, name, kNone), "a device's name");
  out.kind = texts.line(STRIA_SIZED(info, kind, kNone), "a device's kind");
  out.vendor = texts.line(STRIA_SIZED(info, vendor, kNone), "a device's vendor");
  out.available = STRIA_SIZED(info, available, uint8_t{0}) != 0;
  out.reason = texts.line(STRIA_SIZED(info, reason, kNone), "a device's reason");
  out.memory_bytes = STRIA_SIZED(info, memory_bytes, uint64_t{0});
  out.properties = texts.copy(STRIA_SIZED(info, properties, kNone), "a device's properties");
  STRIA_RETURN_IF_ERROR(texts.status());
  if (out.id.empty()) return broken("a device has no id");
  if (std::any_of(out.id.begin(), out.id.end(), is_control))
    return broken("a device's id has control characters");
  if (out.properties.empty()) out.properties = "{}";
  if (trim(out.properties).substr(0, 1) != "{" || !nlohmann::json::accept(out.properties))
    return broken("the properties of device '{}' are no JSON object", out.id);
  return out;
}

Result<KernelInfo> copy_of(const stria_kernel_info& info) {
  Texts texts;
  KernelInfo out;
  out.name = texts.line(STRIA_SIZED(info, name, kNone), "a kernel's name");
  STRIA_RETURN_IF_ERROR(texts.status());
  const stria_program_part part = STRIA_SIZED(info, part, STRIA_MAIN);
  if (part != STRIA_PROLOGUE && part != STRIA_MAIN)
    return broken("kernel '{}' is of the unknown part {}", out.name, part);
  out.part = static_cast<ProgramPart>(part);
  out.statement = STRIA_SIZED(info, statement, uint64_t{0});
  const uint64_t count = STRIA_SIZED(info, argument_count, uint64_t{0});
  STRIA_RETURN_IF_ERROR(check_list(count, info.arguments, "kernel", out.name, "has", "arguments"));
  bool inputs = false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!info.arguments[i]) return broken("argument {} of kernel '{}' is null", i, out.name);
    STRIA_ASSIGN(ArgumentInfo argument, copy_of(*info.arguments[i]));
    // Checks of overlap end at the first input.
    if (inputs && argument.direction != Direction::in)
      return broken("output '{}' of kernel '{}' stands behind an input", argument.name, out.name);
    inputs = inputs || argument.direction == Direction::in;
    out.arguments.push_back(std::move(argument));
  }
  return out;
}

Result<NamedText> copy_of(stria_string name, stria_string text) {
  Texts texts;
  NamedText out{texts.line(name, "a text's name"), texts.copy(text, "a text")};
  STRIA_RETURN_IF_ERROR(texts.status());
  return out;
}

}  // namespace stria::hal
