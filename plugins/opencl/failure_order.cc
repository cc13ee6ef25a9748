// SPDX-License-Identifier: Apache-2.0
#include "failure_order.h"

#include <array>
#include <chrono>
#include <thread>

namespace stria::opencl {
namespace {

constexpr auto kLimit = std::chrono::seconds(1);
constexpr auto kBetweenLooks = std::chrono::microseconds(10);

// What the driver says of a command once it has ended; CL_QUEUED if it has not within kLimit.
cl_int status_at_end(const OpenCl& cl, cl_event event) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    cl_int status = CL_QUEUED;
    if (cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                          nullptr) != CL_SUCCESS)
      return CL_QUEUED;
    if (status <= CL_COMPLETE) return status;
    std::this_thread::sleep_for(kBetweenLooks);
  } while (std::chrono::steady_clock::now() - begin < kLimit);
  return CL_QUEUED;
}

}  // namespace

bool runs_on_after_failure(const OpenCl& cl, cl_context context, cl_device_id device) {
  constexpr cl_int kZero = 0;
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &code);
  cl_mem memory = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * sizeof kZero, nullptr, &code);
  cl_event never = cl.clCreateUserEvent(context, &code);
  std::array<cl_event, 2> events = {nullptr, nullptr};
  const auto fill = [&](size_t n, cl_uint count, const cl_event* waits) {
    return cl.clEnqueueFillBuffer(queue, memory, &kZero, sizeof kZero, n * sizeof kZero,
                                  sizeof kZero, count, waits, &events[n]) == CL_SUCCESS;
  };
  bool runs_on = true;
  if (queue && memory && never) {
    const bool taken = fill(0, 1, &never) && fill(1, 0, nullptr);
    cl.clFlush(queue);
    const bool failed = cl.clSetUserEventStatus(never, CL_OUT_OF_RESOURCES) == CL_SUCCESS;
    // What waits for an event that never ends keeps its queue and its memory, released or not.
    if (!failed) cl.clSetUserEventStatus(never, CL_COMPLETE);
    runs_on = !taken || !failed || status_at_end(cl, events[1]) >= CL_COMPLETE;
  }
  for (cl_event event : {events[0], events[1], never})
    if (event) cl.clReleaseEvent(event);
  if (memory) cl.clReleaseMemObject(memory);
  if (queue) cl.clReleaseCommandQueue(queue);
  return runs_on;
}

}  // namespace stria::opencl
