// SPDX-License-Identifier: Apache-2.0
// Regret on simulated machines: for 40 matrix products and convolutions of 8-bit integers, the tile
// that a shipped pipeline chooses by the cost `staged_time` beside the best of all that are
// simulated, each of them taken through the rest of the pipeline; beside it what the cost `traffic`
// chooses.
//   stria_sim_regret_bench [--only TEXT] [--most N] [--candidates FILE]
// --only: rows whose model or shape contains it. --most: so many tiles of each cost are simulated,
// the best of it first (1000). --candidates: every tile simulated, with its terms.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "must.h"
#include "program/part_simulation.h"
#include "regret_shapes.h"
#include "sim_machines.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/pass/measure.h"
#include "stria/pass/pipeline.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::bench {
namespace {

using nlohmann::json;

constexpr double kGeomeanGoal = 0.97, kWorstGoal = 0.90;

// The pipeline's step that chooses tiles of products.
constexpr const char* kStep = "tile_products";

// What one cost makes of a kernel.
struct Choice {
  size_t tiles = 0, failed = 0;  // simulated
  double chosen = INFINITY;      // cycles, of what the cost ranks first
  double best = INFINITY;
};

class Sweep {
 public:
  Sweep(const SimMachine& machine, int64_t most)
      : machine_(machine), most_(most), model_(machine.load()) {
    const Pipeline steps = sim_pipeline(model_);
    rendered_ = json::parse(steps.to_json(0, steps.steps.size()));
  }

  // Every candidate of the step is taken through the steps behind it and simulated.
  Choice run(const RegretShape& shape, const char* cost, std::FILE* candidates) {
    json asks = rendered_;
    json& list = asks.is_array() ? asks : asks["passes"];
    json rest = json::array();
    bool behind = false;
    for (json& step : list) {
      if (behind) rest.push_back(step);
      if (step["name"] != kStep) continue;
      behind = true;
      step["autotile"]["cost"] = cost;
      step["autotile"]["search"] = "exhaustive";
      step["autotile"]["measure_top"] = most_;
      if (std::strcmp(cost, "traffic") == 0) {
        step["autotile"]["max_total_bytes"] = machine_.traffic_bytes;
        // What other costs alone have is refused.
        for (const char* other :
             {"unit", "or_unit", "transfer", "global", "spread", "may_spread", "banks", "bank_KiB"})
          step["autotile"].erase(other);
      }
      if (candidates) step["autotile"]["explain_top"] = most_;
    }
    STRIA_CHECK(behind, "{} has no step '{}'", kSimPipeline, kStep);
    const Pipeline all = parsed(asks), later = parsed(rest);
    Choice out;
    std::vector<double> cycles;
    Measure measure;
    measure.times = one_by_one([&](const stripe::Program& candidate) -> Result<double> {
      Result<double> found = simulated(candidate, later);
      ++out.tiles;
      if (!found.ok() && out.failed++ == 0)
        std::fprintf(stderr, "%s\n", found.status().to_string().c_str());
      const double takes = found.ok() ? *found : INFINITY;
      cycles.push_back(takes);
      if (out.tiles == 1) out.chosen = takes;
      out.best = std::min(out.best, takes);
      return found;
    });
    PipelineOptions how = sim_pipeline_options();
    how.measure = &measure;
    how.stop_after = kStep;
    if (candidates) how.explain = "autotile";
    std::map<std::string, tile::TensorType> inputs;
    for (const auto& [name, type] : shape.inputs) inputs[name] = {DataType::i8, type.sizes};
    stripe::Program program = must(
        lower(must(tile::bind_program(must(tile::parse({shape.name, shape.text})), "", inputs))));
    const std::vector<StepReport> reports = must(run_pipeline(program, all, model_, how));
    if (candidates) {
      size_t n = 0;
      for (const std::string& note : reports.back().notes)
        if (note.find("cycles=") != std::string::npos && n < cycles.size()) {
          std::string line = note;
          std::replace(line.begin(), line.end(), '\n', ' ');
          std::fprintf(candidates, "%s | %s | %.0f | %s\n", name().c_str(), shape.name.c_str(),
                       cycles[n++], line.c_str());
        }
    }
    return out;
  }

  std::string name() const { return machine_.name(); }

 private:
  Pipeline parsed(const json& steps) const {
    return must(parse_pipeline({kSimPipeline, steps.dump()}, {}, model_, passes::pass_registry()));
  }
  Result<double> simulated(stripe::Program program, const Pipeline& steps) const {
    STRIA_RETURN_IF_ERROR(run_pipeline(program, steps, model_, sim_pipeline_options()).status());
    STRIA_ASSIGN(const sim::PartSimulation run,
                 sim::simulate_part(program, *program.main(), model_));
    return static_cast<double>(run.machine.cycles(run.ticks()));
  }

  const SimMachine machine_;
  const int64_t most_;
  const HardwareModel model_;
  json rendered_;
};

// Over all rows so far.
struct Total {
  double logs = 0, worst = INFINITY;
  size_t count = 0;
  std::string worst_name;
  void add(double ratio, const std::string& name) {
    logs += std::log(ratio);
    ++count;
    if (ratio < worst) worst_name = name;
    worst = std::min(worst, ratio);
  }
  double geomean() const { return std::exp(logs / static_cast<double>(count)); }
};

int run(const std::string& only, int64_t most, std::FILE* candidates) {
  std::printf("%-30s %-26s %6s %10s %10s %6s %10s\n", "model", "shape", "tiles", "cycles", "best",
              "ratio", "traffic");
  bool met = true, any = false;
  for (const SimMachine& machine : sim_machines()) {
    Sweep sweep(machine, most);
    Total by_time, by_traffic;
    size_t failed = 0;
    for (const RegretShape& shape : regret_shapes()) {
      if ((sweep.name() + " " + shape.name).find(only) == std::string::npos) continue;
      any = true;
      const Choice time = sweep.run(shape, "staged_time", candidates),
                   traffic = sweep.run(shape, "traffic", nullptr);
      const double best = std::min(time.best, traffic.best);
      failed += time.failed + traffic.failed;
      if (time.tiles == 0) {
        std::printf("%-30s %-26s no tile fits\n", sweep.name().c_str(), shape.name.c_str());
        continue;
      }
      const std::string of_traffic =
          traffic.tiles > 0 ? fmt::format("{:.3f}", best / traffic.chosen) : "none fits";
      std::printf("%-30s %-26s %6zu %10.0f %10.0f %6.3f %10s\n", sweep.name().c_str(),
                  shape.name.c_str(), time.tiles + traffic.tiles, time.chosen, best,
                  best / time.chosen, of_traffic.c_str());
      std::fflush(stdout);
      by_time.add(best / time.chosen, shape.name);
      if (traffic.tiles > 0) by_traffic.add(best / traffic.chosen, shape.name);
    }
    if (by_time.count == 0) continue;
    met = met && by_time.geomean() >= kGeomeanGoal && by_time.worst >= kWorstGoal;
    std::printf("%s: geomean %.3f (>= %.2f %s), worst %.3f (>= %.2f %s, %s); traffic %.3f, %.3f\n",
                sweep.name().c_str(), by_time.geomean(), kGeomeanGoal,
                by_time.geomean() >= kGeomeanGoal ? "met" : "MISSED", by_time.worst, kWorstGoal,
                by_time.worst >= kWorstGoal ? "met" : "MISSED", by_time.worst_name.c_str(),
                by_traffic.geomean(), by_traffic.worst);
    if (failed > 0) std::printf("%zu tiles could not be simulated\n", failed);
  }
  if (!any) {
    std::fprintf(stderr, "--only '%s': no model and shape have it in their names\n", only.c_str());
    return 2;
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  std::string only;
  int64_t most = 1000;
  std::FILE* candidates = nullptr;
  for (int n = 1; n < argc; ++n) {
    const bool more = n + 1 < argc;
    if (std::strcmp(argv[n], "--only") == 0 && more) {
      only = argv[++n];
    } else if (std::strcmp(argv[n], "--most") == 0 && more && std::atoi(argv[n + 1]) > 0) {
      most = std::atoi(argv[++n]);
    } else if (std::strcmp(argv[n], "--candidates") == 0 && more &&
               (candidates = std::fopen(argv[n + 1], "w"))) {
      ++n;
    } else {
      std::fprintf(stderr,
                   "usage: stria_sim_regret_bench [--only TEXT] [--most N] [--candidates FILE]\n");
      return 2;
    }
  }
  const int out = stria::bench::run(only, most, candidates);
  if (candidates) std::fclose(candidates);
  return out;
}
