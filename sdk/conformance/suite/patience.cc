// SPDX-License-Identifier: Apache-2.0
#include "suite/patience.h"

#include <algorithm>
#include <atomic>

namespace stria::conformance {
namespace {

constexpr int kLeastMs = 20'000;
// Of a case's limit: the rest is left to say what hangs.
constexpr double kShareOfLimit = 0.7;

std::atomic<double> g_factor{1};
std::atomic<int> g_wait_ms{kLeastMs};

}  // namespace

void set_patience(std::chrono::milliseconds limit, double factor) {
  g_factor = factor;
  g_wait_ms =
      std::max(kLeastMs, static_cast<int>(static_cast<double>(limit.count()) * kShareOfLimit));
}

int patience_ms(int milliseconds) {
  return static_cast<int>(std::min(milliseconds * g_factor.load(), 1e9));
}

int patience_ms() { return patience_ms(g_wait_ms); }

}  // namespace stria::conformance
