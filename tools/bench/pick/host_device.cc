// SPDX-License-Identifier: Apache-2.0
#include "host_device.h"

#include <chrono>
#include <vector>

#include "../median.h"
#include "../must.h"

namespace stria::bench {
namespace {

constexpr double kMostSeconds = 0.05;  // of a round
constexpr int kMostRuns = 50;

}  // namespace

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

HostDevice open_host_device(const std::string& text) {
  const size_t at = text.rfind('@');
  RuntimeOptions options;
  if (at != std::string::npos)
    options.threads = static_cast<unsigned>(std::stoi(text.substr(at + 1)));
  Runtime runtime(options);
  Device device = must(runtime.open(text.substr(0, at)));
  return {text, std::move(runtime), std::move(device)};
}

double host_seconds(const DeviceRow& row) {
  std::vector<double> seconds;
  const double begin = now_seconds();
  for (int run = 0; run < kMostRuns && now_seconds() - begin < kMostSeconds; ++run) {
    const double start = now_seconds();
    must(row.run().wait());
    seconds.push_back(now_seconds() - start);
  }
  return quantile(std::move(seconds), 0.25);
}

}  // namespace stria::bench
