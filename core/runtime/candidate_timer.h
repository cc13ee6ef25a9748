// SPDX-License-Identifier: Apache-2.0
// Lets passes time candidates on a device: each goes through the remaining steps of the pipeline,
// is built, and runs on random values.
#pragma once

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "stria/exec/loaded_program.h"
#include "stria/hal/buffer.h"
#include "stria/pass/measure.h"
#include "stria/pass/pipeline.h"
#include "stria/runtime/busy_device.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/type/data_type.h"

namespace stria {

// A program that is built and has memory for its tensors.
struct ReadyCandidate {
  exec::Binding binding;
  std::vector<hal::Argument> inputs, outputs;
  // Nanoseconds of one run, by the device's clock if it has one, else by the host's; and of the
  // host until all runs were queued.
  struct Times {
    double run_ns = 0, queue_ns = 0;
    bool by_device = false;
  };
  // Starts so many runs in a row, after `waits`.
  Result<exec::Run> start(uint32_t times, hal::Waits waits = {}) const;
  // The same, until they have ended.
  Result<Times> run(uint32_t times) const;
  // Nanoseconds of one run by the device's clock, which it must have. Before, the device was at
  // other work for `ahead_ns` or longer, until all runs were queued.
  Result<double> run_queued(uint32_t times, double ahead_ns, BusyDevice& busy) const;
};

// For one run of one pipeline. Times are kept in the user's cache folder. While a candidate goes
// through the steps after the one that asks, those steps do not ask for times themselves: the cost
// decides.
class CandidateTimer {
 public:
  // All are borrowed; of `options` fast_math and no_peepholes count.
  CandidateTimer(const Device& device, const Pipeline& pipeline, const CompileOptions& options);
  CandidateTimer(const CandidateTimer&) = delete;
  CandidateTimer& operator=(const CandidateTimer&) = delete;

  const Measure& measure() const { return measure_; }
  // Call it before each step with the step's number: candidates go through the steps after it.
  void runs(size_t step);

  // The program after those steps, built. Candidates share their tensors' memory. From any thread.
  Result<ReadyCandidate> ready(const stripe::Program& program);
  // The same of several, built on all cores at the same time.
  std::vector<Result<ReadyCandidate>> all_ready(const Measure::Programs& programs);

 private:
  // Builds candidates on all cores at the same time, then times them on this thread alone. Those
  // that are close to the shortest time are timed again, in turns.
  std::vector<Result<double>> times(const Measure::Programs& programs);
  Result<double> time(const ReadyCandidate& candidate);
  // Memory with random values, used by one candidate after the other.
  Result<hal::Buffer> buffer(DataType type, uint64_t bytes, size_t position);

  const Device& device_;
  const Pipeline& pipeline_;
  const CompileOptions& options_;
  Measure measure_;
  size_t step_ = 0;
  BusyDevice busy_;
  std::mutex mutex_;
  std::map<std::tuple<DataType, uint64_t, size_t>, hal::Buffer> buffers_;  // guarded by mutex_
};

}  // namespace stria
