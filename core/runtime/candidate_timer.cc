// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/candidate_timer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "stria/base/cache_folder.h"
#include "stria/base/text.h"
#include "stria/hal/guard/signal_stack.h"
#include "stria/hal/host/host.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/stripe/text/printer.h"
#include "stria/type/scalar.h"

namespace stria {
namespace {

using Clock = std::chrono::steady_clock;

// A candidate is run until so many runs have been timed, many if they differ, or so much time has
// gone by.
constexpr size_t kFewRuns = 5, kManyRuns = 25;
constexpr double kNoise = 1.1;
constexpr std::chrono::milliseconds kLongEnough{200};
// What is shorter is run several times in a row: a launch and the clock cost microseconds.
constexpr double kShortRunNs = 200e3, kMostInARow = 20;
// Where queueing takes more than so much of the time of what is queued, the device is given other
// work first, for so many times as long: it must not wait for the host. That goes on if it makes
// runs so much shorter.
constexpr double kQueuedInTime = 0.25, kAhead = 2, kShorter = 0.95;
// Those whose first times are so close to the shortest one are timed again, in so many turns: what
// else there is on the machine slows all of them alike. So is the first candidate, the best by
// cost: it stays unless another one is clearly faster.
constexpr double kClose = 1.1;
constexpr size_t kMostFinalists = 4, kTurns = 5;
// Built at the same time: each has its temporaries.
constexpr size_t kMostAtOnce = 16;

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// Of small size, so that nothing overflows or becomes denormal; integers may be positions.
void fill(DataType type, std::byte* data, int64_t count) {
  uint64_t state = 0x9e3779b97f4a7c15;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const uint64_t bits = state >> 40;  // 24 of them
    store_scalar(type, data, i,
                 is_float(type)
                     ? Scalar::of_float(DataType::fp32, static_cast<double>(bits) / (1 << 23) - 1)
                     : Scalar::of_int(DataType::i32, static_cast<int64_t>(bits & 1)));
  }
}

}  // namespace

Result<exec::Run> ReadyCandidate::start(uint32_t times, hal::Waits waits) const {
  return binding.run(inputs, outputs, waits, {.watch_kernels = false, .in_a_row = times});
}

Result<ReadyCandidate::Times> ReadyCandidate::run(uint32_t times) const {
  const Clock::time_point begin = Clock::now();
  STRIA_ASSIGN(const exec::Run run, start(times));
  const double queued = nanoseconds_since(begin);
  STRIA_RETURN_IF_ERROR(run.wait());
  const double host = nanoseconds_since(begin);
  STRIA_ASSIGN(const uint64_t device, run.done().duration_ns());
  return Times{(device > 0 ? static_cast<double>(device) : host) / times, queued, device > 0};
}

Result<double> ReadyCandidate::run_queued(uint32_t times, double ahead_ns, BusyDevice& busy) const {
  STRIA_ASSIGN(const exec::Run run,
               busy.behind(ahead_ns, [&](const hal::Event& ahead) -> Result<exec::Run> {
                 // It leaves the caches cold: one run that does not count.
                 STRIA_ASSIGN(const exec::Run warm, start(1, {&ahead, 1}));
                 return start(times, {&warm.done(), 1});
               }));
  STRIA_RETURN_IF_ERROR(run.wait());
  STRIA_ASSIGN(const uint64_t device, run.done().duration_ns());
  return static_cast<double>(device) / times;
}

CandidateTimer::CandidateTimer(const Device& device, const Pipeline& pipeline,
                               const CompileOptions& options)
    : device_(device), pipeline_(pipeline), options_(options), busy_(device) {
  measure_.times = [this](const Measure::Programs& programs) { return times(programs); };
  measure_.device =
      fmt::format("{} ({}, stria {})", device.name(), device.info().name, STRIA_VERSION);
  measure_.folder = user_cache_folder();
  runs(0);
}

void CandidateTimer::runs(size_t step) {
  step_ = step;
  const size_t end = pipeline_.steps.size();
  measure_.rest = fmt::format("{}{}{}", options_.fast_math ? "fast_math " : "",
                              options_.no_peepholes ? "no_peepholes " : "",
                              pipeline_.to_json(std::min(step + 1, end), end));
}

Result<hal::Buffer> CandidateTimer::buffer(DataType type, uint64_t bytes, size_t position) {
  const std::lock_guard<std::mutex> lock(mutex_);
  hal::Buffer& out = buffers_[{type, bytes, position}];
  if (out.valid()) return out;
  STRIA_ASSIGN(hal::Buffer made, Inside::hal_device(device_).allocate(bytes));
  if (bytes > 0) {
    STRIA_ASSIGN(hal::Mapping mapping, made.map_discard());
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    fill(type, mapping.data(), static_cast<int64_t>(bytes) / byte_size(type));
    STRIA_ASSIGN(const hal::Event seen, mapping.unmap());
    STRIA_RETURN_IF_ERROR(seen.wait());
  }
  out = std::move(made);
  return out;
}

Result<ReadyCandidate> CandidateTimer::ready(const stripe::Program& program) {
  Measure by_cost;
  by_cost.times = one_by_one([](const stripe::Program&) -> Result<double> { return 1.0; });
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.measure = &by_cost;
  Pipeline rest;
  rest.source = pipeline_.source;
  for (size_t i = step_ + 1; i < pipeline_.steps.size(); ++i)
    rest.steps.push_back(pipeline_.steps[i]);
  stripe::Program made = program;
  STRIA_RETURN_IF_ERROR(run_pipeline(made, rest, Inside::model(device_), how).status());
  STRIA_ASSIGN(const exec::LoadedProgram loaded,
               CompileDriver::build(
                   device_, made, stripe::print(made),
                   {.fast_math = options_.fast_math, .no_peepholes = options_.no_peepholes}));

  const exec::Plan& plan = loaded.plan();
  ReadyCandidate out;
  size_t position = 0;
  const auto add = [&](const std::vector<size_t>& tensors,
                       std::vector<hal::Argument>& arguments) -> Status {
    for (size_t t : tensors) {
      const exec::PlannedTensor& tensor = plan.tensors[t];
      STRIA_ASSIGN(hal::Buffer memory, buffer(tensor.shape.type, tensor.bytes, position++));
      arguments.push_back({std::move(memory), 0});
    }
    return Status();
  };
  STRIA_RETURN_IF_ERROR(add(plan.inputs, out.inputs));
  STRIA_RETURN_IF_ERROR(add(plan.outputs, out.outputs));
  STRIA_ASSIGN(out.binding, loaded.bind(out.inputs));
  return out;
}

std::vector<Result<ReadyCandidate>> CandidateTimer::all_ready(const Measure::Programs& programs) {
  std::vector<std::optional<Result<ReadyCandidate>>> made(programs.size());
  std::atomic<size_t> next{0};
  const auto make_some = [&] {
    for (size_t i; (i = next++) < made.size();) made[i] = ready(programs[i]);
  };
  std::vector<std::thread> others;
  const size_t cores = std::min<size_t>(hal::usable_cores(), programs.size());
  try {
    while (others.size() + 1 < cores)
      others.emplace_back([&] {
        const hal::SignalStack stack;
        make_some();
      });
  } catch (const std::system_error&) {
    // The threads that there are make all of them.
  }
  make_some();
  for (std::thread& other : others) other.join();
  std::vector<Result<ReadyCandidate>> out;
  for (std::optional<Result<ReadyCandidate>>& one : made) out.push_back(*std::move(one));
  return out;
}

std::vector<Result<double>> CandidateTimer::times(const Measure::Programs& programs) {
  std::vector<Result<double>> out;
  std::vector<std::pair<size_t, ReadyCandidate>> finalists;  // the shortest first
  const auto ns = [&](size_t i) { return *out[i]; };
  while (out.size() < programs.size()) {
    const auto begin = programs.begin() + static_cast<std::ptrdiff_t>(out.size());
    const size_t count = std::min(kMostAtOnce, programs.size() - out.size());
    for (Result<ReadyCandidate>& candidate :
         all_ready({begin, begin + static_cast<std::ptrdiff_t>(count)})) {
      out.push_back(candidate.ok() ? time(*candidate) : Result<double>(candidate.status()));
      if (out.back().ok()) finalists.emplace_back(out.size() - 1, *std::move(candidate));
    }
    std::stable_sort(finalists.begin(), finalists.end(),
                     [&](const auto& a, const auto& b) { return ns(a.first) < ns(b.first); });
    size_t place = 0;  // among the finalists, but for the first candidate
    std::erase_if(finalists, [&, least = finalists.empty() ? 0 : ns(finalists[0].first)](
                                 const auto& finalist) {
      if (finalist.first == 0) return false;
      return ++place > kMostFinalists || ns(finalist.first) > kClose * least;
    });
  }
  if (finalists.size() < 2) return out;
  for (size_t turn = 0; turn < kTurns; ++turn)
    for (const auto& [i, candidate] : finalists)
      if (out[i].ok())
        if (Result<double> again = time(candidate); !again.ok() || *again < ns(i))
          out[i] = std::move(again);
  return out;
}

// The shortest run: other work on the machine makes runs longer, nothing makes them shorter.
Result<double> CandidateTimer::time(const ReadyCandidate& candidate) {
  STRIA_ASSIGN(const ReadyCandidate::Times first, candidate.run(1));  // warms up
  const auto in_a_row =
      static_cast<uint32_t>(std::clamp(kShortRunNs / first.run_ns, 1.0, kMostInARow));
  STRIA_ASSIGN(const ReadyCandidate::Times queued, candidate.run(in_a_row));
  bool waits_for_host =
      queued.by_device && queued.queue_ns > kQueuedInTime * queued.run_ns * in_a_row;
  std::vector<double> runs;  // the shortest first
  const Clock::time_point begin = Clock::now();
  const auto noisy = [&] { return runs[runs.size() / 2] > kNoise * runs.front(); };
  while (runs.size() < kFewRuns || (runs.size() < kManyRuns && noisy())) {
    double run_ns = 0;
    if (waits_for_host) {
      STRIA_ASSIGN(run_ns, candidate.run_queued(in_a_row, kAhead * queued.queue_ns, busy_));
    } else {
      STRIA_ASSIGN(const ReadyCandidate::Times times, candidate.run(in_a_row));
      run_ns = times.run_ns;
    }
    runs.insert(std::upper_bound(runs.begin(), runs.end(), run_ns), run_ns);
    waits_for_host = waits_for_host && runs.front() < kShorter * queued.run_ns;
    if (Clock::now() - begin > kLongEnough) break;
  }
  return runs.front();
}

}  // namespace stria
