// SPDX-License-Identifier: Apache-2.0
// What plugins say of their devices and kernels, as plain values: the C structs of the boundary
// with their texts copied, so that nothing points into a plugin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stria/base/source_text.h"
#include "stria/base/status.h"
#include "stria/plugin.h"

namespace stria::hal {

struct DeviceInfo {
  std::string id;      // unique in its plugin, stable between runs
  std::string name;    // for people
  std::string kind;    // one of the manifest's device kinds
  std::string vendor;  // may be empty
  bool available = false;
  std::string reason;         // why not, if not available
  uint64_t memory_bytes = 0;  // 0: not known
  std::string properties;  // JSON object, an overlay over the kind's hardware model; at least "{}"
  bool operator==(const DeviceInfo&) const = default;
};

enum class Direction : int32_t { in = STRIA_IN, out = STRIA_OUT, inout = STRIA_INOUT };

struct ArgumentInfo {
  std::string name;  // the refinement's name in prologue or main
  Direction direction = Direction::in;
  uint64_t bytes = 0;                 // least bytes behind the argument's offset
  std::vector<uint32_t> may_overlap;  // outputs: positions of inputs whose memory may overlap this
  bool operator==(const ArgumentInfo&) const = default;
};

enum class ProgramPart : int32_t { prologue = STRIA_PROLOGUE, main = STRIA_MAIN };

struct KernelInfo {
  std::string name;
  ProgramPart part = ProgramPart::main;
  uint64_t statement = 0;  // position in the part's block, or STRIA_WHOLE_PART
  // Out and inout arguments in printed order, then in arguments in printed order.
  std::vector<ArgumentInfo> arguments;
  std::string interpreted = {};  // why the interpreter runs it; empty: the plugin's own code does
  bool operator==(const KernelInfo&) const = default;
};

// A named text, such as one kernel's generated source.
using NamedText = SourceText;

// Copies; a struct that is shorter than ours leaves the members it lacks at their defaults.
// incompatible with what it is: a null pointer with a count, a number outside its list, inputs
// before outputs, a device without an id or with one of more than kMaxNameBytes or that cannot be
// shown as it is, properties that are no JSON object. Texts for people are escaped and cut
// (base/shown_text.h), their line ends and tabs become blanks.
Result<DeviceInfo> copy_of(const stria_device_info& info);
Result<KernelInfo> copy_of(const stria_kernel_info& info);
Result<NamedText> copy_of(stria_string name, stria_string text);

// The first line that is not blank, escaped and cut: for listings of texts that others wrote.
std::string one_line(std::string_view text);
// The text escaped and cut; "" for a null pointer. Of one with an absurd size only that is said:
// nothing is read.
std::string shown_text(stria_string text, size_t max_bytes);
// A path for people: names of folders come from outside.
std::string shown_path(const std::filesystem::path& path);

// The text, "" for a null pointer.
std::string_view view_of(stria_string text);
// Points into `text`.
stria_string to_c(std::string_view text);

}  // namespace stria::hal
