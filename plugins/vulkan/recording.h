// SPDX-License-Identifier: Apache-2.0
// Commands that are recorded once and submitted once or again and again, and their times. They are
// one command buffer, or several where one would keep the device for too long.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "context.h"
#include "device_queue.h"
#include "memory.h"
#include "stria/sdk/object.h"

namespace stria::vulkan {

// Whoever makes it fills it: begin(), commands and mark(), perhaps begin_part() and more, end().
// Then any thread may submit it, one submission at a time: what it reads its times from is its own.
class Recording : public sdk::Object {
 public:
  // With so many timestamps: mark() is called so often, and mark_part(). Throws sdk::Error.
  Recording(Context& context, DeviceQueue& queue, uint32_t marks, uint32_t part_marks = 0);
  // Its command buffer is used again, unless the device is lost.
  ~Recording() override;

  // `again`: it is submitted more than once.
  void begin(bool again);
  // What follows is a command buffer of its own, which waits for all before.
  void begin_part();
  // Everything before comes before everything after, earlier submissions to the driver's queue
  // included, and is seen there.
  void wait_for_all();
  // Kernels before come before kernels after.
  void wait_for_kernels();
  // What the device wrote is seen by the host, once it knows that the submission has ended.
  void show_to_host();
  // The next timestamp: when everything before has ended.
  void mark();
  void mark_part();
  void end();

  Context& context() const { return context_; }
  DeviceQueue& queue() const { return queue_; }
  // The one that is being filled.
  VkCommandBuffer commands() const { return (more_.empty() ? slot_ : more_.back()).buffer; }
  // All of them, in their order; each is submitted by itself.
  size_t part_count() const { return 1 + more_.size(); }
  VkCommandBuffer part(size_t n) const { return (n == 0 ? slot_ : more_[n - 1]).buffer; }
  const DeviceFunctions& vk() const { return context_.vk(); }
  // Before each submission.
  void reset_times();
  // Nanoseconds of each mark; empty if they are not known. Once a submission has ended.
  std::vector<uint64_t> times() const { return times(0, mark_count_); }
  // Once a submission has ended well: what its times tell about work to come.
  virtual void learn() {}

  // What it runs, for messages: "kernels 'k0_a', 'k1_b' (2 launches)".
  virtual std::string what() const = 0;

  // Whether it is handed to the driver, or about to be.
  bool in_use() const { return in_use_.load(std::memory_order_acquire); }
  void set_in_use(bool value) { in_use_.store(value, std::memory_order_release); }

 protected:
  // Nanoseconds of each mark_part(); empty if they are not known.
  std::vector<uint64_t> part_times() const { return times(mark_count_, part_mark_count_); }

 private:
  void begin_buffer() const;
  void write_mark(uint32_t number) const;
  std::vector<uint64_t> times(uint32_t first, uint32_t count) const;
  void barrier(VkPipelineStageFlags2 from, VkAccessFlags2 written, VkPipelineStageFlags2 to,
               VkAccessFlags2 used);

  Context& context_;
  DeviceQueue& queue_;
  CommandSlot slot_;
  std::vector<CommandSlot> more_;  // of the parts behind the first one
  bool again_ = false;
  // Of the first slot's timestamps: those of mark(), then those of mark_part().
  uint32_t mark_count_ = 0, part_mark_count_ = 0;
  uint32_t marked_ = 0, part_marked_ = 0;
  std::atomic<bool> in_use_{false};
};

// A copy, a fill, or several of them.
class TransferRecording final : public Recording {
 public:
  // `what` is a literal: "copy to the host".
  TransferRecording(Context& context, DeviceQueue& queue, const char* what)
      : Recording(context, queue, 2), what_(what) {}
  // Kept until the recording goes.
  void hold(Memory memory) { held_.push_back(std::move(memory)); }
  std::string what() const override { return what_; }

 private:
  const char* const what_;
  std::vector<Memory> held_;
};

}  // namespace stria::vulkan
