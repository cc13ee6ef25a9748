// SPDX-License-Identifier: Apache-2.0
// A launch of many elements, which takes a while, and behind it one of few elements that touches
// the end of the first one's tensors. Who starts the second too early, or leaves it out of a list,
// gets other numbers.
#include <algorithm>

#include "executables/executable_case.h"
#include "executables/launch_cases.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWaits =
    "Asynchronous slots take such a list, return before those events are done, and give one event. "
    "The work starts when all of them are done.";
constexpr std::string_view kBatch =
    "A batch: launches wait for `waits` and for those their `after` names, nothing else. `done` is "
    "when all are; if some fail, with the error of the first of them in the batch's order; its "
    "duration runs from the first start to the last end.";

constexpr DataType kType = DataType::i32;
constexpr int64_t kMany = 1 << 19, kFew = 37;
// On a machine with other work, a thread that starts too early may still come too late once.
constexpr int kRounds = 25;
constexpr uint64_t kFewBytes = kFew * 4, kFromEnd = (kMany - kFew) * 4;

// Both programs on one executor, and their tensors.
struct Two {
  static Result<Two> make(const Subject& subject) {
    Two out;
    STRIA_ASSIGN(out.many, Sums::make(subject, kType, kMany));
    STRIA_ASSIGN(const Sums few, Sums::make(subject, kType, kFew));
    out.few.built.plan = few.built.plan;
    for (size_t i = 0; i < few.built.infos.size(); ++i) {
      STRIA_ASSIGN(Kernel kernel, prepare(subject, out.many.built.executor, few.built.library, i));
      out.few.built.kernels.push_back(std::move(kernel));
    }
    STRIA_ASSIGN(out.of_many, out.many.tensors(subject, 1));
    STRIA_ASSIGN(out.of_few, SumTensors::make(subject, kType, kFew, 2));
    return out;
  }
  Sums many, few;
  SumTensors of_many, of_few;
};

// What there is to say of a device that has no memory for the tensors of many; of others nothing.
Finding without_memory(const Subject& subject) {
  return finding_of(sum_program(subject, kType, kMany).status());
}

// The last elements of a tensor of many.
Bytes end_of(const Bytes& many) {
  return {many.end() - static_cast<std::ptrdiff_t>(kFewBytes), many.end()};
}

Bytes sum_of(const Bytes& a, const Bytes& b) {
  Bytes out(a.size());
  for (int64_t i = 0; i < static_cast<int64_t>(a.size()) / 4; ++i)
    store_scalar(kType, out.data(), i,
                 Scalar::of_int(
                     kType, load_scalar(kType, a.data(), i).i + load_scalar(kType, b.data(), i).i));
  return out;
}

enum class What { reads, overwrites };
enum class How { run, batch };

// Starts the launch of many elements and the other behind it; the event is the other's.
Result<Event> start(const Subject& subject, const Two& two, const Spots& of_few, How how) {
  Launches launches;
  if (how == How::run) {
    STRIA_ASSIGN(const Event first, run_sum(subject, two.many, two.of_many));
    STRIA_RETURN_IF_ERROR(launches.add(subject, two.few.built, of_few));
    stria_event* const waits[] = {first.get()};
    return run_each(subject, launches, waits);
  }
  STRIA_RETURN_IF_ERROR(launches.add(subject, two.many.built, two.of_many.spots()));
  std::vector<uint32_t> after;
  for (uint32_t n = 0; n < launches.count(); ++n) after.push_back(n);
  STRIA_RETURN_IF_ERROR(launches.add(subject, two.few.built, of_few, after));
  return submit(subject, two.many.built.executor, launches);
}

Finding behind(Subject& subject, What what, How how) {
  STRIA_ASSIGN(const Two two, Two::make(subject));
  const DeviceWork work(subject);
  const Buffer &a = two.of_many.buffer(0), &r = two.of_many.buffer(2);
  // Reads the end of what the first has made, or writes over the end of what it reads.
  Spots of_few = two.of_few.spots();
  if (what == What::reads)
    of_few["A"] = {r.get(), kFromEnd};
  else
    of_few["R"] = {a.get(), kFromEnd};
  const Bytes end_of_a = end_of(sum_operand(kType, kMany, 1, 0)),
              end_of_r = end_of(sum_result(kType, kMany, 1)), nothing(kFewBytes),
              b = sum_operand(kType, kFew, 2, 1);
  for (int round = 0; round < kRounds; ++round) {
    STRIA_RETURN_IF_ERROR(work.write(r, kFromEnd, nothing));
    STRIA_RETURN_IF_ERROR(work.write(a, kFromEnd, end_of_a));
    STRIA_ASSIGN(const Event done, start(subject, two, of_few, how));
    STRIA_RETURN_IF_ERROR(work.wait(done));
    STRIA_RETURN_IF_ERROR(
        work.holds(r, end_of_r, "the end of R of the launch of many elements", kFromEnd));
    if (what == What::reads)
      STRIA_RETURN_IF_ERROR(work.holds(two.of_few.buffer(2), sum_of(end_of_r, b),
                                       "R of the launch behind it, which reads that end"));
    else
      STRIA_RETURN_IF_ERROR(work.holds(a, sum_of(sum_operand(kType, kFew, 2, 0), b),
                                       "the end of A, which the launch behind it writes",
                                       kFromEnd));
  }
  return {};
}

// The event of the batch is that of all its launches, in whatever order they stand.
Finding batch_ends_with_its_last(Subject& subject, bool large_first) {
  STRIA_ASSIGN(const Two two, Two::make(subject));
  const DeviceWork work(subject);
  const Bytes end_of_r = end_of(sum_result(kType, kMany, 1)), nothing(kFewBytes);
  for (int round = 0; round < kRounds; ++round) {
    STRIA_RETURN_IF_ERROR(work.write(two.of_many.buffer(2), kFromEnd, nothing));
    STRIA_RETURN_IF_ERROR(work.write(two.of_few.buffer(2), 0, nothing));
    Launches launches;
    for (const bool large : {large_first, !large_first})
      STRIA_RETURN_IF_ERROR(launches.add(subject, (large ? two.many : two.few).built,
                                         (large ? two.of_many : two.of_few).spots()));
    STRIA_ASSIGN(const Event done, submit(subject, two.many.built.executor, launches));
    STRIA_RETURN_IF_ERROR(work.wait(done));
    STRIA_RETURN_IF_ERROR(work.holds(two.of_many.buffer(2), end_of_r,
                                     "the end of R of many elements, when the batch is done",
                                     kFromEnd));
    STRIA_RETURN_IF_ERROR(work.holds(two.of_few.buffer(2), sum_result(kType, kFew, 2),
                                     "R of few elements, when the batch is done"));
  }
  return {};
}

}  // namespace

void add_two_size_cases(CaseMaker& maker) {
  const auto add = [&](std::string_view name, std::string_view sentence, What what, How how) {
    add_executable_case(maker, name, Level::right, sentence, [what, how](Subject& subject) {
      const Finding lacks = without_memory(subject);
      return lacks.ending() == Ending::pass ? behind(subject, what, how) : lacks;
    });
  };
  add("run.reads_the_end_of_a_large_one", kWaits, What::reads, How::run);
  add("run.overwrites_the_end_of_a_large_one", kWaits, What::overwrites, How::run);
  add("submit.reads_the_end_of_a_large_one", kBatch, What::reads, How::batch);
  add("submit.overwrites_the_end_of_a_large_one", kBatch, What::overwrites, How::batch);
  for (const bool large_first : {true, false})
    add_executable_case(
        maker, large_first ? "submit.ends_with_a_large_one" : "submit.ends_with_a_large_last_one",
        Level::right, kBatch, [large_first](Subject& subject) {
          const Finding lacks = without_memory(subject);
          return lacks.ending() == Ending::pass ? batch_ends_with_its_last(subject, large_first)
                                                : lacks;
        });
}

}  // namespace stria::conformance
