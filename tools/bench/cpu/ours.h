// SPDX-License-Identifier: Apache-2.0
// A program compiled by llvm_cpu's pipeline and emitter, whose kernels are called one after the
// other on the calling thread: what the code costs, without the runtime's queues.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/compiled_kernels.h"
#include "stria/exec/plan.h"
#include "stria/runtime/device.h"
#include "stria/runtime/program.h"

namespace stria::bench {

struct FreeMemory {
  void operator()(std::byte* memory) const;
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

// At the start of a page, on large pages where the system gives them; all zero. Ends the process
// where there is none.
Memory memory_of(uint64_t bytes);
// Normally distributed numbers.
void fill_normal(float* to, int64_t count, unsigned seed);

class OurProgram {
 public:
  // `options` say which inputs are constants, and which pipeline and parameters take the place of
  // the device's own.
  static Result<std::unique_ptr<OurProgram>> make(const Device& device, const Program& program,
                                                  const InputTypes& inputs,
                                                  const CompileOptions& options);

  double passes_ms() const { return passes_ms_; }  // from text to device Stripe
  double code_ms() const { return code_ms_; }      // from there to machine code
  const std::string& device_stripe() const { return text_; }
  // An input by its name in the program, null if there is none; to be filled before prepare().
  float* input(const std::string& name);
  int64_t elements(const std::string& name) const;
  const float* output() const;  // the first one
  int64_t output_elements() const;
  void prepare();  // what depends on constants alone
  void run();

 private:
  struct Launch {
    llvm_cpu::KernelEntry entry;
    int64_t trips;
    std::vector<void*> arguments;
  };
  std::vector<Launch> launches(const exec::PlannedPart& part, std::byte* arena) const;

  std::unique_ptr<llvm_cpu::CompiledKernels> code_;
  exec::Plan plan_;
  std::vector<Memory> memory_;  // of plan_.tensors; none for those in arenas
  Memory derived_, prologue_arena_, main_arena_;
  std::vector<Launch> prologue_, main_;
  std::string text_;
  double passes_ms_ = 0, code_ms_ = 0;
};

}  // namespace stria::bench
