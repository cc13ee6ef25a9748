// SPDX-License-Identifier: Apache-2.0
// The programs of tests/unit/kernels as CUDA C++: whatever they hold has to compile. There is no
// device to run them, so the interpreter gives the values.
#include <gtest/gtest.h>

#include "cuda/emit/dialect.h"
#include "kernel_runner.h"
#include "nvrtc.h"
#include "stria/interp/interpret.h"

namespace stria::kernels {

const int kOneOf = 12;

Status run_compiled(const stripe::Program& program, const std::string&, TestBuffers& buffers) {
  STRIA_ASSIGN(const semtree::ProgramSource source,
               semtree::print_program(program, cuda::dialect(), cuda::source_options()));
  if (nvrtc::why_missing().empty()) {
    Result<std::string> ptx = nvrtc::compile(source.text);
    if (!ptx)
      return ptx.status().with_context(source.text.substr(std::string(cuda::preamble()).size()));
  }
  std::vector<interp::TensorArg> tensors;
  for (const stripe::Refinement& ref : program.main()->refs) {
    if (ref.dir == stripe::RefDir::none) continue;
    TestBuffer& buffer = buffers.at(ref.from);
    tensors.push_back({ref.from, buffer.data(), buffer.shape});
  }
  interp::InterpOptions options;
  options.need_all_outputs = false;
  return interp::interpret(program, tensors, options);
}

}  // namespace stria::kernels
