// SPDX-License-Identifier: Apache-2.0
// Runs a program on one device of several. A device that is lost, out of memory or does not end in
// time hands the run to the next one, which gets the same inputs.
//
//   STRIA_ASSIGN(ProgramRunner runner, ProgramRunner::create(runtime, "auto", program, types));
//   STRIA_ASSIGN(RunResult result, runner.run(inputs));     // result.outputs, result.device
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/pick/prediction.h"
#include "stria/runtime/program.h"
#include "stria/runtime/runtime.h"
#include "stria/type/host_tensor.h"

namespace stria {

// What a device was at when it failed.
enum class RunStage { open, compile, run };
// "opening", "compiling", "running".
STRIA_API std::string_view name_of(RunStage stage);

// A device has failed, and the run went on with the next one. Plain value.
struct HandOver {
  std::string device;  // that has failed, as Runtime::open takes it: "acme:0"
  RunStage stage = RunStage::run;
  Status why;
  std::string next;  // the device that goes on, likewise
  // So long no run begins on the device that has failed, unless all others fail too.
  std::chrono::nanoseconds kept_out{0};
  bool for_good = false;  // it cannot run this program, and is not tried again
  // "acme:0 is lost: …; going on with big:1"
  std::string text;
};

// Plain value.
struct RunnerOptions {
  CompileOptions compile;  // its recorder must outlive the runner
  // A device that has failed is kept out for `first_wait`, after the next failure for twice as
  // long, and so on, up to `longest_wait`. A run that ends well on it starts this anew.
  std::chrono::nanoseconds first_wait = std::chrono::seconds(1);
  std::chrono::nanoseconds longest_wait = std::chrono::minutes(5);
  // Called for each hand-over before the run goes on, on the thread of that run, with no lock held;
  // may be empty. It must not throw.
  std::function<void(const HandOver&)> on_hand_over;
  // What the waits go by; empty: the steady clock.
  std::function<std::chrono::steady_clock::time_point()> clock;
};

struct RunResult {
  std::vector<HostTensor> outputs;  // in the order of the program's
  std::string device;               // where it has run, as Runtime::open takes it
};

// A handle; safe from any thread, several runs at once included. It keeps its Runtime and the
// devices that it has opened, so drop it before Runtime::shutdown. Every function needs a runner
// that create() has made.
//
// A run begins on the first device of the order that is not kept out. Where something fails there
// (opening, compiling, memory, work, a wait longer than RuntimeOptions::wait_limit_ns), the run
// begins again on the next one, from the inputs that the caller holds; nothing is left of what the
// first has computed. The device is closed and kept out for a while; what it still works on is not
// waited for, and its memory goes when that ends. Each hand-over is told: to `on_hand_over`, as a
// warning in the runtime's log, in handed_over() and in hand_overs(). A run that has come to
// devices that are kept out tries these too before it fails.
//
// Mistakes of the caller hand nothing over: invalid_argument of inputs and of runs, and parameters
// or a pipeline (CompileOptions) that are wrong. Nor does a selector that is one name
// (DeviceSelector::is_pinned): a failure there is the run's, and the next run opens the device
// again.
//
// A call into a plugin that never returns cannot be handed over in this process, as its thread
// cannot be brought back: devices whose plugins may hang so are `isolated:`.
class STRIA_API ProgramRunner {
 public:
  ProgramRunner() = default;
  bool valid() const { return state_ != nullptr; }

  // Lowers the program and finds out the order: that of Runtime::open for the selector and the
  // program. Opens no device, unless the selector asks for predictions. Fails as Runtime::open does
  // where no device is left, and for what is wrong with program or inputs.
  static Result<ProgramRunner> create(const Runtime& runtime, std::string_view selector,
                                      const Program& program, const InputTypes& inputs = {},
                                      const RunnerOptions& options = {});
  // The same in the order of a pick that was made for the same program.
  static Result<ProgramRunner> create(const Runtime& runtime, const Pick& pick,
                                      const Program& program, const InputTypes& inputs = {},
                                      const RunnerOptions& options = {});

  const std::vector<TensorInfo>& inputs() const;   // in the order of the program's inputs
  const std::vector<TensorInfo>& outputs() const;  // in the order of the program's outputs
  // The devices in their order, as Runtime::open takes them.
  const std::vector<std::string>& devices() const;

  // Opens a device and compiles for it, as a run would do first; hands over like a run. Gives the
  // device.
  Result<std::string> prepare() const;
  // Copies the inputs in, runs, waits, and copies the outputs back. invalid_argument, naming the
  // input, for a wrong number, type or size. If all devices fail: one failure that names each with
  // its reason, those that the selector dropped too; its code is that of the reasons if they agree,
  // else unavailable.
  Result<RunResult> run(std::span<const HostTensor> inputs) const;

  // How often a run was handed over.
  uint64_t handed_over() const;
  // The last ones of these, at most 100, the oldest first.
  std::vector<HandOver> hand_overs() const;

 private:
  friend struct Inside;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria
