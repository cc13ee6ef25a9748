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

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

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
  const double begin = now();
  for (int run = 0; run < kMostRuns && now() - begin < kMostSeconds; ++run) {
    const double start = now();
    must(row.run().wait());
    seconds.push_back(now() - start);
  }
  return quantile(std::move(seconds), 0.25);
}

}  // namespace stria::bench
