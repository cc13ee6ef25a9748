// SPDX-License-Identifier: Apache-2.0
#include "executables/launch_cases.h"

#include "executables/executable_case.h"
#include "executables/held_event.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWaits =
    "Asynchronous slots take such a list, return before those events are done, and give one event. "
    "The work starts when all of them are done.";
constexpr std::string_view kFails =
    "If one failed, the work is not done and its event fails with the same error (that of the "
    "first "
    "failed one in list order), after all waits are over";
constexpr std::string_view kPointers =
    "Pointers given to a slot are valid during the call only, unless its comment says otherwise.";
constexpr std::string_view kReleased =
    "A handle stays usable by work in flight after its release: releasing never waits and never "
    "cancels.";
constexpr std::string_view kLaunch = "Launches the kernel on its executor.";
constexpr std::string_view kOverlap =
    "Outputs only: positions of the inputs whose memory this output may overlap.";

Finding runs(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  for (uint32_t seed = 0; seed < 4; ++seed) {
    STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, seed));
    STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
    STRIA_RETURN_IF_ERROR(tensors.check(subject));
  }
  return {};
}

Status stays_open(const Subject& subject, const Sums& sums, const Event& launched) {
  return DeviceWork(subject).stays_open({&sums.built.executor, 1}, launched,
                                        "an event that it waits for is open");
}

// What is in the inputs when the waits are over counts, not what was there before.
Finding starts_after_its_waits(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(SumTensors tensors, sums.tensors(subject, 1));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  STRIA_RETURN_IF_ERROR(stays_open(subject, sums, done));
  STRIA_RETURN_IF_ERROR(tensors.check_untouched(subject));
  STRIA_RETURN_IF_ERROR(tensors.write_inputs(subject, 9));
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

Finding waits_for_many(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(SumTensors tensors, sums.tensors(subject, 1));
  std::vector<HeldEvent> events;
  std::vector<stria_event*> waits;
  for (int i = 0; i < 20; ++i) {
    STRIA_ASSIGN(HeldEvent event, HeldEvent::make(subject));
    waits.push_back(event.get());
    events.push_back(std::move(event));
  }
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors, waits));
  for (HeldEvent& event : events) STRIA_RETURN_IF_ERROR(event.returned("kernel.run"));
  for (size_t i = 0; i < events.size(); ++i) {
    // Not in their order.
    const size_t at = i * 7 % events.size();
    STRIA_ASSIGN(const bool early, subject.is_done(done));
    if (early) return broken("a launch is done when {} of the 20 events it waits for are", i);
    if (i + 1 == events.size()) STRIA_RETURN_IF_ERROR(stays_open(subject, sums, done));
    STRIA_RETURN_IF_ERROR(events[at].signal());
  }
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

Finding failed_wait(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 1));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  STRIA_RETURN_IF_ERROR(open.signal(Status(StatusCode::data_loss, "what it was told")));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(done));
  const SlotAnswer answer = answer_of(subject.tables().event.status(done.get()));
  STRIA_RETURN_IF_ERROR(
      expect_code(answer, {STRIA_DATA_LOSS}, "a launch whose wait failed with STRIA_DATA_LOSS"));
  if (answer.message.find("what it was told") == std::string::npos)
    return broken(
        "the launch fails with the message '{}', not with that of the event it waited for",
        hal::one_line(answer.message));
  return tensors.check_untouched(subject);
}

// A failure goes through a chain of launches, and none of them is done.
Finding failure_travels(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  std::vector<SumTensors> all;
  std::vector<Event> events;
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  for (uint32_t i = 0; i < 6; ++i) {
    STRIA_ASSIGN(SumTensors tensors, sums.tensors(subject, i));
    stria_event* const waits[] = {events.empty() ? open.get() : events.back().get()};
    STRIA_ASSIGN(Event done, run_sum(subject, sums, tensors, waits));
    STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
    all.push_back(std::move(tensors));
    events.push_back(std::move(done));
  }
  STRIA_RETURN_IF_ERROR(open.signal(Status(StatusCode::unavailable, "the first cause")));
  for (size_t i = 0; i < events.size(); ++i) {
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(events[i]));
    STRIA_RETURN_IF_ERROR(expect_code(answer_of(subject.tables().event.status(events[i].get())),
                                      {STRIA_UNAVAILABLE},
                                      fmt::format("launch {} of a chain behind a failure", i)));
    STRIA_RETURN_IF_ERROR(all[i].check_untouched(subject));
  }
  return {};
}

Finding keeps_no_pointers(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 4));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  Launches launches;
  STRIA_RETURN_IF_ERROR(launches.add(subject, sums.built, tensors.spots()));
  std::vector<stria_event*> waits = {open.get()};
  STRIA_ASSIGN(const Event done, run_each(subject, launches, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  launches.overwrite();
  waits[0] = nullptr;
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

// ---- releases while a launch waits

enum class Gone { kernels, library, executor, compiler, inputs, events, all };

Finding released_in_flight(Subject& subject, Gone gone) {
  STRIA_ASSIGN(Sums sums, Sums::make(subject));
  STRIA_ASSIGN(SumTensors tensors, sums.tensors(subject, 5));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(Event done, run_sum(subject, sums, tensors, waits));
  STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
  const auto goes = [gone](Gone one) { return gone == one || gone == Gone::all; };
  if (goes(Gone::kernels)) sums.built.kernels.clear();
  if (goes(Gone::library)) sums.built.library.reset();
  if (goes(Gone::compiler)) sums.built.compiler.reset();
  if (goes(Gone::inputs)) tensors.release_inputs();
  if (goes(Gone::executor)) sums.built.executor.reset();
  STRIA_RETURN_IF_ERROR(stays_open(subject, sums, done));
  if (goes(Gone::events)) {
    // Without an event, what comes after the launch on its tensors says when it is over.
    stria_event* end = nullptr;
    const SlotAnswer answer = answer_of(subject.tables().event.end(done.get(), &end));
    if (answer.code == STRIA_OK) {
      done = Event(end, subject.tables().event.release);
    } else if (answer.code != STRIA_UNIMPLEMENTED) {
      return expect_code(answer, {STRIA_OK}, "event.end");
    }
  }
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

// Everything but the driver's own: kernels run on, and memory goes when they are done.
Finding given_back_at_once(Subject& subject) {
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  std::vector<Event> events;
  for (uint32_t i = 0; i < 8; ++i) {
    STRIA_ASSIGN(const Sums sums, Sums::make(subject));
    STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, i));
    STRIA_ASSIGN(Event done, run_sum(subject, sums, tensors, waits));
    STRIA_RETURN_IF_ERROR(open.returned("kernel.run"));
    events.push_back(std::move(done));
  }
  STRIA_RETURN_IF_ERROR(open.signal());
  for (const Event& event : events) STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(event));
  return {};
}

// ---- memory

// All three tensors in one buffer, one behind the other.
Finding in_one_buffer(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  const auto bytes = static_cast<uint64_t>(bytes_of(sums.type, sums.count));
  STRIA_ASSIGN(const Buffer buffer, subject.allocate(3 * bytes));
  const Bytes a = sum_operand(sums.type, sums.count, 6, 0),
              b = sum_operand(sums.type, sums.count, 6, 1);
  Bytes wanted = sum_result(sums.type, sums.count, 6);
  wanted.insert(wanted.begin(), a.begin(), a.end());
  wanted.insert(wanted.end(), b.begin(), b.end());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).write(buffer, 0, a));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).write(buffer, 2 * bytes, b));
  Launches launches;
  STRIA_RETURN_IF_ERROR(launches.add(
      subject, sums.built,
      {{"A", {buffer.get(), 0}}, {"R", {buffer.get(), bytes}}, {"B", {buffer.get(), 2 * bytes}}}));
  STRIA_ASSIGN(const Event done, run_each(subject, launches));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return DeviceWork(subject).holds(buffer, wanted, "A, R and B in one buffer");
}

// Both inputs are the same memory, or parts of it that overlap.
Finding inputs_overlap(Subject& subject, int64_t apart) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  const auto size = static_cast<uint64_t>(byte_size(sums.type));
  const int64_t count = sums.count + apart;
  const Bytes values = sum_operand(sums.type, count, 8, 0);
  STRIA_ASSIGN(const Buffer inputs, DeviceWork(subject).buffer(values));
  STRIA_ASSIGN(const Buffer result, subject.allocate(static_cast<uint64_t>(sums.count) * size));
  Launches launches;
  STRIA_RETURN_IF_ERROR(launches.add(subject, sums.built,
                                     {{"A", {inputs.get(), 0}},
                                      {"B", {inputs.get(), static_cast<uint64_t>(apart) * size}},
                                      {"R", {result.get(), 0}}}));
  STRIA_ASSIGN(const Event done, run_each(subject, launches));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  Bytes wanted(static_cast<size_t>(sums.count) * size);
  for (int64_t i = 0; i < sums.count; ++i)
    store_scalar(sums.type, wanted.data(), i,
                 Scalar::of_int(sums.type, load_scalar(sums.type, values.data(), i).i +
                                               load_scalar(sums.type, values.data(), i + apart).i));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).holds(result, wanted, "R of inputs that overlap"));
  return DeviceWork(subject).holds(inputs, values, "the inputs after the launch");
}

// Whether every kernel that writes R says that it may lie where this input does.
bool may_overlap(const Built& built, std::string_view input) {
  bool may = true;
  for (const hal::KernelInfo& info : built.infos)
    for (const hal::ArgumentInfo& argument : info.arguments) {
      if (argument.name != "R" || argument.direction == hal::Direction::in) continue;
      bool here = false;
      for (const uint32_t other : argument.may_overlap)
        here |= other < info.arguments.size() && info.arguments[other].name == input;
      may &= here;
    }
  return may;
}

// Where the library says that an output may lie where an input does, it may.
Finding in_place(Subject& subject, const char* input) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  if (!may_overlap(sums.built, input))
    return Finding::skip(fmt::format("the library does not say that R may overlap {}", input));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 3));
  Spots spots = tensors.spots();
  spots["R"] = spots[input];
  Launches launches;
  STRIA_RETURN_IF_ERROR(launches.add(subject, sums.built, spots));
  STRIA_ASSIGN(const Event done, run_each(subject, launches));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return DeviceWork(subject).holds(tensors.buffer(input[0] == 'A' ? 0 : 1),
                                   sum_result(sums.type, sums.count, 3), "R in its input's place");
}

// A transpose, which no kernel does in place unless it takes care.
Finding transpose_in_place(Subject& subject) {
  constexpr int64_t kSize = 24;
  TestProgram program;
  program.name = "transpose";
  program.parameters = {"A[M, N]"};
  program.outputs = {"R"};
  program.body = "  R[j, i : N, M] = =(A[i, j]);\n";
  program.inputs = {{"A", DataType::i32, {kSize, kSize}}};
  STRIA_ASSIGN(const Compilation compilation, compile_for_device(subject, program));
  STRIA_ASSIGN(const Built built, build(subject, compilation));
  if (!may_overlap(built, "A"))
    return Finding::skip("the library does not say that R may overlap A");
  const Bytes values = sum_operand(DataType::i32, kSize * kSize, 4, 0);
  STRIA_ASSIGN(const Buffer buffer, DeviceWork(subject).buffer(values));
  Launches launches;
  STRIA_RETURN_IF_ERROR(
      launches.add(subject, built, {{"A", {buffer.get(), 0}}, {"R", {buffer.get(), 0}}}));
  STRIA_ASSIGN(const Event done, run_each(subject, launches));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  Bytes wanted(values.size());
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j < kSize; ++j)
      store_scalar(DataType::i32, wanted.data(), j * kSize + i,
                   load_scalar(DataType::i32, values.data(), i * kSize + j));
  return DeviceWork(subject).holds(buffer, wanted, "a transpose in its input's place");
}

// R of one is A of the next.
Finding chain(Subject& subject) {
  constexpr int kLaunches = 40;
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  const Bytes a = sum_operand(sums.type, sums.count, 2, 0),
              b = sum_operand(sums.type, sums.count, 2, 1);
  STRIA_ASSIGN(const Buffer first, DeviceWork(subject).buffer(a));
  STRIA_ASSIGN(const Buffer second, DeviceWork(subject).buffer(a));
  STRIA_ASSIGN(const Buffer added, DeviceWork(subject).buffer(b));
  Event last;
  for (int i = 0; i < kLaunches; ++i) {
    const bool even = i % 2 == 0;
    Launches launches;
    STRIA_RETURN_IF_ERROR(launches.add(subject, sums.built,
                                       {{"A", {(even ? first : second).get(), 0}},
                                        {"B", {added.get(), 0}},
                                        {"R", {(even ? second : first).get(), 0}}}));
    stria_event* const before[] = {last.get()};
    STRIA_ASSIGN(Event done, run_each(subject, launches,
                                      last ? std::span<stria_event* const>(before)
                                           : std::span<stria_event* const>()));
    last = std::move(done);
  }
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(last));
  Bytes wanted(a.size());
  for (int64_t i = 0; i < sums.count; ++i)
    store_scalar(sums.type, wanted.data(), i,
                 Scalar::of_int(sums.type, load_scalar(sums.type, a.data(), i).i +
                                               kLaunches * load_scalar(sums.type, b.data(), i).i));
  return DeviceWork(subject).holds(first, wanted, "A after a chain of launches");
}

}  // namespace

void add_launch_cases(CaseMaker& maker) {
  add_executable_case(maker, "run.again_and_again", Level::right, kLaunch, runs);
  add_executable_case(maker, "run.starts_after_its_waits", Level::right, kWaits,
                      starts_after_its_waits);
  add_executable_case(maker, "run.waits_for_many", Level::right, kWaits, waits_for_many);
  add_executable_case(maker, "run.failed_wait", Level::right, kFails, failed_wait);
  add_executable_case(maker, "run.failure_travels", Level::right, kFails, failure_travels);
  add_executable_case(maker, "run.keeps_no_pointers", Level::right, kPointers, keeps_no_pointers);
  const std::pair<const char*, Gone> things[] = {{"kernels", Gone::kernels},
                                                 {"library", Gone::library},
                                                 {"executor", Gone::executor},
                                                 {"compiler", Gone::compiler},
                                                 {"inputs", Gone::inputs},
                                                 {"event", Gone::events},
                                                 {"all", Gone::all}};
  for (const auto& [name, gone] : things)
    add_executable_case(
        maker, fmt::format("run.released_in_flight.{}", name),
        gone == Gone::all || gone == Gone::kernels ? Level::right : Level::robust, kReleased,
        [gone = gone](Subject& subject) { return released_in_flight(subject, gone); });
  add_executable_case(maker, "run.given_back_at_once", Level::robust, kReleased,
                      given_back_at_once);
  add_executable_case(maker, "run.in_one_buffer", Level::right, kLaunch, in_one_buffer);
  for (const int64_t apart : {0, 1, 5})
    add_executable_case(maker, fmt::format("run.inputs_{}_elements_apart", apart),
                        apart == 0 ? Level::right : Level::robust, "read only",
                        [apart](Subject& subject) { return inputs_overlap(subject, apart); });
  for (const char* input : {"A", "B"})
    add_executable_case(maker, fmt::format("run.in_place_of_{}", input), Level::robust, kOverlap,
                        [input](Subject& subject) { return in_place(subject, input); });
  add_executable_case(maker, "run.transpose_in_place", Level::robust, kOverlap, transpose_in_place);
  add_executable_case(maker, "run.chain", Level::right, kWaits, chain);
}

}  // namespace stria::conformance
