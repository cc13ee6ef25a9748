// SPDX-License-Identifier: Apache-2.0
// Mappings by hand (by_hand/) beside those of the shipped pipeline, on the same models: simulated
// cycles, what the machine needs at least, and the ratio.
//   stria_sim_hand_bench [--only TEXT]
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "program/part_simulation.h"
#include "sim_machines.h"
#include "stria/base/text.h"
#include "stria/cost/block/machine_bound.h"
#include "stria/hwmodel/machine_roles.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::bench {
namespace {

const std::string kFolder = STRIA_SOURCE_DIR "/tools/bench/sim/by_hand/";

SourceText text_of(const std::string& name) { return {name, must(read_file(kFolder + name))}; }

double cycles(stripe::Program program, const HardwareModel& model, const Pipeline& pipeline) {
  must(run_pipeline(program, pipeline, model, sim_pipeline_options()));
  const sim::PartSimulation run = must(sim::simulate_part(program, *program.main(), model));
  return static_cast<double>(run.machine.cycles(run.ticks()));
}

int run(const std::string& only) {
  std::printf("%-16s %-16s %12s %12s %12s %7s\n", "pair", "model", "needs", "by hand", "shipped",
              "ratio");
  double logs = 0, worst = 0;
  size_t rows = 0, slower = 0;
  for (const auto& pair : nlohmann::json::parse(text_of("pairs.json").text)) {
    const std::string name = pair["pair"], machine = pair["model"];
    if (name.find(only) == std::string::npos) continue;
    std::map<std::string, tile::TensorType> inputs;
    for (const auto& [input, type] : pair["inputs"].items()) {
      tile::TensorType& to = inputs[input];
      to.type = *parse_data_type(type[0].get<std::string>());
      for (size_t d = 1; d < type.size(); ++d) to.sizes.push_back(type[d]);
    }
    const HardwareModel model = SimMachine{machine.c_str(), 0, {}}.load();
    const stripe::Program program = must(
        lower(must(tile::bind_program(must(tile::parse(text_of(name + ".tile"))), "", inputs))));
    const Pipeline by_hand =
        must(parse_pipeline(text_of(name + ".json"), {}, model, passes::pass_registry()));
    const double hand = cycles(program, model, by_hand),
                 shipped = cycles(program, model, sim_pipeline(model));
    const auto needs = cost::machine_bounds(program, model, roles_of(model).main);
    std::printf("%-16s %-16s %12.0f %12.0f %12.0f %7.3f\n", name.c_str(), machine.c_str(),
                needs.empty() ? 0 : needs[0].cycles, hand, shipped, shipped / hand);
    std::fflush(stdout);
    logs += std::log(shipped / hand);
    worst = std::max(worst, shipped / hand);
    slower += shipped > hand;
    ++rows;
  }
  if (rows == 0) {
    std::fprintf(stderr, "--only '%s': no pair has it in its name\n", only.c_str());
    return 2;
  }
  std::printf("shipped over by hand: geomean %.3f, worst %.3f (<= 1 %s); slower in %zu of %zu\n",
              std::exp(logs / static_cast<double>(rows)), worst, worst <= 1 ? "met" : "MISSED",
              slower, rows);
  return worst <= 1 ? 0 : 1;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) { return stria::bench::run(stria::bench::only_of(argc, argv)); }
