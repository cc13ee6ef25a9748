// SPDX-License-Identifier: Apache-2.0
// `stria run` of a program in Stripe: it is built as it stands, no pass looks at it.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "stria/runtime/kernels/kernel_check.h"
#include "verbs/run.h"

namespace stria::command {

bool is_stripe(const std::string& path);

// What is asked for of a program in Stripe. ExitCode::usage for options that are for the passes or
// for programs in Tile.
Outcome run_stripe_file(const RunOptions& options, FailureRecorder& recorder);

// The command that runs a kernel again that --check-kernels has written into `folder`, with what it
// read, on the device that `selector` names.
std::string command_of(const WrongKernel& wrong, const std::string& folder,
                       const std::string& selector, const RunOptions& options);

}  // namespace stria::command
