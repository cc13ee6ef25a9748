// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/boundary/info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/sized.h"

namespace stria::hal {
namespace {
constexpr stria_string kNone = {nullptr, 0};

// Longest text that is read: sizes might be anything.
constexpr uint64_t kMaxText = uint64_t{1} << 30;
// Longest reason of a device.
constexpr size_t kMaxReason = kMaxMessageBytes / 2;
// Longest name of an argument: it is the program's own, and found by it.
constexpr size_t kMaxArgumentName = size_t{1} << 16;
// Longest properties of a device, far beyond a whole hardware model.
constexpr size_t kMaxProperties = size_t{1} << 20;
// Most arguments of a kernel.
constexpr uint64_t kMaxArguments = uint64_t{1} << 16;

// In a listing: blanks, where a table would break.
std::string without_breaks(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return out;
}
}  // namespace

std::string_view view_of(stria_string text) {
  return is_address(text.data) ? std::string_view(text.data, text.size) : std::string_view();
}

std::string one_line(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    if (!line.empty()) return shown_name(without_breaks(line), kMaxMessageBytes);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

std::string shown_text(stria_string text, size_t max_bytes) {
  if (!is_address(text.data)) return "";
  if (text.size > kMaxText) return fmt::format("a text of {} bytes, which is not read", text.size);
  return shown_message(view_of(text), max_bytes);
}

std::string shown_path(const std::filesystem::path& path) {
  return shown_name(path.string(), 2 * kMaxNameBytes);
}

stria_string to_c(std::string_view text) { return {text.data(), text.size()}; }

namespace {

template <typename... Args>
Status broken(fmt::format_string<Args...> text, Args&&... args) {
  return make_error(kPluginFault, text, std::forward<Args>(args)...);
}

// Copies texts; remembers the first that is none.
class Texts {
 public:
  std::string copy(stria_string text, const char* what, uint64_t max_bytes = kMaxText) {
    check(text, what, max_bytes);
    return status_.ok() ? std::string(view_of(text)) : std::string();
  }
  // For people.
  std::string line(stria_string text, const char* what, size_t max_bytes = kMaxNameBytes) {
    check(text, what, kMaxText);
    return status_.ok() ? shown_name(without_breaks(view_of(text)), max_bytes) : "";
  }
  const Status& status() const { return status_; }

 private:
  void check(stria_string text, const char* what, uint64_t max_bytes) {
    if (!status_.ok()) return;
    if (!text.data && text.size > 0)
      status_ = broken("{} is a null pointer of {} bytes", what, text.size);
    else if (text.size > 0 && !is_address(text.data))
      status_ = broken("{} is at the address {:#x}, where no text can be", what,
                       reinterpret_cast<uintptr_t>(text.data));
    else if (text.size > max_bytes)
      status_ = broken("{} is a text of {} bytes, the limit is {}", what, text.size, max_bytes);
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
  argument.name =
      texts.line(STRIA_SIZED(from, name, kNone), "an argument's name", kMaxArgumentName);
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
  out.id = texts.copy(STRIA_SIZED(info, id, kNone), "a device's id", kMaxNameBytes);
  out.name = texts.line(STRIA_SIZED(info, name, kNone), "a device's name");
  out.kind = texts.line(STRIA_SIZED(info, kind, kNone), "a device's kind");
  out.vendor = texts.line(STRIA_SIZED(info, vendor, kNone), "a device's vendor");
  out.available = STRIA_SIZED(info, available, uint8_t{0}) != 0;
  out.reason = texts.line(STRIA_SIZED(info, reason, kNone), "a device's reason", kMaxReason);
  out.memory_bytes = STRIA_SIZED(info, memory_bytes, uint64_t{0});
  out.properties =
      texts.copy(STRIA_SIZED(info, properties, kNone), "a device's properties", kMaxProperties);
  STRIA_RETURN_IF_ERROR(texts.status());
  if (out.id.empty()) return broken("a device has no id");
  if (const std::string shown = shown_name(out.id); shown != out.id)
    return broken("a device's id, '{}', has control characters or is no UTF-8", shown);
  if (out.properties.empty()) out.properties = "{}";
  if (trim(out.properties).substr(0, 1) != "{" || !nlohmann::json::accept(out.properties))
    return broken("the properties of device '{}' are no JSON object", out.id);
  return out;
}

Result<KernelInfo> copy_of(const stria_kernel_info& info) {
  Texts texts;
  KernelInfo out;
  out.name = texts.line(STRIA_SIZED(info, name, kNone), "a kernel's name");
  out.interpreted =
      texts.line(STRIA_SIZED(info, interpreted, kNone), "why a kernel is interpreted", kMaxReason);
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
