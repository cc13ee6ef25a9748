// SPDX-License-Identifier: Apache-2.0
// What the shipped pipeline makes of products, convolutions and chains needs no more registers in
// its innermost loops than there are, by the register allocator's own remarks, with AVX-512 and
// with AVX2. Processors that have those need not run here.
#include <gtest/gtest.h>

#include "emit/compiled_kernels.h"
#include "stria/base/file.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/intrinsics.h"
#include "tools/bench/cpu/cases.h"

namespace stria::llvm_cpu {
namespace {

struct Target {
  const char* processor;
  int vector_bytes, vector_registers;
};

std::string file_text(const std::string& path) {
  auto text = read_file(STRIA_SOURCE_DIR + std::string("/") + path);
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  return text.ok() ? *text : "";
}

// As a failure prints it.
void PrintTo(const Target& target, std::ostream* out) { *out << target.processor; }

class Spills : public testing::TestWithParam<Target> {};

std::vector<std::string> inner_spills(const bench::Case& what, const Pipeline& pipeline,
                                      const HardwareModel& model, const char* processor) {
  const auto fails = [](const Status& status) {
    return std::vector<std::string>{status.to_string()};
  };
  auto program = Program::from_tile({what.name, what.text});
  if (!program.ok()) return fails(program.status());
  stria::CompileOptions constants;
  constants.constants = what.constants;
  auto lowered = lower_program(*program, what.inputs, constants);
  if (!lowered.ok()) return fails(lowered.status());
  stripe::Program device = std::move(lowered->generic);
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  if (auto steps = run_pipeline(device, pipeline, model, how); !steps.ok())
    return fails(steps.status());
  CompileOptions options;
  options.report_spills = true;
  options.assembly_for = processor;
  auto code = compile_kernels(device, options);
  if (!code.ok()) return fails(code.status());
  std::vector<std::string> out;
  for (const CompiledKernel& kernel : (*code)->kernels())
    for (const std::string& line : kernel.inner_spills)
      out.push_back(fmt::format("{}: {}", kernel.name, line));
  return out;
}

TEST_P(Spills, InnermostLoopsHaveNone) {
  const Target& target = GetParam();
  const std::string device =
      fmt::format(R"({{"exec_units": {{"CORE": {{"vector_bytes": {}, "vector_registers": {}}}}}}})",
                  target.vector_bytes, target.vector_registers);
  auto model =
      load_hardware_model({"hw/cpu.json", file_text("plugins/llvm_cpu/hw/cpu.json")}, {}, device);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  auto pipeline = parse_pipeline({"passes/cpu.json", file_text("plugins/llvm_cpu/passes/cpu.json")},
                                 {}, *model, passes::pass_registry());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  auto sets = bench::read_sets(STRIA_SOURCE_DIR "/tools/bench/cpu/sets");
  ASSERT_TRUE(sets.ok()) << sets.status().to_string();
  size_t rows = 0;
  for (const bench::CaseSet& set : *sets) {
    if (set.kind != bench::SetKind::conv && set.kind != bench::SetKind::memory &&
        set.name != "gemm_bert")
      continue;
    for (const bench::Case& what : set.cases) {
      ++rows;
      for (const std::string& line : inner_spills(what, *pipeline, *model, target.processor))
        ADD_FAILURE() << set.name << ", " << what.name << ", " << target.processor << ": " << line;
    }
  }
  EXPECT_GT(rows, 80u);
}

INSTANTIATE_TEST_SUITE_P(Processors, Spills,
                         testing::Values(Target{"sapphirerapids", 64, 32},
                                         Target{"haswell", 32, 16}),
                         [](const auto& info) {
                           return fmt::format("vectors_of_{}_bytes", info.param.vector_bytes);
                         });

}  // namespace
}  // namespace stria::llvm_cpu
