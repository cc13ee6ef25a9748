// SPDX-License-Identifier: Apache-2.0
// How many units each device gets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stria/base/status.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/several/cut.h"

namespace stria {

// Ranges that follow each other, one for each share: those with which the last device is done as
// early as can be, if a unit takes each device one over its share. Of equal choices the first
// device gets more. `shares` are at least 0, one is above. Pure.
std::vector<UnitRange> share_out(int64_t units, const std::vector<double>& shares);

// Are both of one kind: the same plugin, kind of device and hardware model? What is compiled for
// one is right for the other, and as fast.
bool are_alike(const Device& a, const Device& b);

// What each device should get: equal parts if all are alike; else one over the seconds that a run
// of the whole program is predicted to take there. unsupported if nobody can predict it for one of
// them, with its name.
Result<std::vector<double>> predicted_shares(std::span<const Device> devices,
                                             const Compilation& program,
                                             const CompileOptions& options);

}  // namespace stria
