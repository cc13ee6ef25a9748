// SPDX-License-Identifier: Apache-2.0
// Runs all kernels of a device program in order (kernel_run.h), as core/interp runs the program.
#pragma once

#include <functional>
#include <vector>

#include "kernel_run.h"
#include "stria/interp/interpret.h"
#include "stria/semtree/c/program_source.h"
#include "stria/stripe/block.h"

namespace stria::lanes {

// `tensors` has every input and output once, each as the program's entry allocates it. Every tensor
// of the program has memory of its own, poison at first. Fails as build_kernel and run_kernel do;
// and with invalid_argument if an element of an output is poison in the end. `change`: what a code
// generator makes of each kernel's tree; none: it stays.
using KernelChange = std::function<semtree::Function(semtree::Function)>;
Status run_program(const stripe::Program& program, const semtree::SourceOptions& options,
                   const std::vector<interp::TensorArg>& tensors, uint64_t seed, RunCounts& counts,
                   const KernelChange& change = {});

}  // namespace stria::lanes
