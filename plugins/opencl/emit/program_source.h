// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> OpenCL C: one source text for a whole program. No OpenCL header is needed here.
//
// Include as "emit/program_source.h"; link stria_opencl_emit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emit/dialect.h"
#include "stria/base/status.h"
#include "stria/semtree/kernels.h"
#include "stria/stripe/block.h"

namespace stria::opencl {

struct SourceOptions {
  Features features;
  // Work items of a group where the program has no lane blocks: points do not meet then, so this
  // only has to suit the hardware.
  int64_t group_points = 1;
  // Leading parallel indices are spread over work items until there are so many, the others are
  // loops.
  int64_t enough_points = 128;
  // What a group may have at most.
  int64_t local_bytes = INT64_MAX;
  int64_t largest_group = INT64_MAX;
  bool print_semtree = false;
};

struct SourceKernel {
  std::string name;    // of the kernel block; may be empty
  std::string symbol;  // of the function in the source
  bool in_prologue = false;
  int64_t statement = 0;
  int64_t points = 0;                              // work items that have something to do; may be 0
  int64_t group_points = 1;                        // work items of a group
  std::vector<semtree::KernelArgument> arguments;  // each is a memory object and an element offset
  std::string semtree;
};

struct ProgramSource {
  std::string text;
  std::vector<SourceKernel> kernels;  // statements of prologue, then of main
};

// Fails with `unsupported` or `out_of_range` and names the kernel.
Result<ProgramSource> print_program(const stripe::Program& program, const SourceOptions& options);

}  // namespace stria::opencl
