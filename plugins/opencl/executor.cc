// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include "buffer.h"
#include "command.h"
#include "library.h"

namespace stria::opencl {
namespace {

cl_mem memory_of(const sdk::Argument& argument) {
  return static_cast<ClBuffer&>(*argument.buffer).handle();
}

}  // namespace

sdk::Ref<sdk::Event> ClExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                        std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  const auto& code = static_cast<const ClKernel&>(*kernel);
  if (!code.runs()) return sdk::when_done(host(), tracker(), waits);
  std::vector<ClKernel::Argument> places;
  for (const sdk::Argument& argument : arguments)
    places.push_back({memory_of(argument), argument.offset});
  return start(context_, tracker(),
               {"clEnqueueNDRangeKernel",
                [kernel, places = std::move(places), arguments = std::move(arguments),
                 queue = queue_](cl_uint count, const cl_event* list, cl_event* event) {
                  return static_cast<const ClKernel&>(*kernel).enqueue(queue, places, count, list,
                                                                       event);
                },
                queue_},
               waits);
}

sdk::Ref<sdk::Event> ClExecutor::copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                                      sdk::Waits waits) {
  if (bytes == 0) return sdk::when_done(host(), tracker(), waits);
  return start(context_, tracker(),
               {"clEnqueueCopyBuffer",
                [&cl = context_.cl(), source, target, bytes, queue = queue_](
                    cl_uint count, const cl_event* list, cl_event* event) {
                  return cl.clEnqueueCopyBuffer(queue, memory_of(source), memory_of(target),
                                                source.offset, target.offset, bytes, count, list,
                                                event);
                },
                queue_},
               waits);
}

sdk::Ref<sdk::Event> ClExecutor::fill(sdk::Argument target, uint64_t bytes,
                                      std::vector<std::byte> pattern, sdk::Waits waits) {
  if (bytes == 0) return sdk::when_done(host(), tracker(), waits);
  if (target.offset % pattern.size() == 0)
    return start(context_, tracker(),
                 {"clEnqueueFillBuffer",
                  [&cl = context_.cl(), target, bytes, pattern = std::move(pattern),
                   queue = queue_](cl_uint count, const cl_event* list, cl_event* event) {
                    return cl.clEnqueueFillBuffer(queue, memory_of(target), pattern.data(),
                                                  pattern.size(), target.offset, bytes, count, list,
                                                  event);
                  },
                  queue_},
                 waits);
  // The driver fills at multiples of the pattern's size only: elsewhere the bytes are written out.
  auto all = std::make_shared<std::vector<std::byte>>(bytes);
  for (uint64_t i = 0; i < bytes; ++i) (*all)[i] = pattern[i % pattern.size()];
  return start(context_, tracker(),
               {"clEnqueueWriteBuffer",
                [&cl = context_.cl(), target, all, queue = queue_](
                    cl_uint count, const cl_event* list, cl_event* event) {
                  return cl.clEnqueueWriteBuffer(queue, memory_of(target), CL_FALSE, target.offset,
                                                 all->size(), all->data(), count, list, event);
                },
                queue_},
               waits);
}

}  // namespace stria::opencl
