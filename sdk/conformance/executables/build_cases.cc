// SPDX-License-Identifier: Apache-2.0
#include "executables/build_cases.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "executables/executable_case.h"
#include "executables/held_event.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kAtOnce =
    "Starts to compile and returns at once. The library's other slots return "
    "STRIA_FAILED_PRECONDITION until `done` is, and its failure afterwards if it failed.";
constexpr std::string_view kWaits =
    "Asynchronous slots take such a list, return before those events are done, and give one event. "
    "The work starts when all of them are done.";
constexpr std::string_view kFails =
    "If one failed, the work is not done and its event fails with the same error (that of the "
    "first "
    "failed one in list order), after all waits are over";
constexpr std::string_view kPointers =
    "Pointers given to a slot are valid during the call only, unless its comment says otherwise.";
constexpr std::string_view kText = "text UTF-8 in {data, size} without a terminating zero.";
constexpr std::string_view kOptions =
    "JSON object: {\"fast_math\": false, \"dump_source\": false, …}";
constexpr std::string_view kReleased =
    "A handle stays usable by work in flight after its release: releasing never waits and never "
    "cancels.";

constexpr DataType kType = DataType::i32;
constexpr int64_t kCount = 37;

// What cases begin with: the text of R = A + B and a compiler.
struct Start {
  static Result<Start> make(const Subject& subject) {
    STRIA_ASSIGN(Compilation program, sum_program(subject, kType, kCount));
    STRIA_ASSIGN(Compiler compiler, subject.make_compiler());
    return Start{std::move(program), std::move(compiler)};
  }
  Compilation program;
  Compiler compiler;
};

// The library computes R = A + B.
Status check_runs(const Subject& subject, const Start& start, Library library) {
  Sums sums;
  sums.type = kType;
  sums.count = kCount;
  STRIA_ASSIGN(sums.built, finish(subject, start.program, std::move(library)));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 3));
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

Status check_built(const Subject& subject, const Start& start, Building building) {
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done).with_context("the build"));
  return check_runs(subject, start, std::move(building.library));
}

// ---- waits

Finding returns_at_once(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).stays_open(
      {}, building.done, "the event that its build waits for is open"));
  STRIA_RETURN_IF_ERROR(open.signal());
  return check_built(subject, start, std::move(building));
}

Finding without_waits(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(Building building, begin_build(subject, start.compiler, start.program.device_text));
  return check_built(subject, start, std::move(building));
}

// Of three events the one at `last` is signalled last.
Finding waits_for_all(Subject& subject, size_t last) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  std::vector<HeldEvent> events;
  std::vector<stria_event*> waits;
  for (int i = 0; i < 3; ++i) {
    STRIA_ASSIGN(HeldEvent event, HeldEvent::make(subject));
    waits.push_back(event.get());
    events.push_back(std::move(event));
  }
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  for (HeldEvent& event : events) STRIA_RETURN_IF_ERROR(event.returned("compiler.build"));
  for (size_t i = 0; i < 3; ++i)
    if (i != last) STRIA_RETURN_IF_ERROR(events[i].signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).stays_open(
      {}, building.done, fmt::format("event {} of 3 that its build waits for is open", last)));
  STRIA_RETURN_IF_ERROR(events[last].signal());
  return check_built(subject, start, std::move(building));
}

SlotAnswer kernels_answer(const Subject& subject, const Library& library) {
  const auto drop = [](void*, const stria_kernel_info*) {};
  return answer_of(subject.tables().library.kernels(library.get(), drop, nullptr));
}
SlotAnswer source_answer(const Subject& subject, const Library& library) {
  const auto drop = [](void*, stria_string, stria_string) {};
  return answer_of(subject.tables().library.source(library.get(), drop, nullptr));
}

Finding too_early(Subject& subject, SlotAnswer (*ask)(const Subject&, const Library&),
                  const char* slot) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  const Status early = expect_code(ask(subject, building.library), {STRIA_FAILED_PRECONDITION},
                                   fmt::format("{} of a library whose build waits", slot));
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(check_built(subject, start, std::move(building)));
  return early;
}

Finding failed_wait(Subject& subject, stria_code code) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(const Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  STRIA_RETURN_IF_ERROR(
      open.signal(Status(static_cast<StatusCode>(code), "what the case asked for")));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(building.done));
  const SlotAnswer status = answer_of(subject.tables().event.status(building.done.get()));
  STRIA_RETURN_IF_ERROR(expect_code(status, {code}, "the event of a build whose wait failed so"));
  if (status.message.find("what the case asked for") == std::string::npos)
    return broken(
        "the build's event fails with the message '{}', not with that of the event that "
        "it waited for",
        hal::one_line(status.message));
  STRIA_RETURN_IF_ERROR(expect_code(kernels_answer(subject, building.library), {code},
                                    "library.kernels after the build failed so"));
  return expect_code(source_answer(subject, building.library), {code},
                     "library.source after the build failed so");
}

Finding first_failure(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent first, HeldEvent::make(subject));
  STRIA_ASSIGN(HeldEvent second, HeldEvent::make(subject));
  stria_event* const waits[] = {first.get(), second.get()};
  STRIA_ASSIGN(const Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(first.returned("compiler.build"));
  STRIA_RETURN_IF_ERROR(second.returned("compiler.build"));
  STRIA_RETURN_IF_ERROR(second.signal(Status(StatusCode::data_loss, "the second")));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).stays_open(
      {}, building.done, "an event that its build waits for is open"));
  STRIA_RETURN_IF_ERROR(first.signal(Status(StatusCode::unavailable, "the first")));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(building.done));
  return expect_code(answer_of(subject.tables().event.status(building.done.get())),
                     {STRIA_UNAVAILABLE},
                     "a build whose waits failed as unavailable and, earlier, as data_loss");
}

// ---- what was given

// All that the slot was given is other bytes before the work begins.
Finding keeps_no_pointers(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  std::string text = start.program.device_text, options = "{\"fast_math\": false}";
  std::vector<stria_event*> waits = {open.get()};
  STRIA_ASSIGN(Building building, begin_build(subject, start.compiler, text, waits, options));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  text.assign(text.size(), '#');
  options.assign(options.size(), '#');
  waits[0] = nullptr;
  STRIA_RETURN_IF_ERROR(open.signal());
  return check_built(subject, start, std::move(building));
}

// Behind the text's last byte lies memory that nobody may read.
Finding text_at_the_end_of_memory(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  const std::string& text = start.program.device_text;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t bytes = (text.size() + page - 1) / page * page;
  void* memory =
      ::mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return make_error(StatusCode::out_of_memory, "the suite has no memory left for this case");
  char* begin = static_cast<char*>(memory) + (bytes - text.size());
  std::memcpy(begin, text.data(), text.size());
  ::mprotect(static_cast<char*>(memory) + bytes, page, PROT_NONE);
  const auto run = [&]() -> Status {
    STRIA_ASSIGN(Building building,
                 begin_build(subject, start.compiler, std::string_view(begin, text.size())));
    return check_built(subject, start, std::move(building));
  };
  const Status status = run();
  ::munmap(memory, bytes + page);
  return status;
}

// Behind the text's last byte something else goes on.
Finding text_within_a_text(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  const std::string more = start.program.device_text + "} no Stripe any more (";
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler,
                           std::string_view(more).substr(0, start.program.device_text.size())));
  return check_built(subject, start, std::move(building));
}

Finding with_options(Subject& subject, std::string_view options) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, {}, options));
  return check_built(subject, start, std::move(building));
}

// ---- releases

Finding compiler_released_before_the_end(Subject& subject) {
  STRIA_ASSIGN(Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  start.compiler.reset();
  STRIA_RETURN_IF_ERROR(open.signal());
  return check_built(subject, start, std::move(building));
}

Finding library_released_before_the_end(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  building.library.reset();
  STRIA_RETURN_IF_ERROR(open.signal());
  return DeviceWork(subject).wait(building.done).with_context("a build whose library was released");
}

Finding event_released_before_the_end(Subject& subject) {
  STRIA_ASSIGN(const Start start, Start::make(subject));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  STRIA_ASSIGN(Building building,
               begin_build(subject, start.compiler, start.program.device_text, waits));
  STRIA_RETURN_IF_ERROR(open.returned("compiler.build"));
  building.done.reset();
  STRIA_RETURN_IF_ERROR(open.signal());
  // Nothing says when it is done but the library itself.
  for (int left = patience_ms();; --left) {
    const SlotAnswer answer = kernels_answer(subject, building.library);
    if (answer.code == STRIA_OK) break;
    STRIA_RETURN_IF_ERROR(expect_code(answer, {STRIA_FAILED_PRECONDITION},
                                      "library.kernels of a build whose event was released"));
    if (left == 0)
      return broken("a build whose event was released is not done after {} ms", patience_ms());
    ::usleep(1000);
  }
  return check_runs(subject, start, std::move(building.library));
}

Finding released_when_done(Subject& subject) {
  for (int i = 0; i < 5; ++i) {
    STRIA_ASSIGN(const Start start, Start::make(subject));
    STRIA_ASSIGN(const Building building,
                 begin_build(subject, start.compiler, start.program.device_text));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done));
  }
  return {};
}

Finding compiler_released_after_the_end(Subject& subject) {
  STRIA_ASSIGN(Start start, Start::make(subject));
  STRIA_ASSIGN(Building building, begin_build(subject, start.compiler, start.program.device_text));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done));
  start.compiler.reset();
  building.done.reset();
  return check_runs(subject, start, std::move(building.library));
}

}  // namespace

void add_build_cases(CaseMaker& maker) {
  add_executable_case(maker, "build.returns_at_once", Level::right, kAtOnce, returns_at_once);
  add_executable_case(maker, "build.without_waits", Level::right, kAtOnce, without_waits);
  for (const size_t last : {0u, 1u, 2u})
    add_executable_case(maker, fmt::format("build.waits_for_event_{}_of_3", last + 1),
                        last == 1 ? Level::right : Level::robust, kWaits,
                        [last](Subject& subject) { return waits_for_all(subject, last); });
  add_executable_case(
      maker, "build.kernels_before_the_end", Level::right, kAtOnce,
      [](Subject& subject) { return too_early(subject, kernels_answer, "library.kernels"); });
  add_executable_case(
      maker, "build.source_before_the_end", Level::right, kAtOnce,
      [](Subject& subject) { return too_early(subject, source_answer, "library.source"); });
  for (const stria_code code : {STRIA_INVALID_ARGUMENT, STRIA_UNAVAILABLE, STRIA_DATA_LOSS,
                                STRIA_CANCELLED, STRIA_OUT_OF_MEMORY})
    add_executable_case(maker, fmt::format("build.failed_wait.{}", name_of_code(code)),
                        code == STRIA_DATA_LOSS ? Level::right : Level::robust, kFails,
                        [code](Subject& subject) { return failed_wait(subject, code); });
  add_executable_case(maker, "build.first_failure_of_two", Level::right, kFails, first_failure);
  add_executable_case(maker, "build.keeps_no_pointers", Level::right, kPointers, keeps_no_pointers);
  add_executable_case(maker, "build.text_at_the_end_of_memory", Level::right, kText,
                      text_at_the_end_of_memory);
  add_executable_case(maker, "build.text_within_a_text", Level::right, kText, text_within_a_text);
  const std::pair<const char*, const char*> options[] = {
      {"none", "{}"},
      {"fast_math", R"({"fast_math": true, "dump_source": false})"},
      {"dump_source", R"({"fast_math": false, "dump_source": true})"},
      {"no_peepholes", R"({"fast_math": false, "dump_source": false, "no_peepholes": true})"},
      {"in_lines", "\n{\n\t\"dump_source\" :true ,\r\n \"fast_math\"\n:\nfalse }\n"}};
  for (const auto& [name, text] : options)
    add_executable_case(maker, fmt::format("build.options.{}", name),
                        std::string_view(name) == "dump_source" ? Level::right : Level::robust,
                        kOptions,
                        [text = text](Subject& subject) { return with_options(subject, text); });
  add_executable_case(maker, "build.compiler_released_before_the_end", Level::right, kReleased,
                      compiler_released_before_the_end);
  add_executable_case(maker, "build.library_released_before_the_end", Level::right, kReleased,
                      library_released_before_the_end);
  add_executable_case(maker, "build.event_released_before_the_end", Level::robust, kReleased,
                      event_released_before_the_end);
  add_executable_case(maker, "build.released_when_done", Level::robust, kReleased,
                      released_when_done);
  add_executable_case(maker, "build.compiler_released_after_the_end", Level::robust, kReleased,
                      compiler_released_after_the_end);
}

}  // namespace stria::conformance
