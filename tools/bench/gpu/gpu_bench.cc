// SPDX-License-Identifier: Apache-2.0
// A device's kernels, by the clock of the device, beside the times of peers that another program
// has measured (torch_peers.py): those of its kernels alone against those of ours, which are queued
// while the device is at other work, and those of calls that a program makes one after the other
// against ours made so.
//   stria_gpu_bench --device SELECTOR [--set NAME,…] [--only TEXT] [--rounds N] [--pipeline FILE]
//                   [--peers FILE] [--json FILE] [--dump FOLDER] [--sets FOLDER] [--tune N]
// --set: sets whose name begins so. --only: rows whose name contains it. --pipeline: a pass
// pipeline in place of the device's own. --peers: their times, as JSON. --dump: device Stripe
// and source of each row. --tune: tiles by timing the best N candidates.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../cpu/cases.h"
#include "../median.h"
#include "../must.h"
#include "../options.h"
#include "device_row.h"
#include "stria/base/file.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {
namespace {

struct Asked {
  std::string device, set, only, pipeline, peers, json, dump, sets;
  int rounds = 7, tune = 0;
};

// How the peers were run: their launches free of charge, or as a program starts them; ours
// likewise.
struct Against {
  const char* time;
  const char* own;
  const char* ratio;
  const char* what;
};
constexpr Against kAgainst[] = {{"graph_ms", "ms", "ratio", "graph"},
                                {"stream_ms", "started_ms", "stream_ratio", "stream"}};

// Is measured once.
constexpr double kLongRunMs = 1000;

struct Measured {
  // Of the device: one run among many in a row, the median; queued beforehand, and as started.
  double ms = 0, started_ms = 0;
  double wall_ms = 0;  // of the host: one run among many that are started one by one
  size_t kernels = 0;
};

Measured measure(const DeviceRow& row, BusyDevice& busy, int rounds) {
  Measured out;
  const Event watched = row.run();
  must(watched.wait());
  out.kernels = must(watched.kernel_times()).size();
  // One run alone says whether there is time for more.
  const double first_ms = row.ms(1);
  if (first_ms > kLongRunMs) {
    out.ms = out.started_ms = out.wall_ms = first_ms;
    return out;
  }
  const uint32_t in_a_row = runs_in_a_row(first_ms);
  std::vector<double> queued, started;
  for (int round = 0; round < rounds; ++round) {
    queued.push_back(row.ms_queued(in_a_row, busy));
    started.push_back(row.ms(in_a_row));
  }
  out.ms = median(queued);
  out.started_ms = median(started);
  const int one_by_one = std::clamp(static_cast<int>(20 / std::max(out.ms, 0.02)), 3, 20);
  const auto begin = std::chrono::steady_clock::now();
  Event last;
  for (int i = 0; i < one_by_one; ++i) last = row.run();
  must(last.wait());
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  out.wall_ms = wall.count() / one_by_one;
  return out;
}

nlohmann::json measure_row(const Device& device, BusyDevice& busy, const Case& row,
                           const Asked& asked, const nlohmann::json& peers) {
  CompileOptions options;
  options.tune = asked.tune;
  options.watch_kernels = true;  // for their number; runs in a row are not watched
  options.keep_stages = !asked.dump.empty();
  if (!asked.pipeline.empty())
    options.pipeline = SourceText{asked.pipeline, must(read_file(asked.pipeline))};
  const Program program = must(Program::from_tile({row.name, row.text}));
  nlohmann::json out = {{"name", row.name}};
  const auto begin = std::chrono::steady_clock::now();
  Result<Executable> made = device.compile(program, row.inputs, options);
  const std::chrono::duration<double, std::milli> compile =
      std::chrono::steady_clock::now() - begin;
  if (!made) {
    out["error"] = made.status().to_string();
    std::printf("%-44s %s\n", row.name.c_str(), made.status().to_string().c_str());
    return out;
  }
  if (!asked.dump.empty()) {
    std::string text = made->device_stripe();
    for (const SourceText& source : must(made->sources())) text += "\n" + source.text;
    std::string file = row.name;
    std::replace(file.begin(), file.end(), '/', '_');
    std::filesystem::create_directories(asked.dump);
    must(write_file(asked.dump + "/" + file + ".txt", text));
  }
  const Measured measured = measure(DeviceRow(device, *made), busy, asked.rounds);
  out.update({{"ms", measured.ms},
              {"started_ms", measured.started_ms},
              {"wall_ms", measured.wall_ms},
              {"compile_ms", compile.count()},
              {"kernels", measured.kernels}});
  const double work = row.operations > 0 ? row.operations : row.bytes;
  out[row.operations > 0 ? "tflops" : "tbytes_per_s"] = work / measured.ms * 1e-9;
  std::printf(
      "%-44s %9.4f ms  started %9.4f  wall %9.4f  %7.3f %s  %2zu kernels  compiled in %5.0f ms",
      row.name.c_str(), measured.ms, measured.started_ms, measured.wall_ms,
      work / measured.ms * 1e-9, row.operations > 0 ? "TFLOP/s" : "TB/s", measured.kernels,
      compile.count());
  if (peers.contains(row.name)) {
    for (const Against& against : kAgainst) {
      if (!peers[row.name].contains(against.time)) continue;
      const double peer = peers[row.name][against.time].get<double>(),
                   ratio = peer / out[against.own].get<double>();
      out.update({{against.time, peer}, {against.ratio, ratio}});
      std::printf("  %s %9.4f ms  ratio %5.3f", against.what, peer, ratio);
    }
  }
  std::printf("\n");
  std::fflush(stdout);
  return out;
}

void summarize(nlohmann::json& set) {
  for (const Against& against : kAgainst) {
    double sum = 0, worst = 1e9;
    size_t count = 0, wins = 0;
    for (const nlohmann::json& row : set["rows"]) {
      if (!row.contains(against.ratio)) continue;
      const double ratio = row[against.ratio].get<double>();
      sum += std::log(ratio);
      worst = std::min(worst, ratio);
      wins += ratio >= 1;
      ++count;
    }
    if (count == 0) continue;
    const double geomean = std::exp(sum / static_cast<double>(count));
    set[against.ratio] = {{"geomean", geomean}, {"worst", worst}};
    std::printf("%s over %s: %zu rows, geomean %.3f, worst %.3f, %zu at least as fast\n",
                set["name"].get<std::string>().c_str(), against.what, count, geomean, worst, wins);
  }
  std::printf("\n");
}

int run(const Asked& asked) {
  const Runtime runtime;
  const Device device = must(runtime.open(asked.device));
  BusyDevice busy(device);
  const nlohmann::json peers = asked.peers.empty()
                                   ? nlohmann::json::object()
                                   : nlohmann::json::parse(must(read_file(asked.peers))).at("rows");
  std::printf("%s: %s\n", device.name().c_str(), device.info().name.c_str());
  nlohmann::json report = {{"device", device.info().name}, {"sets", nlohmann::json::array()}};
  size_t rows = 0;
  for (const CaseSet& set : must(read_sets(asked.sets))) {
    if (!begins_with_one_of(set.name, asked.set)) continue;
    if (set.kind == SetKind::threads || set.kind == SetKind::compile) continue;
    nlohmann::json of_set = {{"name", set.name}, {"rows", nlohmann::json::array()}};
    for (const Case& row : set.cases)
      if (row.name.find(asked.only) != std::string::npos)
        of_set["rows"].push_back(measure_row(device, busy, row, asked, peers));
    summarize(of_set);
    rows += of_set["rows"].size();
    report["sets"].push_back(std::move(of_set));
  }
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
       {"--pipeline", &asked.pipeline},
       {"--peers", &asked.peers},
       {"--json", &asked.json},
       {"--dump", &asked.dump},
       {"--sets", &asked.sets}},
      {{"--rounds", &asked.rounds}, {"--tune", &asked.tune}}};
  if (!stria::bench::read_options(argc, argv, options) || asked.device.empty() ||
      asked.rounds < 1) {
    std::fprintf(
        stderr,
        "usage: stria_gpu_bench --device SELECTOR [--set NAME,...] [--only TEXT] [--rounds N]\n"
        "                       [--pipeline FILE] [--peers FILE] [--json FILE] [--dump FOLDER]\n"
        "                       [--sets FOLDER] [--tune N]\n");
    return 2;
  }
  return stria::bench::run(asked);
}
