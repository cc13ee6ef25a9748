// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/info.h"

#include "stria/hal/sized.h"

namespace stria::hal {
namespace {
constexpr stria_string kNone = {nullptr, 0};
}

std::string_view view_of(stria_string text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

stria_string to_c(std::string_view text) { return {text.data(), text.size()}; }

DeviceInfo copy_of(const stria_device_info& info) {
  DeviceInfo out;
  out.id = view_of(STRIA_SIZED(info, id, kNone));
  out.name = view_of(STRIA_SIZED(info, name, kNone));
  out.kind = view_of(STRIA_SIZED(info, kind, kNone));
  out.vendor = view_of(STRIA_SIZED(info, vendor, kNone));
  out.available = STRIA_SIZED(info, available, uint8_t{0}) != 0;
  out.reason = view_of(STRIA_SIZED(info, reason, kNone));
  out.memory_bytes = STRIA_SIZED(info, memory_bytes, uint64_t{0});
  out.properties = view_of(STRIA_SIZED(info, properties, kNone));
  if (out.properties.empty()) out.properties = "{}";
  return out;
}

KernelInfo copy_of(const stria_kernel_info& info) {
  KernelInfo out;
  out.name = view_of(STRIA_SIZED(info, name, kNone));
  out.part = STRIA_SIZED(info, part, STRIA_MAIN) == STRIA_PROLOGUE ? ProgramPart::prologue
                                                                   : ProgramPart::main;
  out.statement = STRIA_SIZED(info, statement, uint64_t{0});
  uint64_t count = STRIA_SIZED(info, argument_count, uint64_t{0});
  for (uint64_t i = 0; i < count; ++i) {
    const stria_argument_info& from = *info.arguments[i];
    ArgumentInfo argument;
    argument.name = view_of(STRIA_SIZED(from, name, kNone));
    argument.direction = static_cast<Direction>(STRIA_SIZED(from, direction, STRIA_IN));
    argument.bytes = STRIA_SIZED(from, bytes, uint64_t{0});
    uint64_t pairs = STRIA_SIZED(from, may_overlap_count, uint64_t{0});
    if (pairs > 0) argument.may_overlap.assign(from.may_overlap, from.may_overlap + pairs);
    out.arguments.push_back(std::move(argument));
  }
  return out;
}

}  // namespace stria::hal
