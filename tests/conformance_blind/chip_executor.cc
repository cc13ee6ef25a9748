// SPDX-License-Identifier: Apache-2.0
#include "chip_executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "chip_kernel.h"
#include "first_failure.h"
#include "mistake.h"
#include "stria/sdk/error.h"
#include "stria/sdk/event.h"

namespace stria::blind {
namespace {

// Limits that the mistakes waits_beyond_64 and queue_full_blocks have.
constexpr uint64_t kMostWaits = 64;
constexpr uint64_t kQueueDepth = 256;

void repeat(std::byte* to, uint64_t bytes, const std::byte* pattern, uint64_t pattern_size) {
  uint64_t filled = std::min(bytes, pattern_size);
  if (filled == 0) return;
  std::memcpy(to, pattern, filled);
  // Doubles what is there: the pattern goes on without a seam, in few large copies.
  while (filled < bytes) {
    const uint64_t more = std::min(filled, bytes - filled);
    std::memcpy(to + filled, to, more);
    filled += more;
  }
}

uint64_t register_of_32_bits(uint64_t offset) {
  return makes(Mistake::offsets_of_32_bits) ? static_cast<uint32_t>(offset) : offset;
}

// The mistake batch_duration_sum: the launches' times one after the other, as if none overlapped
// and nothing lay between them.
sdk::Ref<sdk::Event> with_summed_times(const sdk::Host& host, const sdk::Ref<sdk::Tracker>& tracker,
                                       std::vector<sdk::Ref<sdk::Event>> parts) {
  std::vector<sdk::Event*> list;
  for (const sdk::Ref<sdk::Event>& part : parts) list.push_back(part.get());
  return start_when(host, tracker, {list.data(), list.size()},
                    [parts](const sdk::Ref<sdk::StartedWork>& work) {
                      uint64_t sum = 0;
                      for (const sdk::Ref<sdk::Event>& part : parts) sum += part->duration_ns();
                      const uint64_t begin = parts.front()->begin_ns();
                      work->finish(nullptr, begin, begin + sum);
                    });
}

}  // namespace

template <typename Body>
sdk::Ref<sdk::Event> ChipExecutor::start(sdk::Waits waits, Body body) {
  if (makes(Mistake::waits_beyond_64)) waits.count = std::min(waits.count, kMostWaits);
  sdk::Ref<sdk::Event> gate;
  sdk::Event* gates[1] = {};
  if (makes(Mistake::failure_by_time) && waits.count > 1) {
    gate = first_failure_in_time(host(), waits);
    gates[0] = gate.get();
    waits = {gates, 1};
  }
  if (makes(Mistake::queue_full_blocks))
    while (queue_->open_works.load() >= kQueueDepth)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  sdk::Ref<sdk::Event> done =
      schedule(host(), tracker(), waits, [queue = queue_, body = std::move(body)] {
        if (queue->cancelled.load())
          throw sdk::Error(STRIA_CANCELLED, "the executor was released before this work started");
        body();
      });
  if (makes(Mistake::queue_full_blocks)) {
    queue_->open_works.fetch_add(1);
    done->on_done(
        [](void* state, const stria_error*) {
          sdk::Ref<QueueState>::adopt(static_cast<QueueState*>(state))->open_works.fetch_sub(1);
        },
        sdk::Ref<QueueState>(queue_).detach());
  }
  return done;
}

sdk::Ref<sdk::Event> ChipExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                          std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  // All kernels that this plugin prepares are of this class.
  sdk::Ref<ChipKernel> chip(static_cast<ChipKernel*>(kernel.get()));
  if (makes(Mistake::kernel_keeps_arguments)) {
    chip->set_arguments(std::move(arguments));
    return start(waits, [chip] { chip->run_on(chip->arguments()); });
  }
  return start(waits, [chip, arguments = std::move(arguments)] { chip->run_on(arguments); });
}

sdk::Ref<sdk::Event> ChipExecutor::submit(std::vector<sdk::Launch> launches, sdk::Waits waits,
                                          std::vector<sdk::Ref<sdk::Event>>* each) {
  if (makes(Mistake::empty_work_done_at_once) && launches.empty())
    return when_done(host(), tracker(), {});
  if (makes(Mistake::after_first_only))
    for (sdk::Launch& launch : launches)
      launch.after_count = std::min<uint64_t>(launch.after_count, 1);
  if (!makes(Mistake::batch_duration_sum) || launches.size() < 2)
    return Executor::submit(std::move(launches), waits, each);
  std::vector<sdk::Ref<sdk::Event>> parts;
  const sdk::Ref<sdk::Event> all = Executor::submit(std::move(launches), waits, &parts);
  if (each) *each = parts;
  return with_summed_times(host(), tracker(), std::move(parts));
}

sdk::Ref<sdk::Event> ChipExecutor::copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                                        sdk::Waits waits) {
  if (makes(Mistake::empty_work_done_at_once) && bytes == 0)
    return when_done(host(), tracker(), {});
  source.offset = register_of_32_bits(source.offset);
  target.offset = register_of_32_bits(target.offset);
  return start(waits, [source = std::move(source), target = std::move(target), bytes] {
    if (bytes > 0)
      std::memcpy(target.buffer->data() + target.offset, source.buffer->data() + source.offset,
                  bytes);
  });
}

sdk::Ref<sdk::Event> ChipExecutor::fill(sdk::Argument target, uint64_t bytes,
                                        std::vector<std::byte> pattern, sdk::Waits waits) {
  if (makes(Mistake::empty_work_done_at_once) && bytes == 0)
    return when_done(host(), tracker(), {});
  // The unit has the pattern's place from the address, not from the start of the range.
  if (makes(Mistake::fill_phase_absolute))
    std::rotate(pattern.begin(),
                pattern.begin() + static_cast<ptrdiff_t>(target.offset % pattern.size()),
                pattern.end());
  target.offset = register_of_32_bits(target.offset);
  return start(waits, [target = std::move(target), bytes, pattern = std::move(pattern)] {
    repeat(target.buffer->data() + target.offset, bytes, pattern.data(), pattern.size());
  });
}

sdk::Ref<sdk::Event> ChipExecutor::fill_later(sdk::Argument target, uint64_t bytes,
                                              const std::byte* pattern, uint64_t pattern_size,
                                              sdk::Waits waits) {
  return start(waits, [target = std::move(target), bytes, pattern, pattern_size] {
    repeat(target.buffer->data() + target.offset, bytes, pattern, pattern_size);
  });
}

bool ChipExecutor::drain(uint64_t timeout_ns) {
  if (makes(Mistake::drain_waits_for_later)) return tracker()->wait_for_none(timeout_ns);
  return Executor::drain(timeout_ns);
}

}  // namespace stria::blind
