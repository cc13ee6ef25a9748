// SPDX-License-Identifier: Apache-2.0
// What a Tensor holds: its memory and the work that still uses it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "stria/exec/device_memory.h"
#include "stria/hal/device.h"
#include "stria/runtime/tensor.h"

namespace stria {

struct [[gnu::visibility("hidden")]] Tensor::State {
  // `order` is the one lock of the device under which work is started and recorded.
  static Result<std::shared_ptr<State>> create(const exec::DeviceMemory& memory,
                                               std::shared_ptr<std::mutex> order, TensorType type,
                                               std::string_view what);
  // The same without memory: `buffer` is still to come.
  static Result<std::shared_ptr<State>> without_memory(const exec::DeviceMemory& memory,
                                                       std::shared_ptr<std::mutex> order,
                                                       TensorType type, std::string_view what);
  // "tensor 'A' fp32[2, 3] of llvm_cpu:cpu": for messages.
  std::string description() const;

  hal::Device device;
  hal::Buffer buffer;
  TensorType type;
  std::string name;  // as its maker called it
  int64_t element_count = 0;

  std::shared_ptr<std::mutex> order;
  hal::Event writer;                // guarded by order, as all below
  std::vector<hal::Event> readers;  // since that write
  uint64_t version = 0;             // counts the writes: the same number means the same content
  bool mapped = false;
  std::mutex read;  // one read() at a time: reads do not wait for each other's mappings to end

  // All with the order lock held.
  void add_events_before_read(std::vector<hal::Event>& waits) const;
  Status add_events_before_write(std::vector<hal::Event>& waits) const;
  void add_reader(const hal::Event& event);
  void set_writer(const hal::Event& event);
};

}  // namespace stria
