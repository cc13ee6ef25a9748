// SPDX-License-Identifier: Apache-2.0
#include "mapped_cycles.h"

#include <gtest/gtest.h>

#include <regex>

#include "program/part_simulation.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/tile/syntax/parser.h"

namespace stria::sim {

stripe::Program mapped_program(const HardwareModel& model, const std::string& text,
                               const Inputs& inputs, bool chains) {
  static const EvaluateIntrinsic evaluator = evaluate;
  const std::string passes = STRIA_SOURCE_DIR "/plugins/sim/passes/scratchpad.json";
  std::string json = read_file(passes).value();
  const std::regex margin("\"at_most\": [0-9.]+");
  EXPECT_GE(std::distance(std::sregex_iterator(json.begin(), json.end(), margin), {}), 1);
  if (!chains) json = std::regex_replace(json, margin, "\"at_most\": 0.0001");
  const auto steps = parse_pipeline({passes, json}, {}, model, passes::pass_registry());
  EXPECT_TRUE(steps.ok()) << steps.status().to_string();
  auto parsed = tile::parse({"mapped", text});
  auto program = lower(*tile::bind_program(*parsed, "", inputs));
  PipelineOptions how;
  how.evaluate = &evaluator;
  const auto reports = run_pipeline(*program, *steps, model, how);
  EXPECT_TRUE(reports.ok()) << reports.status().to_string();
  return std::move(program).value();
}

double mapped_cycles(const std::string& machine, const TemplateSettings& settings,
                     const std::string& text, const Inputs& inputs, bool chains) {
  const std::string hw = STRIA_SOURCE_DIR "/hwmodels/templates/" + machine + ".json";
  const auto model = load_hardware_model({hw, read_file(hw).value()}, settings);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  const stripe::Program program = mapped_program(*model, text, inputs, chains);
  const auto run = simulate_part(program, *program.main(), *model);
  EXPECT_TRUE(run.ok()) << run.status().to_string();
  return static_cast<double>(run->machine.cycles(run->ticks()));
}

}  // namespace stria::sim
