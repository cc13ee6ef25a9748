// SPDX-License-Identifier: Apache-2.0
#include "context.h"

namespace stria::opencl {

Context::Context(const sdk::Host& host, const OpenCl& cl, FoundDevice device)
    : host_(host), cl_(cl), device_(std::move(device)) {
  cl_int code = CL_SUCCESS;
  handle_ = cl_.clCreateContext(nullptr, 1, &device_.handle, nullptr, nullptr, &code);
  check(code, "clCreateContext", name());
  try {
    transfer_queue_ = take_queue();
  } catch (...) {
    cl_.clReleaseContext(handle_);
    throw;
  }
}

Context::~Context() {
  for (cl_command_queue queue : all_) cl_.clReleaseCommandQueue(queue);
  cl_.clReleaseContext(handle_);
}

cl_command_queue Context::take_queue() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!free_.empty()) {
    cl_command_queue queue = free_.back();
    free_.pop_back();
    return queue;
  }
  cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE;
  if (device_.out_of_order) properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  all_.reserve(all_.size() + 1);
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = cl_.clCreateCommandQueue(handle_, device_.handle, properties, &code);
  check(code, "clCreateCommandQueue", name());
  all_.push_back(queue);
  return queue;
}

void Context::give_queue(cl_command_queue queue) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(queue);
}

}  // namespace stria::opencl
