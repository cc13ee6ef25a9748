// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> machine code of the running CPU. What the HAL side of this plugin needs to know of
// the code generator: it hands over a whole program and gets, for each kernel, a function pointer and
// how to call it. No header of the code generation library is reachable from here.
//
// Include as "emit/compiled_kernels.h"; link stria_llvm_cpu_emit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/kernels.h"
#include "stria/stripe/block.h"

namespace stria::llvm_cpu {

// Runs the parallel points [first, last) of a kernel, 0 <= first <= last <= trip_count. args[i] is
// the base address of argument i's tensor as main sees it, aligned to its element. Calls on disjoint
// ranges of one kernel may run at the same time on any threads; each needs about 256 KiB of stack at
// most. Never fails and throws nothing.
using KernelEntry = void (*)(void* const* args, int64_t first, int64_t last);

struct CompiledKernel {
  std::string name;          // of the kernel block; may be empty
  bool in_prologue = false;  // a statement of #prologue, else of #main
  int64_t statement = 0;     // its position there
  KernelEntry entry = nullptr;
  int64_t trip_count = 1;  // parallel points; run [0, trip_count) in pieces of any size. May be 0.
  std::vector<semtree::KernelArgument> arguments;  // out and inout in printed order, then in
  // Only what CompileOptions asked for, else "".
  std::string semtree;
  std::string ir;
  std::string assembly;
};

struct CompileOptions {
  bool fast_math = false;
  bool dump_semtree = false;
  bool dump_ir = false;        // after optimisation
  bool dump_assembly = false;
  // A processor by its name ("sapphirerapids"): `assembly` is what it would get, and need not run
  // here. "": this one. invalid_argument if the code generator does not know it.
  std::string assembly_for;
  int threads = 0;             // how many kernels compile at once; 0: one per core
};

// Owns the machine code: entries are valid while it lives. Immutable, so safe to share.
class CompiledKernels {
 public:
  virtual ~CompiledKernels() = default;
  // Statements of prologue, then of main, in order.
  virtual const std::vector<CompiledKernel>& kernels() const = 0;
};

// Compiles every statement of `prologue` and `main`. The structure of the program is verified, its accesses
// are trusted; what this device cannot do fails with `unsupported` or `out_of_range` and names the kernel.
// May be called from any thread.
Result<std::unique_ptr<CompiledKernels>> compile_kernels(const stripe::Program& program,
                                                         const CompileOptions& options = {});

// The host CPU as the code generator sees it: "sapphirerapids", and how many fp32 lanes its widest
// usable vector has (16, 8 or 4).
std::string host_cpu_name();
int host_vector_lanes();

}  // namespace stria::llvm_cpu
