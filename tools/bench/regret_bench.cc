// SPDX-License-Identifier: Apache-2.0
// Regret: for 40 matrix products and convolutions, the tile that llvm_cpu's pipeline chooses by
// cost beside the best of all tiles that it chooses from, each compiled and timed on one core as
// `measure_top` does; weights are constants, as in the layers of a network. Of many noisy times the
// shortest is shorter than it should be: so who is the best is decided by one set of runs, and how
// much better it is than the model's tile by other ones, of these two in turns.
//   stria_regret_bench [--rounds N] [--only TEXT] [--candidates FILE] [--times FILE [--hw FILE]]
// --only: shapes whose name contains it. --candidates: every candidate with its terms and its time.
// --times: nothing is timed; times are those of an earlier run's candidates, of this or of another
// machine, whose hardware model --hw is: what the model would choose there now.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "measure.h"
#include "median.h"
#include "must.h"
#include "regret_shapes.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/candidate_timer.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/walk.h"

namespace stria::bench {
namespace {

constexpr double kGeomeanGoal = 0.97, kWorstGoal = 0.90;
constexpr size_t kFinalists = 8;
// A product of 7 rows with 8 MB of weights, on an EPYC with 32 MB of L3: after one run 2.9 times as
// long as after four, after two runs 1.6 times.
constexpr int kWarmRuns = 4;

// A candidate of one step, in the order of its cost.
struct Candidate {
  stripe::Program program;
  double ns = 0;  // its shortest run; infinite: it could not be built or run
};

// The model's choice, the first of the candidates, beside the best of them.
struct Contest {
  size_t best = 0;
  double model_ns = 0, best_ns = 0;
};

// "[x:6, k:32]": what the step has made of the innermost block.
std::string tile_of(const stripe::Program& program) {
  std::string out;
  stripe::visit_blocks(program.entry, [&](const stripe::Place& place) {
    const stripe::Block& block = *place.block;
    if (std::any_of(block.stmts.begin(), block.stmts.end(),
                    [](const stripe::Statement& statement) { return statement.block(); }))
      return;
    std::vector<std::string> parts;
    for (const stripe::Index& index : block.idxs)
      if (index.range > 1) parts.push_back(fmt::format("{}:{}", index.name, index.range));
    out = "[" + join(parts, ", ") + "]";
  });
  return out;
}

// Of an earlier run, by shape and tile.
using KnownTimes = std::map<std::string, double>;

std::string key_of(const std::string& shape, const std::string& tile) { return shape + tile; }

KnownTimes read_times(const std::string& path) {
  KnownTimes out;
  std::istringstream lines(must(read_file(path)));
  for (std::string line; std::getline(lines, line);) {
    const size_t name_end = line.find(" | "), ns = line.find(" | ", name_end + 3) + 3,
                 tile = line.find('[', ns), end = line.find(']', tile);
    STRIA_CHECK(end != std::string::npos, "{}: no candidate: {}", path, line);
    std::string sizes;  // as tile_of() has them
    std::istringstream parts(line.substr(tile + 1, end - tile - 1));
    for (std::string part; std::getline(parts >> std::ws, part, ',');)
      if (!part.ends_with(":1")) sizes += (sizes.empty() ? "" : ", ") + part;
    out[key_of(line.substr(0, name_end), "[" + sizes + "]")] = std::atof(line.c_str() + ns);
  }
  return out;
}

struct Row {
  std::string step;
  size_t candidates = 0, failed = 0;
  std::string by_model, best;
  double model_ns = 0, best_ns = 0;
  size_t rank = 0;  // of the best one by the model, from 1
  double ratio() const { return best_ns / model_ns; }
};

class Sweep {
 public:
  Sweep(const Device& device, const HardwareModel& model, const SourceText& pipeline, int rounds,
        const KnownTimes& known)
      : device_(device),
        model_(model),
        rounds_(rounds),
        known_(known),
        passes_(passes::pass_registry()) {
    steps_ = must(parse_pipeline(pipeline, {{"MEASURE_TOP", "1000"}}, model_, passes_));
  }

  // A row for each step that had a choice.
  std::vector<Row> run(const RegretShape& shape, std::FILE* terms) {
    const Program program = must(Program::from_tile({shape.name, shape.text}));
    CompileOptions weights;
    weights.constants = {shape.weights};
    stripe::Program stripe = must(lower_program(program, shape.inputs, weights)).generic;
    CandidateTimer timer(device_, steps_, options_);
    std::vector<Candidate> candidates;
    // The pass is told the same time for all, so that it goes on with the model's choice.
    Measure record;
    record.times = one_by_one([&](const stripe::Program& candidate) -> Result<double> {
      if (!known_.empty()) {
        auto time = known_.find(key_of(shape.name, tile_of(candidate)));
        candidates.push_back({candidate, time == known_.end() ? INFINITY : time->second});
        return 1.0;
      }
      candidates.push_back({candidate, INFINITY});
      return 1.0;
    });
    std::vector<Row> rows;
    PipelineOptions how;
    how.intrinsics = &intrinsic_signatures();
    how.evaluate = &intrinsic_evaluator();
    how.measure = &record;
    if (terms) how.explain = "autotile";
    how.after_step = [&](int position, const StepReport& report, const stripe::Program&) {
      if (!candidates.empty()) {
        const Contest contest = known_.empty()
                                    ? time_all(candidates, timer, shape.name + ", " + report.step)
                                    : by_times(candidates);
        if (terms) write_terms(shape, report, candidates, terms);
        rows.push_back(row_of(report.step, candidates, contest));
        candidates.clear();
      }
      timer.runs(static_cast<size_t>(position) + 1);
    };
    must(run_pipeline(stripe, steps_, model_, how));
    return rows;
  }

 private:
  // Nanoseconds of one run, after some that bring the candidate's own copies of weights back into
  // the caches.
  static double warm_ns(const ReadyCandidate& candidate) {
    for (int n = 0; n < kWarmRuns; ++n) must(candidate.run(1));
    return must(candidate.run(1)).run_ns;
  }

  // In rounds over all of them, so that a slow minute of the machine slows all alike; the shortest
  // run of each. Then more rounds over those that may be the best. The one that then is the best
  // and the model's choice are timed anew. `where`: shape and step, for errors.
  Contest time_all(std::vector<Candidate>& candidates, CandidateTimer& timer,
                   const std::string& where) const {
    constexpr double kSpent = 2e9;  // ns, after the first rounds
    std::vector<std::pair<size_t, ReadyCandidate>> ready;
    for (size_t i = 0; i < candidates.size(); ++i) {
      Result<ReadyCandidate> one = timer.ready(candidates[i].program);
      if (i == 0) must(one.status().with_context(where + ": the model's choice was not built"));
      if (one.ok())
        ready.emplace_back(i, *std::move(one));
      else
        std::fprintf(stderr, "%s\n", one.status().to_string().c_str());
    }
    double spent = 0;
    const auto round = [&] {
      for (const auto& [i, candidate] : ready) {
        const double ns = warm_ns(candidate);
        candidates[i].ns = std::min(candidates[i].ns, ns);
        spent += ns;
      }
    };
    const auto sort = [&] {
      std::stable_sort(ready.begin(), ready.end(), [&](const auto& a, const auto& b) {
        // The model's choice stays.
        const auto time = [&](size_t i) { return i == 0 ? 0 : candidates[i].ns; };
        return time(a.first) < time(b.first);
      });
    };
    for (int n = 0; n < 5 || (n < rounds_ && spent < kSpent); ++n) round();
    sort();
    if (ready.size() > kFinalists) ready.erase(ready.begin() + kFinalists, ready.end());
    for (int n = 0; n < rounds_; ++n) round();
    sort();
    if (ready.size() == 1) return {0, candidates[0].ns, candidates[0].ns};
    return time_again(ready[0].second, ready[1].second, ready[1].first);
  }

  // By the times that are known.
  static Contest by_times(const std::vector<Candidate>& candidates) {
    const auto best =
        std::min_element(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; });
    return {static_cast<size_t>(best - candidates.begin()), candidates[0].ns, best->ns};
  }

  // The two in turns, each first in every other turn. The quotient of their times is the median of
  // all turns' quotients.
  Contest time_again(const ReadyCandidate& by_model, const ReadyCandidate& other,
                     size_t position) const {
    std::vector<double> times, quotients;
    for (int n = 0; n < 2 * rounds_ + 1; ++n) {
      double first = n % 2 == 0 ? warm_ns(by_model) : 0;
      const double second = warm_ns(other);
      if (n % 2 == 1) first = warm_ns(by_model);
      times.push_back(first);
      quotients.push_back(second / first);
    }
    const double ns = median(times), quotient = median(quotients);
    return quotient < 1 ? Contest{position, ns, ns * quotient} : Contest{0, ns, ns};
  }

  static Row row_of(const std::string& step, const std::vector<Candidate>& candidates,
                    const Contest& contest) {
    Row row;
    row.step = step;
    row.candidates = candidates.size();
    for (const Candidate& candidate : candidates) row.failed += candidate.ns < INFINITY ? 0 : 1;
    row.by_model = tile_of(candidates[0].program);
    row.model_ns = contest.model_ns;
    row.best = tile_of(candidates[contest.best].program);
    row.best_ns = contest.best_ns;
    row.rank = contest.best + 1;
    return row;
  }

  static void write_terms(const RegretShape& shape, const StepReport& report,
                          const std::vector<Candidate>& candidates, std::FILE* terms) {
    size_t n = 0;
    for (const std::string& note : report.notes) {
      if (note.find("cycles=") == std::string::npos || n == candidates.size()) continue;
      std::string line = note;
      std::replace(line.begin(), line.end(), '\n', ' ');
      std::fprintf(terms, "%s | %s | %.0f | %s\n", shape.name.c_str(), report.step.c_str(),
                   candidates[n++].ns, line.c_str());
    }
    std::fflush(terms);
  }

  const Device& device_;
  const HardwareModel& model_;
  const int rounds_;
  const KnownTimes& known_;
  const PassRegistry passes_;
  const CompileOptions options_;
  Pipeline steps_;
};

struct Asked {
  int rounds = 21;
  std::string only, candidates, times, hw;
};

int run(const Asked& asked) {
  RuntimeOptions how;
  how.threads = 1;
  how.only_plugins = {"llvm_cpu"};
  Runtime runtime(how);
  const Device device = must(runtime.open("llvm_cpu"));
  const std::vector<PluginInfo> plugins = runtime.plugins();
  STRIA_CHECK(!plugins.empty(), "no plugin");
  SourceText pipeline{"passes/cpu.json",
                      must(read_file(plugins[0].directory / "passes" / "cpu.json"))};
  std::FILE* terms = nullptr;
  if (!asked.candidates.empty()) {
    terms = std::fopen(asked.candidates.c_str(), "w");
    STRIA_CHECK(terms, "cannot write {}", asked.candidates);
    const std::string from = "\"measure_top\"";
    for (size_t at = 0; (at = pipeline.text.find(from, at)) != std::string::npos;) {
      pipeline.text.insert(at, "\"explain_top\": 1000, ");
      at += from.size() + 21;
    }
  }
  const KnownTimes known = asked.times.empty() ? KnownTimes() : read_times(asked.times);
  const HardwareModel model =
      asked.hw.empty() ? Inside::model(device)
                       : must(load_hardware_model({asked.hw, must(read_file(asked.hw))}));
  Sweep sweep(device, model, pipeline, asked.rounds, known);
  if (known.empty())
    std::printf("%s; llvm_cpu on one core, fp32, the best of %d rounds, then both in turns\n",
                machine_text().c_str(), asked.rounds);
  else
    std::printf("%s; times of %s\n", model.name.c_str(), asked.times.c_str());
  std::printf("%-34s %-15s %5s %8s %8s %6s %5s  %-26s %s\n", "shape", "step", "tiles", "GFLOP/s",
              "best", "ratio", "rank", "by model", "best");
  double logs = 0, worst = INFINITY;
  size_t shapes = 0, count = 0, failed = 0;
  std::string worst_name;
  for (const RegretShape& shape : regret_shapes()) {
    if (shape.name.find(asked.only) == std::string::npos) continue;
    ++shapes;
    for (const Row& row : sweep.run(shape, terms)) {
      std::printf("%-34s %-15s %5zu %8.1f %8.1f %6.3f %5zu  %-26s %s\n", shape.name.c_str(),
                  row.step.c_str(), row.candidates, shape.operations / row.model_ns,
                  shape.operations / row.best_ns, row.ratio(), row.rank, row.by_model.c_str(),
                  row.best.c_str());
      std::fflush(stdout);
      logs += std::log(row.ratio());
      failed += row.failed;
      ++count;
      if (row.ratio() < worst) worst_name = shape.name;
      worst = std::min(worst, row.ratio());
    }
  }
  if (terms) std::fclose(terms);
  if (shapes == 0) {
    std::fprintf(stderr, "--only '%s': no shape has it in its name\n", asked.only.c_str());
    return 2;
  }
  if (count == 0) return 0;
  const double geomean = std::exp(logs / static_cast<double>(count));
  std::printf("%-46s %10.3f            %-16s over %zu choices\n",
              "model's choice over the best, geomean", geomean,
              geomean >= kGeomeanGoal ? ">= 0.97  met" : ">= 0.97  MISSED", count);
  std::printf("%-46s %10.3f            %-16s %s\n", "worst", worst,
              worst >= kWorstGoal ? ">= 0.90  met" : ">= 0.90  MISSED", worst_name.c_str());
  if (failed > 0) std::printf("%zu candidates could not be built or run\n", failed);
  return 0;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  const std::map<std::string, std::string*> texts = {{"--only", &asked.only},
                                                     {"--candidates", &asked.candidates},
                                                     {"--times", &asked.times},
                                                     {"--hw", &asked.hw}};
  for (int n = 1; n < argc; ++n) {
    const bool more = n + 1 < argc;
    auto text = texts.find(argv[n]);
    if (std::strcmp(argv[n], "--rounds") == 0 && more && std::atoi(argv[n + 1]) > 0) {
      asked.rounds = std::atoi(argv[++n]);
    } else if (text != texts.end() && more) {
      *text->second = argv[++n];
    } else {
      std::fprintf(stderr,
                   "usage: stria_regret_bench [--rounds N] [--only TEXT] [--candidates FILE] "
                   "[--times FILE [--hw FILE]]\n");
      return 2;
    }
  }
  return stria::bench::run(asked);
}
