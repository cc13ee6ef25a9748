// SPDX-License-Identifier: Apache-2.0
// Launches with wrong arguments: refused before anything runs.
#include "faults/fault_cases.h"
#include "suite/device_work.h"
#include "suite/small_program.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWrongArguments =
    "Wrong argument counts and offsets beyond a buffer's end are STRIA_INVALID_ARGUMENT.";
constexpr std::string_view kNothingRuns = "On an error nothing of the batch runs.";

// What is changed about the first launch of R = A + B.
struct Wrong {
  const char* name;
  void (*change)(std::vector<stria_argument>& arguments, uint64_t tensor_bytes);
};

const Wrong kWrongs[] = {
    {"no_arguments", [](std::vector<stria_argument>& arguments, uint64_t) { arguments.clear(); }},
    {"one_too_few", [](std::vector<stria_argument>& arguments, uint64_t) { arguments.pop_back(); }},
    {"one_too_many", [](std::vector<stria_argument>& arguments,
                        uint64_t) { arguments.push_back(arguments.back()); }},
    {"first_offset_behind_the_end", [](std::vector<stria_argument>& arguments,
                                       uint64_t bytes) { arguments.front().offset = bytes + 64; }},
    {"last_offset_behind_the_end", [](std::vector<stria_argument>& arguments,
                                      uint64_t bytes) { arguments.back().offset = bytes + 4096; }},
    {"offset_of_2_to_the_63", [](std::vector<stria_argument>& arguments,
                                 uint64_t) { arguments.front().offset = uint64_t{1} << 63; }},
    // Added to the bytes that are needed it wraps to a small number.
    {"offset_that_wraps", [](std::vector<stria_argument>& arguments,
                             uint64_t) { arguments.front().offset = UINT64_MAX - 63; }},
};

Finding refuses(Subject& subject, const Wrong& wrong, bool in_batch) {
  const DeviceWork work(subject);
  STRIA_ASSIGN(const SmallProgram program, SmallProgram::of(subject));
  STRIA_ASSIGN(const LoadedSmall loaded, load(work, program));
  STRIA_ASSIGN(const SmallTensors tensors, SmallTensors::make(work, program, 1));
  STRIA_ASSIGN(const SmallLaunches launches, SmallLaunches::make(work, loaded, tensors));
  const stria_launch& right = *launches.list()[0];
  std::vector<stria_argument> arguments;
  for (uint64_t i = 0; i < right.argument_count; ++i) arguments.push_back(*right.arguments[i]);
  wrong.change(arguments, program.bytes());
  std::vector<const stria_argument*> pointers;
  for (const stria_argument& argument : arguments) pointers.push_back(&argument);
  stria_event* raw = nullptr;
  stria_error* error = nullptr;
  if (in_batch) {
    // Behind a right one, which must not run either.
    stria_launch bad = right;
    bad.arguments = pointers.data();
    bad.argument_count = pointers.size();
    const stria_launch* const batch[] = {&right, &bad};
    error =
        work.tables().executor.submit(loaded.executor.get(), batch, 2, nullptr, 0, nullptr, &raw);
  } else {
    error =
        work.tables().kernel.run(right.kernel, pointers.data(), pointers.size(), nullptr, 0, &raw);
  }
  const Slot slot = in_batch ? Slot::executor_submit : Slot::kernel_run;
  const Status status = Subject::failure(slot, error);
  if (raw) {
    const Event event(raw, work.tables().event.release);
    STRIA_RETURN_IF_ERROR(work.flush(loaded.executor));
    (void)work.wait_for_end(event);
    return broken("{} with wrong arguments ({}) gives an event{}", name_of(slot), wrong.name,
                  status.ok() ? "" : " and an error");
  }
  if (status.ok())
    return broken("{} with wrong arguments ({}) succeeds", name_of(slot), wrong.name);
  if (status.code() != StatusCode::invalid_argument)
    return broken("{} with wrong arguments ({}) says '{}', not STRIA_INVALID_ARGUMENT",
                  name_of(slot), wrong.name, status.to_string());
  STRIA_RETURN_IF_ERROR(work.holds(tensors.r, Bytes(program.bytes(), std::byte{0xa5}),
                                   "the output of a launch that was refused"));
  STRIA_ASSIGN(const Event done, start(work, loaded, tensors));
  STRIA_RETURN_IF_ERROR(work.wait(done));
  return tensors.check(work, program, 1);
}

}  // namespace

void add_refused_run_cases(CaseMaker& maker) {
  for (const Wrong& wrong : kWrongs)
    for (const bool in_batch : {false, true})
      maker.add('F', fmt::format("refused.{}{}", wrong.name, in_batch ? ".in_a_batch" : ""),
                Level::robust, in_batch ? kNothingRuns : kWrongArguments,
                [&wrong, in_batch](Subject& subject) { return refuses(subject, wrong, in_batch); });
}

}  // namespace stria::conformance
