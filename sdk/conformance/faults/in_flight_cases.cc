// SPDX-License-Identifier: Apache-2.0
// Handles that are given back while the work that uses them waits: it is done all the same.
#include <algorithm>
#include <array>

#include "faults/fault_cases.h"
#include "suite/device_work.h"
#include "suite/prompt_call.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kInFlight =
    "A handle stays usable by work in flight after its release: releasing never waits and never "
    "cancels.";

enum class Noun { compiler, library, kernel, executor, inputs, output, event };
constexpr std::array kNouns = {Noun::compiler, Noun::library, Noun::kernel, Noun::executor,
                               Noun::inputs,   Noun::output,  Noun::event};
constexpr const char* kNames[] = {"compiler", "library", "kernel", "executor",
                                  "inputs",   "output",  "event"};
const char* name_of(Noun noun) { return kNames[static_cast<int>(noun)]; }
constexpr Slot kReleases[] = {Slot::compiler_release, Slot::library_release, Slot::kernel_release,
                              Slot::executor_release, Slot::buffer_release,  Slot::buffer_release,
                              Slot::event_release};
Slot release_of(Noun noun) { return kReleases[static_cast<int>(noun)]; }

// A run of R = A + B that waits for a host event, and behind it a copy of R, on another executor,
// into a buffer that is kept.
class Flight {
 public:
  static Status make(Subject& subject, Flight& out) {
    STRIA_ASSIGN(out.program_, SmallProgram::of(subject));
    out.work_.emplace(subject);
    const DeviceWork& work = *out.work_;
    STRIA_ASSIGN(out.loaded_, load(work, *out.program_));
    STRIA_ASSIGN(out.tensors_, SmallTensors::make(work, *out.program_, 7));
    STRIA_ASSIGN(out.kept_, work.buffer(Bytes(out.program_->bytes())));
    STRIA_ASSIGN(out.other_, work.executor());
    STRIA_ASSIGN(out.open_, work.host_event());
    stria_event* const waits[] = {out.open_.get()};
    STRIA_ASSIGN(out.run_, start(work, out.loaded_, out.tensors_, waits));
    stria_event* const behind[] = {out.run_.get()};
    STRIA_ASSIGN(out.copied_, work.copy(out.other_, out.tensors_.r, 0, out.kept_, 0,
                                        out.program_->bytes(), behind));
    return Status();
  }
  void release(Noun noun) {
    switch (noun) {
      case Noun::compiler: loaded_.compiler.reset(); break;
      case Noun::library: loaded_.library.reset(); break;
      case Noun::kernel: loaded_.kernels.clear(); break;
      case Noun::executor: loaded_.executor.reset(); break;
      case Noun::inputs:
        tensors_.a.reset();
        tensors_.b.reset();
        break;
      case Noun::output: tensors_.r.reset(); break;
      case Noun::event: run_.reset(); break;
    }
  }
  // What takes the memory that was given back, if it was really free.
  Status disturb() {
    for (int i = 0; i < 8; ++i) {
      STRIA_ASSIGN(Buffer buffer, work_->buffer(Bytes(program_->bytes(), std::byte{0x3c})));
      disturbing_.push_back(std::move(buffer));
    }
    return Status();
  }
  // The run begins now; what it made arrives.
  Status finish() {
    STRIA_RETURN_IF_ERROR(work_->signal(open_));
    STRIA_RETURN_IF_ERROR(work_->wait(copied_).with_context("work whose handles were released"));
    return work_->holds(kept_, program_->r(7), "R of a run whose handles were released");
  }

 private:
  std::optional<SmallProgram> program_;
  std::optional<DeviceWork> work_;
  LoadedSmall loaded_;
  SmallTensors tensors_;
  Buffer kept_;
  Executor other_;
  Event open_, run_, copied_;
  std::vector<Buffer> disturbing_;
};

Case& add(CaseMaker& maker, const std::string& name, std::function<Finding(Subject&)> run) {
  Case& c = maker.add('F', name, Level::robust, kInFlight, std::move(run));
  c.limit = std::chrono::seconds(40);
  return c;
}

Finding released(Subject& subject, std::span<const Noun> nouns) {
  return unless_late([&](PromptCalls& calls) -> Finding {
    {
      Flight flight;
      STRIA_RETURN_IF_ERROR(Flight::make(subject, flight));
      for (const Noun noun : nouns) calls.make(release_of(noun), [&] { flight.release(noun); });
      STRIA_RETURN_IF_ERROR(flight.disturb());
      STRIA_RETURN_IF_ERROR(flight.finish());
    }
    return work_round(DeviceWork(subject), 8);
  });
}

}  // namespace

void add_in_flight_cases(CaseMaker& maker) {
  for (const Noun first : kNouns) {
    add(maker, fmt::format("in_flight.{}", name_of(first)), [first](Subject& subject) {
      const Noun all[] = {first};
      return released(subject, all);
    });
    for (const Noun second : kNouns)
      if (second != first)
        add(maker, fmt::format("in_flight.{}_then_{}", name_of(first), name_of(second)),
            [first, second](Subject& subject) {
              const Noun all[] = {first, second};
              return released(subject, all);
            });
  }
  add(maker, "in_flight.all", [](Subject& subject) { return released(subject, kNouns); });
  add(maker, "in_flight.all_backwards", [](Subject& subject) {
    std::array<Noun, kNouns.size()> all = kNouns;
    std::reverse(all.begin(), all.end());
    return released(subject, all);
  });
  add(maker, "in_flight.library_of_a_build", [](Subject& subject) -> Finding {
    STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
    return unless_late([&](PromptCalls& calls) -> Finding {
      const DeviceWork work(subject);
      STRIA_ASSIGN(const Event open, work.host_event());
      stria_event* const waits[] = {open.get()};
      STRIA_ASSIGN(SmallBuild build, begin_build(work, program.stripe(), waits));
      calls.make(Slot::library_release, [&] { build.library.reset(); });
      calls.make(Slot::compiler_release, [&] { build.compiler.reset(); });
      STRIA_RETURN_IF_ERROR(work.signal(open));
      STRIA_RETURN_IF_ERROR(work.wait(build.done));
      return work_round(work, 9);
    });
  });
  add(maker, "in_flight.wait_and_work_events", [](Subject& subject) -> Finding {
    // Both ends of a chain are let go of; the chain is done.
    const DeviceWork work(subject);
    STRIA_ASSIGN(const Executor executor, work.executor());
    STRIA_ASSIGN(const Buffer source, work.buffer(pattern(400, 1)));
    STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(400)));
    for (int i = 0; i < 50; ++i) {
      STRIA_ASSIGN(const Event open, work.host_event());
      stria_event* const waits[] = {open.get()};
      STRIA_ASSIGN(Event copied, work.copy(executor, source, 0, target, 0, 400, waits));
      copied.reset();
      STRIA_RETURN_IF_ERROR(work.signal(open));
    }
    STRIA_SLOT(subject, executor, drain, executor.get(), uint64_t{20} * 1'000'000'000);
    return work.holds(target, pattern(400, 1), "after copies whose events were released");
  });
  add(maker, "in_flight.buffer_with_a_mapping_behind", [](Subject& subject) -> Finding {
    const DeviceWork work(subject);
    STRIA_ASSIGN(const Executor executor, work.executor());
    STRIA_ASSIGN(Buffer source, work.buffer(pattern(400, 2)));
    STRIA_ASSIGN(const Buffer target, work.buffer(Bytes(400)));
    STRIA_ASSIGN(const Event open, work.host_event());
    stria_event* const waits[] = {open.get()};
    STRIA_ASSIGN(const Event copied, work.copy(executor, source, 0, target, 0, 400, waits));
    stria_event* const behind[] = {copied.get()};
    STRIA_ASSIGN(const DeviceWork::Mapping mapping,
                 work.map(Slot::buffer_map_current, target, 0, 400, behind));
    source.reset();
    STRIA_RETURN_IF_ERROR(work.signal(open));
    STRIA_RETURN_IF_ERROR(work.wait(mapping.ready));
    const std::string text =
        difference(std::span(static_cast<const std::byte*>(mapping.memory), 400), pattern(400, 2));
    STRIA_ASSIGN(const Event unmapped, work.unmap(target, mapping.memory));
    STRIA_RETURN_IF_ERROR(work.wait(unmapped));
    return text.empty() ? Finding() : Finding(broken("in mapped memory {}", text));
  });
}

}  // namespace stria::conformance
