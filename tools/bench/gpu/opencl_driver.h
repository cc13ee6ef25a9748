// SPDX-License-Identifier: Apache-2.0
// An OpenCL driver as a program in C sees it, without stria.
#pragma once

#include <string>

#include "opencl/loader.h"
#include "opencl/program.h"

namespace stria::bench {

// One device of the ICD loader, and a context of it. Without such a device, or when the driver
// refuses something, the benchmark says why and ends with 3.
class OpenClDriver {
 public:
  // The first device whose name holds the text.
  explicit OpenClDriver(const std::string& text);
  OpenClDriver(const OpenClDriver&) = delete;
  ~OpenClDriver() { cl_.clReleaseContext(context_); }

  const opencl::OpenCl& cl() const { return cl_; }
  const std::string& name() const { return name_; }
  cl_device_id device() const { return device_; }
  cl_context context() const { return context_; }
  opencl::Program build(const std::string& source) const;  // thread-safe
  void check(cl_int code, const char* what) const;

 private:
  opencl::OpenCl cl_;
  std::string name_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
};

}  // namespace stria::bench
