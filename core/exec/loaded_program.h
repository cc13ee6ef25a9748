// SPDX-License-Identifier: Apache-2.0
// A device program that is built, loaded and ready to run again and again. Its kernels are
// prepared, and memory for temporaries is kept between runs. All three classes are handles; copies
// are cheap and may be used from any thread at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/exec/device_memory.h"
#include "stria/exec/plan.h"
#include "stria/hal/device.h"
#include "stria/stripe/block.h"

namespace stria::exec {

struct KernelTime {
  std::string name;
  size_t statement = 0;      // position among main's kernels
  uint64_t nanoseconds = 0;  // 0: not known
  std::string interpreted;   // as in hal::KernelInfo
};

struct RunNames;

// One run under way.
class Run {
 public:
  // Done when every kernel is; fails with the first cause.
  const hal::Event& done() const { return done_; }
  // Waits. A failure says which kernel of which program failed, or that its prologue did. Without
  // `watch_kernels` it names the program alone.
  Status wait() const;
  // The times of the kernels in launch order, for each run in a row; none without `watch_kernels`.
  // failed_precondition before the run is done.
  Result<std::vector<KernelTime>> times() const;

 private:
  friend class Binding;
  std::shared_ptr<const RunNames> names_;
  hal::Event prologue_;  // none if there is none
  hal::Event done_;
  std::vector<hal::Event> each_;
};

struct RunOptions {
  // Ask the plugin for the end of each kernel, and not of the last one alone.
  bool watch_kernels = false;
  // So many runs make one piece of work: each begins when the one before has ended, without the
  // host in between. invalid_argument for more than 2^20 launches.
  uint32_t in_a_row = 1;
};

// A program with its constants fixed: what the prologue makes of them is computed once and kept.
class Binding {
 public:
  Binding() = default;
  bool valid() const { return state_ != nullptr; }
  // Done when the prologue is; no event if there is no prologue. The prologue reads the constants
  // until then. If it fails, all runs of this binding fail.
  const hal::Event& ready() const;
  // Starts the kernels of main after `waits`, and returns at once. One argument per plan().inputs
  // and per plan().outputs; constants must be those of the binding. Runs may overlap in time. Each
  // has temporaries of its own, and the caller orders runs that share tensors by `waits`. If the
  // device has no memory for more temporaries, a run takes over those of the earliest run under
  // way, and starts after its end.
  Result<Run> run(std::span<const hal::Argument> inputs, std::span<const hal::Argument> outputs,
                  hal::Waits waits = {}, const RunOptions& options = {}) const;

 private:
  friend class LoadedProgram;
  struct State;
  std::shared_ptr<const State> state_;
};

// A kernel of a run in steps, and where each tensor of the plan lies then.
struct KernelStep {
  hal::ProgramPart part = hal::ProgramPart::main;
  size_t kernel = 0;                      // position among the part's
  std::span<const hal::Argument> memory;  // by position in Plan::tensors; empty: not of this part
};

class LoadedProgram {
 public:
  LoadedProgram() = default;
  // Builds `text`, the printed form of `program`, on the device of `memory`, waits for the build
  // and readies all kernels. `options` is the JSON object that the plugin's compiler gets.
  static Result<LoadedProgram> load(const DeviceMemory& memory, const stripe::Program& program,
                                    std::string_view text, std::string_view options = "{}");

  const Plan& plan() const;
  const hal::Library& library() const;

  // Starts the prologue, if there is one, after `waits`. One argument per plan().inputs; only those
  // with `prologue_reads` are looked at, the others may be empty.
  Result<Binding> bind(std::span<const hal::Argument> inputs, hal::Waits waits = {}) const;

  // Runs prologue and main once, kernel by kernel, with nothing else under way on their tensors.
  // `look` is called before each kernel and after it (`done`); if it fails, the run ends. For
  // finding out which kernel is wrong.
  using Look = std::function<Status(const KernelStep& step, bool done)>;
  Status run_in_steps(std::span<const hal::Argument> inputs, std::span<const hal::Argument> outputs,
                      const Look& look) const;

 private:
  friend class Binding;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria::exec
