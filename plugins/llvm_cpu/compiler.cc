// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include "code_generator.h"
#include "emit/compiled_kernels.h"
#include "library.h"

namespace stria::llvm_cpu {

sdk::Ref<sdk::Library> CpuCompiler::compile(std::string_view stripe, std::string_view options) {
  const code_generator::BuildRequest request = code_generator::read_request(stripe, options);
  CompileOptions compile;
  compile.fast_math = request.fast_math;
  compile.dump_semtree = compile.dump_ir = compile.dump_assembly = request.dump_source;
  return sdk::make<CpuLibrary>(host_,
                               code_generator::require(compile_kernels(request.program, compile)));
}

}  // namespace stria::llvm_cpu
