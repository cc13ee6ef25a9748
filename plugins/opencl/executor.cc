// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include "buffer.h"
#include "queue.h"

namespace stria::opencl {
namespace {

cl_mem memory_of(const sdk::Argument& argument) {
  return static_cast<ClBuffer&>(*argument.buffer).handle();
}

}  // namespace

ClExecutor::~ClExecutor() {
  context_.give_queue(queue_);
  if (in_order_) context_.give_queue(*in_order_);
}

Queue& ClExecutor::queue_in_order() {
  if (queue_.in_order()) return queue_;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!in_order_) in_order_ = &context_.take_queue(true);
  return *in_order_;
}

sdk::Ref<sdk::Event> ClExecutor::start_one(Command command, sdk::Waits waits) {
  std::vector<Command> commands;
  commands.push_back(std::move(command));
  return start(queue_, tracker(), std::move(commands), waits);
}

sdk::Ref<sdk::Event> ClExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                        std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  return start_one({"clEnqueueNDRangeKernel", KernelLaunch{kernel, std::move(arguments)}}, waits);
}

sdk::Ref<sdk::Event> ClExecutor::submit(std::vector<sdk::Launch> launches, sdk::Waits waits,
                                        std::vector<sdk::Ref<sdk::Event>>* each) {
  if (launches.empty()) return sdk::when_done(host(), tracker(), waits);
  // In their order none needs an event of its own, which costs more than a small kernel, and what
  // overwrites their tensors comes after them without the host.
  Queue& queue = each ? queue_ : queue_in_order();
  std::vector<Command> commands;
  commands.reserve(launches.size());
  for (sdk::Launch& launch : launches) {
    commands.push_back({"clEnqueueNDRangeKernel",
                        KernelLaunch{std::move(launch.kernel), std::move(launch.arguments)},
                        {launch.after, launch.after_count}});
  }
  return start(queue, tracker(), std::move(commands), waits, each);
}

sdk::Ref<sdk::Event> ClExecutor::copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                                      sdk::Waits waits) {
  if (bytes == 0) return sdk::when_done(host(), tracker(), waits);
  return start_one({"clEnqueueCopyBuffer",
                    [&cl = context_.cl(), source, target, bytes, queue = queue_.handle()](
                        cl_uint count, const cl_event* list, cl_event* event) {
                      return cl.clEnqueueCopyBuffer(queue, memory_of(source), memory_of(target),
                                                    source.offset, target.offset, bytes, count,
                                                    list, event);
                    }},
                   waits);
}

sdk::Ref<sdk::Event> ClExecutor::fill(sdk::Argument target, uint64_t bytes,
                                      std::vector<std::byte> pattern, sdk::Waits waits) {
  if (bytes == 0) return sdk::when_done(host(), tracker(), waits);
  if (target.offset % pattern.size() == 0)
    return start_one(
        {"clEnqueueFillBuffer",
         [&cl = context_.cl(), target, bytes, pattern = std::move(pattern),
          queue = queue_.handle()](cl_uint count, const cl_event* list, cl_event* event) {
           return cl.clEnqueueFillBuffer(queue, memory_of(target), pattern.data(), pattern.size(),
                                         target.offset, bytes, count, list, event);
         }},
        waits);
  // The driver fills at multiples of the pattern's size only: elsewhere the bytes are written out.
  auto all = std::make_shared<std::vector<std::byte>>(bytes);
  for (uint64_t i = 0; i < bytes; ++i) (*all)[i] = pattern[i % pattern.size()];
  return start_one({"clEnqueueWriteBuffer",
                    [&cl = context_.cl(), target, all, queue = queue_.handle()](
                        cl_uint count, const cl_event* list, cl_event* event) {
                      return cl.clEnqueueWriteBuffer(queue, memory_of(target), CL_FALSE,
                                                     target.offset, all->size(), all->data(), count,
                                                     list, event);
                    }},
                   waits);
}

}  // namespace stria::opencl
