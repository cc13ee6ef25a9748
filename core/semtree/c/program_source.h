// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> one source text for a whole program, in the language of the C family that a
// dialect spells.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/build/build.h"
#include "stria/semtree/build/kernels.h"
#include "stria/semtree/c/dialect.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

struct SourceOptions {
  BuildOptions build;
  // Lanes of a group if the program has no lane blocks. Its points do not meet then, so the number
  // only has to suit the hardware.
  int64_t group_points = 1;
  // The most that a group may have.
  int64_t shared_bytes = INT64_MAX;
  int64_t largest_group = INT64_MAX;  // lanes
  bool print_semtree = false;
};

// What a kernel is called, what it runs on and what it is given, whatever its code is made of.
struct KernelDescription {
  std::string name;    // of the kernel block; may be empty
  std::string symbol;  // of the function in the code
  bool in_prologue = false;
  int64_t statement = 0;
  int64_t points = 0;        // lanes of all groups; may be 0
  int64_t group_points = 1;  // lanes of a group
  // The groups to run in each dimension. In the first one, a part of the last group may have
  // nothing to do.
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::vector<KernelArgument> arguments;  // each is an address and an element offset
  std::string semtree;                    // printed, if asked for
};

struct SourceKernel : KernelDescription {
  std::string text;  // of this kernel alone
  // The first kernel with this text: kernels that differ in names alone have its symbol and text.
  size_t code = 0;
};

struct ProgramSource {
  std::string common;                 // what any of the kernels may need
  std::string text;                   // all: `common`, then the kernels' texts, each once
  std::vector<SourceKernel> kernels;  // statements of prologue, then of main
};

// The kernel's tree, as print_program makes it, within the limits of a group. Fails with
// `unsupported` or `out_of_range` and names the kernel.
Result<Function> build_kernel(const KernelBlock& kernel, const SourceOptions& options);

// `function` is what build_kernel made of `kernel`, the program's kernel of this number.
KernelDescription describe(const KernelBlock& kernel, const Function& function, size_t number,
                           const SourceOptions& options);

// Fails as build_kernel does.
Result<ProgramSource> print_program(const stripe::Program& program, const Dialect& dialect,
                                    const SourceOptions& options);

}  // namespace stria::semtree
