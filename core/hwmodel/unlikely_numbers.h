// SPDX-License-Identifier: Apache-2.0
// Numbers of a model that no machine has. They are beyond what machines of today have by a factor
// of a hundred or more, so they are a slip of a unit, as bytes where KiB are asked for, or Hz for
// MHz. A model with such a number is read; `stria doctor`, `stria hw` and `stria conform` say so.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"

namespace stria {

enum class NumberKind {
  sizes,
  counts,
  clocks,
  operations,
  bandwidths,
  latencies,
  vectors,
  lines,
  energies
};
inline constexpr std::array kNumberKinds = {
    NumberKind::sizes,      NumberKind::counts,     NumberKind::clocks,
    NumberKind::operations, NumberKind::bandwidths, NumberKind::latencies,
    NumberKind::vectors,    NumberKind::lines,      NumberKind::energies};

struct UnlikelyNumber {
  std::string pointer;  // "/mem_units/NEAR/size_KiB"
  std::string what;     // "is 1e+15 bytes; 0 to 1.09951e+12 are likely"
  bool no_power_of_two = false;
  // With the place in the model's file: "npu.json:5: /clock_mhz is 1e+09; …".
  std::string text(const HardwareModel& model) const;
};

// Of one kind, in the model's order.
std::vector<UnlikelyNumber> unlikely_numbers(const HardwareModel& model, NumberKind kind);
// Of all kinds, and of the largest memory beside what the device says that it has
// (`device_bytes`, 0: nothing).
std::vector<UnlikelyNumber> unlikely_numbers(const HardwareModel& model, uint64_t device_bytes);

// The largest memory, if its size and what the device says are far from one another. None of
// models without a machine behind them, or if one of the two is not known.
std::optional<UnlikelyNumber> unlikely_memory(const HardwareModel& model, uint64_t device_bytes);

// The memory unit of the most bytes; null if there is none.
const MemoryUnit* largest_memory(const HardwareModel& model);

}  // namespace stria
