// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> machine code of the running CPU. What the HAL side of this plugin needs to know
// of the code generator: it hands over a whole program and gets, for each kernel, a function
// pointer and how to call it. No header of the code generation library is reachable from here.
//
// Include as "emit/compiled_kernels.h"; link stria_llvm_cpu_emit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/build/kernels.h"
#include "stria/semtree/peephole/peepholes.h"
#include "stria/stripe/block.h"

namespace stria::llvm_cpu {

// Runs the parallel points [first, last) of a kernel, 0 <= first <= last <= trip_count. args[i] is
// the base address of argument i's tensor as main sees it, aligned to its element, plus the
// argument's offset_bytes. Calls on disjoint ranges of one kernel may run at the same time on any
// threads; each needs about 256 KiB of stack at most. Never fails and throws nothing.
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
  // Innermost loops without calls in which registers did not suffice, a line each: "2 spills 3
  // reloads …".
  std::vector<std::string> inner_spills;
};

struct CompileOptions {
  bool fast_math = false;
  semtree::Peepholes peepholes;
  bool group_reductions = true;   // the peephole of that name (group_reductions.h)
  bool argument_offsets = false;  // KernelArgument::offset_bytes; they are 0 without it
  bool dump_semtree = false;
  bool dump_ir = false;  // after optimisation
  bool dump_assembly = false;
  bool report_spills = false;  // CompiledKernel::inner_spills
  // A processor by its name ("sapphirerapids"): `assembly` and `inner_spills` are those of what it
  // would get, which need not run here. "": this one. invalid_argument if the code generator does
  // not know it.
  std::string assembly_for;
  // Calls job(0) to job(count - 1), each once and on any threads, and returns when all are done; a
  // job throws nothing. Empty: one after the other on the calling thread.
  std::function<void(size_t count, const std::function<void(size_t)>& job)> parallel;
  bool keep_image = false;  // for CompiledKernels::take_image
};

// Owns the machine code: entries are valid while it lives. Immutable but for
// take_image, so safe to share.
class CompiledKernels {
 public:
  virtual ~CompiledKernels() = default;
  // Statements of prologue, then of main, in order.
  virtual const std::vector<CompiledKernel>& kernels() const = 0;
  // What load_kernels takes, once; "" unless it was asked for. Not while others use the object.
  virtual std::string take_image() = 0;
};

// Compiles every statement of `prologue` and `main`; kernels that differ in names alone are
// compiled once. The structure of the program is verified, its accesses are trusted; what this
// device cannot do fails with `unsupported` or `out_of_range` and names the kernel. May be called
// from any thread.
Result<std::unique_ptr<CompiledKernels>> compile_kernels(const stripe::Program& program,
                                                         const CompileOptions& options = {});

// The kernels of an image that was made with the same code_key, ready in a fraction of the time.
// invalid_argument for bytes that are no such image; objects must be whole, for they are trusted.
Result<std::unique_ptr<CompiledKernels>> load_kernels(std::string_view image);

// All that code depends on besides the program and this library's own build: the code generator's
// version, the processor and its features, the options.
std::string code_key(const CompileOptions& options);

// The processor that code is made for, as the code generator calls it: "sapphirerapids", and how
// many fp32 lanes its widest usable vector has (16, 8 or 4). The host's, or that of the environment
// variable STRIA_LLVM_CPU_PROCESSOR (ignored in elevated processes), which the host must be able to
// run.
std::string host_cpu_name();
int host_vector_lanes();
// Whether code can be made for it: unavailable for a name that is not known (with the nearest one),
// and for a processor without 64-bit mode or of more features than the host has, naming what is
// missing. Compilation fails in the same way.
Status check_processor();

}  // namespace stria::llvm_cpu
