// SPDX-License-Identifier: Apache-2.0
// Runs a program on several devices at once, each of which does a part. One that is lost, out of
// memory or does not end in time is left out, and the run begins again on the others, from the same
// inputs.
//
//   STRIA_ASSIGN(SplitRunner runner, SplitRunner::create(runtime, "kind:gpu", program, types));
//   STRIA_ASSIGN(SplitResult result, runner.run(inputs));    // tensors of the host
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/program.h"
#include "stria/runtime/program_runner.h"
#include "stria/runtime/runtime.h"
#include "stria/several/split_executable.h"
#include "stria/type/host_tensor.h"

namespace stria {

// A device has failed, and the run went on without it. Plain value.
struct DeviceLoss {
  std::string device;  // as Runtime::open takes it: "acme:0"
  RunStage stage = RunStage::run;
  Status why;
  std::vector<std::string> left;  // the devices that go on
  // So long no run uses it, unless all others fail too.
  std::chrono::nanoseconds kept_out{0};
  bool for_good = false;  // it cannot run this program, and is not tried again
  std::string text;       // "acme:0 is lost: …; going on with big:1, big:2"
};

// Plain value.
struct SplitRunnerOptions {
  SplitOptions split;  // its shares are for all devices of the list, in that order
  // As in RunnerOptions.
  std::chrono::nanoseconds first_wait = std::chrono::seconds(1);
  std::chrono::nanoseconds longest_wait = std::chrono::minutes(5);
  // Called for each loss before the run goes on, on the thread of that run, with no lock held; may
  // be empty. It must not throw.
  std::function<void(const DeviceLoss&)> on_loss;
  // What the waits go by; empty: the steady clock.
  std::function<std::chrono::steady_clock::time_point()> clock;
};

struct SplitResult {
  std::vector<HostTensor> outputs;   // in the order of the program's
  std::vector<std::string> devices;  // that had a part
};

// A handle; safe from any thread, several runs at once included. It keeps its Runtime and the
// devices that it has opened, so drop it before Runtime::shutdown. Every function needs a runner
// that create() has made.
//
// A run uses all devices that are not kept out. Where one of them fails (opening, compiling,
// memory, work, a wait longer than RuntimeOptions::wait_limit_ns), it is closed and kept out for a
// while, the program is shared out over the others, and the run begins again there: nothing is left
// of what was computed before. Each loss is told: to `on_loss`, as a warning in the runtime's log
// and in losses(). With one device left, that one runs the whole program. Mistakes of the caller
// leave no device out, as with ProgramRunner.
class STRIA_API SplitRunner {
 public:
  SplitRunner() = default;
  bool valid() const { return state_ != nullptr; }

  // `devices` are selectors with semicolons between; each stands for all devices that it keeps:
  // "acme:0;acme:1", "kind:gpu, mem>=8G". Lowers the program; opens no device. Fails as
  // Runtime::open does where a selector leaves none, and for what is wrong with program or inputs.
  static Result<SplitRunner> create(const Runtime& runtime, std::string_view devices,
                                    const Program& program, const InputTypes& inputs = {},
                                    const SplitRunnerOptions& options = {});

  const std::vector<TensorInfo>& inputs() const;   // in the order of the program's inputs
  const std::vector<TensorInfo>& outputs() const;  // in the order of the program's outputs
  const std::vector<std::string>& devices() const;

  // Opens and compiles as a run would do first. Says what each device has of the program
  // (SplitExecutable::description).
  Result<std::string> prepare() const;
  // Copies the inputs in, runs, waits, and gathers the results. unsupported for a program that does
  // not fall into parts; invalid_argument, naming the input, for a wrong number, type or size. If
  // all devices fail: one failure that names each with its reason; its code is that of the reasons
  // if they agree, else unavailable.
  Result<SplitResult> run(std::span<const HostTensor> inputs) const;

  // The last losses, at most 100, the oldest first.
  std::vector<DeviceLoss> losses() const;

 private:
  friend struct SplitInside;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stria
