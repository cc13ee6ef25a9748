// SPDX-License-Identifier: Apache-2.0
// The ICD loader (libOpenCL.so.1), opened when it is first needed: on a machine without it no
// device is listed, and nothing breaks.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>
#include <string_view>

#include "stria/sdk/error.h"

namespace stria::opencl {

// Its functions. Never closed: drivers behind it start threads and cannot leave.
struct OpenCl {
#define STRIA_CL(function) decltype(&::function) function = nullptr;
#include "entry_points.def"
#undef STRIA_CL
};

// Opens `library` (a file name for the dynamic loader). False, with the reason and what to install,
// if it is not there or lacks a function.
bool open_loader(const std::string& library, OpenCl& out, std::string& reason);

// "CL_OUT_OF_RESOURCES", or the number.
std::string name_of_code(cl_int code);
// What failed with `code`, in our terms: "clBuildProgram on 'NVIDIA H200': CL_OUT_OF_RESOURCES".
sdk::Failure failure_of(cl_int code, std::string_view what, std::string_view device);
// Throws it, unless the code is CL_SUCCESS.
void check(cl_int code, std::string_view what, std::string_view device);

}  // namespace stria::opencl
