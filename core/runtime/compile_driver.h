// SPDX-License-Identifier: Apache-2.0
// The compile driver: what Device::compile does after lower_program. Not installed.
//
//   generic Stripe --specialize: the pipeline's passes--> device Stripe --build: the plugin--> code
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/exec/loaded_program.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/host/device_limits.h"
#include "stria/runtime/pick/program_needs.h"
#include "stria/stripe/block.h"

namespace stria {

// Safe to call from several threads, as Device is.
struct CompileDriver {
  // not_found: parameters that the pipeline does not have; invalid_argument: a value that it does
  // not take, or a parameter that `tune` gives as well; unsupported: `tune` of a pipeline that
  // times nothing. `specialize` says the same, later.
  static Status check_parameters(const Device& device, const CompileOptions& options);
  // What the program needs of any device, with the kernels, or nodes of an ONNX model, that do.
  static ProgramNeeds needs(const Compilation& compilation);
  // What the device lacks of all that the program needs, with the kernels, or nodes of an ONNX
  // model, that need it. Runs no pass.
  static std::vector<DeviceLack> lacks(const Device& device, const Compilation& compilation);
  // unsupported, with that list, if it is not empty. `specialize` says the same.
  static Status check_device(const Device& device, const Compilation& compilation);
  // Runs the device's pipeline, or that of `options`, over compilation.generic.
  static Result<Compilation> specialize(const Device& device, Compilation compilation,
                                        const CompileOptions& options = {});
  // Has the device's plugin build device Stripe, which `text` is the print of.
  static Result<exec::LoadedProgram> build(const Device& device, const stripe::Program& program,
                                           const std::string& text,
                                           const CompileOptions& options = {});
  // Builds what `specialize` made and says what its inputs and outputs are.
  static Result<Executable> load(const Device& device, Compilation compilation,
                                 const CompileOptions& options = {});
};

}  // namespace stria
