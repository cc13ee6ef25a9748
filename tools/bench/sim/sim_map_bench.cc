// SPDX-License-Identifier: Apache-2.0
// What `stria sim --map quick` gives away: for 40 matrix products and convolutions of 8-bit
// integers on each template, the cycles of the mapping that is found quickly over those of the one
// that is proven to be the cheapest, the time that both take, and how near to the cheapest tile
// each is proven to be.
//   stria_sim_map_bench [--only TEXT]
#include <chrono>
#include <cmath>
#include <cstdio>

#include "program/part_simulation.h"
#include "regret_shapes.h"
#include "sim_machines.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::bench {
namespace {

constexpr double kGeomeanGoal = 1.05, kWorstGoal = 1.15;

struct Mapping {
  double cycles = 0, milliseconds = 0, above = 0;
  int64_t looked_at = 0;
};

Mapping map(stripe::Program program, const HardwareModel& model, const char* how) {
  Mapping out;
  const auto start = std::chrono::steady_clock::now();
  const Pipeline pipeline = sim_pipeline(model, {{"MAP", how}});
  for (const StepReport& step :
       must(run_pipeline(program, pipeline, model, sim_pipeline_options())))
    for (const SearchProof& one : step.searches) {
      out.above = std::max(out.above, one.above());
      out.looked_at += one.looked_at;
    }
  const sim::PartSimulation run = must(sim::simulate_part(program, *program.main(), model));
  out.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  out.cycles = static_cast<double>(run.machine.cycles(run.ticks()));
  return out;
}

int run(const std::string& only) {
  std::printf("%-34s %-26s %10s %6s %8s %8s %8s %8s %7s %7s\n", "model", "shape", "best", "ratio",
              "ms", "ms best", "tiles", "of best", "proven", "of best");
  bool met = true, any = false;
  for (const SimMachine& machine : sim_machines()) {
    const HardwareModel model = machine.load();
    double logs = 0, worst = 0, quick_ms = 0, best_ms = 0;
    size_t rows = 0, unproven = 0;
    for (const RegretShape& shape : regret_shapes()) {
      if ((machine.name() + " " + shape.name).find(only) == std::string::npos) continue;
      std::map<std::string, tile::TensorType> inputs;
      for (const auto& [name, type] : shape.inputs) inputs[name] = {DataType::i8, type.sizes};
      const stripe::Program program = must(
          lower(must(tile::bind_program(must(tile::parse({shape.name, shape.text})), "", inputs))));
      const Mapping quick = map(program, model, "quick"), best = map(program, model, "best");
      const double ratio = quick.cycles / best.cycles;
      std::printf("%-34s %-26s %10.0f %6.3f %8.2f %8.1f %8lld %8lld %6.1f%% %6.1f%%\n",
                  machine.name().c_str(), shape.name.c_str(), best.cycles, ratio,
                  quick.milliseconds, best.milliseconds, static_cast<long long>(quick.looked_at),
                  static_cast<long long>(best.looked_at), 100 * quick.above, 100 * best.above);
      std::fflush(stdout);
      logs += std::log(ratio);
      worst = std::max(worst, ratio);
      quick_ms += quick.milliseconds;
      best_ms += best.milliseconds;
      unproven += best.above > 0;
      ++rows;
    }
    if (rows == 0) continue;
    any = true;
    const double geomean = std::exp(logs / static_cast<double>(rows));
    met = met && geomean <= kGeomeanGoal && worst <= kWorstGoal;
    std::printf(
        "%s: quick over best: geomean %.3f (<= %.2f %s), worst %.3f (<= %.2f %s); %.1f ms and %.0f "
        "ms a row; best did not finish in %zu of %zu rows\n",
        machine.name().c_str(), geomean, kGeomeanGoal, geomean <= kGeomeanGoal ? "met" : "MISSED",
        worst, kWorstGoal, worst <= kWorstGoal ? "met" : "MISSED",
        quick_ms / static_cast<double>(rows), best_ms / static_cast<double>(rows), unproven, rows);
  }
  if (!any) {
    std::fprintf(stderr, "--only '%s': no model and shape have it in their names\n", only.c_str());
    return 2;
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) { return stria::bench::run(stria::bench::only_of(argc, argv)); }
