// SPDX-License-Identifier: Apache-2.0
// Stage passes: `RUN:` holds the steps of a pipeline, as between its brackets. They run on a model
// of two cores with 512-bit vectors and two convolution units; the output is what each step
// reports, with its notes if the step is named `explain`, and the program. Before the steps may
// stand `hw=FILE`, a hardware model of this repository, and `explain=PASS`: the pass then notes why
// it decides as it does. `pipeline=FILE` stands for the steps of a file; `set=A=1,B=2` sets
// parameters of model and pipeline. With `stages=all` the program is printed after every step that
// changed it.
#include "golden.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/builtins/evaluate.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace {

const char* const kModel = R"({
  "name": "two cores",
  "mem_units": {"DRAM": {"count": 1}, "REG": {"count": 2}, "SRAM": {"count": 4, "size_KiB": 64}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32},
    "CONV": {"count": 2, "pipeline_depth": 2, "instructions": {
      "dot": {
        "idxs": [{"name": "m", "size": 1}, {"name": "n", "size": 4}, {"name": "k", "size": 8}],
        "operands": {
          "A": {"type": "i8", "dims": ["m", "k"], "home": "SRAM"},
          "B": {"type": "i8", "dims": ["k", "n"], "home": "SRAM"},
          "C": {"type": "i32", "dims": ["m", "n"], "home": "SRAM", "written": true}}},
      "tile": {
        "idxs": [{"name": "m", "size": 4}, {"name": "n", "size": 4}, {"name": "k", "size": 8}],
        "operands": {
          "A": {"type": "i8", "dims": ["m", "k"], "home": "SRAM"},
          "B": {"type": "i8", "dims": ["k", "n"], "home": "SRAM"},
          "C": {"type": "i32", "dims": ["m", "n"], "home": "SRAM", "written": true}}},
      "fragments": {
        "idxs": [{"name": "m", "size": 2}, {"name": "n", "size": 2}, {"name": "k", "size": 2}],
        "operands": {
          "A": {"type": "fp16", "dims": ["m", "k"], "home": "REG",
                "fragment": {"lane": "d0[0+:1]", "slot": "d1[0+:1]"}},
          "B": {"type": "fp16", "dims": ["k", "n"], "home": "REG",
                "fragment": {"lane": "d1[0+:1]", "slot": "d0[0+:1]"}},
          "C": {"type": "fp32", "dims": ["m", "n"], "home": "REG", "written": true,
                "fragment": {"lane": "d0[0+:1]", "slot": "d1[0+:1]"}}}}}}}
})";

stria::Result<stria::HardwareModel> model_of(const std::string& file,
                                             const stria::TemplateSettings& settings) {
  if (file.empty()) return stria::load_hardware_model({"model", kModel});
  STRIA_ASSIGN(const std::string text, stria::read_file(STRIA_SOURCE_DIR "/" + file));
  return stria::load_hardware_model({STRIA_SOURCE_DIR "/" + file, text}, settings);
}

stria::Result<stria::SourceText> steps_of(const stria::golden::Case& test) {
  const std::string file = test.option("pipeline");
  if (file.empty())
    return stria::SourceText{"pipeline", "[" + test.run.substr(test.run.find('{')) + "]"};
  STRIA_ASSIGN(const std::string text, stria::read_file(STRIA_SOURCE_DIR "/" + file));
  return stria::SourceText{file, text};
}

stria::Result<std::string> run_passes(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::stripe::Program program, stria::stripe::parse(test.input));
  stria::TemplateSettings settings;
  for (const std::string& setting : stria::split(test.option("set"), ','))
    if (const size_t at = setting.find('='); at != std::string::npos)
      settings[setting.substr(0, at)] = setting.substr(at + 1);
  STRIA_ASSIGN(stria::HardwareModel model, model_of(test.option("hw"), settings));
  STRIA_ASSIGN(stria::SourceText steps, steps_of(test));
  STRIA_ASSIGN(stria::Pipeline pipeline,
               stria::parse_pipeline(steps, settings, model, stria::passes::pass_registry()));
  stria::PipelineOptions options;
  options.explain = test.option("explain");
  options.verify_each = true;
  const stria::EvaluateIntrinsic evaluate = stria::evaluate;
  options.evaluate = &evaluate;
  std::string stages;
  if (test.option("stages") == "all")
    options.after_step = [&](int, const stria::StepReport& report,
                             const stria::stripe::Program& now) {
      stages += "// " + report.to_string() + "\n";
      if (report.changed > 0) stages += stria::stripe::print(now);
    };
  STRIA_ASSIGN(auto reports, stria::run_pipeline(program, pipeline, model, options));
  if (!stages.empty()) return stages;
  std::string out;
  for (const stria::StepReport& report : reports)
    for (const std::string& line : stria::split(
             report.to_string(report.step == "explain" || report.pass == options.explain), '\n'))
      out += "// " + line + "\n";
  return out + stria::stripe::print(program);
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "passes", run_passes);
}
