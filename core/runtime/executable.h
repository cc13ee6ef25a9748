// SPDX-License-Identifier: Apache-2.0
// A program compiled for one device and for given sizes, loaded and ready to run.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/base/source_text.h"
#include "stria/runtime/event.h"
#include "stria/runtime/tensor.h"
#include "stria/type/data_type.h"

namespace stria {

// A handle; safe from any thread, several runs at once included. It keeps its device. Every
// function needs an executable that a Device has made.
class STRIA_API Executable {
 public:
  Executable() = default;
  bool valid() const { return state_ != nullptr; }

  const std::string& name() const;                 // of the program
  const std::vector<TensorInfo>& inputs() const;   // in the order of the program's inputs
  const std::vector<TensorInfo>& outputs() const;  // in the order of the program's outputs

  // Starts one run and returns at once. The run waits for `waits` (events of any device), for
  // whatever still writes the inputs and for whatever still uses the outputs; so runs that share
  // tensors need no waits of their own, and others may overlap. invalid_argument, naming the
  // tensor, for a wrong number, type, size or device, or for an output that is also an input.
  // Event::wait says how the run ended; so does reading an output. The tensors are kept until it
  // has.
  Result<Event> run(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    std::span<const Event> waits = {}) const;
  Result<Event> run(std::initializer_list<Tensor> inputs, std::initializer_list<Tensor> outputs,
                    std::span<const Event> waits = {}) const {
    return run(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()),
               waits);
  }

  // As `run`, so many times in a row as one piece of work: each run begins when the one before has
  // ended, without the host in between, the first one after `waits`. The event's duration_ns
  // divided by `times` is what a run takes on the device; it knows no times of kernels. For
  // measuring. invalid_argument for 0 times, and for more than 2^20 launches.
  Result<Event> run_in_a_row(uint32_t times, std::span<const Tensor> inputs,
                             std::span<const Tensor> outputs,
                             std::span<const Event> waits = {}) const;

  // What the passes made for the device, as Stripe text: Device::load_stripe takes it.
  const std::string& device_stripe() const;
  // With CompileOptions::keep_stages: the program after every step, "00_program.tile",
  // "01_lower.stripe", "02_<step>.stripe", …; else empty.
  const std::vector<SourceText>& stages() const;
  // With CompileOptions::keep_stages: what the plugin generated, for people; it may be nothing.
  Result<std::vector<SourceText>> sources() const;

 private:
  friend struct CompileDriver;
  friend struct Inside;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria
