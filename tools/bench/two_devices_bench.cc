// SPDX-License-Identifier: Apache-2.0
// Two devices of this machine with the same rows, in turns, each on one thread: a driver for the
// processor beside our own code for it.
//   stria_two_devices_bench --device SELECTOR --against SELECTOR [--set NAME,…] [--only TEXT]
//                           [--rounds N] [--pipeline FILE] [--json FILE]
// --set: sets whose name begins so. --only: rows whose name contains it. --pipeline: a pass
// pipeline in place of that of --device. Time is the processor time of the process, so that other
// work on the machine counts as little as may be; its ratio is that of the medians. STRIA_THREADS
// and POCL_MAX_PTHREAD_COUNT, if they are set, say how many threads.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "cpu/cases.h"
#include "measure.h"
#include "must.h"
#include "options.h"
#include "stria/base/file.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {
namespace {

struct Asked {
  std::string device, against, set, only, pipeline, json;
  int rounds = 9;
};

// Runs that take shorter are repeated within one sample.
constexpr double kSampleSeconds = 0.02;

class Side {
 public:
  Side(const Device& device, const Case& row, const std::optional<SourceText>& pipeline) {
    CompileOptions options;
    options.pipeline = pipeline;
    options.constants = row.constants;
    const Program program = must(Program::from_tile({row.name, row.text}));
    made_ = must(device.compile(program, row.inputs, options));
    unsigned seed = 1;
    for (const TensorInfo& info : made_.inputs()) inputs_.push_back(filled(device, info, seed++));
    for (const TensorInfo& info : made_.outputs())
      outputs_.push_back(must(device.create_tensor(info)));
    run();
    const double before = process_seconds();
    run();
    repeats_ = std::clamp(static_cast<int>(kSampleSeconds / (process_seconds() - before)), 1, 1000);
  }

  // Processor seconds of one run.
  double sample() const {
    const double before = process_seconds();
    for (int i = 0; i < repeats_; ++i) run();
    return (process_seconds() - before) / repeats_;
  }

 private:
  static Tensor filled(const Device& device, const TensorInfo& info, unsigned seed) {
    Tensor tensor = must(device.create_tensor(info));
    size_t count = 1;
    for (int64_t size : info.sizes) count *= static_cast<size_t>(size);
    std::mt19937 random(seed);
    std::normal_distribution<float> distribution;
    std::vector<float> values(count);
    for (float& x : values) x = distribution(random);
    must(tensor.write_values(values));
    return tensor;
  }
  void run() const { must(must(made_.run(inputs_, outputs_)).wait()); }

  Executable made_;
  std::vector<Tensor> inputs_, outputs_;
  int repeats_ = 1;
};

int run(const Asked& asked) {
  const Runtime runtime;
  const Device device = must(runtime.open(asked.device)), other = must(runtime.open(asked.against));
  std::optional<SourceText> pipeline;
  if (!asked.pipeline.empty())
    pipeline = SourceText{asked.pipeline, must(read_file(asked.pipeline))};
  std::printf("%s beside %s\n", device.info().name.c_str(), other.info().name.c_str());
  nlohmann::json report = {{"device", device.info().name},
                           {"against", other.info().name},
                           {"machine", machine_text()},
                           {"sets", nlohmann::json::array()}};
  size_t rows = 0;
  for (const CaseSet& set : must(read_sets(sets_folder(STRIA_SOURCE_DIR)))) {
    if (!begins_with_one_of(set.name, asked.set)) continue;
    if (set.kind == SetKind::threads || set.kind == SetKind::compile) continue;
    nlohmann::json of_set = {{"name", set.name}, {"rows", nlohmann::json::array()}};
    double logs = 0, worst = 1e9;
    for (const Case& row : set.cases) {
      if (row.name.find(asked.only) == std::string::npos) continue;
      const Side ours(device, row, pipeline), theirs(other, row, {});
      std::vector<double> mine, others;
      for (int round = 0; round < asked.rounds; ++round) {
        mine.push_back(ours.sample());
        others.push_back(theirs.sample());
      }
      const double a = summarize(mine).median_s, b = summarize(others).median_s, ratio = b / a;
      of_set["rows"].push_back(
          {{"name", row.name}, {"ms", a * 1e3}, {"against_ms", b * 1e3}, {"ratio", ratio}});
      logs += std::log(ratio);
      worst = std::min(worst, ratio);
      std::printf("%-44s %9.4f ms  against %9.4f ms  ratio %5.3f", row.name.c_str(), a * 1e3,
                  b * 1e3, ratio);
      if (row.operations > 0)
        std::printf("  %6.1f and %6.1f GFLOP/s", row.operations / a * 1e-9,
                    row.operations / b * 1e-9);
      std::printf("\n");
      std::fflush(stdout);
    }
    const size_t count = of_set["rows"].size();
    if (count == 0) continue;
    of_set["geomean"] = std::exp(logs / static_cast<double>(count));
    of_set["worst"] = worst;
    std::printf("%s: %zu rows, geomean %.3f, worst %.3f\n\n", set.name.c_str(), count,
                of_set["geomean"].get<double>(), worst);
    rows += count;
    report["sets"].push_back(std::move(of_set));
  }
  return end_report(report, asked.json, rows);
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::Asked asked;
  const stria::bench::OptionTable options = {{{"--device", &asked.device},
                                              {"--against", &asked.against},
                                              {"--set", &asked.set},
                                              {"--only", &asked.only},
                                              {"--pipeline", &asked.pipeline},
                                              {"--json", &asked.json}},
                                             {{"--rounds", &asked.rounds}}};
  if (!stria::bench::read_options(argc, argv, options) || asked.device.empty() ||
      asked.against.empty() || asked.rounds < 1) {
    std::fprintf(
        stderr,
        "usage: stria_two_devices_bench --device SELECTOR --against SELECTOR [--set NAME,...]\n"
        "                               [--only TEXT] [--rounds N] [--pipeline FILE] "
        "[--json FILE]\n");
    return 2;
  }
  ::setenv("STRIA_THREADS", "1", 0);
  ::setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
  return stria::bench::run(asked);
}
