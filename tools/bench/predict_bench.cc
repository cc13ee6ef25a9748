// SPDX-License-Identifier: Apache-2.0
// Predicted times of kernels beside measured ones, on the rows of the other benches.
//   stria_predict_bench --device SELECTOR [--set NAME,…] [--only TEXT] [--sets FOLDER]
//                       [--pipeline FILE] [--json FILE] [--terms 1]
// --set: sets whose name begins so. --only: rows whose name contains it. --terms: a line of terms
// for each kernel. A kernel's measured time is that of the quickest of each ten runs, the first one
// left out: what else a machine does makes times longer, never shorter.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cpu/cases.h"
#include "gpu/device_row.h"
#include "median.h"
#include "must.h"
#include "options.h"
#include "stria/base/file.h"
#include "stria/cost/kernel/kernel_time.h"
#include "stria/cost/kernel/section_nests.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {
namespace {

struct Asked {
  std::string device, set, only, sets, pipeline, json;
  int terms = 0;
};

// Shorter kernels are measured, but are no part of the summary.
constexpr double kShortest = 20e-6;
constexpr int kMostRuns = 50;
constexpr double kMostSeconds = 0.3;

double quick(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Row {
  std::string name;
  double predicted = 0, least = 0, most = 0, measured = 0;  // seconds
};

void add_kernels(const Device& device, const Case& row, const Asked& asked,
                 std::vector<Row>& rows) {
  CompileOptions options;
  options.watch_kernels = true;
  if (!asked.pipeline.empty())
    options.pipeline = SourceText{asked.pipeline, must(read_file(asked.pipeline))};
  const Program program = must(Program::from_tile({row.name, row.text}));
  Result<Executable> made = device.compile(program, row.inputs, options);
  if (!made.ok()) {
    std::printf("%-60s %s\n", row.name.c_str(), made.status().to_string().c_str());
    return;
  }
  const stripe::Program& text = Inside::compilation(*made).device;
  const DeviceRow runs(device, *made);
  std::vector<std::vector<double>> seconds;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<KernelTime> times;
  for (int run = 0; run <= kMostRuns; ++run) {
    const Event event = runs.run();
    must(event.wait());
    times = must(event.kernel_times());
    seconds.resize(times.size());
    for (size_t k = 0; run > 0 && k < times.size(); ++k)
      seconds[k].push_back(static_cast<double>(times[k].nanoseconds) * 1e-9);
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - begin;
    if (run >= 3 && so_far.count() > kMostSeconds) break;
  }
  const std::vector<cost::SectionNest> nests =
      cost::section_nests(*text.main(), Inside::model(device), true);
  for (size_t k = 0; k < times.size(); ++k) {
    for (const auto& [kernel, nest] : nests) {
      if (kernel->name != times[k].name) continue;
      const auto time = cost::kernel_time(nest, Inside::model(device));
      if (!time) continue;
      const Row out{row.name + ": " + kernel->name, time->seconds, time->least_seconds,
                    time->most_seconds, quick(seconds[k])};
      std::printf("%-60.60s %10.1f %10.1f us  %6.2f\n", out.name.c_str(), out.predicted * 1e6,
                  out.measured * 1e6, out.predicted / out.measured);
      if (asked.terms > 0) std::printf("    %s\n", cost::to_string(*time).c_str());
      rows.push_back(out);
      break;
    }
  }
  std::fflush(stdout);
}

void summarise(const std::vector<Row>& rows, const Asked& asked) {
  std::vector<double> errors;
  double within = 0, inside = 0, log_sum = 0;
  for (const Row& row : rows) {
    if (row.measured < kShortest) continue;
    const double error = std::abs(std::log(row.predicted / row.measured));
    errors.push_back(error);
    log_sum += std::log(row.predicted / row.measured);
    within += error <= std::log(1.3);
    inside += row.least <= row.measured && row.measured <= row.most;
  }
  if (errors.empty()) return;
  const auto count = static_cast<double>(errors.size());
  std::printf(
      "%zu kernels of %zu take over %.0f us: median factor %.3f, predicted over measured %.3f "
      "(geomean), within 1.3: %.1f%%, inside their interval: %.1f%%\n",
      errors.size(), rows.size(), kShortest * 1e6, std::exp(median(errors)),
      std::exp(log_sum / count), 100 * within / count, 100 * inside / count);
  if (asked.json.empty()) return;
  nlohmann::json out = nlohmann::json::array();
  for (const Row& row : rows)
    out.push_back({{"kernel", row.name},
                   {"predicted_us", row.predicted * 1e6},
                   {"least_us", row.least * 1e6},
                   {"most_us", row.most * 1e6},
                   {"measured_us", row.measured * 1e6}});
  must(write_file(asked.json, out.dump(1) + "\n"));
}

int run(const Asked& asked) {
  const Runtime runtime;
  const Device device = must(runtime.open(asked.device));
  std::printf("%s\n%-60s %10s %10s     %6s\n", device.info().name.c_str(), "kernel", "predicted",
              "measured", "ratio");
  std::vector<Row> rows;
  for (const CaseSet& set : must(read_sets(asked.sets))) {
    if (set.kind == SetKind::compile || set.kind == SetKind::threads ||
        !begins_with_one_of(set.name, asked.set))
      continue;
    for (const Case& row : set.cases)
      if (row.name.find(asked.only) != std::string::npos) add_kernels(device, row, asked, rows);
  }
  summarise(rows, asked);
  return 0;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  asked.sets = stria::bench::sets_folder(STRIA_SOURCE_DIR).string();
  const stria::bench::OptionTable options = {{{"--device", &asked.device},
                                              {"--set", &asked.set},
                                              {"--only", &asked.only},
                                              {"--sets", &asked.sets},
                                              {"--pipeline", &asked.pipeline},
                                              {"--json", &asked.json}},
                                             {{"--terms", &asked.terms}}};
  if (!stria::bench::read_options(argc, argv, options) || asked.device.empty()) {
    std::fprintf(stderr,
                 "usage: stria_predict_bench --device SELECTOR [--set NAME,...] [--only TEXT]\n"
                 "                           [--sets FOLDER] [--pipeline FILE] [--json FILE]\n"
                 "                           [--terms 1]\n");
    return 2;
  }
  return stria::bench::run(asked);
}
