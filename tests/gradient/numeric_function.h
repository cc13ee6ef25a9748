// SPDX-License-Identifier: Apache-2.0
// A Tile program as a function of numbers: compiled once for one device, called often.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/runtime/stria.h"

namespace stria::gradient_proof {

// A tensor's elements as numbers, row-major; those of integer types are whole.
struct Numbers {
  TensorType type;
  std::vector<double> values;
};
int64_t element_count(const TensorType& type);

// For one thread at a time.
class NumericFunction {
 public:
  // Inputs in the order of the program's parameters.
  static Result<NumericFunction> compile(const Device& device, const Program& program,
                                         const std::vector<TensorType>& inputs);

  const std::vector<TensorInfo>& inputs() const { return executable_.inputs(); }
  const std::vector<TensorInfo>& outputs() const { return executable_.outputs(); }
  // The outputs, in the program's order.
  Result<std::vector<Numbers>> operator()(const std::vector<Numbers>& inputs) const;

 private:
  Executable executable_;
  std::vector<Tensor> inputs_, outputs_;
};

// The plugins of the build tree, and the device of one of them (chosen_device.h).
Result<Device> open_device(const std::string& plugin);

}  // namespace stria::gradient_proof
