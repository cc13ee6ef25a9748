// SPDX-License-Identifier: Apache-2.0
// Tiles that the model chooses beside the fastest of its best N, which `tune` finds by timing them:
// both in turns, by the clock of the device, which does not wait for the host, and the seconds that
// finding takes.
//   stria_tune_bench --device SELECTOR [--tune N] [--set NAME,…] [--only TEXT] [--part K/N]
//                    [--rounds N] [--json FILE] [--sets FOLDER]
// --set: sets whose name begins so. --only: rows whose name contains it. --part: of these every
// Nth, from the Kth, so that a machine that is lent for minutes does all in several calls. Times
// that are kept in the user's cache folder are not measured again: with $XDG_CACHE_HOME at an empty
// folder seconds are those of the first time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "../cpu/cases.h"
#include "../median.h"
#include "../must.h"
#include "../options.h"
#include "device_row.h"

namespace stria::bench {
namespace {

constexpr double kRegretGoal = 0.9;  // model's throughput over the best, each row
constexpr double kLossGoal = 0.98;   // tuned throughput over the model's, each row

struct Asked {
  std::string device, set, only, part, json, sets;
  int rounds = 9, tune = 8;
};

struct Built {
  Executable made;
  double seconds = 0;
};

Result<Built> build(const Device& device, const Case& row, int tune) {
  CompileOptions options;
  options.tune = tune;
  options.constants = row.constants;
  const Program program = must(Program::from_tile({row.name, row.text}));
  const auto begin = std::chrono::steady_clock::now();
  Result<Executable> made = device.compile(program, row.inputs, options);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (!made.ok()) return made.status();
  return Built{*std::move(made), taken.count()};
}

nlohmann::json measure_row(const Device& device, BusyDevice& busy, const Case& row,
                           const Asked& asked) {
  nlohmann::json out = {{"name", row.name}};
  const Result<Built> by_model = build(device, row, 0);
  const Result<Built> tuned =
      by_model.ok() ? build(device, row, asked.tune) : Result<Built>(by_model.status());
  if (!tuned.ok()) {
    out["error"] = tuned.status().to_string();
    std::printf("%-44s %s\n", row.name.c_str(), tuned.status().to_string().c_str());
    return out;
  }
  out.update({{"compile_s", by_model->seconds}, {"tune_s", tuned->seconds}});
  const bool same = by_model->made.device_stripe() == tuned->made.device_stripe();
  const DeviceRow first(device, by_model->made), second(tuned->made, first);
  first.ms(1), second.ms(1);
  const uint32_t in_a_row = runs_in_a_row(first.ms(1));
  std::vector<double> model_ms, tuned_ms, ratios;
  for (int round = 0; round < asked.rounds; ++round) {
    // Each is the first one in every other turn.
    double a = round % 2 == 0 ? first.ms_queued(in_a_row, busy) : 0;
    const double b = second.ms_queued(in_a_row, busy);
    if (round % 2 == 1) a = first.ms_queued(in_a_row, busy);
    model_ms.push_back(a);
    tuned_ms.push_back(b);
    ratios.push_back(b / a);
  }
  // Of the same program the quotient is what clocks make of it.
  const double ratio = same ? 1 : median(ratios);
  out.update({{"model_ms", median(model_ms)},
              {"tuned_ms", median(tuned_ms)},
              {"same", same},
              {"ratio", ratio}});
  std::printf(
      "%-44s model %9.4f ms  tuned %9.4f ms  model over tuned %5.3f%s  %5.1f s, %4.1f untuned\n",
      row.name.c_str(), median(model_ms), median(tuned_ms), ratio,
      same ? " (the same)" : "           ", tuned->seconds, by_model->seconds);
  std::fflush(stdout);
  return out;
}

void summarize(nlohmann::json& report) {
  double logs = 0, least = INFINITY, most = 0, seconds = 0;
  std::string worst, lost;
  size_t count = 0, failed = 0, same = 0;
  for (const nlohmann::json& set : report["sets"])
    for (const nlohmann::json& row : set["rows"]) {
      if (row.contains("error")) {
        ++failed;
        continue;
      }
      const double ratio = row["ratio"].get<double>();
      const std::string name = row["name"].get<std::string>();
      logs += std::log(ratio);
      if (ratio < least) worst = name;
      if (ratio > most) lost = name;
      least = std::min(least, ratio);
      most = std::max(most, ratio);
      seconds += row["tune_s"].get<double>();
      same += row["same"].get<bool>();
      ++count;
    }
  if (failed > 0) std::printf("%zu rows failed\n", failed);
  if (count == 0) return;
  const double geomean = std::exp(logs / static_cast<double>(count));
  report.update({{"geomean", geomean}, {"worst", least}, {"largest", most}, {"seconds", seconds}});
  std::printf("%zu rows, %zu with the model's own tile; %.1f seconds of tuning, %.1f a row\n",
              count, same, seconds, seconds / static_cast<double>(count));
  std::printf("model over tuned: geomean %.3f, worst %.3f  >= %.2f  %s  %s\n", geomean, least,
              kRegretGoal, least >= kRegretGoal ? "met" : "MISSED", worst.c_str());
  std::printf("tuned over model: worst %.3f  >= %.2f  %s  %s\n", 1 / most, kLossGoal,
              1 / most >= kLossGoal ? "met" : "MISSED", lost.c_str());
}

int run(const Asked& asked) {
  size_t part = 1, parts = 1;
  if (!asked.part.empty() && (std::sscanf(asked.part.c_str(), "%zu/%zu", &part, &parts) != 2 ||
                              part < 1 || part > parts)) {
    std::fprintf(stderr, "--part '%s': not K/N with K from 1 to N\n", asked.part.c_str());
    return 2;
  }
  const Runtime runtime;
  const Device device = must(runtime.open(asked.device));
  BusyDevice busy(device);
  std::printf("%s: %s, the best %d timed\n", device.name().c_str(), device.info().name.c_str(),
              asked.tune);
  nlohmann::json report = {{"device", device.info().name}, {"tune", asked.tune}};
  report["sets"] = nlohmann::json::array();
  size_t chosen = 0, rows = 0;
  for (const CaseSet& set : must(read_sets(asked.sets))) {
    if (!begins_with_one_of(set.name, asked.set)) continue;
    if (set.kind != SetKind::gemm && set.kind != SetKind::conv) continue;
    nlohmann::json of_set = {{"name", set.name}, {"rows", nlohmann::json::array()}};
    for (const Case& row : set.cases) {
      if (row.name.find(asked.only) == std::string::npos) continue;
      if (chosen++ % parts + 1 != part) continue;
      of_set["rows"].push_back(measure_row(device, busy, row, asked));
      ++rows;
    }
    report["sets"].push_back(std::move(of_set));
  }
  summarize(report);
  return end_report(report, asked.json, rows);
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  asked.sets = stria::bench::sets_folder(STRIA_SOURCE_DIR).string();
  const stria::bench::OptionTable options = {
      {{"--device", &asked.device},
       {"--set", &asked.set},
       {"--only", &asked.only},
       {"--part", &asked.part},
       {"--json", &asked.json},
       {"--sets", &asked.sets}},
      {{"--rounds", &asked.rounds}, {"--tune", &asked.tune}}};
  if (!stria::bench::read_options(argc, argv, options) || asked.device.empty() ||
      asked.rounds < 1 || asked.tune < 1) {
    std::fprintf(
        stderr,
        "usage: stria_tune_bench --device SELECTOR [--tune N] [--set NAME,...] [--only TEXT]\n"
        "                        [--part K/N] [--rounds N] [--json FILE] [--sets FOLDER]\n");
    return 2;
  }
  return stria::bench::run(asked);
}
