// SPDX-License-Identifier: Apache-2.0
// Devices and the driver that lists them. What a plugin does not override works on host memory and
// interprets: a plugin that overrides nothing but Driver::enumerate is complete.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/buffer.h"
#include "stria/sdk/event.h"
#include "stria/sdk/executor.h"
#include "stria/sdk/library.h"
#include "stria/sdk/object.h"

namespace stria::sdk {

// An opened device. Thread-safe.
class Device : public Object {
 public:
  Device(const Host& host, DeviceInfo info)
      : host_(host), info_(std::move(info)), budget_(make<MemoryBudget>(info_.memory_bytes)) {}

  const Host& host() const { return host_; }
  const DeviceInfo& info() const { return info_; }
  virtual Ref<Compiler> create_compiler() { return make<InterpretingCompiler>(host_); }
  // `options` is a JSON object.
  virtual Ref<Executor> create_executor(std::string_view options) {
    (void)options;
    return make<Executor>(host_);
  }
  // `memory` names a memory unit of the hardware model; empty is the main memory.
  virtual Ref<Buffer> allocate(uint64_t bytes, std::string_view memory) {
    (void)memory;
    return make<HostBuffer>(host_, budget_, bytes);
  }

 private:
  const Host& host_;
  const DeviceInfo info_;
  Ref<MemoryBudget> budget_;
};

struct DriverOptions {
  std::string directory;  // the plugin's own, absolute
  std::string options;    // JSON object
};

// One per host that uses the plugin. enumerate and open may be called from any thread.
class Driver {
 public:
  Driver(const Host& host, DriverOptions options) : host_(host), options_(std::move(options)) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  const Host& host() const { return host_; }
  const DriverOptions& options() const { return options_; }
  // Every device there could be, unavailable ones with the reason; opens none.
  virtual std::vector<DeviceInfo> enumerate() = 0;
  // `info` is one that enumerate gives now, and available.
  virtual Ref<Device> open(const DeviceInfo& info, std::string_view options) {
    (void)options;
    return make<Device>(host_, info);
  }

 private:
  const Host& host_;
  DriverOptions options_;
};

}  // namespace stria::sdk
