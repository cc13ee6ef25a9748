// SPDX-License-Identifier: Apache-2.0
// Several libraries at once: of one text, of several, from several threads.
#include <thread>

#include "executables/executable_case.h"
#include "executables/held_event.h"
#include "executables/launch_cases.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kAnyThread =
    "may be called from any thread at any time, also at once on one handle";
constexpr std::string_view kBuild =
    "A program that the plugin's pipeline has made becomes code, or fails with STRIA_UNSUPPORTED "
    "and what of it is not supported.";

// Builds R = A + B of these counts with one compiler, all at once, and runs each.
Status build_at_once(const Subject& subject, const Compiler& compiler,
                     const std::vector<int64_t>& counts, const std::vector<Compilation>& programs,
                     bool held) {
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  std::vector<Building> buildings;
  for (const Compilation& program : programs) {
    STRIA_ASSIGN(Building building, begin_build(subject, compiler, program.device_text,
                                                held ? std::span<stria_event* const>(waits)
                                                     : std::span<stria_event* const>()));
    STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
    buildings.push_back(std::move(building));
  }
  STRIA_RETURN_IF_ERROR(open.signal());
  std::vector<Sums> all;
  // The last one first: none waits for another.
  for (size_t n = buildings.size(); n-- > 0;) {
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(buildings[n].done));
    Sums sums;
    sums.type = DataType::i32;
    sums.count = counts[n];
    STRIA_ASSIGN(sums.built, finish(subject, programs[n], std::move(buildings[n].library)));
    all.push_back(std::move(sums));
  }
  std::vector<SumTensors> tensors;
  std::vector<Event> events;
  for (size_t n = 0; n < all.size(); ++n) {
    STRIA_ASSIGN(SumTensors one, all[n].tensors(subject, static_cast<uint32_t>(n)));
    STRIA_ASSIGN(Event done, run_sum(subject, all[n], one));
    tensors.push_back(std::move(one));
    events.push_back(std::move(done));
  }
  for (size_t n = 0; n < all.size(); ++n) {
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(events[n]));
    STRIA_RETURN_IF_ERROR(tensors[n].check(subject));
  }
  return Status();
}

Result<std::vector<Compilation>> programs_of(const Subject& subject,
                                             const std::vector<int64_t>& counts) {
  std::vector<Compilation> out;
  for (const int64_t count : counts) {
    STRIA_ASSIGN(Compilation program, sum_program(subject, DataType::i32, count));
    out.push_back(std::move(program));
  }
  return out;
}

Finding at_once(Subject& subject, const std::vector<int64_t>& counts, bool held) {
  STRIA_ASSIGN(const std::vector<Compilation> programs, programs_of(subject, counts));
  STRIA_ASSIGN(const Compiler compiler, subject.make_compiler());
  return build_at_once(subject, compiler, counts, programs, held);
}

Finding from_threads(Subject& subject, bool one_compiler) {
  const std::vector<int64_t> counts = {11, 12, 13};
  STRIA_ASSIGN(const std::vector<Compilation> programs, programs_of(subject, counts));
  STRIA_ASSIGN(const Compiler shared, subject.make_compiler());
  std::vector<Status> outcomes(4);
  std::vector<std::thread> threads;
  for (Status& outcome : outcomes)
    threads.emplace_back([&] {
      const auto work = [&]() -> Status {
        if (one_compiler) return build_at_once(subject, shared, counts, programs, true);
        STRIA_ASSIGN(const Compiler own, subject.make_compiler());
        return build_at_once(subject, own, counts, programs, true);
      };
      outcome = work();
    });
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) STRIA_RETURN_IF_ERROR(outcome);
  return {};
}

// Built from one text, two libraries do not share what they write.
Finding twins(Subject& subject) {
  STRIA_ASSIGN(const Sums first, Sums::make(subject));
  STRIA_ASSIGN(Sums second, Sums::make(subject));
  STRIA_ASSIGN(const SumTensors one, first.tensors(subject, 1));
  STRIA_ASSIGN(const SumTensors two, second.tensors(subject, 2));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event of_one, run_sum(subject, first, one, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  STRIA_ASSIGN(const Event of_two, run_sum(subject, second, two, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  second.built = Built();  // the other one goes on
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(of_one));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(of_two));
  STRIA_RETURN_IF_ERROR(one.check(subject));
  return two.check(subject);
}

// Built, run and given back, again and again.
Finding again_and_again(Subject& subject) {
  for (uint32_t round = 0; round < 6; ++round) {
    STRIA_ASSIGN(const Sums sums, Sums::make(subject));
    STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, round));
    STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
    STRIA_RETURN_IF_ERROR(tensors.check(subject));
  }
  return {};
}

// A build while launches of another library run and wait.
Finding beside_launches(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 1));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event waiting, run_sum(subject, sums, tensors, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  STRIA_ASSIGN(const Sums other, Sums::make(subject, DataType::i32, 21));
  STRIA_ASSIGN(const SumTensors of_other, other.tensors(subject, 2));
  STRIA_ASSIGN(const Event done, run_sum(subject, other, of_other));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  STRIA_RETURN_IF_ERROR(of_other.check(subject));
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(waiting));
  return tensors.check(subject);
}

}  // namespace

void add_library_cases_of_many(CaseMaker& maker) {
  add_executable_case(maker, "libraries.two_of_one_text_at_once", Level::right, kBuild,
                      [](Subject& subject) { return at_once(subject, {37, 37}, true); });
  add_executable_case(
      maker, "libraries.eight_at_once", Level::robust, kBuild,
      [](Subject& subject) { return at_once(subject, {1, 2, 3, 8, 16, 21, 37, 64}, true); });
  add_executable_case(
      maker, "libraries.eight_one_after_another", Level::robust, kBuild,
      [](Subject& subject) { return at_once(subject, {1, 2, 3, 8, 16, 21, 37, 64}, false); });
  add_executable_case(maker, "libraries.of_one_compiler_from_threads", Level::robust, kAnyThread,
                      [](Subject& subject) { return from_threads(subject, true); });
  add_executable_case(maker, "libraries.of_compilers_in_threads", Level::robust, kAnyThread,
                      [](Subject& subject) { return from_threads(subject, false); });
  add_executable_case(maker, "libraries.twins", Level::right, kBuild, twins);
  add_executable_case(maker, "libraries.again_and_again", Level::robust, kBuild, again_and_again);
  add_executable_case(maker, "libraries.beside_launches", Level::right, kBuild, beside_launches);
}

}  // namespace stria::conformance
