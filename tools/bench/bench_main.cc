// SPDX-License-Identifier: Apache-2.0
// Measures what a user waits for: listing devices, loading a plugin, the front end, compiling,
// dispatching, and the demo convolution against the processor's multiply-add limit and against
// oneDNN, all in one run.
//   stria_bench [--json FILE] [--rounds N]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "fma_peak.h"
#include "measure.h"
#include "peer_onednn.h"
#include "stria/base/file.h"
#include "stria/runtime/runtime.h"

namespace {

using namespace stria;
using namespace stria::bench;
using nlohmann::json;

constexpr int64_t kSize = 224, kChannels = 64;

template <typename T>
T require(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "stria_bench: %s\n", result.status().to_string().c_str());
    std::exit(3);
  }
  return std::move(result).value();
}
void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "stria_bench: %s\n", status.to_string().c_str());
  std::exit(3);
}

std::string self;

std::string folder() { return self.substr(0, self.rfind('/')); }

Executable compile_conv(const Device& device, int64_t size) {
  Program program = require(Program::read(STRIA_SOURCE_DIR "/tools/demo/conv_relu.tile"));
  return require(device.compile(program, {{"D", {DataType::fp32, {1, size, size, kChannels}}},
                                          {"K", {DataType::fp32, {3, 3, kChannels, kChannels}}}}));
}

Tensor filled(const Device& device, std::vector<int64_t> sizes, const std::vector<float>& values) {
  Tensor tensor = require(device.create_tensor(DataType::fp32, std::move(sizes)));
  require(
      tensor.write({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}));
  return tensor;
}

std::vector<float> normal(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

// In a process of its own, so that everything is cold: prints seconds.
int child(const std::string& task, const std::string& argument) {
  double seconds = 0;
  if (task == "load") {
    RuntimeOptions options;
    options.only_plugins = {argument};  // as the command does for a selector
    Runtime runtime(options);
    seconds = seconds_of([&] { require(runtime.open(argument)); });
  } else {
    Runtime runtime;
    Device device = require(runtime.open(argument));
    seconds = seconds_of([&] { compile_conv(device, kSize); });
  }
  std::printf("%.9f\n", seconds);
  return 0;
}

Timing of_children(const std::string& task, const std::string& argument, int samples) {
  std::vector<double> seconds;
  for (int n = 0; n < samples; ++n) {
    std::string text = output_of_process({self, "--child", task, argument});
    if (text.empty()) {
      std::fprintf(stderr, "stria_bench: the measuring process for '%s' failed\n", task.c_str());
      std::exit(3);
    }
    seconds.push_back(std::atof(text.c_str()));
  }
  return summarize(seconds);
}

json g_rows = json::array();

void row(const std::string& name, double value, const std::string& unit, const std::string& goal,
         bool met, const std::string& note = "") {
  std::printf("%-46s %10.3f %-8s %-16s %s%s%s\n", name.c_str(), value, unit.c_str(), goal.c_str(),
              goal.empty() ? ""
              : met        ? "met"
                           : "MISSED",
              note.empty() ? "" : "  ", note.c_str());
  g_rows.push_back({{"name", name},
                    {"value", value},
                    {"unit", unit},
                    {"goal", goal},
                    {"met", met},
                    {"note", note}});
}

void start_up() {
  std::vector<double> seconds;
  for (int n = 0; n < 21; ++n)
    seconds.push_back(seconds_of_process({folder() + "/stria", "devices"}));
  Timing devices = summarize(seconds);
  row("stria devices, whole process", devices.median_s * 1e3, "ms", "< 150 ms",
      devices.best_s > 0 && devices.median_s < 0.150);
  for (const char* plugin : {"reference", "llvm_cpu"}) {
    Timing load = of_children("load", plugin, 11);
    row(std::string("find, load and open ") + plugin, load.median_s * 1e3, "ms", "< 20 ms",
        load.median_s < 0.020);
  }
  Timing compile = of_children("compile", "llvm_cpu", 7);
  row("demo convolution, Tile text to loaded, cold", compile.median_s * 1e3, "ms", "< 400 ms",
      compile.median_s < 0.400);
}

// A folder with eight plugins more.
void listing() {
  ::setenv("STRIA_PLUGIN_PATH", (folder() + "/../lib/bench_plugins").c_str(), 1);
  std::vector<double> seconds;
  for (int n = 0; n < 21; ++n)
    seconds.push_back(seconds_of_process({folder() + "/stria", "devices"}));
  ::unsetenv("STRIA_PLUGIN_PATH");
  Timing all = summarize(seconds);
  row("stria devices with 8 plugins more, whole process", all.median_s * 1e3, "ms", "< 200 ms",
      all.best_s > 0 && all.median_s < 0.200);
}

// Parse, bind and lower of programs of 100 to 100,000 statements, each in a process of its own.
void front_end() {
  struct Scale {
    int64_t statements;
    int samples;
    double goal_ms;  // 0: none
  };
  double first_us = 0;  // per statement of the first of at least 1,000
  for (const Scale& scale :
       {Scale{100, 11, 0}, {1'000, 11, 20}, {10'000, 7, 0}, {100'000, 5, 2000}}) {
    const std::string count = std::to_string(scale.statements);
    std::vector<double> parse, bind, lower, all;
    double peak_mib = 0;
    for (int n = 0; n < scale.samples; ++n) {
      double p = 0, b = 0, l = 0, kib = 0;
      const std::string text = output_of_process({folder() + "/stria_front_end_bench", count});
      if (std::sscanf(text.c_str(), "%lf %lf %lf %lf", &p, &b, &l, &kib) != 4) {
        std::fprintf(stderr, "stria_bench: the front end failed on %s statements\n", count.c_str());
        std::exit(3);
      }
      parse.push_back(p);
      bind.push_back(b);
      lower.push_back(l);
      all.push_back(p + b + l);
      peak_mib = std::max(peak_mib, kib / 1024);
    }
    const double statements = static_cast<double>(scale.statements);
    const double ms = summarize(all).median_s * 1e3, us = ms * 1e3 / statements;
    row(fmt::format("front end, {} statements", count), ms, "ms",
        scale.goal_ms > 0 ? fmt::format("< {} ms", scale.goal_ms) : "",
        scale.goal_ms == 0 || ms < scale.goal_ms,
        fmt::format(
            "{:.1f} us a statement (parse {:.1f}, bind {:.1f}, lower {:.1f}); peak {:.0f} MiB", us,
            summarize(parse).median_s * 1e6 / statements,
            summarize(bind).median_s * 1e6 / statements,
            summarize(lower).median_s * 1e6 / statements, peak_mib));
    if (scale.statements < 1'000) continue;
    if (first_us == 0) first_us = us;
    if (scale.statements == 100'000)
      row("front end, time per statement, 1e5 over 1e3", us / first_us, "x", "< 2 x",
          us < 2 * first_us);
  }
}

// A slot that only looks: event.query.
void table_call(const Device& device) {
  Event event = require(device.create_event());
  require(event.signal());
  constexpr int kCalls = 10'000;
  auto call = [&] {
    for (int n = 0; n < kCalls; ++n)
      if (!event.is_done()) std::abort();
  };
  const double ns = interleave({call}, 301, 30)[0].median_s / kCalls * 1e9;
  row("one call through a plugin's table, " + device.name(), ns, "ns", "< 20 ns", ns < 20);
}

void dispatch(const Device& device, const std::string& name, double goal_us) {
  Program program =
      require(Program::from_tile({"tiny", "function tiny(A[N]) -> (B) { B = A + 1; }"}));
  Executable tiny = require(device.compile(program, {{"A", {DataType::fp32, {16}}}}));
  Tensor a = filled(device, {16}, normal(16, 1));
  Tensor b = require(device.create_tensor(DataType::fp32, {16}));
  std::vector<float> x(16, 1.0f), y(16);
  volatile float* sink = y.data();
  auto direct = [&] {
    for (int n = 0; n < 16; ++n) sink[n] = x[static_cast<size_t>(n)] + 1;
  };
  auto dispatched = [&] {
    require(require(tiny.run(std::vector<Tensor>{a}, std::vector<Tensor>{b})).wait());
  };
  std::vector<Timing> t = interleave({direct, dispatched}, 3001, 200);
  double over_us = (t[1].median_s - t[0].median_s) * 1e6;
  row("dispatch of a tiny kernel over a direct call, " + name, over_us, "us",
      fmt::format("< {} us", goal_us), over_us < goal_us);
}

void convolution(const Device& device, int rounds) {
  const auto count = static_cast<size_t>(kSize * kSize * kChannels);
  const std::vector<float> d = normal(count, 1), k = normal(9 * kChannels * kChannels, 2);
  Executable conv = compile_conv(device, kSize);
  Tensor td = filled(device, {1, kSize, kSize, kChannels}, d),
         tk = filled(device, {3, 3, kChannels, kChannels}, k);
  Tensor out = require(device.create_tensor(DataType::fp32, {1, kSize, kSize, kChannels}));
  OneDnnConvRelu peer(kSize, kChannels, kChannels, d.data(), k.data());
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<double> peaks;
  auto ours = [&] {
    require(require(conv.run(std::vector<Tensor>{td, tk}, std::vector<Tensor>{out})).wait());
  };
  std::vector<Timing> t = interleave(
      {ours, [&] { peer.run(); }, [&] { peaks.push_back(fma_peak_gflops(cores, 60)); }}, rounds, 3);
  std::sort(peaks.begin(), peaks.end());
  HostTensor result = require(out.read());
  double worst = 0;
  for (size_t n = 0; n < count; ++n)
    worst = std::max(
        worst, static_cast<double>(
                   std::fabs(reinterpret_cast<const float*>(result.data())[n] - peer.result()[n])));
  // Counted as textbooks do, with the border's taps: 2 * 9 * ci * co per pixel.
  const double flops = 2.0 * 9 * kSize * kSize * kChannels * kChannels;
  const double peak = peaks[peaks.size() / 2], gflops = flops / t[0].median_s * 1e-9;
  row(std::string("FMA peak, ") + fma_vector_name() + ", all cores", peak, "GFLOP/s", "", true);
  row("demo convolution, llvm_cpu, all cores", gflops, "GFLOP/s", ">= 45% of peak",
      gflops >= 0.45 * peak,
      fmt::format("{:.1f}% of peak, {:.2f} ms median, {:.2f} best", 100 * gflops / peak,
                  t[0].median_s * 1e3, t[0].best_s * 1e3));
  row("demo convolution, oneDNN " + peer.kernel_name(), flops / t[1].median_s * 1e-9, "GFLOP/s", "",
      true, fmt::format("{:.2f} ms median, {:.2f} best", t[1].median_s * 1e3, t[1].best_s * 1e3));
  row("llvm_cpu over oneDNN", t[1].median_s / t[0].median_s, "x", "", true,
      fmt::format("largest difference {:.2g}", worst));
}

// Rows that numbers choose: an embedding and its gradient, against copying as many bytes.
void rows_by_number(const Device& device, int rounds) {
  constexpr int64_t kRows = 50'000, kWidth = 64, kCount = 1'000'000;
  const std::string text =
      "function take(D, I) -> (R) { R = gather(D, I); }\n"
      "function add_rows(E, I, V) -> (R) { R = scatter(E, I, V); }\n";
  const TensorType table{DataType::fp32, {kRows, kWidth}};
  const TensorType many{DataType::fp32, {kCount, kWidth}}, numbers{DataType::i32, {kCount}};
  Program take = require(Program::from_tile({"take", text}, "take"));
  Program add = require(Program::from_tile({"add_rows", text}, "add_rows"));
  Executable gather = require(device.compile(take, {{"D", table}, {"I", numbers}}));
  Executable scatter = require(device.compile(add, {{"E", many}, {"I", numbers}, {"V", table}}));
  std::mt19937 random(3);
  std::vector<int32_t> chosen(kCount);
  for (int32_t& number : chosen) number = static_cast<int32_t>(random() % kRows);
  Tensor ti = require(device.create_tensor(DataType::i32, {kCount}));
  require(
      ti.write({reinterpret_cast<const char*>(chosen.data()), chosen.size() * sizeof(int32_t)}));
  Tensor rows = filled(device, table.sizes, normal(kRows * kWidth, 4));
  Tensor taken = require(device.create_tensor(DataType::fp32, many.sizes));
  Tensor sums = require(device.create_tensor(DataType::fp32, table.sizes));
  const size_t bytes = kCount * kWidth * sizeof(float);
  std::vector<char> from(bytes, 1), to(bytes, 2);
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  auto copy = [&] {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < cores; ++t)
      threads.emplace_back([&, t] {
        const size_t begin = bytes * t / cores, end = bytes * (t + 1) / cores;
        std::memcpy(to.data() + begin, from.data() + begin, end - begin);
      });
    for (std::thread& thread : threads) thread.join();
  };
  auto run = [](const Executable& executable, const std::vector<Tensor>& inputs,
                const Tensor& output) {
    require(require(executable.run(inputs, std::vector<Tensor>{output})).wait());
  };
  std::vector<Timing> t = interleave({copy, [&] { run(gather, {rows, ti}, taken); },
                                      [&] { run(scatter, {taken, ti, rows}, sums); }},
                                     rounds, 2);
  const double copied = 2.0 * static_cast<double>(bytes) * 1e-9;
  row("copy of 256 MB, all cores", copied / t[0].median_s, "GB/s", "", true);
  // Read and written once each; the table and the numbers are small beside them.
  row("gather of 1e6 rows of 64 from 50,000", copied / t[1].median_s, "GB/s", "", true,
      fmt::format("{:.0f}% of the copy, {:.1f} ms median, {:.1f} best",
                  100 * t[0].median_s / t[1].median_s, t[1].median_s * 1e3, t[1].best_s * 1e3));
  // Read once; the sums stay near the cores.
  row("scatter-add of 1e6 rows of 64 to 50,000", copied / 2 / t[2].median_s, "GB/s", "", true,
      fmt::format("{:.0f}% of the copy, {:.1f} ms median, {:.1f} best",
                  50 * t[0].median_s / t[2].median_s, t[2].median_s * 1e3, t[2].best_s * 1e3));
}

}  // namespace

int main(int argc, char** argv) {
  self = std::filesystem::canonical("/proc/self/exe").string();
  if (argc == 4 && std::strcmp(argv[1], "--child") == 0) return child(argv[2], argv[3]);
  std::string json_path;
  int rounds = 25;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "--json") == 0 && n + 1 < argc) {
      json_path = argv[++n];
    } else if (std::strcmp(argv[n], "--rounds") == 0 && n + 1 < argc &&
               std::atoi(argv[n + 1]) > 0) {
      rounds = std::atoi(argv[++n]);
    } else {
      std::fprintf(stderr, "usage: stria_bench [--json FILE] [--rounds N]\n");
      return 2;
    }
  }
  std::printf("%s\n", machine_text().c_str());
  start_up();
  listing();
  front_end();
  Runtime runtime;
  Device reference = require(runtime.open("reference")), cpu = require(runtime.open("llvm_cpu"));
  table_call(reference);
  table_call(cpu);
  dispatch(reference, "reference", 20);
  dispatch(cpu, "llvm_cpu", 20);
  convolution(cpu, rounds);
  rows_by_number(cpu, rounds);
  if (json_path.empty()) return 0;
  require(
      write_file(json_path, json{{"machine", machine_text()}, {"rows", g_rows}}.dump(2) + "\n"));
  return 0;
}
