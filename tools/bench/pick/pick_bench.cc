// SPDX-License-Identifier: Apache-2.0
// How good is the choice of a device? Each program is predicted and measured on each device:
//   stria_pick_bench --devices 'llvm_cpu@1;llvm_cpu@2;opencl:0' [--only TEXT] [--rounds N]
//                    [--json FILE]
//   stria_pick_bench --times N      only how long a choice by bounds takes, in N rounds
// A device is a selector, with the number of the host's threads behind '@'. The regret of a choice
// is what the device that was picked takes over the best one, less 1; within 5% counts as right.
// Beside the picker's choices by bounds and by model stands each device taken for all programs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "../measure.h"
#include "../median.h"
#include "../must.h"
#include "../options.h"
#include "host_device.h"
#include "pick_programs.h"
#include "pick_time.h"
#include "stria/base/text.h"
#include "stria/runtime/device_picker.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {
namespace {

struct Asked {
  std::string devices = "llvm_cpu@1;llvm_cpu@2", only, json;
  int rounds = 5, times = 0;
};

// Shorter runs are no part of what is said of predictions.
constexpr double kShortest = 50e-6;
constexpr double kTie = 0.05;

// Of one program on one device.
struct Row {
  std::optional<Prediction> bounds, model;
  double measured = 0;        // seconds; 0: it does not run there
  double bounds_seconds = 0;  // that asking took
  double model_seconds = 0;
};

std::vector<HostDevice> hosts_of(const std::string& text) {
  std::vector<HostDevice> out;
  for (const std::string& one : split(text, ';')) out.push_back(open_host_device(one));
  return out;
}

void predict(const HostDevice& host, const Compilation& generic, Row& row) {
  double begin = now_seconds();
  row.bounds = DevicePicker::by_bounds(generic, Inside::model(host.device));
  row.bounds_seconds = now_seconds() - begin;
  begin = now_seconds();
  const auto all = DevicePicker::of_device(host.device, generic, {});
  row.model_seconds = now_seconds() - begin;
  if (all.ok() && !all->empty()) row.model = all->back();
}

std::vector<Row> rows_of(const PickProgram& program, const std::vector<HostDevice>& hosts,
                         int rounds) {
  const Program tile = must(Program::from_tile({program.name, program.text}));
  const Compilation generic = must(lower_program(tile, program.inputs));
  std::vector<Row> out(hosts.size());
  std::vector<std::optional<DeviceRow>> runs(hosts.size());
  for (size_t h = 0; h < hosts.size(); ++h) {
    predict(hosts[h], generic, out[h]);
    Result<Executable> made = hosts[h].device.compile(tile, program.inputs);
    if (!made.ok()) {
      std::printf("%s on %s: %s\n", program.name.c_str(), hosts[h].name.c_str(),
                  made.status().to_string().c_str());
      continue;
    }
    runs[h].emplace(hosts[h].device, *std::move(made));
    must(runs[h]->run().wait());
  }
  std::vector<std::vector<double>> seconds(hosts.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t h = 0; h < hosts.size(); ++h)
      if (runs[h]) seconds[h].push_back(host_seconds(*runs[h]));
  for (size_t h = 0; h < hosts.size(); ++h)
    if (!seconds[h].empty()) out[h].measured = median(seconds[h]);
  return out;
}

double best_of(const std::vector<Row>& rows) {
  double best = INFINITY;
  for (const Row& row : rows)
    if (row.measured > 0) best = std::min(best, row.measured);
  return best;
}

// Of picking this device; a tie is none.
double regret_of(const std::vector<Row>& rows, size_t picked) {
  const double regret =
      rows[picked].measured > 0 ? rows[picked].measured / best_of(rows) - 1 : INFINITY;
  return regret <= kTie ? 0 : regret;
}

// The device with the least predicted time; the first one if nothing is predicted.
size_t picked_by(const std::vector<Row>& rows, std::optional<Prediction> Row::* by) {
  size_t best = 0;
  double least = INFINITY;
  for (size_t h = 0; h < rows.size(); ++h)
    if (const auto& one = rows[h].*by; one && one->run.seconds < least) {
      least = one->run.seconds;
      best = h;
    }
  return best;
}

void print_regret(const char* what, const std::vector<double>& regrets) {
  double sum = 0;
  for (const double regret : regrets) sum += std::log(1 + regret);
  std::printf(
      "%-34s regret median %5.1f%%, 95th percentile %6.1f%%, geomean %5.1f%%, worst %6.1f%%\n",
      what, 100 * median(regrets), 100 * quantile(regrets, 0.95),
      100 * (std::exp(sum / static_cast<double>(regrets.size())) - 1),
      100 * *std::max_element(regrets.begin(), regrets.end()));
}

void print_predictions(const char* what, const std::vector<std::vector<Row>>& all, size_t host,
                       const std::string& name, std::optional<Prediction> Row::* by) {
  double within = 0, inside = 0, log_sum = 0, count = 0;
  for (const std::vector<Row>& rows : all) {
    const Row& row = rows[host];
    const std::optional<Prediction>& one = row.*by;
    if (!one || row.measured < kShortest) continue;
    ++count;
    const double error = std::log(one->run.seconds / row.measured);
    log_sum += error;
    within += std::abs(error) <= std::log(1.5);
    inside += one->run.least <= row.measured && row.measured <= one->run.most;
  }
  if (count == 0) return;
  std::printf(
      "%-8s %-24s %3.0f runs over %.0f us: predicted over measured %.2f (geomean), within "
      "1.5: %3.0f%%, inside the interval: %3.0f%%\n",
      what, name.c_str(), count, kShortest * 1e6, std::exp(log_sum / count), 100 * within / count,
      100 * inside / count);
}

void summarise(const std::vector<std::vector<Row>>& all, const std::vector<HostDevice>& hosts) {
  std::vector<double> by_model, by_bounds;
  std::vector<std::vector<double>> constant(hosts.size());
  for (const std::vector<Row>& rows : all) {
    by_model.push_back(regret_of(rows, picked_by(rows, &Row::model)));
    by_bounds.push_back(regret_of(rows, picked_by(rows, &Row::bounds)));
    for (size_t h = 0; h < hosts.size(); ++h) constant[h].push_back(regret_of(rows, h));
  }
  print_regret("picked by model", by_model);
  print_regret("picked by bounds", by_bounds);
  for (size_t h = 0; h < hosts.size(); ++h)
    print_regret(("always " + hosts[h].name).c_str(), constant[h]);
  for (size_t h = 0; h < hosts.size(); ++h) {
    print_predictions("model", all, h, hosts[h].name, &Row::model);
    print_predictions("bounds", all, h, hosts[h].name, &Row::bounds);
  }
  std::vector<double> bounds_ms, model_ms;
  for (const std::vector<Row>& rows : all) {
    double bounds = 0, model = 0;
    for (const Row& row : rows) {
      bounds += row.bounds_seconds;
      model += row.model_seconds;
    }
    bounds_ms.push_back(bounds * 1e3);
    model_ms.push_back(model * 1e3);
  }
  std::printf(
      "asking all devices takes %.2f ms by bounds, %.1f ms by model (medians); at most %.2f "
      "and %.1f ms\n",
      median(bounds_ms), median(model_ms), *std::max_element(bounds_ms.begin(), bounds_ms.end()),
      *std::max_element(model_ms.begin(), model_ms.end()));
}

int run(const Asked& asked) {
  if (asked.times > 0) {
    std::printf("%s\n", machine_text().c_str());
    print_pick_times(asked.times);
    return 0;
  }
  const std::vector<HostDevice> hosts = hosts_of(asked.devices);
  std::printf("%s\n", machine_text().c_str());
  for (const HostDevice& host : hosts)
    std::printf("  %s: %s\n", host.name.c_str(), host.device.info().name.c_str());
  std::printf("us: measured (by model, by bounds)\n%-32s", "program");
  for (const HostDevice& host : hosts) std::printf(" %28s", host.name.c_str());
  std::printf("\n");
  std::vector<std::vector<Row>> all;
  nlohmann::json report = nlohmann::json::array();
  for (const PickProgram& program : pick_programs()) {
    if (program.name.find(asked.only) == std::string::npos) continue;
    const std::vector<Row>& rows = all.emplace_back(rows_of(program, hosts, asked.rounds));
    std::printf("%-32.32s", program.name.c_str());
    nlohmann::json of_program = {{"program", program.name}};
    for (size_t h = 0; h < hosts.size(); ++h) {
      const double model = rows[h].model ? rows[h].model->run.seconds * 1e6 : 0;
      const double bounds = rows[h].bounds ? rows[h].bounds->run.seconds * 1e6 : 0;
      std::printf(
          " %28s",
          fmt::format("{:.1f} ({:.1f}, {:.1f})", rows[h].measured * 1e6, model, bounds).c_str());
      of_program["devices"].push_back({{"device", hosts[h].name},
                                       {"measured_us", rows[h].measured * 1e6},
                                       {"model_us", model},
                                       {"bounds_us", bounds}});
    }
    std::printf("\n");
    std::fflush(stdout);
    report.push_back(std::move(of_program));
  }
  if (!all.empty()) summarise(all, hosts);
  print_pick_times(asked.rounds);
  return end_report(report, asked.json, all.size());
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  const stria::bench::OptionTable options = {
      {{"--devices", &asked.devices}, {"--only", &asked.only}, {"--json", &asked.json}},
      {{"--rounds", &asked.rounds}, {"--times", &asked.times}}};
  if (!stria::bench::read_options(argc, argv, options)) return 2;
  return stria::bench::run(asked);
}
