// SPDX-License-Identifier: Apache-2.0
#include "opencl_driver.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace stria::bench {
namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(3);
}

}  // namespace

OpenClDriver::OpenClDriver(const std::string& text) {
  std::string reason;
  if (!opencl::open_loader("libOpenCL.so.1", cl_, reason)) fail(reason);
  cl_uint count = 0;
  cl_.clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) cl_.clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> all(devices);
    cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, all.data(), nullptr);
    for (cl_device_id device : all) {
      char name[256] = "";
      cl_.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
      if (device_ || std::string_view(name).find(text) == std::string_view::npos) continue;
      device_ = device;
      name_ = name;
    }
  }
  if (!device_) fail("no OpenCL device has '" + text + "' in its name");
  cl_int code = CL_SUCCESS;
  context_ = cl_.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
  check(code, "clCreateContext");
}

opencl::Program OpenClDriver::build(const std::string& source) const {
  const char* text = source.c_str();
  const size_t size = source.size();
  cl_int code = CL_SUCCESS;
  opencl::Program program(cl_.clCreateProgramWithSource(context_, 1, &text, &size, &code), {&cl_});
  check(code, "clCreateProgramWithSource");
  check(cl_.clBuildProgram(program.get(), 1, &device_, opencl::kLanguage, nullptr, nullptr),
        "clBuildProgram");
  return program;
}

void OpenClDriver::check(cl_int code, const char* what) const {
  if (code != CL_SUCCESS)
    fail(std::string(what) + " on '" + name_ + "': " + opencl::name_of_code(code));
}

}  // namespace stria::bench
