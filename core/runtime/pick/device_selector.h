// SPDX-License-Identifier: Apache-2.0
// What `--device`, $STRIA_DEVICE, files and Runtime::open say of a device, as data. docs/devices.md
// has the grammar.
//
//   llvm_cpu                        its first available device
//   acme:1, llvm_cpu:*zen*          the first of these that can be used
//   auto, !sim, mem>=8G             the best of what is left
//
// Names are alternatives. Conditions and what stands behind '!' all hold. With `auto`, or without
// any name, the best device is taken; else the first one that is there, in the order of the names.
//
// All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/type/data_type.h"

namespace stria {

// What is best. `any`: nobody has said.
enum class Objective { any, latency, throughput, energy, first_result };
// "latency", "first-result"; "" for `any`.
STRIA_API std::string_view name_of(Objective objective);

enum class Comparison { at_least, at_most, more, less };

// Plain value. The members of other kinds of terms are empty.
struct SelectorTerm {
  enum class Kind {
    device,  // names devices
    memory,  // conditions
    type,
    kind,
    vendor,
    real,
  };
  Kind kind = Kind::device;
  bool negated = false;  // none that it names, or that meets it
  // Kind::device: a plugin's id, or a pattern of ids (glob.h); then the number in its list, or a
  // pattern of names and ids; neither: each of its devices.
  std::string plugin;
  std::optional<uint32_t> number;
  std::string device;
  // Kind::memory.
  Comparison comparison = Comparison::at_least;
  uint64_t bytes = 0;
  // Kind::type: one of these is enough.
  std::vector<DataType> types;
  // Kind::kind and Kind::vendor: patterns, one of which is enough.
  std::vector<std::string> patterns;

  bool operator==(const SelectorTerm&) const = default;
  // As parse_device_selector reads it, with its '!'.
  STRIA_API std::string to_string() const;
};

// Plain value.
struct DeviceSelector {
  bool isolated = false;   // plugins run in processes of their own
  bool automatic = false;  // the best of what is kept is taken, not the first
  Objective objective = Objective::any;
  std::vector<SelectorTerm> terms;  // in the order in which they stand
  // Limits and expectations of whoever runs the program; nullopt: not said.
  std::optional<uint64_t> runs;      // how often it will run: it is compiled once
  std::optional<double> deadline_s;  // a run must not take longer
  std::optional<double> power_w;     // the device must not take more

  bool operator==(const DeviceSelector&) const = default;
  // Canonical text: parse_device_selector(to_string()) is the same selector.
  STRIA_API std::string to_string() const;
  // The ids of all plugins that can be meant, each once; empty if it may be any.
  STRIA_API std::vector<std::string> plugins() const;
  // One name alone: nothing else is taken if what it means cannot be used.
  STRIA_API bool is_pinned() const;
};

// What a selector begins with if plugins are to have processes of their own.
inline constexpr std::string_view kIsolated = "isolated:";
// Longer texts are refused; so are more terms.
inline constexpr size_t kMaxSelectorBytes = 16384;
inline constexpr size_t kMaxSelectorTerms = 256;

// invalid_argument in one line for malformed or empty text: the place, what is wrong there, and
// what was near.
STRIA_API Result<DeviceSelector> parse_device_selector(std::string_view text);

// What is meant if nobody says: $STRIA_DEVICE, or "auto" if that is unset, empty, or not to be
// trusted (in an elevated process).
STRIA_API std::string default_device_selector();

// unsupported if it asks for what only a program tells: an objective, a number of runs, a deadline,
// a cap of power, and there is none; or a number of runs, where the order of a list counts. Nothing
// of a selector is passed over in silence.
STRIA_API Status check_can_be_kept(const DeviceSelector& selector, bool has_program = false);

// Must a program be predicted with more care than by bounds: for an objective or a limit?
STRIA_API bool asks_predictions(const DeviceSelector& selector);

}  // namespace stria
