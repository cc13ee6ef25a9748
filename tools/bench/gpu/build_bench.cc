// SPDX-License-Identifier: Apache-2.0
// What a driver takes to build kernels: each kernel beside NVRTC with the same kernel in CUDA C++,
// and all of them as one program beside one program each, on threads of their own.
//   stria_build_bench [--device TEXT] [--architecture sm_90] [--rounds N]
// --device: the first OpenCL device whose name holds the text. Without NVRTC its column is empty.
// What a driver keeps of earlier builds counts as such: the environment variables
// CUDA_CACHE_DISABLE=1 and POCL_KERNEL_CACHE=0, which this program sets unless they are set, turn
// that off.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "../../../tests/unit/cuda/nvrtc.h"
#include "../median.h"
#include "../must.h"
#include "cuda/emit/dialect.h"
#include "opencl/emit/dialect.h"
#include "opencl/program.h"
#include "opencl_driver.h"
#include "stria/base/file.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::bench {
namespace {

using Inputs = std::map<std::string, tile::TensorType>;

double ms_now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Kernel {
  std::string name, opencl, cuda;
};

// A Tile function as the plugin's pipeline for GPUs makes it, in both languages.
Kernel make(const std::string& name, const std::string& text, const Inputs& inputs) {
  const std::string plugin = STRIA_SOURCE_DIR "/plugins/opencl/";
  const tile::Program parsed = must(tile::parse({name, text}));
  stripe::Program program = must(lower(must(tile::bind_program(parsed, "", inputs))));
  const HardwareModel model =
      must(load_hardware_model({"gpu.json", must(read_file(plugin + "hw/gpu.json"))}));
  const std::string path = plugin + "passes/gpu.json";
  const Pipeline pipeline =
      must(parse_pipeline({path, must(read_file(path))}, {}, model, passes::pass_registry()));
  must(run_pipeline(program, pipeline, model, {}).status().with_context(name));
  semtree::SourceOptions options = opencl::source_options();
  options.group_points = 256;
  Kernel out{name, {}, {}};
  out.opencl =
      must(semtree::print_program(program, opencl::dialect({.fp64 = true, .fma = true}), options))
          .text;
  options = cuda::source_options();
  options.group_points = 256;
  out.cuda = must(semtree::print_program(program, cuda::dialect(), options)).text;
  return out;
}

std::vector<Kernel> kernels() {
  const DataType f = DataType::fp32;
  const std::string product =
      "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }";
  const std::string convolution =
      "function (D[N, X, Y, CI], K[I, J, CI, CO]) -> (R) {"
      " R[n, x, y, co : N, X, Y, CO] = +(D[n, x+i-1, y+j-1, ci] * K[i, j, ci, co]); }";
  const std::string chain = "function (A[M, N], B[M, N]) -> (R) { R = tanh(A * B + A) * B; }";
  std::vector<Kernel> out;
  for (const int64_t n : {1024, 2048, 4096})
    out.push_back(
        make("product " + std::to_string(n), product, {{"A", {f, {n, n}}}, {"B", {f, {n, n}}}}));
  for (const int64_t x : {28, 56, 112})
    out.push_back(make("convolution " + std::to_string(x), convolution,
                       {{"D", {f, {8, x, x, 64}}}, {"K", {f, {3, 3, 64, 64}}}}));
  for (const int64_t n : {1000, 4096})
    out.push_back(
        make("chain " + std::to_string(n), chain, {{"A", {f, {n, n}}}, {"B", {f, {n, n}}}}));
  return out;
}

// No source is built twice: what came before it may be kept.
std::string fresh(const std::string& source) {
  static std::atomic<int> number{0};
  const std::string mark =
      "unused_" + std::to_string(std::random_device{}()) + "_" + std::to_string(number++);
  return source + "\n__kernel void " + mark + "(__global int* p) { *p = 1; }\n";
}

void run(const std::string& device, const std::string& architecture, int rounds) {
  const OpenClDriver driver(device);
  const std::vector<Kernel> all = kernels();
  const bool has_peer = nvrtc::why_missing().empty();
  std::printf("%s; NVRTC: %s\n", driver.name().c_str(),
              has_peer ? architecture.c_str() : nvrtc::why_missing().c_str());
  const auto timed = [](const auto& work) {
    const double begin = ms_now();
    work();
    return ms_now() - begin;
  };
  (void)driver.build(fresh(all[0].opencl));  // starts the compiler
  if (has_peer) must(nvrtc::compile(all[0].cuda, architecture).status());
  double logs = 0;
  for (const Kernel& kernel : all) {
    std::vector<double> ours, theirs;
    for (int round = 0; round < rounds; ++round) {
      ours.push_back(timed([&] { (void)driver.build(fresh(kernel.opencl)); }));
      if (has_peer)
        theirs.push_back(timed([&] { must(nvrtc::compile(kernel.cuda, architecture).status()); }));
    }
    std::printf("%-20s %8.1f ms", kernel.name.c_str(), median(ours));
    if (has_peer) {
      std::printf("  NVRTC %8.1f ms  %5.2f times as long", median(theirs),
                  median(ours) / median(theirs));
      logs += std::log(median(ours) / median(theirs));
    }
    std::printf("\n");
  }
  if (has_peer)
    std::printf("geomean %.2f times as long as NVRTC (goal: 3 at most)\n",
                std::exp(logs / static_cast<double>(all.size())));
  std::vector<double> in_turn, at_once;
  for (int round = 0; round < rounds; ++round) {
    in_turn.push_back(timed([&] {
      for (const Kernel& kernel : all) (void)driver.build(fresh(kernel.opencl));
    }));
    at_once.push_back(timed([&] {
      std::vector<std::thread> threads;
      for (const Kernel& kernel : all)
        threads.emplace_back([&] { (void)driver.build(fresh(kernel.opencl)); });
      for (std::thread& thread : threads) thread.join();
    }));
  }
  std::printf("%zu programs one after the other %8.1f ms, on as many threads %8.1f ms\n",
              all.size(), median(in_turn), median(at_once));
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  std::string device, architecture = "sm_90";
  int rounds = 3;
  bool right = argc % 2 == 1;
  for (int n = 1; n + 1 < argc && right; n += 2) {
    const std::string_view option = argv[n];
    if (option == "--device")
      device = argv[n + 1];
    else if (option == "--architecture")
      architecture = argv[n + 1];
    else if (option == "--rounds")
      rounds = std::atoi(argv[n + 1]);
    else
      right = false;
  }
  if (!right || rounds < 1) {
    std::fprintf(stderr,
                 "usage: stria_build_bench [--device TEXT] [--architecture sm_90] [--rounds N]\n");
    return 2;
  }
  ::setenv("CUDA_CACHE_DISABLE", "1", 0);
  ::setenv("POCL_KERNEL_CACHE", "0", 0);
  stria::bench::run(device, architecture, rounds);
}
