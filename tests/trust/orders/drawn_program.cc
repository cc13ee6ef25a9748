// SPDX-License-Identifier: Apache-2.0
#include "drawn_program.h"

#include "legal_program.h"
#include "tile_case.h"
#include "tile_program.h"

namespace stria::trust {
namespace {

const differential::GeneratorOptions kTile = {
    .min_statements = 1, .max_statements = 4, .reuse_percent = 80, .main_type_percent = 60};

stripe::Program tile_program(uint64_t seed) {
  const differential::GeneratedProgram generated = differential::generate(seed, kTile);
  std::map<std::string, tile::TensorType> types;
  for (const differential::GeneratedTensor& input : generated.inputs)
    types[input.name] = {input.type, input.sizes};
  Result<stripe::Program> program = passes::lower_text(generated.tile_text(), types);
  passes::mark_constants(*program, seed);
  return std::move(program).value();
}

}  // namespace

Result<Programs> Programs::load(const std::vector<PassInfo>& passes) {
  Programs out;
  out.machines_.push_back({"small machine", small_machine(), {}});
  STRIA_ASSIGN(std::vector<Shipped> shipped, shipped_pipelines());
  for (Shipped& one : shipped) {
    STRIA_ASSIGN(Pipeline pipeline, parse_pipeline({one.name, one.pipeline}, one.settings,
                                                   one.model, passes));
    out.machines_.push_back({one.name, std::move(one.model), std::move(pipeline)});
  }
  return out;
}

DrawnProgram Programs::draw(uint64_t number) const {
  Dice dice(number);
  DrawnProgram out;
  const size_t chance = dice.below(20);
  if (chance < 12) {
    out.kind = "legal";
    out.name = fmt::format("legal program {}", number);
    LegalOptions small;
    small.depth = 3;
    small.points = 60;
    out.program = legal_program(number, small);
    return out;
  }
  out.name = fmt::format("Tile program {}", number);
  out.program = tile_program(number);
  out.machine = dice.below(machines_.size());
  const std::vector<PipelineStep>& steps = machines_[out.machine].shipped.steps;
  const size_t begun = chance < 15 || steps.empty() ? 0 : 1 + dice.below(steps.size());
  for (size_t i = 0; i < begun; ++i) out.begins.push_back(steps[i].json);
  out.kind = begun > 0 ? "begun" : "tile";
  if (begun > 0) out.name += fmt::format(", {} steps of {}", begun, machines_[out.machine].name);
  return out;
}

}  // namespace stria::trust
