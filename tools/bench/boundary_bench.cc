// SPDX-License-Identifier: Apache-2.0
// What the plugin boundary costs: loading, one call through a table, one dispatch, a chain of
// events. Prints one line per figure: name, median, 90th percentile.
//
//   stria_boundary_bench [PLUGIN_FOLDER]     default: beside the executable
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "stria/hal/plugin_set.h"

namespace stria::hal {
namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Microseconds of each of `rounds` calls, after a tenth as many unmeasured ones.
void report(const char* name, int rounds, double divide, const std::function<void()>& body) {
  for (int i = 0; i < rounds / 10; ++i) body();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const double begin = now_us();
    body();
    times.push_back((now_us() - begin) / divide);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-58s %12.3f us %12.3f us\n", name, times[times.size() / 2],
              times[times.size() * 9 / 10]);
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
  return fmt::format(R"(stripe 0.1
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

template <typename T>
T must(Result<T> result) {
  STRIA_CHECK(result.ok(), "{}", result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) { STRIA_CHECK(status.ok(), "{}", status.to_string()); }

void measure_dispatch(const std::string& id, const Device& device, const std::string& stripe,
                      const std::vector<Argument>& arguments, const char* what) {
  Compiler compiler = must(device.create_compiler());
  Executor executor = must(device.create_executor());
  Build build = must(compiler.build(stripe));
  must(build.done.wait());
  Kernel kernel = must(executor.prepare(build.library, 0));
  report((id + ": " + what + ", dispatch and wait").c_str(), 20'000, 1,
         [&] { must(must(kernel.run(arguments)).wait()); });
  constexpr int kChain = 10'000;
  report((id + ": " + what + ", each of a chain of 10000").c_str(), 20, kChain, [&] {
    Event last;
    for (int i = 0; i < kChain; ++i) last = must(kernel.run(arguments, {&last, 1}));
    must(last.wait());
  });
  Event done = must(kernel.run(arguments));
  must(done.wait());
  report((id + ": one call through the table (event.query)").c_str(), 1000, 1000, [&] {
    for (int i = 0; i < 1000; ++i) STRIA_CHECK(done.is_done(), "open");
  });
}

int run(int argc, char** argv) {
  HostFunctions functions;
  functions.interpret = [](std::string_view) -> Result<std::unique_ptr<InterpretedProgram>> {
    return std::unique_ptr<InterpretedProgram>(std::make_unique<NothingProgram>());
  };
  auto host = std::make_shared<Host>(std::move(functions));
  SearchOptions options;
  if (argc > 1) options = {{argv[1]}, true, {}, {}};
  std::printf("%-58s %15s %15s\n", "", "median", "90%");
  double begin = now_us();
  PluginSet all = PluginSet::load(host, options);
  std::printf("%-58s %12.3f us\n", "find, check, load and list all plugins, first time",
              now_us() - begin);
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
      measure_dispatch(record.id, device, "nothing", {}, "empty kernel");
    } else {
      for (int64_t count : {int64_t{1}, int64_t{64}, int64_t{100'000}}) {
        Buffer a = must(device.allocate(static_cast<uint64_t>(4 * count)));
        Buffer r = must(device.allocate(static_cast<uint64_t>(4 * count)));
        const std::string what = fmt::format("{} elements", count);
        measure_dispatch(record.id, device, elementwise(count), {{r, 0}, {a, 0}}, what.c_str());
      }
    }
  }
  must(all.shutdown());
  return 0;
}

}  // namespace
}  // namespace stria::hal

int main(int argc, char** argv) { return stria::hal::run(argc, argv); }
