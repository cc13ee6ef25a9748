// SPDX-License-Identifier: Apache-2.0
#include "context.h"

#include <system_error>

#include "failure_order.h"
#include "program.h"
#include "queue.h"

namespace stria::opencl {

Context::Context(const sdk::Host& host, const OpenCl& cl, FoundDevice device,
                 ContextOptions options, cl_context shared)
    : host_(host),
      cl_(cl),
      device_(std::move(device)),
      options_(std::move(options)),
      faults_(options_.inject, device_.info.id),
      owns_handle_(shared == nullptr),
      handle_(shared) {
  if (owns_handle_) {
    cl_int code = CL_SUCCESS;
    handle_ = cl_.clCreateContext(nullptr, 1, &device_.handle, nullptr, nullptr, &code);
    check(code, "clCreateContext", name());
  }
  try {
    transfer_queue_ = &take_queue();
  } catch (...) {
    if (owns_handle_) cl_.clReleaseContext(handle_);
    throw;
  }
}

Context::~Context() {
  all_.clear();
  if (owns_handle_ && !lost()) cl_.clReleaseContext(handle_);
}

Queue& Context::take_queue(bool in_order) {
  check_not_lost();
  std::lock_guard<std::mutex> lock(mutex_);
  in_order = in_order || options_.in_order || !device_.out_of_order;
  std::vector<Queue*>& free = in_order ? free_in_order_ : free_out_of_order_;
  if (!free.empty()) {
    Queue* queue = free.back();
    free.pop_back();
    return *queue;
  }
  cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE;
  if (!in_order) properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  all_.reserve(all_.size() + 1);
  free.reserve(all_.size() + 1);
  cl_int code = CL_SUCCESS;
  cl_command_queue handle = cl_.clCreateCommandQueue(handle_, device_.handle, properties, &code);
  check(code, "clCreateCommandQueue", name());
  try {
    all_.push_back(std::make_unique<Queue>(*this, handle, in_order));
  } catch (const std::system_error& error) {
    cl_.clReleaseCommandQueue(handle);
    throw sdk::Error(STRIA_OUT_OF_MEMORY, "no thread for a queue of '" + name() + "', which has " +
                                              std::to_string(all_.size()) + ": " + error.what());
  }
  return *all_.back();
}

void Context::give_queue(Queue& queue) {
  std::lock_guard<std::mutex> lock(mutex_);
  (queue.in_order() ? free_in_order_ : free_out_of_order_).push_back(&queue);
}

Features Context::features() const {
  std::call_once(half_asked_, [this] {
    has_half_ = device_.may_have_half && builds(*this, kHalfProbe, kLanguage);
  });
  Features out = device_.features;
  out.fp16 = has_half_;
  return out;
}

bool Context::event_each() const {
  if (options_.event_each || device_.failure_ends_all) return options_.event_each;
  std::call_once(order_asked_,
                 [this] { runs_on_ = runs_on_after_failure(cl_, handle_, device_.handle); });
  return runs_on_;
}

}  // namespace stria::opencl
