// SPDX-License-Identifier: Apache-2.0
// That a device is lost: it does not answer any more, or its driver says so. Whatever is asked of
// it from then on fails in the same way, and nothing that it may still use is freed. What a plugin
// keeps for a device derives from DeviceLoss:
//
//   class Context : public DeviceLoss { … };
//   if (code == DEVICE_LOST) context.lose(name, "submit: DEVICE_LOST", code, "DEVICE_LOST");
//   context.check_not_lost();                        // where the host asks for something
//   if (!context.lost()) driver.free(memory);        // where something goes
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "stria/sdk/error.h"

namespace stria::sdk {

// Thread-safe; asking costs a load as long as the device is well. A lost device stays lost.
class DeviceLoss {
 public:
  // The device called `name` is lost because of `why`. The first reason holds. `native_code` and
  // `native_message` are the driver's own, if it has said anything.
  void lose(const std::string& name, const std::string& why, int64_t native_code = 0,
            std::string native_message = {}) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_) return;
    failure_ = std::make_shared<Failure>(
        Failure{STRIA_DEVICE_LOST,
                "'" + name + "' is lost: " + why,
                native_code,
                std::move(native_message),
                {},
                "end the process, and reset the device if it does not come back by itself"});
    is_lost_.store(true, std::memory_order_release);
  }
  // The failure that everything has from then on, STRIA_DEVICE_LOST; null if the device is not
  // lost.
  Outcome lost() const {
    if (!is_lost_.load(std::memory_order_acquire)) return nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }
  // Throws it.
  void check_not_lost() const {
    if (Outcome outcome = lost()) throw Error(std::move(outcome));
  }

 private:
  std::atomic<bool> is_lost_{false};
  mutable std::mutex mutex_;
  Outcome failure_;  // guarded by mutex_
};

}  // namespace stria::sdk
