// SPDX-License-Identifier: Apache-2.0
#include "watchdog.h"

#include <chrono>
#include <thread>

#include "stria/sdk/error.h"

namespace third_chip {
namespace {

constexpr std::chrono::milliseconds kPeriod{20};

}  // namespace

void start_talking_watchdog(const stria_host_services& services) {
  std::thread([log = services.log, host = services.host] {
    for (;;) {
      std::this_thread::sleep_for(kPeriod);
      log(host, STRIA_LOG_DEBUG, stria::sdk::to_c("the device is well"));
    }
  }).detach();
}

void start_silent_watchdog() {
  std::thread([] {
    for (;;) std::this_thread::sleep_for(kPeriod);
  }).detach();
}

}  // namespace third_chip
