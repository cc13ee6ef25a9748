// SPDX-License-Identifier: Apache-2.0
// The tests of tests/unit/kernels on machine code: points in pieces of 3.
#include <algorithm>

#include "emit/compiled_kernels.h"
#include "kernel_runner.h"

namespace stria::kernels {

const int kOneOf = 1;

Status run_compiled(const stripe::Program& program, const std::string&, TestBuffers& buffers) {
  STRIA_ASSIGN(std::unique_ptr<llvm_cpu::CompiledKernels> compiled,
               llvm_cpu::compile_kernels(program));
  for (const llvm_cpu::CompiledKernel& kernel : compiled->kernels()) {
    std::vector<void*> args;
    for (const semtree::KernelArgument& argument : kernel.arguments)
      args.push_back(buffer_behind(program, argument.name, buffers).data());
    for (int64_t first = 0; first < kernel.trip_count; first += 3)
      kernel.entry(args.data(), first, std::min(first + 3, kernel.trip_count));
  }
  return {};
}

}  // namespace stria::kernels
