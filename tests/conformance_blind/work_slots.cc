// SPDX-License-Identifier: Apache-2.0
// Slots that get the work of an executor, or the release of what it uses, wrong.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chip_buffer.h"
#include "chip_executor.h"
#include "mistake.h"
#include "slot_tables.h"
#include "stria/sdk/error.h"

namespace stria::blind {
namespace {

using sdk::slot;

ChipExecutor& chip(stria_executor* executor) {
  return static_cast<ChipExecutor&>(sdk::as<sdk::Executor>(executor));
}

// ---- fill_pattern_by_pointer

stria_error* fill_by_pointer(stria_executor* executor, stria_buffer* target, uint64_t offset,
                             uint64_t bytes, const void* pattern, uint64_t pattern_size,
                             stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  return slot([&] {
    const bool power =
        pattern_size > 0 && pattern_size <= 16 && (pattern_size & (pattern_size - 1)) == 0;
    if (!power || bytes % pattern_size != 0)
      throw sdk::Error(STRIA_INVALID_ARGUMENT, "a fill of " + std::to_string(bytes) +
                                                   " bytes with a pattern of " +
                                                   std::to_string(pattern_size));
    auto& to = sdk::as<sdk::Buffer>(target);
    sdk::check_range(to, offset, bytes, "target of a fill");
    *done = sdk::give<stria_event>(chip(executor).fill_later(
        {sdk::Ref<sdk::Buffer>(&to), offset}, bytes, static_cast<const std::byte*>(pattern),
        pattern_size, sdk::waits_of(waits, wait_count)));
  });
}

// ---- buffer_release_scrubs

void release_scrubbed(stria_buffer* buffer) {
  auto& self = sdk::as<sdk::Buffer>(buffer);
  static_cast<ChipBuffer&>(self).scrub();
  self.drop_reference();
}

// ---- executor_release_cancels

void release_cancelling(stria_executor* executor) {
  ChipExecutor& self = chip(executor);
  self.cancel();
  self.drop_reference();
}

// ---- batch_checks_as_it_goes: a launch is checked when those before it have been started

stria_error* submit_one_by_one(stria_executor* executor, const stria_launch* const* launches,
                               uint64_t launch_count, stria_event* const* waits,
                               uint64_t wait_count, stria_event** each, stria_event** done) {
  if (launch_count < 2)
    return RightSlots::submit(executor, launches, launch_count, waits, wait_count, each, done);
  return slot([&] {
    ChipExecutor& self = chip(executor);
    std::vector<sdk::Ref<sdk::Event>> events;
    for (uint64_t n = 0; n < launch_count; ++n) {
      const stria_launch launch = sdk::whole(launches[n]);
      const auto& kernel = sdk::as<sdk::KernelHandle>(launch.kernel);
      if (kernel.executor.get() != &self)
        throw sdk::Error(STRIA_INVALID_ARGUMENT,
                         "kernel '" + kernel.info.name + "' was prepared by another executor");
      std::vector<sdk::Event*> after;
      for (uint64_t a = 0; a < launch.after_count; ++a) {
        if (launch.after[a] >= n)
          throw sdk::Error(STRIA_INVALID_ARGUMENT, "launch " + std::to_string(n) +
                                                       " waits for launch " +
                                                       std::to_string(launch.after[a]));
        after.push_back(events[launch.after[a]].get());
      }
      const sdk::Waits own =
          after.empty() ? sdk::waits_of(waits, wait_count) : sdk::Waits{after.data(), after.size()};
      events.push_back(self.launch(
          kernel.kernel,
          RightSlots::arguments_of(kernel.info, launch.arguments, launch.argument_count), own));
    }
    sdk::Ref<sdk::Event> all = join(self.host(), self.tracker(), events);
    if (each)
      for (uint64_t n = 0; n < launch_count; ++n)
        each[n] = sdk::give<stria_event>(std::move(events[n]));
    *done = sdk::give<stria_event>(std::move(all));
  });
}

}  // namespace

void replace_work_slots(SlotTables& tables) {
  switch (chosen_mistake()) {
    case Mistake::fill_pattern_by_pointer: tables.executor.fill = fill_by_pointer; break;
    case Mistake::buffer_release_scrubs: tables.buffer.release = release_scrubbed; break;
    case Mistake::executor_release_cancels: tables.executor.release = release_cancelling; break;
    case Mistake::batch_checks_as_it_goes: tables.executor.submit = submit_one_by_one; break;
    default: break;
  }
}

}  // namespace stria::blind
