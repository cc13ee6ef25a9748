// SPDX-License-Identifier: Apache-2.0
// What each kernel of a chain of 1,000 costs, as a batch of stria's `opencl` or `vulkan` and as a
// program in C asks the same driver for it (drivers_chain.h). Both in turns. Where the host is a
// machine among others, what a driver takes depends on what else runs on the processor that this
// one has got: so each round is on the next processor, and the median is over all.
//   stria_chain_bench [--plugin opencl|vulkan] [--device TEXT] [--rounds N]
// --device: the first device of the driver whose name holds the text. --rounds: on each processor.
#include <fmt/format.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "../median.h"
#include "../must.h"
#include "../options.h"
#include "../tiny_kernel.h"
#include "drivers_chain.h"
#include "stria/hal/plugin_set.h"

namespace stria::bench {
namespace {

constexpr uint32_t kChain = 1000;

double second_us_of_each(const auto& chain) {
  chain();
  const auto begin = std::chrono::steady_clock::now();
  chain();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / kChain;
}

// Those that this process may use; it runs on any of them again when this goes.
class Processors {
 public:
  Processors() { must_be_set(sched_getaffinity(0, sizeof all_, &all_)); }
  Processors(const Processors&) = delete;
  ~Processors() { sched_setaffinity(0, sizeof all_, &all_); }
  int count() const { return CPU_COUNT(&all_); }
  void move_to_next() {
    do last_ = (last_ + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(last_, &all_));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last_, &one);
    must_be_set(sched_setaffinity(0, sizeof one, &one));
  }

 private:
  static void must_be_set(int code) {
    if (code != 0) must(Status(StatusCode::internal, "processors cannot be chosen"));
  }
  cpu_set_t all_;
  int last_ = -1;
};

void measure(const hal::Device& device, ChainDriver& driver, int64_t count, int rounds) {
  const hal::Compiler compiler = must(device.create_compiler());
  const hal::Executor executor = must(device.create_executor());
  const hal::Build build = must(compiler.build(elementwise(count)));
  must(build.done.wait());
  const hal::Kernel kernel = must(executor.prepare(build.library, 0));
  const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(float);
  const std::vector<hal::Argument> arguments = {{must(device.allocate(bytes)), 0},
                                                {must(device.allocate(bytes)), 0}};
  std::vector<hal::Launch> batch;
  for (uint32_t n = 0; n < kChain; ++n)
    batch.push_back(
        {kernel, arguments, n ? std::vector<uint32_t>{n - 1} : std::vector<uint32_t>{}});
  const std::unique_ptr<DriversChain> chain = driver.chain(kChain, count);
  chain->must_be(build.library);
  const auto ours = [&] { must(must(executor.submit(batch)).wait()); };
  const auto theirs = [&] { chain->run(); };
  ours(), theirs();  // the threads that they make may run anywhere
  std::vector<double> our_us, their_us, ratios;
  Processors processors;
  const int64_t all_rounds = int64_t{rounds} * processors.count();
  for (int64_t round = 0; round < all_rounds; ++round) {
    processors.move_to_next();
    // Each is the first one in every other turn of a processor, and runs once untimed before: the
    // device goes from the work of one to that of the other.
    const bool first = round / processors.count() % 2 == 0;
    double a = first ? second_us_of_each(ours) : 0;
    const double b = second_us_of_each(theirs);
    if (!first) a = second_us_of_each(ours);
    our_us.push_back(a);
    their_us.push_back(b);
    ratios.push_back(a / b);
  }
  const double each = median(our_us), ratio = median(ratios);
  const ChainGoals goals = driver.goals();
  const auto met = [](bool reached) { return reached ? "met" : "MISSED"; };
  std::string of_us, of_ratio;
  if (goals.us > 0) of_us = fmt::format("  < {} us {:<6}", goals.us, met(each < goals.us));
  if (goals.ratio > 0) of_ratio = fmt::format("  <= {} {}", goals.ratio, met(ratio <= goals.ratio));
  std::printf(
      "%7lld elements  %7.3f us (half of all %.3f to %.3f)%s  the driver alone %.3f us "
      "(%.3f to %.3f)  %.3f times as long%s\n",
      static_cast<long long>(count), each, quantile(our_us, 0.25), quantile(our_us, 0.75),
      of_us.c_str(), median(their_us), quantile(their_us, 0.25), quantile(their_us, 0.75), ratio,
      of_ratio.c_str());
  std::fflush(stdout);
}

void run(const std::string& plugin, const std::string& text, int rounds) {
  const std::unique_ptr<ChainDriver> driver =
      plugin == "opencl" ? open_opencl_chains(text) : open_vulkan_chains(text);
  const auto host = std::make_shared<hal::Host>(hal::HostFunctions());
  hal::SearchOptions options;
  options.only_ids = {plugin};
  hal::PluginSet plugins = hal::PluginSet::load(host, options);
  for (const hal::PluginRecord& record : plugins.records()) {
    must(record.status());
    for (const hal::DeviceInfo& info : must(record.plugin.devices())) {
      if (!info.available || !driver->is(info)) continue;
      std::printf("%s: each kernel of a chain of %u\n", info.name.c_str(), kChain);
      const hal::Device device = must(record.plugin.open(info.id));
      for (const int64_t count : {1, 64}) measure(device, *driver, count, rounds);
      return;
    }
  }
  must(Status(StatusCode::not_found, plugin + " lists no device '" + driver->name() + "'"));
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  std::string device, plugin = "opencl";
  int rounds = 20;
  if (!stria::bench::read_options(
          argc, argv, {{{"--device", &device}, {"--plugin", &plugin}}, {{"--rounds", &rounds}}}) ||
      rounds < 1 || (plugin != "opencl" && plugin != "vulkan")) {
    std::fprintf(
        stderr, "usage: stria_chain_bench [--plugin opencl|vulkan] [--device TEXT] [--rounds N]\n");
    return 2;
  }
  stria::bench::run(plugin, device, rounds);
}
