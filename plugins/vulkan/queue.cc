// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stria::vulkan {
namespace {

// Asking again and again costs less than sleeping, for work that takes no longer than this. A
// software device needs the processor itself.
constexpr uint64_t kSpinNs = 200'000;
constexpr uint64_t kSpinOfSoftwareNs = 30'000;
// A wait in the driver is cut into pieces, so that a device lost elsewhere is noticed.
constexpr uint64_t kSliceNs = 100'000'000;

}  // namespace

Queue::Queue(Context& context, DeviceQueue& device_queue)
    : SubmissionQueue(context.host(), context), context_(context), device_queue_(device_queue) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  context.check(context.vk().vkCreateSemaphore(context.handle(), &info, nullptr, &semaphore_),
                "vkCreateSemaphore");
}

Queue::~Queue() {
  if (!context_.lost()) context_.vk().vkDestroySemaphore(context_.handle(), semaphore_, nullptr);
}

std::string Queue::describe(const Recording* recording) const {
  std::string out = "queue '" + std::string(device_queue_.name()) + "'";
  if (recording) out += ", " + recording->what();
  return out;
}

std::string Queue::describe(const char* call, const Submission& work) const {
  return std::string(call) + ", " + describe(work.recording.get());
}

std::string Queue::describe_under_way() const {
  return under_way([this](const sdk::Object& subject) {
    return describe(&static_cast<const Recording&>(subject));
  });
}

sdk::Outcome Queue::give(Submission& work) {
  std::vector<VkSemaphoreSubmitInfo> waits;
  const auto info_of = [](VkSemaphore semaphore, uint64_t number) {
    VkSemaphoreSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    info.semaphore = semaphore;
    info.value = number;
    info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    return info;
  };
  for (const auto& wait : work.waits()) {
    const auto* event = static_cast<const CommandEvent*>(sdk::SubmissionEvent::find(*wait));
    // What is in the same queue of the driver comes before, by the recording's first barrier. What
    // is over is named all the same: that is how the device sees what another queue wrote.
    if (event && event->value() > 0 && &event->queue().context() == &context_ &&
        &event->queue().device_queue() != &device_queue_)
      waits.push_back(info_of(event->queue().semaphore(), event->value()));
  }
  for (size_t part = 0; part < work.recording->part_count(); ++part) {
    // Each has a number: if the driver refuses a later one, this one's end is waited for.
    const VkSemaphoreSubmitInfo signal = info_of(semaphore_, given_ + 1);
    VkCommandBufferSubmitInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
    commands.commandBuffer = work.recording->part(part);
    VkSubmitInfo2 info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    if (part == 0) {
      info.waitSemaphoreInfoCount = static_cast<uint32_t>(waits.size());
      info.pWaitSemaphoreInfos = waits.data();
    }
    info.commandBufferInfoCount = 1;
    info.pCommandBufferInfos = &commands;
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signal;
    const sdk::InjectedFault fault = context_.faults().next();
    VkResult code = VK_SUCCESS;
    if (fault == sdk::InjectedFault::none) {
      if (part == 0) work.recording->reset_times();
      code = device_queue_.submit(info);
    } else {
      code =
          fault == sdk::InjectedFault::fail ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_ERROR_DEVICE_LOST;
    }
    if (code == VK_SUCCESS) {
      work.given = ++given_;
      continue;
    }
    const std::string what = describe("vkQueueSubmit2", work);
    if (code != VK_ERROR_DEVICE_LOST)
      return std::make_shared<sdk::Failure>(failure_of(code, what, context_.name()));
    context_.lose(what + ": " + name_of_code(code), fault == sdk::InjectedFault::none);
    return context_.lost();
  }
  return nullptr;
}

void Queue::end(Submission& work) {
  sdk::Outcome outcome;
  std::vector<uint64_t> times;
  if (work.given > 0) outcome = wait_for(work);
  if (work.refused()) {
    outcome = work.refused();
  } else if (!outcome) {
    times = work.recording->times();
    work.recording->learn();
  }
  // Of a lost device the recording stays in use. What it and `record` hold knows not to free what
  // the driver may still use.
  if (work.recording && !context_.lost()) work.recording->set_in_use(false);
  work.recording = {};
  work.record = nullptr;
  for (size_t n = 0; n < work.each.size(); ++n) {
    if (work.each[n].get() == work.done.get()) break;
    const bool known = times.size() == work.each.size() + 1 && times[n] <= times[n + 1];
    work.each[n]->signal(outcome, known ? times[n] : 0, known ? times[n + 1] : 0);
  }
  const bool known = !times.empty() && times.front() <= times.back();
  work.done->signal(std::move(outcome), known ? times.front() : 0, known ? times.back() : 0);
}

sdk::Outcome Queue::wait_for(const Submission& work) {
  const uint64_t value = work.given;
  const DeviceFunctions& vk = context_.vk();
  const auto limit = context_.hang_limit() * static_cast<int64_t>(work.commands);
  const std::chrono::nanoseconds spin(context_.device().is_software ? kSpinOfSoftwareNs : kSpinNs);
  const auto begin = std::chrono::steady_clock::now();
  const auto taken = [begin] { return std::chrono::steady_clock::now() - begin; };
  VkResult code = VK_TIMEOUT;
  while (reached_.load(std::memory_order_relaxed) < value) {
    if (sdk::Outcome lost = context_.lost()) return lost;
    const char* call = "vkWaitSemaphores";
    if (taken() < spin) {
      uint64_t reached = 0;
      code = vk.vkGetSemaphoreCounterValue(context_.handle(), semaphore_, &reached);
      if (code == VK_SUCCESS) {
        reached_.store(reached, std::memory_order_relaxed);
        continue;
      }
    } else {
      VkSemaphoreWaitInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
      info.semaphoreCount = 1;
      info.pSemaphores = &semaphore_;
      info.pValues = &value;
      uint64_t slice = kSliceNs;
      if (limit.count() > 0)
        slice = std::min<uint64_t>(
            slice, static_cast<uint64_t>(std::chrono::nanoseconds(context_.hang_limit()).count()));
      code = vk.vkWaitSemaphores(context_.handle(), &info, slice);
      if (code == VK_SUCCESS) {
        reached_.store(value, std::memory_order_relaxed);
        break;
      }
      // In milliseconds: the limit of many commands may be too long for a number of nanoseconds.
      if (code == VK_TIMEOUT && limit.count() > 0 &&
          std::chrono::duration_cast<std::chrono::milliseconds>(taken()) >= limit) {
        context_.lose(describe("a submission", work) + ", has not ended after " +
                          std::to_string(limit.count()) + " ms",
                      false);
        return context_.lost();
      }
      if (code == VK_TIMEOUT) {
        call = "vkQueueSubmit2";
        code = device_queue_.ask_whether_lost();
        if (code != VK_ERROR_DEVICE_LOST) continue;
      }
    }
    // Whatever else the driver answers, nobody will say what became of the work.
    context_.lose(describe(call, work) + ": " + name_of_code(code), code == VK_ERROR_DEVICE_LOST);
    return context_.lost();
  }
  // A lost device may count its semaphores up to their ends.
  return context_.lost();
}

}  // namespace stria::vulkan
