// SPDX-License-Identifier: Apache-2.0
#include "loader.h"

#include <dlfcn.h>

namespace stria::opencl {

bool open_loader(const std::string& library, OpenCl& out, std::string& reason) {
  // Local: two drivers in one process may bring different versions of the same library.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    reason = std::string("the OpenCL loader cannot be opened (") + (why ? why : "unknown reason") +
             "); install ocl-icd-libopencl1 and the OpenCL driver of the device (pocl-opencl-icd "
             "runs on the CPU)";
    return false;
  }
#define STRIA_CL(function)                                                             \
  out.function = reinterpret_cast<decltype(out.function)>(::dlsym(handle, #function)); \
  if (!out.function) {                                                                 \
    reason = library + " has no function " #function ": it is older than OpenCL 1.2";  \
    return false;                                                                      \
  }
#include "entry_points.def"
#undef STRIA_CL
  return true;
}

std::string name_of_code(cl_int code) {
  static constexpr struct {
    cl_int code;
    const char* name;
  } kNames[] = {
#define STRIA_CODE(name) {name, #name}
      STRIA_CODE(CL_DEVICE_NOT_FOUND),
      STRIA_CODE(CL_DEVICE_NOT_AVAILABLE),
      STRIA_CODE(CL_COMPILER_NOT_AVAILABLE),
      STRIA_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
      STRIA_CODE(CL_OUT_OF_RESOURCES),
      STRIA_CODE(CL_OUT_OF_HOST_MEMORY),
      STRIA_CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
      STRIA_CODE(CL_BUILD_PROGRAM_FAILURE),
      STRIA_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
      STRIA_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
      STRIA_CODE(CL_INVALID_VALUE),
      STRIA_CODE(CL_INVALID_DEVICE),
      STRIA_CODE(CL_INVALID_CONTEXT),
      STRIA_CODE(CL_INVALID_QUEUE_PROPERTIES),
      STRIA_CODE(CL_INVALID_COMMAND_QUEUE),
      STRIA_CODE(CL_INVALID_MEM_OBJECT),
      STRIA_CODE(CL_INVALID_BINARY),
      STRIA_CODE(CL_INVALID_BUILD_OPTIONS),
      STRIA_CODE(CL_INVALID_PROGRAM),
      STRIA_CODE(CL_INVALID_PROGRAM_EXECUTABLE),
      STRIA_CODE(CL_INVALID_KERNEL_NAME),
      STRIA_CODE(CL_INVALID_KERNEL),
      STRIA_CODE(CL_INVALID_ARG_INDEX),
      STRIA_CODE(CL_INVALID_ARG_VALUE),
      STRIA_CODE(CL_INVALID_ARG_SIZE),
      STRIA_CODE(CL_INVALID_KERNEL_ARGS),
      STRIA_CODE(CL_INVALID_WORK_DIMENSION),
      STRIA_CODE(CL_INVALID_WORK_GROUP_SIZE),
      STRIA_CODE(CL_INVALID_WORK_ITEM_SIZE),
      STRIA_CODE(CL_INVALID_EVENT_WAIT_LIST),
      STRIA_CODE(CL_INVALID_EVENT),
      STRIA_CODE(CL_INVALID_OPERATION),
      STRIA_CODE(CL_INVALID_BUFFER_SIZE),
      STRIA_CODE(CL_INVALID_GLOBAL_WORK_SIZE),
#undef STRIA_CODE
  };
  for (const auto& known : kNames)
    if (known.code == code) return known.name;
  // Of the ICD loader, which found no driver at all.
  return code == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR" : std::to_string(code);
}

sdk::Failure failure_of(cl_int code, std::string_view what, std::string_view device) {
  sdk::Failure out;
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY: out.code = STRIA_OUT_OF_MEMORY; break;
    case CL_DEVICE_NOT_FOUND:
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_COMPILER_NOT_AVAILABLE: out.code = STRIA_UNAVAILABLE; break;
    default: out.code = STRIA_INTERNAL;
  }
  out.native_code = code;
  out.native_message = name_of_code(code);
  out.message = std::string(what) + " on '" + std::string(device) + "': " + out.native_message;
  return out;
}

void check(cl_int code, std::string_view what, std::string_view device) {
  if (code != CL_SUCCESS) throw sdk::Error(failure_of(code, what, device));
}

}  // namespace stria::opencl
