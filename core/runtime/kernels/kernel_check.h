// SPDX-License-Identifier: Apache-2.0
// Finds the first kernel of a program that a device computes wrongly. Each kernel runs by itself;
// the interpreter runs the same kernel on what the device's memory held before it. So an error is
// found where it is made, not where it is seen.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/runtime/executable.h"
#include "stria/type/host_tensor.h"

namespace stria {

struct NamedTensor {
  std::string name;
  HostTensor tensor;  // dense, whatever its layout on the device
};

struct WrongKernel {
  std::string name;
  size_t position = 0;              // among all kernels, those of the prologue first
  size_t count = 0;                 // of all kernels
  std::string text;                 // "O[0, 3]: got 1.5, expected 1.25 within 1e-06"
  std::string stripe;               // a program of this kernel alone, in printed form
  std::vector<NamedTensor> inputs;  // of that program, as the device had them
  std::vector<NamedTensor> got;     // what the device made of them
  std::vector<NamedTensor> expected;
};

// Runs `executable` once, in steps; nothing else may use these tensors meanwhile. Null: every
// kernel is within the bounds of rule M11. `progress` (may be empty) is told how many kernels are
// done. unsupported for a plugin that runs a whole part as one kernel. Takes the interpreter's time
// for each kernel, and host memory for its tensors.
Result<std::optional<WrongKernel>> find_wrong_kernel(
    const Executable& executable, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
    const std::function<void(size_t done, size_t count)>& progress = {});

}  // namespace stria
