// SPDX-License-Identifier: Apache-2.0
// What an Executable holds; shared by the code that makes it (device.cc) and the code that runs it.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/exec/loaded_program.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/executable.h"

namespace stria {

struct [[gnu::visibility("hidden")]] Executable::State {
  std::string device;  // its name: "plugin:id"
  Compilation compilation;
  exec::LoadedProgram loaded;
  bool keep_sources = false;
  bool watch_kernels = false;
  std::vector<TensorInfo> inputs, outputs;
  // Inputs that the program brings along, in the device's memory; none where no kernel reads it.
  std::vector<Tensor> bound;
  // For each tensor of the plan, its position among the program's inputs, with the bound ones
  // behind them, or outputs.
  std::vector<size_t> plan_inputs, plan_outputs;

  std::shared_ptr<std::mutex> order;  // of the device: work is started and recorded under it
  // invalid_argument with the names of tensor and devices if `tensor` lives on another device.
  Status check_place(const TensorInfo& expected, const Tensor& tensor, std::string_view role) const;

  // invalid_argument if these are no inputs and outputs for the program.
  Status check_tensors(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;

  // Nothing else may use these tensors meanwhile.
  Status run_in_steps(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                      const exec::LoadedProgram::Look& look) const;
  Result<Event> start(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                      std::span<const Event> waits, const exec::RunOptions& options);

  // Guarded by order: the last binding and the constants (tensor, version) it was made for.
  exec::Binding binding;
  std::vector<std::pair<Tensor, uint64_t>> constants;
};

}  // namespace stria
