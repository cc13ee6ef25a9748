// SPDX-License-Identifier: Apache-2.0
// What the verifier costs on programs of the shape of ResNet-50: generic Stripe, and Stripe after
// llvm_cpu's pipeline; the network itself, and ones two and four times as long, which tells whether
// the time is linear in the kernels.
//   stria_verifier_bench [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "measure.h"
#include "must.h"
#include "resnet50.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/pass/model_rules.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/syntax/parser.h"

namespace {

using namespace stria;
using bench::must;

// Two cores with vectors of 64 bytes.
const char kModel[] = R"({
  "name": "cpu", "clock_mhz": 2000,
  "mem_units": {"DRAM": {"count": 1, "size_KiB": 8388608}, "REG": {"count": 2},
    "L1": {"count": 2, "size_KiB": 48, "policy": "lru"}, "L2": {"count": 2, "size_KiB": 2048, "policy": "lru"}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 32}}
})";

struct Sample {
  std::string name;
  stripe::Program program;
  stripe::VerifyReport report;
};

Sample make(bool folded, int repeat, bool after_pipeline, const HardwareModel& model) {
  const bench::ResNet50 net = bench::resnet50({.folded = folded, .repeat = repeat});
  const tile::Program parsed = must(tile::parse({"resnet50.tile", net.text}));
  Sample sample;
  sample.program = must(lower(must(tile::bind_program(parsed, "", net.inputs))));
  sample.name = fmt::format("{}{}, {}", repeat == 1 ? "" : fmt::format("{} x ", repeat),
                            folded ? "folded" : "normalised",
                            after_pipeline ? "after llvm_cpu's passes" : "generic");
  if (!after_pipeline) return sample;
  const std::string path = STRIA_SOURCE_DIR "/plugins/llvm_cpu/passes/cpu.json";
  const Pipeline pipeline =
      must(parse_pipeline({path, must(read_file(path))}, {}, model, passes::pass_registry()));
  must(run_pipeline(sample.program, pipeline, model, {}));
  return sample;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 11;
  if (argc > 2 || rounds < 1) {
    std::fprintf(stderr, "usage: stria_verifier_bench [ROUNDS]\n");
    return 2;
  }
  const HardwareModel model = must(load_hardware_model({"cpu.json", kModel}));
  const ModelRules rules = must(ModelRules::of(model));
  const stripe::VerifyOptions options = rules.options(nullptr);
  std::vector<Sample> samples;
  for (bool after_pipeline : {false, true}) {
    samples.push_back(make(true, 1, after_pipeline, model));
    samples.push_back(make(false, 1, after_pipeline, model));
    for (int repeat : {2, 4}) samples.push_back(make(true, repeat, after_pipeline, model));
  }
  std::vector<std::function<void()>> works;
  for (Sample& sample : samples)
    works.push_back([&] {
      const Status status = stripe::verify(sample.program, options, &sample.report);
      if (status.ok()) return;
      std::fprintf(stderr, "stria_verifier_bench: %s: %s\n", sample.name.c_str(),
                   status.to_string().c_str());
      std::exit(3);
    });
  const std::vector<bench::Timing> timings = bench::interleave(works, rounds, 1);
  std::printf(
      "verifier on programs of the shape of ResNet-50, batch 1, fp32: median of %d rounds\n",
      rounds);
  std::printf("machine: %s\n\n", bench::machine_text().c_str());
  std::printf("%-44s %8s %10s %10s %10s %10s %10s\n", "program", "kernels", "accesses", "undecided",
              "ms", "ms/kernel", "best ms/k");
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto kernels = static_cast<double>(samples[i].program.main()->stmts.size());
    std::printf("%-44s %8.0f %10lld %10lld %10.3f %10.4f %10.4f\n", samples[i].name.c_str(),
                kernels, static_cast<long long>(samples[i].report.accesses),
                static_cast<long long>(samples[i].report.unknown_accesses),
                1e3 * timings[i].median_s, 1e3 * timings[i].median_s / kernels,
                1e3 * timings[i].best_s / kernels);
  }
  return 0;
}
