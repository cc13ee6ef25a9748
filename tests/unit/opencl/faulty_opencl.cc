// SPDX-License-Identifier: Apache-2.0
// The ICD loader of this machine, with faults that a test switches on: what is not here is the
// loader's own.
#include <dlfcn.h>

#pragma GCC visibility push(default)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "faulty_opencl.h"

namespace {

template <typename Function>
Function real(const char* name) {
  static void* const loader = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(::dlsym(loader, name));
}
#define STRIA_REAL(function) real<decltype(&::function)>(#function)

// The event of the kernel that fails, null where none was asked for.
std::atomic<cl_event> failed{nullptr};

}  // namespace

extern "C" {

std::atomic<int> stria_opencl_fault{0};
std::atomic<int> stria_opencl_arguments_set{0};
std::atomic<int> stria_opencl_kernels{0};
std::atomic<int> stria_opencl_kernel_events{0};
std::atomic<int> stria_opencl_open_events{0};

cl_int clSetKernelArg(cl_kernel kernel, cl_uint position, size_t size, const void* value) {
  ++stria_opencl_arguments_set;
  return STRIA_REAL(clSetKernelArg)(kernel, position, size, value);
}

cl_int clGetPlatformIDs(cl_uint count, cl_platform_id* ids, cl_uint* found) {
  if (stria_opencl_fault == kNoPlatform) return -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  return STRIA_REAL(clGetPlatformIDs)(count, ids, found);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count,
                      cl_device_id* ids, cl_uint* found) {
  if (stria_opencl_fault == kNoDevice) return CL_DEVICE_NOT_FOUND;
  return STRIA_REAL(clGetDeviceIDs)(platform, type, count, ids, found);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                      cl_int* code) {
  if (stria_opencl_fault == kNoMemory) {
    *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  return STRIA_REAL(clCreateBuffer)(context, flags, bytes, host, code);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                      void* state) {
  if (stria_opencl_fault == kRejects) options = "--no-such-option";
  return STRIA_REAL(clBuildProgram)(program, count, devices, options, notify, state);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t* first, const size_t* points, const size_t* group,
                              cl_uint count, const cl_event* waits, cl_event* event) {
  if (stria_opencl_fault == kRefusesLaunches) return CL_INVALID_GLOBAL_WORK_SIZE;
  const cl_int code = STRIA_REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, first, points,
                                                         group, count, waits, event);
  if (event) ++stria_opencl_kernel_events;
  if (++stria_opencl_kernels == 2 && stria_opencl_fault == kRunsOnAfterOne)
    failed = event ? *event : nullptr;
  return code;
}

cl_event clCreateUserEvent(cl_context context, cl_int* code) {
  cl_event event = STRIA_REAL(clCreateUserEvent)(context, code);
  if (event) ++stria_opencl_open_events;
  return event;
}

cl_int clSetUserEventStatus(cl_event event, cl_int status) {
  if (stria_opencl_fault == kRefusesFailures && status < 0) return CL_OUT_OF_HOST_MEMORY;
  const bool runs_on = stria_opencl_fault == kRunsOn || stria_opencl_fault == kRunsOnAfterOne;
  const cl_int code = STRIA_REAL(clSetUserEventStatus)(event, runs_on ? CL_COMPLETE : status);
  if (code == CL_SUCCESS) --stria_opencl_open_events;
  return code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void* value,
                      size_t* needed) {
  const cl_int code = STRIA_REAL(clGetEventInfo)(event, what, size, value, needed);
  if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) return code;
  if (stria_opencl_fault == kHangs) *static_cast<cl_int*>(value) = CL_RUNNING;
  if (stria_opencl_fault == kLost) *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
  if (stria_opencl_fault == kRunsOnAfterOne && event == failed)
    *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
  return code;
}

cl_int clFinish(cl_command_queue queue) {
  const cl_int code = STRIA_REAL(clFinish)(queue);
  return stria_opencl_fault == kLost ? CL_INVALID_COMMAND_QUEUE : code;
}

}  // extern "C"
#pragma GCC visibility pop
