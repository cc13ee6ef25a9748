// SPDX-License-Identifier: Apache-2.0
// An open device: makes tensors in its memory and compiles programs for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/base/source_text.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/event.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/pick/device_info.h"
#include "stria/runtime/program.h"
#include "stria/runtime/tensor.h"

namespace stria {

// A handle; safe from any thread. It keeps its plugin loaded and outlives the Runtime. Opening a
// device twice gives two devices: their tensors do not mix. Every function needs a device that
// Runtime::open has given.
class STRIA_API Device {
 public:
  Device() = default;
  bool valid() const { return state_ != nullptr; }

  const std::string& name() const;  // "plugin:id"
  const DeviceInfo& info() const;   // as the opened device says it

  // A dense row-major tensor with undefined contents. `sizes` in elements, outermost first; `what`
  // names it in messages. invalid_argument for a negative size, out_of_memory.
  Result<Tensor> create_tensor(DataType type, std::vector<int64_t> sizes,
                               std::string_view what = "tensor") const;
  // One for an input or output of an executable.
  Result<Tensor> create_tensor(const TensorInfo& info) const;
  // One with `values`, in row-major order; returns when they are there. invalid_argument if their
  // number is not the product of the sizes.
  template <typename T>
  Result<Tensor> create_tensor(std::vector<int64_t> sizes, const std::vector<T>& values) const {
    STRIA_ASSIGN(Tensor tensor, create_tensor(data_type_of<T>(), std::move(sizes)));
    STRIA_RETURN_IF_ERROR(tensor.write_values(values));
    return tensor;
  }
  // A tensor whose elements lie in `memory`, which the application made: dense and row-major, as
  // many bytes as the tensor has. Nothing is copied; work of the device reads and writes there, and
  // whoever looks at it waits for that work. `owner` keeps the memory, and goes when the device
  // does not touch it any more; without it the memory outlives the tensor and its work. unsupported
  // if the device cannot work there, with what it asks for: devices that share the host's memory
  // take addresses that are multiples of 64. Experimental.
  Result<Tensor> import_tensor(std::span<std::byte> memory, DataType type,
                               std::vector<int64_t> sizes,
                               std::shared_ptr<const void> owner = nullptr) const;
  // An event that the caller ends with Event::signal: what waits for it waits for the caller. One
  // that is dropped unsignalled fails with cancelled.
  Result<Event> create_event() const;

  // Compiles for the given types and sizes, builds on the device and loads; takes milliseconds to
  // seconds. Every input of the program must be in `inputs` unless it has a type (ProgramInput);
  // names it does not have are ignored.
  // invalid_argument with every mistake found in program, sizes or pipeline.
  Result<Executable> compile(const Program& program, const InputTypes& inputs = {},
                             const CompileOptions& options = {}) const;
  // Builds and loads Stripe as it stands, for example device_stripe() of an Executable, edited by
  // hand; with `options.pipeline`, what that pipeline makes of it. Inputs and outputs are those of
  // its main block, in printed order. invalid_argument for text that is no Stripe or breaks its
  // rules.
  Result<Executable> load_stripe(const SourceText& stripe,
                                 const CompileOptions& options = {}) const;

 private:
  friend struct CompileDriver;
  friend struct Inside;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
