// SPDX-License-Identifier: Apache-2.0
// What executor.prepare and kernel.run refuse.
#include "executables/executable_case.h"
#include "executables/launch_cases.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kChecks =
    "Launches the kernel on its executor. Wrong argument counts and offsets beyond a buffer's end "
    "are STRIA_INVALID_ARGUMENT.";
constexpr std::string_view kPrepare =
    "Readies kernel `index` of a library of the same device, whose build is done.";

// ---- prepare

Finding bad_index(Subject& subject, uint64_t (*index)(uint64_t count)) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  stria_kernel* kernel = nullptr;
  const uint64_t asked = index(sums.built.infos.size());
  const SlotAnswer answer = answer_of(subject.tables().executor.prepare(
      sums.built.executor.get(), sums.built.library.get(), asked, &kernel));
  const Kernel held(kernel, subject.tables().kernel.release);
  STRIA_RETURN_IF_ERROR(expect_code(
      answer, {STRIA_INVALID_ARGUMENT, STRIA_OUT_OF_RANGE, STRIA_NOT_FOUND},
      fmt::format("executor.prepare of kernel {} of {}", asked, sums.built.infos.size())));
  if (kernel)
    return broken_rule(Rule::no_output,
                       "executor.prepare fails and has written its output all the same");
  // It is as good as before.
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 1));
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

// Two kernels of one index: one goes on when the other has been given back.
Finding prepared_twice(Subject& subject) {
  STRIA_ASSIGN(Sums sums, Sums::make(subject));
  for (size_t i = 0; i < sums.built.kernels.size(); ++i) {
    STRIA_ASSIGN(Kernel again, prepare(subject, sums.built.executor, sums.built.library, i));
    sums.built.kernels[i] = std::move(again);
  }
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 2));
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

// One library on two executors, whose work comes in turn.
Finding on_two_executors(Subject& subject) {
  STRIA_ASSIGN(Sums first, Sums::make(subject));
  STRIA_ASSIGN(const Compilation program, sum_program(subject, first.type, first.count));
  // The library stays the first one's: the kernels alone are of another executor.
  Sums second;
  second.type = first.type;
  second.count = first.count;
  second.built.infos = first.built.infos;
  second.built.plan = first.built.plan;
  STRIA_ASSIGN(second.built.executor, subject.make_executor());
  for (size_t i = 0; i < first.built.infos.size(); ++i) {
    STRIA_ASSIGN(Kernel kernel, prepare(subject, second.built.executor, first.built.library, i));
    second.built.kernels.push_back(std::move(kernel));
  }
  for (uint32_t seed = 1; seed < 4; ++seed)
    for (const Sums* sums : {&first, &second}) {
      STRIA_ASSIGN(const SumTensors tensors, sums->tensors(subject, seed));
      STRIA_ASSIGN(const Event done, run_sum(subject, *sums, tensors));
      STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
      STRIA_RETURN_IF_ERROR(tensors.check(subject));
    }
  return {};
}

// ---- run

// One kernel with its arguments, which a case spoils.
struct Call {
  stria_kernel* kernel = nullptr;
  std::vector<stria_argument> arguments;
  const hal::KernelInfo* info = nullptr;
  std::vector<uint64_t> buffer_bytes;  // of each argument's buffer
};

// Each kernel's call is spoilt; all must be refused, and nothing runs.
Finding refuses(Subject& subject, const std::function<void(Call&)>& spoil) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 1));
  for (size_t k = 0; k < sums.built.kernels.size(); ++k) {
    Call call;
    call.kernel = sums.built.kernels[k].get();
    call.info = &sums.built.infos[k];
    std::vector<Buffer> buffers;
    for (const hal::ArgumentInfo& info : call.info->arguments) {
      STRIA_ASSIGN(Buffer buffer, subject.allocate(info.bytes));
      stria_argument argument{};
      argument.size = sizeof argument;
      argument.buffer = buffer.get();
      call.arguments.push_back(argument);
      call.buffer_bytes.push_back(info.bytes);
      buffers.push_back(std::move(buffer));
    }
    spoil(call);
    std::vector<const stria_argument*> pointers;
    for (const stria_argument& argument : call.arguments) pointers.push_back(&argument);
    stria_event* done = nullptr;
    const SlotAnswer answer = answer_of(subject.tables().kernel.run(
        call.kernel, pointers.data(), pointers.size(), nullptr, 0, &done));
    const Event held(done, subject.tables().event.release);
    STRIA_RETURN_IF_ERROR(expect_code(answer, {STRIA_INVALID_ARGUMENT}, "kernel.run"));
    if (done)
      return broken_rule(Rule::no_output,
                         "kernel.run fails and has written its event all the same");
  }
  // What is right still runs.
  STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return tensors.check(subject);
}

// The first argument with this direction.
size_t position_of(const Call& call, hal::Direction direction) {
  for (size_t a = 0; a < call.info->arguments.size(); ++a)
    if ((call.info->arguments[a].direction == hal::Direction::in) ==
        (direction == hal::Direction::in))
      return a;
  return 0;
}

struct BadOffset {
  const char* name;
  uint64_t (*offset)(uint64_t buffer_bytes);
};
// Of elements of 4 bytes; the arguments need all of their buffers.
constexpr BadOffset kBadOffsets[] = {
    {"one_element", [](uint64_t) -> uint64_t { return 4; }},
    {"the_end", [](uint64_t bytes) { return bytes; }},
    {"behind_the_end", [](uint64_t bytes) { return bytes + 4096; }},
    {"beyond_32_bits", [](uint64_t) -> uint64_t { return uint64_t{1} << 32; }},
    // Offset and bytes together are small again.
    {"wraps_around", [](uint64_t) -> uint64_t { return UINT64_MAX - 3; }},
    {"wraps_to_the_end", [](uint64_t bytes) { return UINT64_MAX - bytes + 1; }},
};

}  // namespace

void add_run_checks(CaseMaker& maker) {
  const std::pair<const char*, uint64_t (*)(uint64_t)> indices[] = {
      {"count", [](uint64_t count) { return count; }},
      {"beyond", [](uint64_t count) { return count + 1000; }},
      {"largest_of_32_bits", [](uint64_t) -> uint64_t { return UINT32_MAX; }},
      {"beyond_32_bits", [](uint64_t) -> uint64_t { return uint64_t{1} << 32; }},
      {"largest", [](uint64_t) -> uint64_t { return UINT64_MAX; }}};
  for (const auto& [name, index] : indices)
    add_executable_case(maker, fmt::format("prepare.index.{}", name),
                        std::string_view(name) == "count" ? Level::right : Level::robust, kPrepare,
                        [index = index](Subject& subject) { return bad_index(subject, index); });
  add_executable_case(maker, "prepare.twice", Level::right, kPrepare, prepared_twice);
  add_executable_case(maker, "prepare.on_two_executors", Level::right, kPrepare, on_two_executors);

  add_executable_case(maker, "run.refuses.no_arguments", Level::right, kChecks,
                      [](Subject& subject) {
                        return refuses(subject, [](Call& call) { call.arguments.clear(); });
                      });
  add_executable_case(maker, "run.refuses.an_argument_too_few", Level::right, kChecks,
                      [](Subject& subject) {
                        return refuses(subject, [](Call& call) { call.arguments.pop_back(); });
                      });
  add_executable_case(
      maker, "run.refuses.an_argument_too_many", Level::right, kChecks, [](Subject& subject) {
        return refuses(subject,
                       [](Call& call) { call.arguments.push_back(call.arguments.back()); });
      });
  add_executable_case(
      maker, "run.refuses.a_thousand_arguments", Level::robust, kChecks, [](Subject& subject) {
        return refuses(subject,
                       [](Call& call) { call.arguments.resize(1000, call.arguments.back()); });
      });
  for (const BadOffset& bad : kBadOffsets)
    for (const hal::Direction direction : {hal::Direction::out, hal::Direction::in})
      add_executable_case(maker,
                          fmt::format("run.refuses.offset_{}.{}", bad.name,
                                      direction == hal::Direction::in ? "input" : "output"),
                          direction == hal::Direction::out ? Level::right : Level::robust, kChecks,
                          [&bad, direction](Subject& subject) {
                            return refuses(subject, [&](Call& call) {
                              const size_t at = position_of(call, direction);
                              call.arguments[at].offset = bad.offset(call.buffer_bytes[at]);
                            });
                          });
  add_executable_case(maker, "run.refuses.a_buffer_too_small", Level::right, kChecks,
                      [](Subject& subject) -> Finding {
                        STRIA_ASSIGN(const Buffer small, subject.allocate(4));
                        return refuses(subject, [&](Call& call) {
                          call.arguments[position_of(call, hal::Direction::out)].buffer =
                              small.get();
                        });
                      });
  add_executable_case(maker, "run.refuses.an_empty_buffer", Level::robust, kChecks,
                      [](Subject& subject) -> Finding {
                        STRIA_ASSIGN(const Buffer empty, subject.allocate(0));
                        return refuses(subject, [&](Call& call) {
                          call.arguments[position_of(call, hal::Direction::in)].buffer =
                              empty.get();
                        });
                      });
}

}  // namespace stria::conformance
