// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.h"

namespace stria::opencl {

OpenCl telling_driver() {
  OpenCl cl;
  cl.clCreateContext = [](auto, auto, auto, auto, auto, cl_int* code) {
    *code = CL_SUCCESS;
    return some<cl_context>();
  };
  cl.clCreateCommandQueue = [](auto, auto, auto, cl_int* code) {
    *code = CL_SUCCESS;
    return some<cl_command_queue>();
  };
  cl.clReleaseContext = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clReleaseCommandQueue = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clRetainEvent = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clReleaseEvent = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clFlush = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clWaitForEvents = [](auto, auto) -> cl_int { return answers.wait; };
  cl.clGetEventInfo = [](auto, auto, auto, void* value, auto) -> cl_int {
    *static_cast<cl_int*>(value) = answers.status;
    return CL_SUCCESS;
  };
  cl.clGetEventProfilingInfo = [](auto, auto, auto, auto, auto) -> cl_int {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  };
  cl.clFinish = [](auto) -> cl_int {
    calls.add("finish");
    answers.status = answers.status_when_finished.load();
    return answers.finish.load();
  };
  cl.clEnqueueMarkerWithWaitList = [](auto, cl_uint count, auto, cl_event* event) -> cl_int {
    calls.add("marker after " + std::to_string(count));
    *event = some<cl_event>();
    return CL_SUCCESS;
  };
  return cl;
}

}  // namespace stria::opencl
