// SPDX-License-Identifier: Apache-2.0
// A program compiled for one device and for given sizes, loaded and ready to run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/exec/loaded_program.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/event.h"
#include "stria/runtime/tensor.h"

namespace stria {

struct TensorInfo {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;  // elements, outermost first
};

// A handle; safe from any thread, several runs at once included.
class Executable {
 public:
  Executable() = default;

  const std::vector<TensorInfo>& inputs() const;   // in the order of the program's parameters
  const std::vector<TensorInfo>& outputs() const;  // in the order of the program's results
  const Compilation& compilation() const;
  // The plugin's generated sources, for people.
  Result<std::vector<hal::NamedText>> sources() const;

  // Starts one run and returns at once: it waits for whatever still writes the inputs or uses the
  // outputs. invalid_argument, naming the tensor, for a wrong number, type, size or device, or for
  // an output that is also an input. Run::wait says how it ended; so does reading an output.
  Result<exec::Run> run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;

 private:
  friend class Device;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria
