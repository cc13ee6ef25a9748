// SPDX-License-Identifier: Apache-2.0
// The matrix product of 1024^3 that is written by hand in device Stripe (tests/golden/device),
// compiled by llvm_cpu and run on one core, beside the multiply-add limit of that core and oneDNN
// on one core, in turns.
//   stria_product_bench [--rounds N] [FILE.stripe]     the file for this machine's vectors, if none
//   is given
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "emit/compiled_kernels.h"
#include "fma_peak.h"
#include "measure.h"
#include "must.h"
#include "peer_onednn.h"
#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"

namespace stria::bench {
namespace {

constexpr int64_t kSize = 1024;
constexpr double kGoal = 0.8;  // of the multiply-add limit

struct FreeMemory {
  void operator()(float* memory) const { std::free(memory); }
};
using Floats = std::unique_ptr<float, FreeMemory>;

// As the device gives tensors to kernels: at the start of a line.
Floats floats(uint64_t bytes) {
  Floats memory(static_cast<float*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
  STRIA_CHECK(memory != nullptr, "no memory for {} bytes", bytes);
  std::memset(memory.get(), 0, bytes);
  return memory;
}

Floats normal(uint64_t count, unsigned seed) {
  Floats values = floats(count * sizeof(float));
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::generate_n(values.get(), count, [&] { return distribution(random); });
  return values;
}

// A program of kernels with memory for their arguments, by name.
class Product {
 public:
  explicit Product(const std::string& path) {
    const std::string text = must(read_file(path));
    code_ = must(llvm_cpu::compile_kernels(must(stripe::parse({path, text}))));
    for (const llvm_cpu::CompiledKernel& kernel : code_->kernels())
      for (const semtree::KernelArgument& argument : kernel.arguments)
        if (!memory_.count(argument.name)) memory_[argument.name] = floats(argument.bytes);
  }
  float* tensor(const std::string& name) { return memory_.at(name).get(); }
  // One kernel after the other on the calling thread.
  void run() {
    for (const llvm_cpu::CompiledKernel& kernel : code_->kernels()) {
      std::vector<void*> arguments;
      for (const semtree::KernelArgument& argument : kernel.arguments)
        arguments.push_back(memory_.at(argument.name).get());
      kernel.entry(arguments.data(), 0, kernel.trip_count);
    }
  }

 private:
  std::unique_ptr<llvm_cpu::CompiledKernels> code_;
  std::map<std::string, Floats> memory_;
};

int run(const std::string& file, int rounds) {
  // Samples of one core: all threads of this process share it.
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  STRIA_CHECK(sched_setaffinity(0, sizeof one, &one) == 0,
              "the process cannot be kept on one core");
  Product ours(file);
  const Floats a = normal(kSize * kSize, 1), b = normal(kSize * kSize, 2);
  std::copy_n(a.get(), kSize * kSize, ours.tensor("A"));
  std::copy_n(b.get(), kSize * kSize, ours.tensor("B"));
  OneDnnProduct peer(kSize, a.get(), b.get());
  std::vector<double> peaks;
  const std::vector<Timing> t = interleave(
      {[&] { ours.run(); }, [&] { peer.run(); }, [&] { peaks.push_back(fma_peak_gflops(1, 30)); }},
      rounds, 3);
  peaks.erase(peaks.begin(), peaks.begin() + 3);
  std::sort(peaks.begin(), peaks.end());
  double worst = 0;
  for (int64_t n = 0; n < kSize * kSize; ++n)
    worst = std::max(worst, static_cast<double>(std::fabs(ours.tensor("C")[n] - peer.result()[n])));
  const double flops = 2.0 * kSize * kSize * kSize, peak = peaks[peaks.size() / 2],
               best_peak = peaks.back();
  const auto row = [&](const std::string& name, const Timing& timing, const std::string& goal) {
    const double rate = flops / timing.median_s * 1e-9, best = flops / timing.best_s * 1e-9;
    std::printf(
        "%-46s %10.3f GFLOP/s  %-16s %.1f%% of the limit, %.2f ms median, %.2f best (%.1f%% of the "
        "best)\n",
        name.c_str(), rate, goal.c_str(), 100 * rate / peak, timing.median_s * 1e3,
        timing.best_s * 1e3, 100 * best / best_peak);
    return rate / peak;
  };
  std::printf("%s\n", machine_text().c_str());
  std::printf("%-46s %10.3f GFLOP/s  %-16s %.3f best\n",
              (std::string("FMA peak, ") + fma_vector_name() + ", one core").c_str(), peak, "",
              best_peak);
  const std::string name = file.substr(file.rfind('/') + 1);
  const bool met = flops / t[0].median_s * 1e-9 >= kGoal * peak;
  row(name, t[0], met ? ">= 80%  met" : ">= 80%  MISSED");
  row("oneDNN " + peer.kernel_name(), t[1], "");
  std::printf("%-46s %10.3f x        %-16s largest difference %.2g\n", "over oneDNN",
              t[1].median_s / t[0].median_s, "", worst);
  return 0;
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  using namespace stria;
  std::string file;
  int rounds = 51;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "--rounds") == 0 && n + 1 < argc && std::atoi(argv[n + 1]) > 0) {
      rounds = std::atoi(argv[++n]);
    } else if (argv[n][0] != '-' && file.empty()) {
      file = argv[n];
    } else {
      std::fprintf(stderr, "usage: stria_product_bench [--rounds N] [FILE.stripe]\n");
      return 2;
    }
  }
  if (file.empty())
    file = STRIA_SOURCE_DIR "/tests/golden/device/" +
           std::string(llvm_cpu::host_vector_lanes() == 16 ? "gemm_avx512.stripe"
                                                           : "gemm_avx2.stripe");
  return bench::run(file, rounds);
}
