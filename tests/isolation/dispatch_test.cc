// SPDX-License-Identifier: Apache-2.0
// What the way through another process costs: printed, not judged, for a busy machine says little.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "isolated_runtime.h"
#include "stria/hal/device.h"
#include "stria/runtime/inside.h"

namespace stria::isolation_test {
namespace {

struct Figures {
  double dispatch_us = 0, submit_us = 0, map_us = 0;
};

double median_us(int rounds, const std::function<void()>& body) {
  std::vector<double> times;
  for (int i = 0; i < rounds + rounds / 10; ++i) {
    const auto begin = Clock::now();
    body();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Figures figures(const Runtime& runtime, const std::string& selector) {
  const Result<Device> opened = runtime.open(selector);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  if (!opened.ok()) return {};
  const hal::Device& device = Inside::hal_device(*opened);
  const auto buffer = device.allocate(64);
  const auto executor = device.create_executor();
  const std::byte zero{};
  Figures out;
  out.dispatch_us = median_us(
      3000, [&] { EXPECT_TRUE(executor->fill(*buffer, 0, 64, {&zero, 1})->wait().ok()); });
  hal::Event last = *executor->fill(*buffer, 0, 64, {&zero, 1});
  // One after the other: they write the same bytes.
  out.submit_us = median_us(3000, [&] {
    const hal::Event before = std::exchange(last, {});
    last = *executor->fill(*buffer, 0, 64, {&zero, 1}, {&before, 1});
  });
  EXPECT_TRUE(last.wait().ok());
  out.map_us = median_us(1000, [&] {
    auto mapping = buffer->map_read();
    EXPECT_TRUE(mapping->ready().wait().ok());
    EXPECT_TRUE(mapping->unmap()->wait().ok());
  });
  return out;
}

TEST(Dispatch, Costs) {
  const Runtime runtime;
  for (const std::string plugin : {"reference", "llvm_cpu"}) {
    const Figures direct = figures(runtime, plugin);
    const Figures isolated = figures(runtime, "isolated:" + plugin);
    std::printf("%-10s              %10s %10s\n", plugin.c_str(), "direct", "isolated");
    const auto line = [](const char* what, double first, double second) {
      std::printf("  %-20s %8.1f us %7.1f us  (+%.1f us)\n", what, first, second, second - first);
    };
    line("fill and wait", direct.dispatch_us, isolated.dispatch_us);
    line("fill alone", direct.submit_us, isolated.submit_us);
    line("map, unmap and wait", direct.map_us, isolated.map_us);
  }
}

}  // namespace
}  // namespace stria::isolation_test
