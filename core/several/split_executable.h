// SPDX-License-Identifier: Apache-2.0
// A program compiled for several devices at once, each of which runs a part of it: some of the
// batch, some rows of a product.
//
//   STRIA_ASSIGN(SplitExecutable net, SplitExecutable::compile(devices, program, types));
//   STRIA_ASSIGN(SplitTensor images, net.create_input(0));
//   STRIA_ASSIGN(SplitTensor weights, net.create_input(1));   // whole on each device
//   STRIA_ASSIGN(SplitTensor result, net.create_output(0));
//   STRIA_RETURN_IF_ERROR(weights.write(…));                  // once
//   …
//   STRIA_ASSIGN(SplitRun run, net.run({images, weights}, {result}));    // returns at once
//   STRIA_ASSIGN(HostTensor values, result.read());           // gathers
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/runtime/event.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/program.h"
#include "stria/several/split_tensor.h"

namespace stria {

// Plain value.
struct SplitOptions {
  CompileOptions compile;
  // How much of the work each device gets, beside the others: {2, 1} is two thirds and one. Empty:
  // equal devices get equal parts, others as much as what a run of the whole program is predicted
  // to take there says.
  std::vector<double> shares;
  // What does not depend on the part alone runs in every part. If that is more than this much of
  // the work, the program is not split.
  double most_repeated = 0.25;
};

// What one device has of the program. Plain value.
struct SplitPart {
  Device device;
  Executable executable;
  int64_t begin = 0, end = 0;  // its units: of the batch, rows, …
};

// One run of all parts. A handle; safe from any thread.
class STRIA_API SplitRun {
 public:
  SplitRun() = default;
  // One for each part.
  const std::vector<Event>& events() const { return events_; }
  // Waits until all parts are done, well or not. The first failure, with its device.
  Status wait() const;

 private:
  friend class SplitExecutable;
  std::vector<Event> events_;
  std::vector<std::string> devices_;
};

// A handle; safe from any thread, several runs at once included. Every function needs one that
// compile() has made.
class STRIA_API SplitExecutable {
 public:
  SplitExecutable() = default;
  bool valid() const { return state_ != nullptr; }

  // Finds a dimension along which the program falls into parts (split.h in core/several says when),
  // shares its units out, and compiles for all devices at once. The passes run once for devices and
  // parts that are alike. With fewer units than devices, the last devices have no part. One device
  // has the whole program, whatever it is. `inputs` as for Device::compile.
  // unsupported for a program that does not fall into parts: which kernel and tensor stop it, for
  // each dimension. invalid_argument for no device, and for shares that are no numbers of at least
  // 0 with one above it, one for each device. Else it fails like Device::compile, with the name of
  // the device.
  static Result<SplitExecutable> compile(std::span<const Device> devices, const Program& program,
                                         const InputTypes& inputs = {},
                                         const SplitOptions& options = {});

  const std::vector<TensorInfo>& inputs() const;   // of the whole, in the order of the program's
  const std::vector<TensorInfo>& outputs() const;  // likewise
  const std::vector<SplitPart>& parts() const;     // in the order of the devices
  int64_t units() const;                           // that were shared out
  // Of all work, what every part does; 0 to 1.
  double repeated() const;
  // For people: "64 units along dimension 0 of 'O': 32 on acme:0, 32 on acme:1".
  std::string description() const;

  // With undefined contents, on the devices of all parts.
  Result<SplitTensor> create_input(size_t position) const;
  Result<SplitTensor> create_output(size_t position) const;

  // Starts all parts and returns at once; none waits for another. Orders itself by the tensors as
  // Executable::run does. invalid_argument for tensors that another executable has cut otherwise.
  // If one part cannot be started, those that have been are waited for, and the failure has its
  // device's name.
  Result<SplitRun> run(std::span<const SplitTensor> inputs,
                       std::span<const SplitTensor> outputs) const;
  Result<SplitRun> run(std::initializer_list<SplitTensor> inputs,
                       std::initializer_list<SplitTensor> outputs) const {
    return run(std::span(inputs.begin(), inputs.size()),
               std::span(outputs.begin(), outputs.size()));
  }

 private:
  friend struct SplitInside;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
