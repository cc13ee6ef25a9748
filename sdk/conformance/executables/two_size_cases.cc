// SPDX-License-Identifier: Apache-2.0
// Launches of many elements, which take a while, and behind them one of few elements that touches
// the ends of their tensors. Who starts that too early, or leaves one out of a list, gets other
// numbers.
#include <algorithm>
#include <array>

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
// Several launches of many elements. On a machine with other work a thread may need longer to wake
// up than one of them takes. While there are more than one, the thread that has ended one of them
// takes what is behind them while another thread is still at work.
constexpr size_t kLarge = 4;
constexpr int kRounds = 25;
constexpr uint64_t kFewBytes = kFew * 4, kFromEnd = (kMany - kFew) * 4;

// The last elements of a tensor of many.
Bytes end_of(const Bytes& many) {
  return {many.end() - static_cast<std::ptrdiff_t>(kFewBytes), many.end()};
}

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
    for (Buffer& result : out.results) {
      STRIA_ASSIGN(result, subject.allocate(kMany * 4));
    }
    STRIA_ASSIGN(out.of_few, SumTensors::make(subject, kType, kFew, 2));
    return out;
  }
  // Where the launch of this number finds its tensors: all read the same ones.
  Spots spots_of_many(size_t launch) const {
    Spots out = of_many.spots();
    out["R"] = {results[launch].get(), 0};
    return out;
  }
  // Puts something else where the results end.
  Status clear_results(const DeviceWork& work) const {
    for (const Buffer& result : results)
      STRIA_RETURN_IF_ERROR(work.write(result, kFromEnd, Bytes(kFewBytes)));
    return Status();
  }
  Status check_results(const DeviceWork& work, const std::string& when) const {
    const Bytes end = end_of(sum_result(kType, kMany, 1));
    for (size_t n = 0; n < kLarge; ++n)
      STRIA_RETURN_IF_ERROR(work.holds(
          results[n], end, fmt::format("the end of R of launch {} of many elements{}", n, when),
          kFromEnd));
    return Status();
  }
  Sums many, few;
  SumTensors of_many, of_few;
  std::array<Buffer, kLarge> results;
};

// What there is to say of a device that has no memory for the tensors of many; of others nothing.
Finding without_memory(const Subject& subject) {
  return finding_of(sum_program(subject, kType, kMany).status());
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

// Starts the launches of many elements and the other behind them; the event is the other's.
Result<Event> start(const Subject& subject, const Two& two, const Spots& of_few, How how) {
  Launches launches;
  if (how == How::run) {
    std::vector<Event> events;
    std::vector<stria_event*> waits;
    for (size_t n = 0; n < kLarge; ++n) {
      Launches one;
      STRIA_RETURN_IF_ERROR(one.add(subject, two.many.built, two.spots_of_many(n)));
      STRIA_ASSIGN(Event event, run_each(subject, one));
      waits.push_back(event.get());
      events.push_back(std::move(event));
    }
    STRIA_RETURN_IF_ERROR(launches.add(subject, two.few.built, of_few));
    return run_each(subject, launches, waits);
  }
  for (size_t n = 0; n < kLarge; ++n)
    STRIA_RETURN_IF_ERROR(launches.add(subject, two.many.built, two.spots_of_many(n)));
  std::vector<uint32_t> after;
  for (uint32_t n = 0; n < launches.count(); ++n) after.push_back(n);
  STRIA_RETURN_IF_ERROR(launches.add(subject, two.few.built, of_few, after));
  return submit(subject, two.many.built.executor, launches);
}

Finding behind(Subject& subject, What what, How how) {
  STRIA_ASSIGN(const Two two, Two::make(subject));
  const DeviceWork work(subject);
  const Buffer& a = two.of_many.buffer(0);
  // Reads the ends of what the last two have made, or writes over the end of what all read.
  Spots of_few = two.of_few.spots();
  if (what == What::reads) {
    of_few["A"] = {two.results[kLarge - 2].get(), kFromEnd};
    of_few["B"] = {two.results[kLarge - 1].get(), kFromEnd};
  } else {
    of_few["R"] = {a.get(), kFromEnd};
  }
  const Bytes end_of_a = end_of(sum_operand(kType, kMany, 1, 0)),
              end_of_r = end_of(sum_result(kType, kMany, 1));
  for (int round = 0; round < kRounds; ++round) {
    STRIA_RETURN_IF_ERROR(two.clear_results(work));
    STRIA_RETURN_IF_ERROR(work.write(a, kFromEnd, end_of_a));
    STRIA_ASSIGN(const Event done, start(subject, two, of_few, how));
    STRIA_RETURN_IF_ERROR(work.wait(done));
    STRIA_RETURN_IF_ERROR(two.check_results(work, ""));
    if (what == What::reads)
      STRIA_RETURN_IF_ERROR(work.holds(two.of_few.buffer(2), sum_of(end_of_r, end_of_r),
                                       "R of the launch behind them, which reads those ends"));
    else
      STRIA_RETURN_IF_ERROR(
          work.holds(a, sum_of(sum_operand(kType, kFew, 2, 0), sum_operand(kType, kFew, 2, 1)),
                     "the end of A, which the launch behind them writes", kFromEnd));
  }
  return {};
}

// Copies the ends of the results to `seen`, behind `done` and without the host between them.
Status copy_ends(const DeviceWork& work, const Two& two, const Event& done, const Buffer& seen) {
  stria_event* const waits[] = {done.get()};
  std::vector<Event> copies;
  for (size_t n = 0; n < kLarge; ++n) {
    STRIA_ASSIGN(Event copied, work.copy(two.many.built.executor, two.results[n], kFromEnd, seen,
                                         n * kFewBytes, kFewBytes, waits));
    copies.push_back(std::move(copied));
  }
  for (const Event& copied : copies) STRIA_RETURN_IF_ERROR(work.wait(copied));
  return Status();
}

// The event of the batch is that of all its launches, in whatever order they stand: for the host,
// and for what waits behind it.
Finding batch_ends_with_its_last(Subject& subject, bool large_first) {
  STRIA_ASSIGN(const Two two, Two::make(subject));
  const DeviceWork work(subject);
  STRIA_ASSIGN(const Buffer seen, subject.allocate(kLarge * kFewBytes));
  const Bytes end = end_of(sum_result(kType, kMany, 1));
  Bytes ends;
  for (size_t n = 0; n < kLarge; ++n) ends.insert(ends.end(), end.begin(), end.end());
  for (int round = 0; round < kRounds; ++round) {
    STRIA_RETURN_IF_ERROR(two.clear_results(work));
    STRIA_RETURN_IF_ERROR(work.write(two.of_few.buffer(2), 0, Bytes(kFewBytes)));
    Launches launches;
    for (const bool large : {large_first, !large_first}) {
      for (size_t n = 0; large && n < kLarge; ++n)
        STRIA_RETURN_IF_ERROR(launches.add(subject, two.many.built, two.spots_of_many(n)));
      if (!large) STRIA_RETURN_IF_ERROR(launches.add(subject, two.few.built, two.of_few.spots()));
    }
    STRIA_ASSIGN(const Event done, submit(subject, two.many.built.executor, launches));
    if (round % 2 == 0) {
      STRIA_RETURN_IF_ERROR(copy_ends(work, two, done, seen));
      STRIA_RETURN_IF_ERROR(work.holds(
          seen, ends, "what a copy behind the batch finds in the ends of R of many elements"));
      continue;
    }
    STRIA_RETURN_IF_ERROR(work.wait(done));
    STRIA_RETURN_IF_ERROR(two.check_results(work, ", when the batch is done"));
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
