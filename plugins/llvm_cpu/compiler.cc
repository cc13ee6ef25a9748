// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <optional>

#include "build_id.h"
#include "emit/compiled_kernels.h"
#include "library.h"
#include "stria/codegen/code_generator.h"

namespace stria::llvm_cpu {

sdk::Ref<sdk::Library> CpuCompiler::compile(std::string_view stripe, std::string_view options) {
  const code_generator::BuildOptions asked = code_generator::read_options(options);
  CompileOptions compile;
  compile.fast_math = asked.fast_math;
  compile.peepholes = asked.peepholes();
  compile.group_reductions = !asked.no_peepholes;
  compile.argument_offsets = true;
  compile.dump_semtree = compile.dump_ir = compile.dump_assembly = asked.dump_source;
  compile.parallel = [this](size_t count, const std::function<void(size_t)>& job) {
    host_.parallel_for(count, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t n = begin; n < end; ++n) job(n);
    });
  };
  // The program is what passes have made of it with the hardware model: that needs no mention.
  const std::string build = build_id();
  compile.keep_image = !asked.dump_source && !build.empty();
  std::string key;
  if (compile.keep_image) {
    key = "llvm_cpu, build " + build + ", " + code_key(compile) + "\n" + std::string(stripe);
    if (const std::optional<std::string> image = code_generator::kept(host_, key))
      if (auto loaded = load_kernels(*image); loaded.ok())
        return sdk::make<CpuLibrary>(host_, *std::move(loaded));
  }
  const stripe::Program program = code_generator::read_program(stripe);
  std::unique_ptr<CompiledKernels> code =
      code_generator::require(compile_kernels(program, compile));
  if (compile.keep_image) code_generator::keep(host_, key, code->take_image());
  return sdk::make<CpuLibrary>(host_, std::move(code));
}

}  // namespace stria::llvm_cpu
