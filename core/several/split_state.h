// SPDX-License-Identifier: Apache-2.0
// What the public classes of this room hold, and what they tell each other of single devices.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/device.h"
#include "stria/several/cut.h"
#include "stria/several/split_executable.h"
#include "stria/several/split_runner.h"
#include "stria/several/split_tensor.h"

namespace stria {

struct [[gnu::visibility("hidden")]] SplitTensor::State {
  TensorInfo info;
  std::optional<Cut> cut;
  std::vector<UnitRange> units;  // of each piece
  std::vector<Device> devices;   // likewise
  std::vector<std::string> names;
  std::vector<Tensor> pieces;
};

// An input or output of the whole program.
struct SplitArgument {
  TensorInfo info;
  std::optional<Cut> cut;
};

struct SplitData {
  std::string name;
  std::vector<SplitArgument> in, out;
  std::vector<TensorInfo> inputs, outputs;
  int64_t units = 1;
  double repeated = 0;
  std::vector<SplitPart> parts;
  std::vector<UnitRange> ranges;   // of the parts
  std::vector<std::string> names;  // of their devices, as Runtime::open takes them
};
struct [[gnu::visibility("hidden")]] SplitExecutable::State : SplitData {};

// The inputs and outputs of a program, as its callers see them; none is cut.
std::vector<SplitArgument> inputs_of(const Compilation& generic);
std::vector<SplitArgument> outputs_of(const Compilation& generic);

// Beside the public interface: what has come of each device.
struct [[gnu::visibility("hidden")]] SplitInside {
  // Of a program that was lowered. `outcomes`, one for each device, say whose failure it is; all ok
  // if it is nobody's.
  static Result<SplitExecutable> compile(std::span<const Device> devices,
                                         const Compilation& generic, const SplitOptions& options,
                                         std::vector<Status>& outcomes);
  // For each piece.
  static std::vector<Status> write(const SplitTensor& tensor, std::string_view bytes);
  static std::vector<Status> read(const SplitTensor& tensor, HostTensor& into);
  static std::vector<Status> create(const SplitExecutable& executable,
                                    const SplitArgument& argument, SplitTensor& tensor);
  // SplitRunner::create for a program that was lowered. `opened` is called for each device that is
  // opened, before anything is compiled for it; its failure is the caller's, and ends the run.
  static Result<SplitRunner> runner(const Runtime& runtime, std::string_view devices,
                                    Compilation generic, const SplitRunnerOptions& options,
                                    std::function<Status(const Device&)> opened = {});
  static const SplitData& data(const SplitExecutable& executable) { return *executable.state_; }
};

}  // namespace stria
