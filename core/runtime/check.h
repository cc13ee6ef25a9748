// SPDX-License-Identifier: Apache-2.0
// Compares what a device computed with the interpreter on generic Stripe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/check.h"
#include "stria/runtime/compilation.h"
#include "stria/type/host_tensor.h"

namespace stria {

struct OutputCheck {
  std::string name;
  interp::CheckReport report;
};

// `inputs` and `outputs` in the order of the program's. With `sample` only that many elements of
// each output are interpreted, chosen by a fixed seed. `events` (may be null) counts divisions by
// zero and the like, only without `sample`. The bounds allow for the subnormal numbers that the
// device may take for zero (Compilation::flushed).
Result<std::vector<OutputCheck>> check_outputs(const Compilation& compilation,
                                               std::span<const HostTensor> inputs,
                                               std::span<const HostTensor> outputs,
                                               std::optional<int64_t> sample,
                                               interp::Events* events = nullptr);

}  // namespace stria
