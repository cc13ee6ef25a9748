// SPDX-License-Identifier: Apache-2.0
// A hook for tests that any plugin with a device can offer as an option: one of the device's
// submissions fails, or the device counts as lost from then on.
//
//   {"inject": {"submit": 3, "then": "lose"}}
//
//   switch (faults.next()) {   // once for each submission, before the driver gets it
//     case InjectedFault::none: code = submit_to_driver(…); break;
//     case InjectedFault::fail: code = OUT_OF_MEMORY; break;   // nothing was submitted
//     case InjectedFault::lose: code = DEVICE_LOST; break;     // and the device is lost
//   }
// What follows is what the plugin does with such an answer of its driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace stria::sdk {

enum class InjectedFault { none, fail, lose };

struct FaultPlan {
  uint64_t submit = 0;  // which submission of a device, counted from 1; 0: none
  InjectedFault then = InjectedFault::none;
  std::string device;  // the id of the device; empty: any
};

// Reads {"submit": N, "then": "fail" or "lose", "device": ID}; `device` may be left out. `Json` is
// a value of nlohmann::json or one like it. False, and `out` unchanged, if it is anything else.
template <typename Json>
bool read_fault_plan(const Json& value, FaultPlan& out) {
  if (!value.is_object()) return false;
  FaultPlan plan;
  for (const auto& [key, part] : value.items()) {
    if (key == "submit" && part.is_number_unsigned()) {
      plan.submit = part.template get<uint64_t>();
    } else if (key == "then" && part.is_string()) {
      const auto then = part.template get<std::string>();
      if (then != "fail" && then != "lose") return false;
      plan.then = then == "fail" ? InjectedFault::fail : InjectedFault::lose;
    } else if (key == "device" && part.is_string()) {
      plan.device = part.template get<std::string>();
    } else {
      return false;
    }
  }
  if (plan.submit == 0 || plan.then == InjectedFault::none) return false;
  out = plan;
  return true;
}

// Counts the submissions of one device. Thread-safe.
class FaultInjection {
 public:
  FaultInjection(const FaultPlan& plan, const std::string& device_id)
      : at_(plan.device.empty() || plan.device == device_id ? plan.submit : 0), then_(plan.then) {}
  // What is to become of the submission that comes now.
  InjectedFault next() {
    if (at_ == 0) return InjectedFault::none;
    return count_.fetch_add(1, std::memory_order_relaxed) + 1 == at_ ? then_ : InjectedFault::none;
  }

 private:
  const uint64_t at_;
  const InjectedFault then_;
  std::atomic<uint64_t> count_{0};
};

}  // namespace stria::sdk
