// SPDX-License-Identifier: Apache-2.0
// What the simple passes cost on programs of the shape of ResNet-50: each alone on the generic
// program, and all together one after the other; the network itself, and ones two and four times as
// long, which tells whether the time is linear in the kernels. Then what one choice of a tile
// costs.
//   stria_passes_bench [ROUNDS]
//   stria_passes_bench ROUNDS PIPELINE.json MODEL.json [NAME=VALUE…]    another pipeline, with its
//   model stria_passes_bench ROUNDS PIPELINE.json MODEL.json layers [NAME=VALUE…]
//                                  layers of 8-bit integers instead: 102, 504 and 1,008 kernels
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "autotile_rows.h"
#include "layers.h"
#include "measure.h"
#include "must.h"
#include "resnet50.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/builtins/evaluate.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/tile/syntax/parser.h"

namespace {

using namespace stria;
using bench::must;

const char kModel[] = R"({
  "name": "cpu", "clock_mhz": 2000,
  "mem_units": {"DRAM": {"count": 1, "size_KiB": 8388608}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32}}
})";

// In the order of a pipeline that would use them all.
const char kPipeline[] = R"([
  {"prune": {}},
  {"reorder_blocks": {}},
  {"localize": {}},
  {"scalarize": {}},
  {"constant_fold": {}},
  {"common_subexpression": {}},
  {"dead_code": {}},
  {"transpose": {}},
  {"constraint_reduction": {}},
  {"unroll": {"reqs": ["kernel"], "max_points": 4}},
  {"name": "unroll_kx", "unroll": {"reqs": ["kernel"], "expand_idx": "kx", "max_points": 8}},
  {"split_interior": {"expensive": []}},
  {"locate_memory": {"loc": {"name": "DRAM"}}},
  {"locate_block": {"loc": {"name": "CORE"}}},
  {"locate_block": {"inside": true, "loc": {"name": "CORE"}}},
  {"rewrite_locations": {"rewrites": [{"prefix": {"name": "CORE"}, "target": {"name": "CORE"}}]}},
  {"compute_deps": {}}
])";

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc >= 2 ? std::atoi(argv[1]) : 11;
  if (argc == 3 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: stria_passes_bench [ROUNDS [PIPELINE.json MODEL.json [NAME=VALUE…]]]\n");
    return 2;
  }
  SourceText pipeline_text{"simple passes", kPipeline}, model_text{"cpu.json", kModel};
  TemplateSettings settings;
  bool by_layers = false;
  if (argc > 3) {
    pipeline_text = {argv[2], must(read_file(argv[2]))};
    model_text = {argv[3], must(read_file(argv[3]))};
    for (int i = 4; i < argc; ++i) {
      const std::string text = argv[i];
      if (text == "layers") {
        by_layers = true;
        continue;
      }
      settings[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
  }
  const HardwareModel model = must(load_hardware_model(model_text, settings));
  const Pipeline pipeline =
      must(parse_pipeline(pipeline_text, settings, model, passes::pass_registry()));
  const EvaluateIntrinsic evaluator = evaluate;
  PipelineOptions options;
  options.evaluate = &evaluator;
  options.verify_each = false;
  const std::vector<int> repeats = {1, 2, 4};
  const std::vector<int64_t> blocks = {17, 84, 168};
  std::vector<stripe::Program> programs;
  std::vector<std::map<std::string, std::vector<double>>> times(repeats.size());
  std::vector<std::function<void()>> works;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (by_layers) {
      const bench::LayerNetwork net = bench::layers(blocks[i], 56, 32);
      const tile::Program parsed = must(tile::parse({"layers.tile", net.text}));
      programs.push_back(must(lower(must(tile::bind_program(parsed, "", net.inputs)))));
      continue;
    }
    const bench::ResNet50 net = bench::resnet50({.folded = false, .repeat = repeats[i]});
    const tile::Program parsed = must(tile::parse({"resnet50.tile", net.text}));
    programs.push_back(must(lower(must(tile::bind_program(parsed, "", net.inputs)))));
  }
  for (size_t i = 0; i < repeats.size(); ++i)
    works.push_back([&, i] {
      stripe::Program program = programs[i];
      for (const StepReport& report : must(run_pipeline(program, pipeline, model, options)))
        times[i][report.step].push_back(report.milliseconds);
    });
  bench::interleave(works, rounds, 1);
  // The best: passes run for less than the scheduler's slices of a shared machine.
  auto best = [](const std::vector<double>& list) {
    return *std::min_element(list.begin(), list.end());
  };
  std::printf("%s on programs of %s: best of %d rounds, ms\n", pipeline_text.name.c_str(),
              by_layers ? "layers of 8-bit integers, 56 x 56 x 32"
                        : "the shape of ResNet-50, batch 1, fp32, normalised",
              rounds);
  std::printf("machine: %s\n\n%-24s", bench::machine_text().c_str(), "kernels");
  for (const stripe::Program& program : programs)
    std::printf(" %10zu", program.main()->stmts.size());
  std::printf("\n");
  std::vector<double> sums(programs.size());
  for (const PipelineStep& step : pipeline.steps) {
    std::printf("%-24s", step.name.c_str());
    for (size_t i = 0; i < programs.size(); ++i) {
      const double ms = best(times[i][step.name]);
      sums[i] += ms;
      std::printf(" %10.3f", ms);
    }
    std::printf("\n");
  }
  std::printf("%-24s", "all");
  for (double sum : sums) std::printf(" %10.3f", sum);
  std::printf("\n");
  if (argc <= 3) bench::print_autotile_rows(std::min(rounds, 5));
  return 0;
}
