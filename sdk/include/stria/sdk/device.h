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
#include "stria/sdk/foreign_event.h"
#include "stria/sdk/library.h"
#include "stria/sdk/object.h"
#include "stria/sdk/shared_memory.h"

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
    must_be_main(memory);
    return make<HostBuffer>(host_, budget_, bytes);
  }
  // The name of the main memory in the device's hardware model.
  virtual std::string main_memory() const { return "DRAM"; }

  // Experimental (stria/experimental.h). Kinds of memory as bits: 1 << STRIA_HOST_MEMORY …
  struct ShareKinds {
    uint32_t imported = 0;
    uint32_t exported = 0;
  };
  virtual ShareKinds share_kinds() const { return {}; }
  // `memory` is of a kind that share_kinds has.
  virtual Ref<Buffer> import_buffer(const stria_shared_memory& memory) {
    throw Error(STRIA_UNSUPPORTED,
                "this device takes no memory of the kind " + std::to_string(memory.kind));
  }
  // Whether all of its buffers are memory of the host (Buffer::data).
  virtual bool on_host_memory() const { return false; }
  // Whether Executor::copy_between can copy from and to buffers of `peer`.
  virtual bool reaches(const Device& peer) const {
    (void)peer;
    return false;
  }
  virtual Ref<Event> import_event(const stria_foreign_event& foreign) {
    return descriptor_event(host_, foreign);
  }
  virtual stria_estimate estimate(std::string_view stripe, std::string_view options) {
    (void)stripe, (void)options;
    throw Error(STRIA_UNIMPLEMENTED, "this device does not estimate what programs cost");
  }

 protected:
  // Refuses a memory unit other than the main one.
  void must_be_main(std::string_view memory) const {
    if (!memory.empty() && memory != main_memory())
      throw Error(STRIA_NOT_FOUND, "there are no buffers in '" + std::string(memory) +
                                       "': they lie in '" + main_memory() + "'");
  }

 private:
  const Host& host_;
  const DeviceInfo info_;
  Ref<MemoryBudget> budget_;
};

// A device whose buffers are the helper's: memory of the host. It takes and gives such memory.
class HostMemoryDevice : public Device {
 public:
  using Device::Device;
  ShareKinds share_kinds() const override {
    return {1U << STRIA_HOST_MEMORY | 1U << STRIA_MEMORY_DESCRIPTOR, 1U << STRIA_HOST_MEMORY};
  }
  Ref<Buffer> import_buffer(const stria_shared_memory& memory) override {
    return make<SharedHostBuffer>(host(), memory);
  }
  bool on_host_memory() const override { return true; }
  bool reaches(const Device& peer) const override { return peer.on_host_memory(); }
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
  // For stria_plugin_info.get_extension: a static function of the driver class, which a plugin
  // hides with its own to offer more. By default the experimental tables, whose functions call what
  // the classes override.
  static const void* extension(stria_string name, uint32_t version);
  // Every device there could be, unavailable ones with the reason; opens none.
  virtual std::vector<DeviceInfo> enumerate() = 0;
  // `info` is one that enumerate gives now, and available.
  virtual Ref<Device> open(const DeviceInfo& info, std::string_view options) {
    (void)options;
    return make<HostMemoryDevice>(host_, info);
  }

 private:
  const Host& host_;
  DriverOptions options_;
};

}  // namespace stria::sdk
