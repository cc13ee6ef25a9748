// SPDX-License-Identifier: Apache-2.0
#include "model/rate_cases.h"

#include <chrono>
#include <limits>

#include "model/kind_files.h"
#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kRates =
    "A rate that is far from what is measured makes every choice of a pipeline a guess.";
constexpr std::string_view kLaunch = "from the host's call to a kernel's start";
constexpr uint64_t kBytes = uint64_t{64} << 20;
constexpr int kRounds = 5;
// A plain copy does not reach the peak, and no peak is beaten by much.
constexpr double kLeast = 0.02, kMost = 1.5;
// A launch of less is not told from other work; one that is so many times what it is with all
// around it is a slip of a unit.
constexpr double kLaunchUs = 1, kMostLaunch = 5;
constexpr int kLaunches = 30;

// The most bytes in a second that main memory moves, as the model has it; 0: it does not say.
double declared(const HardwareModel& model, bool reads, bool writes) {
  const MemoryUnit* main = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (!main || memory.size_bytes > main->size_bytes) main = &memory;
  if (!main) return 0;
  const double clock = (main->clock_mhz > 0 ? main->clock_mhz : model.clock_mhz) * 1e6;
  const double read = main->read_bytes_per_cycle * clock * static_cast<double>(main->count);
  const double write = main->write_bytes_per_cycle * clock * static_cast<double>(main->count);
  if ((reads && read == 0) || (writes && write == 0)) return 0;
  return reads && writes ? std::min(read, write) : reads ? read : write;
}

Finding measure(Subject& s, const std::string& kind, bool copies) {
  STRIA_ASSIGN(const auto model, reported_model(s, kind));
  if (!model) return Finding::skip("the device is of another kind");
  if (model->simulated) return Finding::skip("no machine is behind the model");
  const double said = declared(*model, copies, true);
  if (said == 0) return Finding::skip("the model does not say the rate of its main memory");
  STRIA_ASSIGN(const Executor executor, s.make_executor());
  STRIA_ASSIGN(const Buffer a, s.allocate(kBytes));
  STRIA_ASSIGN(const Buffer b, s.allocate(kBytes));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::byte value{static_cast<unsigned char>(round)};
    const auto begin = std::chrono::steady_clock::now();
    Result<Event> done =
        copies ? s.copy(executor, a, 0, b, 0, kBytes) : s.fill(executor, a, 0, kBytes, {&value, 1});
    STRIA_RETURN_IF_ERROR(done.status());
    STRIA_RETURN_IF_ERROR(DeviceWork(s).flush(executor));
    STRIA_RETURN_IF_ERROR(s.wait(*done));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(kBytes) / seconds);
  }
  if (best < said * kLeast || best > said * kMost)
    return broken(
        "a {} moves {:.3g} bytes in a second, the model says {:.3g} of main memory; {} to "
        "{} times that are likely",
        copies ? "copy" : "fill", best, said, kLeast, kMost);
  return {};
}

// The shortest run of a program that does nearly nothing, from the call to its end, takes a launch
// and no more than what is around it.
Finding measure_launch(Subject& s, const std::string& kind) {
  STRIA_ASSIGN(const auto model, reported_model(s, kind));
  if (!model) return Finding::skip("the device is of another kind");
  if (model->simulated) return Finding::skip("no machine is behind the model");
  if (model->launch_us <= kLaunchUs) return Finding::skip("the model's launches are short");
  const DeviceWork work(s);
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(s));
  STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, 1));
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kLaunches; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    STRIA_ASSIGN(const Event done, start(work, loaded, tensors));
    STRIA_RETURN_IF_ERROR(s.wait(done));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  if (model->launch_us > kMostLaunch * best)
    return broken("a small program takes {:.3g} us, and the model says {:.3g} us of a launch alone",
                  best, model->launch_us);
  return {};
}

}  // namespace

void add_rate_cases(CaseMaker& maker, const std::string& kind) {
  for (const bool copies : {false, true}) {
    Case& c =
        maker.add('H', fmt::format("{}.measured.{}", kind, copies ? "copy" : "fill"), Level::honest,
                  kRates, [kind, copies](Subject& s) { return measure(s, kind, copies); });
    c.source = "guide/hardware_model.md";
    c.limit = std::chrono::seconds(60);
  }
  Case& launch = maker.add('H', kind + ".measured.launch", Level::honest, kLaunch,
                           [kind](Subject& s) { return measure_launch(s, kind); });
  launch.source = "guide/hardware_model.md";
  launch.limit = std::chrono::seconds(60);
}

}  // namespace stria::conformance
