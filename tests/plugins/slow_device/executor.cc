// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include <cstring>

#include "queued_work.h"

namespace stria::slow_device {

sdk::Ref<sdk::Event> SlowExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                          std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  const bool fails = queues_.next_launch_fails();
  return queued(host(), tracker(), queues_, waits,
                [kernel, fails, arguments = std::move(arguments)] {
                  if (fails)
                    throw sdk::Error(STRIA_UNAVAILABLE, "this launch fails, as was asked for");
                  std::vector<stria_memory> memory;
                  for (const sdk::Argument& argument : arguments)
                    memory.push_back({argument.buffer->data() + argument.offset,
                                      argument.buffer->size() - argument.offset});
                  kernel->run(memory.data(), memory.size());
                });
}

sdk::Ref<sdk::Event> SlowExecutor::copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                                        sdk::Waits waits) {
  return queued(host(), tracker(), queues_, waits,
                [source = std::move(source), target = std::move(target), bytes] {
                  if (bytes > 0)
                    std::memcpy(target.buffer->data() + target.offset,
                                source.buffer->data() + source.offset, bytes);
                });
}

sdk::Ref<sdk::Event> SlowExecutor::fill(sdk::Argument target, uint64_t bytes,
                                        std::vector<std::byte> pattern, sdk::Waits waits) {
  return queued(host(), tracker(), queues_, waits,
                [target = std::move(target), bytes, pattern = std::move(pattern)] {
                  std::byte* to = target.buffer->data() + target.offset;
                  for (uint64_t at = 0; at < bytes; ++at) to[at] = pattern[at % pattern.size()];
                });
}

}  // namespace stria::slow_device
