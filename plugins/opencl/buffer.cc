// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include "command.h"
#include "queue.h"

namespace stria::opencl {

ClBuffer::Staging::Staging(const sdk::Host& from, uint64_t at, uint64_t count)
    : host(from),
      offset(at),
      bytes(count),
      memory(host.allocate(bytes, sdk::HostBuffer::kAlignment)) {}
ClBuffer::Staging::~Staging() { host.free(memory, bytes, sdk::HostBuffer::kAlignment); }

ClBuffer::ClBuffer(Context& context, sdk::Ref<sdk::MemoryBudget> budget, uint64_t size_bytes)
    : Buffer(size_bytes), context_(context), budget_(std::move(budget)) {
  context.check_not_lost();
  const uint64_t largest = context.device().largest_allocation_bytes;
  if (largest > 0 && size_bytes > largest)
    throw sdk::Error(STRIA_OUT_OF_MEMORY, "a buffer of " + std::to_string(size_bytes) +
                                              " bytes; '" + context.name() + "' allocates " +
                                              std::to_string(largest) + " at most");
  budget_->take(size_bytes);
  cl_int code = CL_SUCCESS;
  // The driver knows no buffer of 0 bytes.
  handle_ = context.cl().clCreateBuffer(context.handle(), CL_MEM_READ_WRITE,
                                        size_bytes == 0 ? 1 : size_bytes, nullptr, &code);
  if (code == CL_SUCCESS) return;
  budget_->give_back(size_bytes);
  check(code, "clCreateBuffer of " + std::to_string(size_bytes) + " bytes", context.name());
}

ClBuffer::~ClBuffer() {
  context_.count_released_buffer();
  // A lost device may still use it.
  if (!context_.lost()) context_.cl().clReleaseMemObject(handle_);
  budget_->give_back(size());
}

std::byte* ClBuffer::data() {
  throw sdk::Error(STRIA_INTERNAL, "memory of a device has no address on the host");
}

void* ClBuffer::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                    sdk::Ref<sdk::Event>* done) {
  auto staging = sdk::make<Staging>(context_.host(), offset, bytes);
  void* memory = staging->memory;
  const sdk::Host& host = context_.host();
  if (mode != sdk::MapMode::discard && bytes > 0) {
    sdk::Ref<ClBuffer> self(this);
    Queue& queue = context_.transfer_queue();
    *done = start(queue, host.tracker(),
                  {{"clEnqueueReadBuffer",
                    [self, staging, queue = queue.handle()](cl_uint count, const cl_event* list,
                                                            cl_event* event) {
                      return self->context_.cl().clEnqueueReadBuffer(
                          queue, self->handle_, CL_FALSE, staging->offset, staging->bytes,
                          staging->memory, count, list, event);
                    }}},
                  waits);
  } else {
    *done = sdk::when_done(host, host.tracker(), waits);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  mapped_[memory] = {std::move(staging), mode, *done};
  return memory;
}

sdk::Ref<sdk::Event> ClBuffer::unmap(void* memory) {
  Mapped mapped;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = mapped_.find(memory);
    if (at == mapped_.end()) throw sdk::Error(STRIA_INVALID_ARGUMENT, "this address is not mapped");
    mapped = std::move(at->second);
    mapped_.erase(at);
  }
  const sdk::Host& host = context_.host();
  // A mapping that failed has nothing to write back.
  sdk::Event* const ready = mapped.ready.get();
  const sdk::Waits waits{&ready, 1};
  if (mapped.staging->bytes == 0 || mapped.mode == sdk::MapMode::read)
    return sdk::when_done(host, host.tracker(), waits);
  sdk::Ref<ClBuffer> self(this);
  Queue& queue = context_.transfer_queue();
  return start(queue, host.tracker(),
               {{"clEnqueueWriteBuffer",
                 [self, staging = mapped.staging, queue = queue.handle()](
                     cl_uint count, const cl_event* list, cl_event* event) {
                   return self->context_.cl().clEnqueueWriteBuffer(
                       queue, self->handle_, CL_FALSE, staging->offset, staging->bytes,
                       staging->memory, count, list, event);
                 }}},
               waits);
}

}  // namespace stria::opencl
