// SPDX-License-Identifier: Apache-2.0
// An open device of a plugin with what the compiler must know of it: its hardware model (the
// plugin's file merged with what the device says of itself) and its pass pipeline.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/exec/loaded_program.h"
#include "stria/hal/device.h"
#include "stria/hal/plugin.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/program.h"
#include "stria/runtime/tensor.h"

namespace stria {

// A handle; safe from any thread. It keeps its plugin loaded.
class Device {
 public:
  Device() = default;
  // Opens the device, reads its model and pipeline and checks both.
  static Result<Device> open(const hal::Plugin& plugin, std::string_view device_id);

  std::string name() const;  // "plugin:id"
  const hal::DeviceInfo& info() const;
  const HardwareModel& model() const;
  const hal::Device& hal() const;

  // Undefined contents. `what` names it in messages.
  Result<Tensor> create_tensor(DataType type, std::vector<int64_t> sizes,
                               std::string_view what = "tensor") const;

  // Runs the device's pipeline over what lower_program made; nothing is built.
  Result<Compilation> specialize(Compilation compilation, const CompileOptions& options = {}) const;
  // Builds device Stripe, which `text` is the print of.
  Result<exec::LoadedProgram> build(const stripe::Program& program, const std::string& text,
                                    const CompileOptions& options = {}) const;
  // Builds and loads a specialized program.
  Result<Executable> load(Compilation compilation, const CompileOptions& options = {}) const;
  // lower_program, specialize and load.
  Result<Executable> compile(const Program& program, const InputTypes& inputs,
                             const CompileOptions& options = {}) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
