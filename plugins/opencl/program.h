// SPDX-License-Identifier: Apache-2.0
// From source to what the driver can run.
#pragma once

#include <memory>
#include <string>

#include "context.h"

namespace stria::opencl {

// Options of every build. No warnings: some drivers print how many there are.
inline constexpr const char* kLanguage = "-cl-std=CL1.2 -w";

struct ReleaseProgram {
  const OpenCl* cl = nullptr;
  void operator()(cl_program program) const { cl->clReleaseProgram(program); }
};
using Program = std::unique_ptr<_cl_program, ReleaseProgram>;

// Builds `source`, or loads from the host's cache what an earlier build has left there, in any
// process, of the same source with the same options for the same device and driver. If the driver
// refuses the source, the error holds its log, and says where the source lies. Thread-safe.
Program build_program(const Context& context, const std::string& source,
                      const std::string& options);

// Does the driver build `source`? It is asked once for a device and driver; then the host's cache
// knows.
bool builds(const Context& context, const std::string& source, const std::string& options);

}  // namespace stria::opencl
