// SPDX-License-Identifier: Apache-2.0
// The experimental tables of a plugin (sdk/include/stria/experimental.h): shared memory, copies
// between devices of one plugin, events of foreign queues, estimates. A plugin need not have them:
// then the functions here fail with unimplemented, which names the table. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "stria/base/status.h"
#include "stria/experimental.h"
#include "stria/hal/buffer.h"
#include "stria/hal/device.h"
#include "stria/hal/event.h"

namespace stria::hal {

// A file descriptor that is closed with it. Moves only.
class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return descriptor_; }  // -1: none
  int release();                           // gives it to the caller

 private:
  int descriptor_;
};

// ---- shared memory

// Kinds as bits: 1 << STRIA_HOST_MEMORY, 1 << STRIA_MEMORY_DESCRIPTOR.
struct ShareKinds {
  uint32_t imported = 0;
  uint32_t exported = 0;
};
Result<ShareKinds> share_kinds(const Device& device);

// A buffer of `device` whose memory is `memory`. `owner` keeps it, and goes when the plugin does
// not touch it any more. unsupported if the device cannot use such memory, and why.
Result<Buffer> import_memory(const Device& device, std::span<std::byte> memory,
                             std::shared_ptr<const void> owner = nullptr);
// The same for `bytes` from `offset` of what can be mapped through `descriptor`, which is still the
// caller's.
Result<Buffer> import_descriptor(const Device& device, int descriptor, uint64_t offset,
                                 uint64_t bytes);
// The buffer's memory as the host reaches it, as long as the buffer lives and no work is on it.
Result<std::span<std::byte>> export_memory(const Buffer& buffer);
struct ExportedDescriptor {
  Descriptor descriptor;
  uint64_t offset = 0;  // bytes; where the buffer begins
};
Result<ExportedDescriptor> export_descriptor(const Buffer& buffer);

// ---- copies between devices

// Whether work of `device` can copy from and to buffers of `peer`. False for devices of different
// plugins.
Result<bool> reaches(const Device& device, const Device& peer);
// Executor::copy for buffers of which one is a device's that the executor's device reaches. Waits
// may be events of any device.
Result<Event> copy_between(const Executor& executor, const Buffer& source, uint64_t source_offset,
                           const Buffer& target, uint64_t target_offset, uint64_t bytes,
                           Waits waits = {});

// ---- events of foreign queues

// Done when `descriptor`, which is still the caller's, polls readable.
Result<Event> import_event(const Device& device, int descriptor);
// Polls readable when `event` is done, failed or not.
Result<Descriptor> export_event(const Event& event);

// ---- estimates

// 0: not known. See stria_estimate.
struct Estimate {
  uint64_t time_ns = 0, low_time_ns = 0, high_time_ns = 0;
  uint64_t prologue_ns = 0;
  uint64_t energy_pj = 0;
  uint64_t build_ns = 0;
};
// What a run of this device Stripe will take, as the plugin knows it. `options` as for
// Compiler::build.
Result<Estimate> estimate(const Device& device, std::string_view stripe,
                          std::string_view options = "{}");

}  // namespace stria::hal
