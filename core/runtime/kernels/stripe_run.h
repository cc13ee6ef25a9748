// SPDX-License-Identifier: Apache-2.0
// Runs a program in Stripe on a device as it stands: no pass looks at it. So a kernel that
// kernel_check.h found to be wrong is tried again, and one that a person has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/interp/interpret.h"
#include "stria/runtime/check.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/stripe/block.h"
#include "stria/type/host_tensor.h"

namespace stria {

struct StripeProgram {
  stripe::Program program;
  std::vector<interp::ProgramTensor> inputs;  // that a run reads: results that it continues, too
  std::vector<interp::ProgramTensor> outputs;
};
// invalid_argument, with its place, for what is no Stripe, or not legal.
Result<StripeProgram> read_stripe_program(const SourceText& file);

// What of a run is compared with the interpreter.
struct StripeCheck {
  std::optional<int64_t> sample;  // so many elements of each result; else all
};

struct StripeRun {
  std::vector<HostTensor> results;  // one for each output, row by row
  std::vector<OutputCheck> checks;  // likewise; none if nothing is compared
};
// `inputs` are row by row, one for each input, of its type and sizes. invalid_argument if the
// program names units that the device's model does not have. Waits.
Result<StripeRun> run_stripe(const Device& device, const StripeProgram& program,
                             std::span<const HostTensor> inputs, const CompileOptions& options,
                             const std::optional<StripeCheck>& check);

}  // namespace stria
