// SPDX-License-Identifier: Apache-2.0
// What the plugin boundary costs: loading, one call through a table, one dispatch, a chain of
// events, and the same through the public interface. Prints one line per figure: name, median, 90th
// percentile, and the goal if there is one.
//
//   stria_boundary_bench [--plugin ID] [--device TEXT] [--options JSON] [--isolated] [FOLDER]
// Without a folder: the plugins beside the executable. --plugin: this one alone, with the options
// of
// --options, on its first available device whose name holds the text. --isolated: plugins run in
// processes of their own.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "must.h"
#include "stria/hal/isolation/isolate.h"
#include "stria/hal/plugin_set.h"
#include "stria/runtime/runtime.h"
#include "tiny_kernel.h"

namespace stria::hal {
namespace {

using bench::elementwise;
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

struct Asked {
  std::string folder, plugin, device, options = "{}";
  bool isolated = false;
};

void measure_dispatch(const std::string& id, const Device& device, const std::string& stripe,
                      const std::vector<Argument>& arguments, const char* what, int chain,
                      double dispatch_goal_us, double chain_goal_us) {
  Compiler compiler = must(device.create_compiler());
  Executor executor = must(device.create_executor());
  Build build = must(compiler.build(stripe));
  must(build.done.wait());
  Kernel kernel = must(executor.prepare(build.library, 0));
  report((id + ": " + what + ", dispatch and wait").c_str(), 20'000, 1,
         [&] { must(must(kernel.run(arguments)).wait()); }, dispatch_goal_us);
  report((id + ": " + what + ", each of a chain of " + std::to_string(chain)).c_str(), 20, chain,
         [&] {
           Event last;
           for (int i = 0; i < chain; ++i) last = must(kernel.run(arguments, {&last, 1}));
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
  report((id + ": " + what + ", the same, with events of each").c_str(), 30, kBatch, [&] {
    std::vector<Event> each;
    must(must(executor.submit(batch, {}, &each)).wait());
  });
  Event done = must(kernel.run(arguments));
  must(done.wait());
  report((id + ": one call through the table (event.query)").c_str(), 1000, 1000,
         [&] {
           for (int i = 0; i < 1000; ++i) STRIA_CHECK(done.is_done(), "open");
         },
         0.020);
}

// The same as a user sees it: a compiled program over tensors, which keep track of who uses them.
void measure_runs(const std::string& id, const stria::Device& device) {
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
  // A program of 200 kernels, each of which reads what the one before it wrote.
  constexpr int kKernels = 200;
  std::string text = "function chain(A[N]) -> (B) { T0[i: N] = +(A[i] * A[i]);";
  for (int i = 1; i < kKernels; ++i)
    text += fmt::format(" {}[i: N] = +(T{}[i] * A[i]);",
                        i + 1 < kKernels ? fmt::format("T{}", i) : "B", i - 1);
  std::vector<Tensor> first = {must(device.create_tensor(DataType::fp32, {64}))};
  std::vector<Tensor> last = {must(device.create_tensor(DataType::fp32, {64}))};
  must(first[0].write(std::string(4 * 64, '\0')));
  for (const bool watched : {false, true}) {
    CompileOptions options;
    options.watch_kernels = watched;
    Executable chain = must(device.compile(must(Program::from_tile({"chain", text + " }"})),
                                           {{"A", {DataType::fp32, {64}}}}, options));
    size_t kernels = 0;
    report((id + ": each kernel of a program of 200 in a chain" + (watched ? ", watched" : ""))
               .c_str(),
           30, kKernels, [&] {
             stria::Event run = must(chain.run(first, last));
             must(run.wait());
             kernels = must(run.kernel_times()).size();
           });
    STRIA_CHECK(!watched || kernels == kKernels, "the program has {} kernels", kernels);
  }
}

void measure_plugin(const std::string& id, const Device& device) {
  if (id == "reference")
    return measure_dispatch(id, device, "nothing", {}, "empty kernel", 10'000, 5, 0);
  for (int64_t count : {int64_t{1}, int64_t{64}, int64_t{100'000}}) {
    Buffer a = must(device.allocate(static_cast<uint64_t>(4 * count)));
    Buffer r = must(device.allocate(static_cast<uint64_t>(4 * count)));
    const std::string what = fmt::format("{} elements", count);
    measure_dispatch(id, device, elementwise(count), {{r, 0}, {a, 0}}, what.c_str(),
                     count < 100 ? 10'000 : 100, 0, count < 100 ? 10 : 0);
  }
}

// The first available device of the list whose name holds the text.
const DeviceInfo& chosen(const std::vector<DeviceInfo>& devices, const std::string& text) {
  for (const DeviceInfo& info : devices)
    if (info.available && info.name.find(text) != std::string::npos) return info;
  std::fprintf(stderr, "no available device has '%s' in its name\n", text.c_str());
  std::exit(3);
}

void measure_loading(const std::shared_ptr<Host>& host, const PluginSet& all) {
  SearchOptions eight;
  eight.paths = {STRIA_BINARY_DIR "/lib/bench_plugins"};
  eight.only_paths = true;
  const double begin = now_us();
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
  }
}

int run(const Asked& asked) {
  HostFunctions functions;
  functions.interpret = [](std::string_view) -> Result<std::unique_ptr<InterpretedProgram>> {
    return std::unique_ptr<InterpretedProgram>(std::make_unique<NothingProgram>());
  };
  auto host = std::make_shared<Host>(std::move(functions));
  SearchOptions options;
  if (!asked.folder.empty()) options.paths = {asked.folder}, options.only_paths = true;
  if (!asked.plugin.empty()) {
    options.only_ids = {asked.plugin};
    options.driver_options = {{asked.plugin, asked.options}};
  }
  IsolateOptions isolate;
  isolate.program = find_isolated();
  IsolateExtension extension;
  extension.options = &isolate;
  if (asked.isolated) {
    options.stand_in = query_isolated;
    options.driver_extensions = &extension;
  }
  std::printf("%-58s %15s %15s\n", "", "median", "90%");
  const double begin = now_us();
  PluginSet all = PluginSet::load(host, options);
  std::printf("%-58s %12.3f us\n", "find, check, load and list all plugins, first time",
              now_us() - begin);
  if (asked.plugin.empty() && !asked.isolated) measure_loading(host, all);
  for (const PluginRecord& record : all.records()) {
    if (!record.plugin.valid()) continue;
    const std::vector<DeviceInfo> devices = must(record.plugin.devices());
    measure_plugin(record.id, must(record.plugin.open(chosen(devices, asked.device).id)));
  }
  must(all.shutdown());
  RuntimeOptions runtime_options;
  runtime_options.plugin_paths = options.paths;
  runtime_options.only_plugin_paths = options.only_paths;
  runtime_options.only_plugins = options.only_ids;
  runtime_options.plugin_options = options.driver_options;
  runtime_options.isolate_plugins = asked.isolated;
  Runtime runtime(runtime_options);
  for (const std::string id : {"reference", "llvm_cpu", "opencl"})
    if (Result<stria::Device> device = runtime.open(id + ":*" + asked.device + "*"); device.ok())
      measure_runs(id, *device);
  return 0;
}

}  // namespace
}  // namespace stria::hal

int main(int argc, char** argv) {
  stria::hal::Asked asked;
  const std::map<std::string, std::string*> texts = {
      {"--plugin", &asked.plugin}, {"--device", &asked.device}, {"--options", &asked.options}};
  for (int n = 1; n < argc; ++n) {
    const auto text = texts.find(argv[n]);
    if (std::string_view(argv[n]) == "--isolated")
      asked.isolated = true;
    else if (text != texts.end() && n + 1 < argc)
      *text->second = argv[++n];
    else if (asked.folder.empty() && argv[n][0] != '-')
      asked.folder = argv[n];
    else
      return std::fprintf(stderr,
                          "usage: stria_boundary_bench [--plugin ID] [--device TEXT] "
                          "[--options JSON] [--isolated] [PLUGIN_FOLDER]\n"),
             2;
  }
  return stria::hal::run(asked);
}
