// SPDX-License-Identifier: Apache-2.0
// What a plugin says of its devices and kernels, in C++; the helper turns it into the C structs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/error.h"

namespace stria::sdk {

struct DeviceInfo {
  std::string id = "0";  // stable between runs, unique in the plugin
  std::string name;      // for people
  std::string kind;      // one of the manifest's device kinds
  std::string vendor;
  bool available = true;
  std::string reason;             // why not, if not available
  uint64_t memory_bytes = 0;      // 0: not known, no limit kept
  std::string properties = "{}";  // JSON overlay over the kind's hardware model
};

struct ArgumentInfo {
  std::string name;
  stria_direction direction = STRIA_IN;
  uint64_t bytes = 0;                 // least bytes behind the argument's offset
  std::vector<uint32_t> may_overlap;  // outputs: positions of inputs that may share memory
};

struct KernelInfo {
  std::string name;
  stria_program_part part = STRIA_MAIN;
  uint64_t statement = 0;               // or STRIA_WHOLE_PART
  std::vector<ArgumentInfo> arguments;  // out and inout first, then in
  std::string interpreted;              // why the host interprets it; empty: it does not
};

struct NamedText {
  std::string name;
  std::string text;
};

inline void send(const DeviceInfo& info, stria_device_sink sink, void* state) {
  stria_device_info out{};
  out.size = sizeof out;
  out.id = to_c(info.id);
  out.name = to_c(info.name);
  out.kind = to_c(info.kind);
  out.vendor = to_c(info.vendor);
  out.available = info.available;
  out.reason = to_c(info.reason);
  out.memory_bytes = info.memory_bytes;
  out.properties = to_c(info.properties);
  sink(state, &out);
}

// `Info` is KernelInfo or a struct with the same members.
template <typename Info>
void send_kernel(const Info& info, stria_kernel_sink sink, void* state) {
  std::vector<stria_argument_info> arguments;
  for (const auto& from : info.arguments) {
    stria_argument_info to{};
    to.size = sizeof to;
    to.name = to_c(from.name);
    to.direction = static_cast<stria_direction>(from.direction);
    to.bytes = from.bytes;
    to.may_overlap = from.may_overlap.data();
    to.may_overlap_count = from.may_overlap.size();
    arguments.push_back(to);
  }
  std::vector<const stria_argument_info*> pointers;
  for (const stria_argument_info& argument : arguments) pointers.push_back(&argument);
  stria_kernel_info out{};
  out.size = sizeof out;
  out.name = to_c(info.name);
  out.part = static_cast<stria_program_part>(info.part);
  out.statement = info.statement;
  out.arguments = pointers.data();
  out.argument_count = pointers.size();
  out.interpreted = to_c(info.interpreted);
  sink(state, &out);
}

inline KernelInfo copy_of(const stria_kernel_info& given) {
  const stria_kernel_info info = whole(&given);
  KernelInfo out;
  out.name = view_of(info.name);
  out.part = info.part;
  out.statement = info.statement;
  out.interpreted = view_of(info.interpreted);
  for (uint64_t i = 0; i < info.argument_count; ++i) {
    const stria_argument_info from = whole(info.arguments[i]);
    out.arguments.push_back({std::string(view_of(from.name)),
                             from.direction,
                             from.bytes,
                             {from.may_overlap, from.may_overlap + from.may_overlap_count}});
  }
  return out;
}

}  // namespace stria::sdk
