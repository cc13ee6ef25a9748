// SPDX-License-Identifier: Apache-2.0
// What the plugin boundary costs: loading, one call through a table, one dispatch, a chain of
// events, and the same through the public interface. Prints one line per figure: name, median, 90th
// percentile, and the goal if there is one.
//
//   stria_boundary_bench [PLUGIN_FOLDER]     default: those beside the executable
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "must.h"
#include "stria/hal/plugin_set.h"
#include "stria/runtime/runtime.h"

namespace stria::hal {
namespace {

using bench::must;

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Microseconds of each of `rounds` calls over `divide`, after a tenth as many unmeasured ones.
// `goal_us` is what the median has to stay under, 0: none.
void report(const char* name, int rounds, double divide, const std::function<void()>& body,
            double goal_us = 0) {
  for (int i = 0; i < rounds / 10; ++i) body();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const double begin = now_us();
    body();
    times.push_back((now_us() - begin) / divide);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%-58s %12.3f us %12.3f us", name, median, times[times.size() * 9 / 10]);
  if (goal_us > 0) std::printf("   < %g us %s", goal_us, median < goal_us ? "met" : "MISSED");
  std::printf("\n");
}

// A kernel that does nothing, as the interpreter would offer it.
class NothingProgram final : public InterpretedProgram {
 public:
  NothingProgram() : kernels_(1) { kernels_[0].name = "nothing"; }
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  Result<std::unique_ptr<InterpretedKernel>> prepare(size_t) const override {
    struct Kernel final : InterpretedKernel {
      Status run(std::span<const stria_memory>) const override { return Status(); }
    };
    return std::unique_ptr<InterpretedKernel>(std::make_unique<Kernel>());
  }

 private:
  std::vector<KernelInfo> kernels_;
};

std::string elementwise(int64_t count) {
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // bench
    none new@0 A[0] fp32({0}:1)
    none new@0 R[0] fp32({0}:1)
) {{
  0: #main block [] ( // main
      in A[0] fp32({0}:1)
      out R[0] fp32({0}:1)
  ) {{
    0: #kernel #parallel block [x:{0}] ( // tiny
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {{
      0: $a = load(A)
      1: $r = add.fp32($a, $a)
      2: R = store($r)
    }}
  }}
}}
)",
                     count);
}

void measure_dispatch(const std::string& id, const Device& device, const std::string& stripe,
                      const std::vector<Argument>& arguments, const char* what,
                      double dispatch_goal_us, double chain_goal_us) {
  Compiler compiler = must(device.create_compiler());
  Executor executor = must(device.create_executor());
  Build build = must(compiler.build(stripe));
  must(build.done.wait());
  Kernel kernel = must(executor.prepare(build.library, 0));
  report((id + ": " + what + ", dispatch and wait").c_str(), 20'000, 1,
         [&] { must(must(kernel.run(arguments)).wait()); }, dispatch_goal_us);
  constexpr int kChain = 10'000;
  report((id + ": " + what + ", each of a chain of 10000").c_str(), 20, kChain,
         [&] {
           Event last;
           for (int i = 0; i < kChain; ++i) last = must(kernel.run(arguments, {&last, 1}));
           must(last.wait());
         },
         chain_goal_us);
  // As a program of many small kernels runs: one batch, each kernel after the one before.
  constexpr uint32_t kBatch = 1000;
  std::vector<Launch> batch;
  for (uint32_t i = 0; i < kBatch; ++i)
    batch.push_back(
        {kernel, arguments, i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}});
  report((id + ": " + what + ", each of a batch of 1000 in a chain").c_str(), 30, kBatch,
         [&] { must(must(executor.submit(batch)).wait()); });
  Event done = must(kernel.run(arguments));
  must(done.wait());
  report((id + ": one call through the table (event.query)").c_str(), 1000, 1000,
         [&] {
           for (int i = 0; i < 1000; ++i) STRIA_CHECK(done.is_done(), "open");
         },
         0.020);
}

// The same as a user sees it: a compiled program over tensors, which keep track of who uses them.
void measure_runs(const Runtime& runtime, const std::string& id) {
  stria::Device device = must(runtime.open(id));
  Program program = must(Program::from_tile({"tiny", "function tiny(A[N]) -> (B) { B = A + A; }"}));
  Executable tiny = must(device.compile(program, {{"A", {DataType::fp32, {1}}}}));
  std::vector<Tensor> a = {must(device.create_tensor(DataType::fp32, {1}))};
  std::vector<Tensor> b = {must(device.create_tensor(DataType::fp32, {1}))};
  must(a[0].write(std::string(4, '\0')));
  report((id + ": run of a program of 1 element and wait").c_str(), 10'000, 1,
         [&] { must(must(tiny.run(a, b)).wait()); }, 20);
  constexpr int kChain = 10'000;
  report((id + ": each of a chain of 10000 such runs").c_str(), 10, kChain,
         [&] {
           for (int i = 0; i < kChain; i += 2) {
             (void)must(tiny.run(a, b));
             (void)must(tiny.run(b, a));
           }
           (void)must(a[0].read());
         },
         10);
}

int run(int argc, char** argv) {
  HostFunctions functions;
  functions.interpret = [](std::string_view) -> Result<std::unique_ptr<InterpretedProgram>> {
    return std::unique_ptr<InterpretedProgram>(std::make_unique<NothingProgram>());
  };
  auto host = std::make_shared<Host>(std::move(functions));
  SearchOptions options;
  if (argc > 1) options.paths = {argv[1]}, options.only_paths = true;
  std::printf("%-58s %15s %15s\n", "", "median", "90%");
  double begin = now_us();
  PluginSet all = PluginSet::load(host, options);
  std::printf("%-58s %12.3f us\n", "find, check, load and list all plugins, first time",
              now_us() - begin);
  SearchOptions eight;
  eight.paths = {STRIA_BINARY_DIR "/lib/bench_plugins"};
  eight.only_paths = true;
  begin = now_us();
  PluginSet listed = PluginSet::load(host, eight);
  const double took = now_us() - begin;
  const auto good = std::count_if(listed.records().begin(), listed.records().end(),
                                  [](const PluginRecord& record) { return record.status().ok(); });
  std::printf("%-58s %12.3f us\n", fmt::format("list {} plugins, first time", good).c_str(), took);
  must(listed.shutdown());
  for (const PluginRecord& record : all.records()) {
    if (!record.plugin.valid()) continue;
    report((record.id + ": load once more (mapped already)").c_str(), 50, 1, [&] {
      LoadResult loaded = load_plugin(record.directory, host);
      must(loaded.status());
      must(loaded.plugin.shutdown());
    });
    report((record.id + ": list devices").c_str(), 50, 1, [&] { must(record.plugin.devices()); });
    Device device = must(record.plugin.open(record.devices.at(0).id));
    if (record.id == "reference") {
      measure_dispatch(record.id, device, "nothing", {}, "empty kernel", 5, 0);
    } else {
      for (int64_t count : {int64_t{1}, int64_t{64}, int64_t{100'000}}) {
        Buffer a = must(device.allocate(static_cast<uint64_t>(4 * count)));
        Buffer r = must(device.allocate(static_cast<uint64_t>(4 * count)));
        const std::string what = fmt::format("{} elements", count);
        measure_dispatch(record.id, device, elementwise(count), {{r, 0}, {a, 0}}, what.c_str(), 0,
                         count < 100 ? 10 : 0);
      }
    }
  }
  must(all.shutdown());
  RuntimeOptions runtime_options;
  runtime_options.plugin_paths = options.paths;
  runtime_options.only_plugin_paths = options.only_paths;
  Runtime runtime(runtime_options);
  for (const char* id : {"reference", "llvm_cpu", "opencl"})
    if (runtime.open(id).ok()) measure_runs(runtime, id);
  return 0;
}

}  // namespace
}  // namespace stria::hal

int main(int argc, char** argv) { return stria::hal::run(argc, argv); }
