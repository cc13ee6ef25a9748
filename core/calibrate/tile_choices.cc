// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/tile_choices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stria/pass/measure.h"
#include "stria/pass/pipeline.h"
#include "stria/runtime/candidate_timer.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/program.h"
#include "stria/stripe/text/printer.h"

namespace stria::calibrate {
namespace {

constexpr int kAllTiles = 1000;
// After a run of another candidate, weights have to come back into the caches.
constexpr int kWarmRuns = 2;
constexpr size_t kFewestRounds = 6, kMostRounds = 60;
constexpr double kLeastSeconds = 0.5;  // of a program
constexpr double kFirstPart = 0.5;     // of the loss, by the first tile; the next has half the rest
constexpr size_t kFirstTiles = 6;
constexpr double kFar = 0.08, kFarFactor = 4;
// A tile that takes so much longer than the best one, as a log, counts 1/e in the spread.
constexpr double kNearBest = 0.25;

PipelineOptions with(const Measure& measure) {
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.measure = &measure;
  return how;
}

}  // namespace

Result<TileChoices> TileChoices::measure(const Device& device,
                                         const std::vector<TileProgram>& programs, double seconds,
                                         const Progress& progress) {
  TileChoices out(device);
  STRIA_ASSIGN(const Pipeline pipeline, Inside::pipeline(device, Inside::model(device), kAllTiles));
  const CompileOptions plain;
  const size_t count = std::min(programs.size(), static_cast<size_t>(seconds / kLeastSeconds));
  for (size_t p = 0; p < count; ++p) {
    const CalibrationProgram& from = programs[p].program;
    if (progress)
      progress("tiles of " + from.name, static_cast<double>(p) / static_cast<double>(count));
    STRIA_ASSIGN(const Program program, Program::from_tile({from.name, from.text}));
    CompileOptions weights;
    weights.constants = {programs[p].weights};
    STRIA_ASSIGN(Compilation lowered, lower_program(program, from.inputs, weights));
    Timed timed{from.name, lowered.generic, {}};
    CandidateTimer timer(device, pipeline, plain);
    Status failed;  // of a tile
    const double budget_ns = seconds * 1e9 / static_cast<double>(count);
    Measure all;
    all.times = [&](const Measure::Programs& candidates) {
      const std::vector<Result<ReadyCandidate>> ready = timer.all_ready(candidates);
      // The least of every other round: on a quiet machine both are the same.
      std::vector<std::array<double, 2>> least(candidates.size(), {INFINITY, INFINITY});
      double spent = 0;
      // In rounds over all of them, so that a slow moment of the machine slows all alike.
      for (size_t round = 0; round < kFewestRounds || (round < kMostRounds && spent < budget_ns);
           ++round)
        for (size_t i = 0; i < ready.size(); ++i) {
          if (!ready[i].ok()) {
            failed = ready[i].status();
            continue;
          }
          for (int run = 0; run <= kWarmRuns; ++run) {
            const Result<ReadyCandidate::Times> time = ready[i]->run(1);
            if (!time.ok()) {
              failed = time.status();
              continue;
            }
            spent += time->run_ns;
            double& shortest = least[i][round % 2];
            if (run == kWarmRuns) shortest = std::min(shortest, time->run_ns);
          }
        }
      for (size_t i = 0; i < candidates.size(); ++i) {
        const auto [low, high] = std::minmax(least[i][0], least[i][1]);
        if (!std::isfinite(high)) continue;
        timed.times[stripe::print(candidates[i])] = low;
        ++out.told_;
        out.unsteady_ += high > kSameTime * low;
      }
      // The pass goes on with the choice by cost.
      return std::vector<Result<double>>(candidates.size(), 1.0);
    };
    PipelineOptions how = with(all);
    how.after_step = [&](int position, const StepReport&, const stripe::Program&) {
      timer.runs(static_cast<size_t>(position) + 1);
    };
    stripe::Program stripe = lowered.generic;
    const Status ran = run_pipeline(stripe, pipeline, Inside::model(device), how).status();
    if (ran.ok()) {
      if (timed.times.size() > 1) out.programs_.push_back(std::move(timed));
      // Other tiles of it may have run.
      if (!failed.ok()) out.left_out_.push_back("a tile of " + from.name + ": " + failed.message());
    } else {
      out.left_out_.push_back(from.name + ": " + ran.message());
    }
  }
  return out;
}

Result<std::vector<std::vector<TileChoices::Tile>>> TileChoices::in_order(
    const HardwareModel& model, Programs of) const {
  STRIA_ASSIGN(const Pipeline pipeline, Inside::pipeline(*device_, model, kAllTiles));
  std::vector<std::vector<Tile>> out;
  for (size_t p = 0; p < programs_.size(); ++p) {
    if (of != Programs::all && (p % 2 == 0) != (of == Programs::even)) continue;
    const Timed& program = programs_[p];
    Measure known;
    std::vector<double> costs;
    known.costs = [&](const std::vector<double>& all) { costs = all; };
    known.times = [&](const Measure::Programs& candidates) {
      std::vector<Tile> tiles;
      // Candidates of other passes than autotile have no cost.
      for (size_t i = 0; costs.size() == candidates.size() && i < candidates.size(); ++i)
        if (const auto time = program.times.find(stripe::print(candidates[i]));
            time != program.times.end())
          tiles.push_back({costs.at(i), time->second});
      if (tiles.size() > 1) out.push_back(std::move(tiles));
      costs.clear();
      return std::vector<Result<double>>(candidates.size(), 1.0);
    };
    stripe::Program stripe = program.generic;
    STRIA_RETURN_IF_ERROR(
        run_pipeline(stripe, pipeline, model, with(known)).status().with_context(program.name));
  }
  return out;
}

double TileChoices::best_of(const std::vector<Tile>& tiles) {
  return std::min_element(tiles.begin(), tiles.end(),
                          [](const Tile& a, const Tile& b) { return a.ns < b.ns; })
      ->ns;
}

double TileChoices::unsteady_part() const {
  return told_ == 0 ? 0 : static_cast<double>(unsteady_) / static_cast<double>(told_);
}

Result<ChoiceError> TileChoices::error_of(const HardwareModel& model) const {
  STRIA_ASSIGN(const auto choices, in_order(model, Programs::all));
  ChoiceError out;
  double logs = 0;
  for (const std::vector<Tile>& tiles : choices) {
    const double ratio = best_of(tiles) / tiles[0].ns;
    logs += std::log(ratio);
    out.worst = std::min(out.worst, ratio);
  }
  out.choices = choices.size();
  if (!choices.empty()) out.geomean = std::exp(logs / static_cast<double>(choices.size()));
  return out;
}

double TileChoices::lost(const std::vector<Tile>& tiles) {
  const double best = best_of(tiles);
  double part = kFirstPart, sum = 0, parts = 0;
  for (size_t i = 0; i < std::min(tiles.size(), kFirstTiles); ++i, part *= 1 - kFirstPart) {
    const double error = std::log(tiles[i].ns / best);
    sum += part * (error + kFarFactor * std::max(0.0, error - kFar));
    parts += part;
  }
  return sum / parts;
}

double TileChoices::spread(const std::vector<Tile>& tiles) {
  const double best = best_of(tiles);
  double weights = 0, sum = 0, squares = 0;
  for (const Tile& tile : tiles) {
    const double weight = std::exp(-std::log(tile.ns / best) / kNearBest),
                 error = std::log(tile.cost / tile.ns);
    weights += weight;
    sum += weight * error;
    squares += weight * error * error;
  }
  return std::sqrt(std::max(0.0, squares / weights - sum / weights * (sum / weights)));
}

Result<ChoiceLoss> TileChoices::loss_of(const HardwareModel& model, Programs of) const {
  STRIA_ASSIGN(const auto choices, in_order(model, of));
  ChoiceLoss out;
  for (const std::vector<Tile>& tiles : choices) {
    out.lost += lost(tiles) / static_cast<double>(choices.size());
    out.spread += spread(tiles) / static_cast<double>(choices.size());
  }
  return out;
}

}  // namespace stria::calibrate
