// SPDX-License-Identifier: Apache-2.0
#include "mapped_cycles.h"

#include <gtest/gtest.h>

#include <regex>

#include "report/simulation_report.h"
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

namespace {

HardwareModel model_of(const std::string& machine, const TemplateSettings& settings) {
  const std::string hw = STRIA_SOURCE_DIR "/hwmodels/templates/" + machine + ".json";
  auto model = load_hardware_model({hw, read_file(hw).value()}, settings);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return std::move(model).value();
}

PartSimulation simulated(const HardwareModel& model, const std::string& text, const Inputs& inputs,
                         bool chains) {
  const stripe::Program program = mapped_program(model, text, inputs, chains);
  auto run = simulate_part(program, *program.main(), model);
  EXPECT_TRUE(run.ok()) << run.status().to_string();
  return std::move(run).value();
}

double cycles_of(const PartSimulation& run) {
  return static_cast<double>(run.machine.cycles(run.ticks()));
}

}  // namespace

double mapped_cycles(const std::string& machine, const TemplateSettings& settings,
                     const std::string& text, const Inputs& inputs, bool chains) {
  const HardwareModel model = model_of(machine, settings);
  return cycles_of(simulated(model, text, inputs, chains));
}

MappedRun mapped_run(const std::string& machine, const TemplateSettings& settings,
                     const TemplateSettings& prices, const std::string& text,
                     const Inputs& inputs) {
  HardwareModel model = model_of(machine, settings);
  const HardwareModel priced = model_of(machine, prices);
  for (MemoryUnit& memory : model.memories) {
    const MemoryUnit* other = priced.find_memory(memory.name);
    if (!other) {
      ADD_FAILURE() << "no price of " << memory.name;
      continue;
    }
    memory.read_pj_per_byte = other->read_pj_per_byte;
    memory.write_pj_per_byte = other->write_pj_per_byte;
  }
  const ReportedPart part{"main", simulated(model, text, inputs, true)};
  const Energy energy = energy_of(part);
  return {cycles_of(part.run), energy.total() - energy.leakage};
}

}  // namespace stria::sim
