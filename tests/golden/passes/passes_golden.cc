// SPDX-License-Identifier: Apache-2.0
// Stage passes: `RUN:` holds the steps of a pipeline, as between its brackets. They run on a model
// of two cores with 512-bit vectors; the output is what each step reports, and the program.
#include "golden.h"
#include "stria/builtins/evaluate.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/parser.h"
#include "stria/stripe/printer.h"

namespace {

const char* const kModel = R"({
  "name": "two cores",
  "mem_units": {"DRAM": {"count": 1}, "REG": {"count": 2}, "SRAM": {"count": 4, "size_KiB": 64}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32}, "CONV": {"count": 2}}
})";

stria::Result<std::string> run_passes(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::stripe::Program program, stria::stripe::parse(test.input));
  STRIA_ASSIGN(stria::HardwareModel model, stria::load_hardware_model({"model", kModel}));
  STRIA_ASSIGN(stria::Pipeline pipeline,
               stria::parse_pipeline({"pipeline", "[" + test.run + "]"}, {}, model,
                                     stria::passes::all_passes()));
  stria::PipelineOptions options;
  options.verify_each = true;
  const stria::EvaluateIntrinsic evaluate = stria::evaluate;
  options.evaluate = &evaluate;
  STRIA_ASSIGN(auto reports, stria::run_pipeline(program, pipeline, model, options));
  std::string out;
  for (const stria::StepReport& report : reports) out += "// " + report.to_string() + "\n";
  return out + stria::stripe::print(program);
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "passes", run_passes);
}
