// SPDX-License-Identifier: Apache-2.0
// Hours of a server's life in short: threads come and go, each compiles generated programs, runs
// them several times at once, reads, and drops everything. Between two such shifts nothing is under
// way, so what is alive then must be the same every time.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "case_tensors.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/hal/plugin_set.h"
#include "stria/runtime/host/host_functions.h"
#include "stria/runtime/inside.h"
#include "tile_case.h"

namespace stria::differential {
namespace {

const uint64_t kSeconds = number_from("STRIA_SOAK_SECONDS", 5);
constexpr int kThreads = 4, kProgramsPerShift = 4;
constexpr uint64_t kSeeds = 60;  // programs come back: what is kept once is not growth
constexpr uint64_t kMiB = uint64_t{1} << 20;
// PoCL 3.1 keeps 0.8 KiB of each program that it builds (places of expanded macros in a source
// manager that all builds share, names of temporary files, a cache of kernels), by heaptrack; one
// device in four or more is its.
constexpr uint64_t kDriverLeakBytes = 512;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename T>
T must(Result<T> result) {
  STRIA_CHECK(result.ok(), "{}", result.status().to_string());
  return std::move(result).value();
}

// What the process has at a moment when nothing runs.
struct Footprint {
  uint64_t heap_bytes = 0;      // that malloc has given out
  uint64_t resident_bytes = 0;  // that the system has given the process
};

Footprint footprint() {
  ::malloc_trim(0);
  Footprint out;
  const auto heap = ::mallinfo2();
  out.heap_bytes = heap.uordblks + heap.hblkhd;
  const std::string text = must(read_file("/proc/self/statm"));
  out.resident_bytes =
      std::stoull(split(text, ' ').at(1)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return out;
}

// Compiles a program, starts three runs at once and reads what they made.
void compile_run_drop(const Device& device, uint64_t seed) {
  const GeneratedProgram generated = generate(seed);
  Program program = must(Program::from_tile({"generated", generated.tile_text()}));
  Executable executable = must(device.compile(program, types_of(generated)));
  std::vector<Tensor> inputs, outputs[2];
  for (size_t n = 0; n < generated.inputs.size(); ++n) {
    const GeneratedTensor& like = generated.inputs[n];
    inputs.push_back(must(device.create_tensor(like.type, like.sizes, like.name)));
    Status written = inputs.back().write(tensor_of(like, &generated.input_values[n]).bytes());
    STRIA_CHECK(written.ok(), "{}", written.to_string());
  }
  for (auto& tensors : outputs)
    for (const std::string& name : generated.outputs) {
      const GeneratedTensor& like = tensor_named(generated, name);
      tensors.push_back(must(device.create_tensor(like.type, like.sizes, name)));
    }
  for (int run = 0; run < 3; ++run) (void)must(executable.run(inputs, outputs[run % 2]));
  for (size_t n = 0; n < outputs[0].size(); ++n)
    STRIA_CHECK(must(outputs[0][n].read()).bytes() == must(outputs[1][n].read()).bytes(),
                "seed {}: two runs on {} differ", seed, device.name());
  // A run that nobody waits for is dropped under way.
  (void)must(executable.run(inputs, outputs[0]));
}

// Which handles are left, by plugin: a plugin with an open device refuses to go and says why.
std::string handles(const hal::PluginSet& plugins) {
  std::string text;
  for (const hal::PluginRecord& record : plugins.records()) {
    hal::Plugin plugin = record.plugin;
    text += plugin.shutdown().to_string() + "\n";
  }
  return text;
}

// Runs shifts on `devices` for `seconds`. `idle` is what handles() says while only they are open.
// The heap may grow by 4 MiB, for blocks of 2 MiB come and go, and by `leak_bytes` for each
// program.
void soak(const hal::PluginSet& plugins, const std::string& idle,
          const std::vector<Device>& devices, uint64_t seconds, uint64_t leak_bytes) {
  std::atomic<uint64_t> next{0};
  auto shift = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int n = 0; n < kProgramsPerShift; ++n) {
          const uint64_t job = next++;
          compile_run_drop(devices[job % devices.size()], 1 + job / devices.size() % kSeeds);
        }
      });
    for (std::thread& thread : threads) thread.join();
  };
  // Runs that nobody waited for end a little later.
  auto wait_for_idle = [&] {
    for (double end = now_s() + 20; handles(plugins) != idle && now_s() < end;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return handles(plugins);
  };

  const double begin = now_s();
  const auto over = [&](double part) {
    return now_s() - begin >= part * static_cast<double>(seconds);
  };
  while (!over(0.2) || next < kSeeds * devices.size()) shift();
  ASSERT_EQ(wait_for_idle(), idle);
  const uint64_t programs = next;
  const Footprint first = footprint();
  Footprint last = first, most = first;
  uint64_t shifts = 0;
  double next_line = now_s();
  while (!over(1) || shifts < 3) {
    shift();
    ++shifts;
    ASSERT_EQ(wait_for_idle(), idle);
    last = footprint();
    most.heap_bytes = std::max(most.heap_bytes, last.heap_bytes);
    most.resident_bytes = std::max(most.resident_bytes, last.resident_bytes);
    if (now_s() < next_line) continue;
    next_line = now_s() + static_cast<double>(seconds) / 20;
    std::printf("%6.1f s  %7lu programs  heap %7.2f MiB  resident %7.2f MiB\n", now_s() - begin,
                next.load(), static_cast<double>(last.heap_bytes) / kMiB,
                static_cast<double>(last.resident_bytes) / kMiB);
    std::fflush(stdout);
  }
  std::printf(
      "%zu devices, %d threads, %lu programs; heap %.2f to %.2f MiB, resident %.2f to %.2f (most "
      "%.2f) MiB\n",
      devices.size(), kThreads, next.load(), static_cast<double>(first.heap_bytes) / kMiB,
      static_cast<double>(last.heap_bytes) / kMiB, static_cast<double>(first.resident_bytes) / kMiB,
      static_cast<double>(last.resident_bytes) / kMiB,
      static_cast<double>(most.resident_bytes) / kMiB);
  // Every program once has filled what is kept for good.
  const uint64_t leaks = (next - programs) * leak_bytes;
  EXPECT_LE(last.heap_bytes, first.heap_bytes + 4 * kMiB + leaks);
  EXPECT_LE(last.resident_bytes,
            first.resident_bytes + first.resident_bytes / 10 + 8 * kMiB + leaks);
}

TEST(Soak, NothingGrows) {
  // One heap for all threads: mallinfo2 sees no other.
  ASSERT_EQ(::mallopt(M_ARENA_MAX, 1), 1);
  hal::HostFunctions functions;
  functions.interpret = interpret_for_plugin;
  auto host = std::make_shared<hal::Host>(std::move(functions));
  hal::SearchOptions search;
  search.paths = {STRIA_BINARY_DIR "/lib/stria/plugins",
                  STRIA_BINARY_DIR "/lib/stria/test_plugins/slow_device"};
  search.only_paths = true;
  hal::PluginSet plugins = hal::PluginSet::load(host, search);
  std::vector<Device> ours, drivers;  // by whether a driver of others runs in this process
  for (const hal::PluginRecord& record : plugins.records()) {
    ASSERT_TRUE(record.status().ok()) << record.status().to_string();
    const std::string id = record.plugin.id();
    std::vector<Device>& devices = id == "opencl" || id == "vulkan" ? drivers : ours;
    for (const hal::DeviceInfo& info : record.devices)
      if (info.available) devices.push_back(must(Inside::open(record.plugin, info.id)));
  }
  ASSERT_GE(ours.size(), 3u);
  const std::string idle = handles(plugins);  // the open devices alone

  std::vector<Device> all = ours;
  all.insert(all.end(), drivers.begin(), drivers.end());
  soak(plugins, idle, all, kSeconds / 3, drivers.empty() ? 0 : kDriverLeakBytes);
  soak(plugins, idle, ours, kSeconds - kSeconds / 3, 0);

  std::printf("%s", idle.c_str());
  all.clear();
  ours.clear();
  drivers.clear();
  Status status = plugins.shutdown();
  EXPECT_TRUE(status.ok()) << status.to_string();
}

}  // namespace
}  // namespace stria::differential
