// SPDX-License-Identifier: Apache-2.0
// Batches: executor.submit, its `after` lists and the events of each launch.
#include <chrono>

#include "executables/executable_case.h"
#include "executables/held_event.h"
#include "executables/launch_cases.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kBatch =
    "A batch: launches wait for `waits` and for those their `after` names, nothing else. `done` is "
    "when all are; if some fail, with the error of the first of them in the batch's order; its "
    "duration runs from the first start to the last end.";
constexpr std::string_view kEach = "`each` is NULL or has room for one event per launch.";
constexpr std::string_view kNothing = "On an error nothing of the batch runs.";
constexpr std::string_view kFails =
    "If one failed, the work is not done and its event fails with the same error (that of the "
    "first "
    "failed one in list order), after all waits are over";
constexpr std::string_view kPointers =
    "Pointers given to a slot are valid during the call only, unless its comment says otherwise.";
constexpr std::string_view kReleased =
    "A handle stays usable by work in flight after its release: releasing never waits and never "
    "cancels.";

// Numbers in device memory, and what they must be.
class Numbers {
 public:
  static Result<Numbers> make(const Subject& subject, const Sums& sums, uint32_t seed) {
    Numbers out;
    out.values_.resize(static_cast<size_t>(sums.count));
    const Bytes bytes = sum_operand(sums.type, sums.count, seed, 0);
    for (int64_t i = 0; i < sums.count; ++i)
      out.values_[static_cast<size_t>(i)] = load_scalar(sums.type, bytes.data(), i).i;
    STRIA_ASSIGN(out.buffer_, DeviceWork(subject).buffer(bytes));
    return out;
  }
  Spot spot() const { return {buffer_.get(), 0}; }
  // Becomes the sum of two others, once what was submitted is done.
  void become(const Numbers& a, const Numbers& b) {
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i] = wrap_to(DataType::i32, a.values_[i] + b.values_[i]);
  }
  Status check(const Subject& subject, std::string_view what) const {
    Bytes wanted(values_.size() * 4);
    for (size_t i = 0; i < values_.size(); ++i)
      store_scalar(DataType::i32, wanted.data(), static_cast<int64_t>(i),
                   Scalar::of_int(DataType::i32, values_[i]));
    return DeviceWork(subject).holds(buffer_, wanted, what);
  }
  void release() { buffer_.reset(); }

 private:
  Buffer buffer_;
  std::vector<int64_t> values_;
};

// A batch of sums over some tensors, and what must become of them.
class Batch {
 public:
  static Result<Batch> make(const Subject& subject, size_t tensors, int64_t count = 37) {
    Batch out;
    STRIA_ASSIGN(out.sums, Sums::make(subject, DataType::i32, count));
    for (size_t n = 0; n < tensors; ++n) {
      STRIA_ASSIGN(Numbers numbers, Numbers::make(subject, out.sums, static_cast<uint32_t>(n)));
      out.tensors.push_back(std::move(numbers));
    }
    return out;
  }
  // result = a + b, after the sums with these numbers.
  Status add(const Subject& subject, size_t result, size_t a, size_t b,
             const std::vector<size_t>& after = {}) {
    std::vector<uint32_t> positions;
    for (const size_t sum : after)
      for (uint32_t n = begins_[sum]; n < ends_[sum]; ++n) positions.push_back(n);
    begins_.push_back(static_cast<uint32_t>(launches.count()));
    STRIA_RETURN_IF_ERROR(launches.add(
        subject, sums.built,
        {{"A", tensors[a].spot()}, {"B", tensors[b].spot()}, {"R", tensors[result].spot()}},
        positions));
    ends_.push_back(static_cast<uint32_t>(launches.count()));
    tensors[result].become(tensors[a], tensors[b]);
    return Status();
  }
  Result<Event> submit(const Subject& subject, std::span<stria_event* const> waits = {},
                       std::vector<Event>* each = nullptr) {
    return conformance::submit(subject, sums.built.executor, launches, waits, each);
  }
  Status check(const Subject& subject) const {
    for (size_t n = 0; n < tensors.size(); ++n)
      STRIA_RETURN_IF_ERROR(tensors[n].check(
          subject, fmt::format("tensor {} after a batch of {} launches", n, launches.count())));
    return Status();
  }

  Sums sums;
  std::vector<Numbers> tensors;
  Launches launches;

 private:
  std::vector<uint32_t> begins_, ends_;  // positions of each sum's launches
};

Finding run(const Subject& subject, Batch& batch) {
  STRIA_ASSIGN(const Event done, batch.submit(subject));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return batch.check(subject);
}

Finding one_launch(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 3));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 2, 0, 1));
  return run(subject, batch);
}

Finding independent(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 12));
  for (size_t n = 0; n < 10; ++n) STRIA_RETURN_IF_ERROR(batch.add(subject, 2 + n, 0, 1));
  return run(subject, batch);
}

// Each adds to what the one before has made: any other order gives other numbers.
Finding chain(Subject& subject, size_t length) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 3));
  for (size_t n = 0; n < length; ++n)
    STRIA_RETURN_IF_ERROR(batch.add(subject, n % 2 == 0 ? 2 : 0, n % 2 == 0 ? 0 : 2, 1,
                                    n == 0 ? std::vector<size_t>() : std::vector<size_t>{n - 1}));
  return run(subject, batch);
}

// What is read first is written last: a launch that does not wait reads what was there before, also
// where launches go through their elements at the same pace.
Finding reads_ahead(Subject& subject) {
  constexpr int64_t kCount = 1 << 16, kAhead = kCount / 2;
  constexpr DataType kType = DataType::i32;
  STRIA_ASSIGN(const Sums sums, Sums::make(subject, kType, kCount));
  const DeviceWork work(subject);
  const Bytes a = sum_operand(kType, kCount, 1, 0), b = sum_operand(kType, kCount, 2, 0),
              before = sum_operand(kType, kCount + kAhead, 3, 0);
  STRIA_ASSIGN(const Buffer of_a, work.buffer(a));
  STRIA_ASSIGN(const Buffer of_b, work.buffer(b));
  STRIA_ASSIGN(const Buffer between, work.buffer(before));
  STRIA_ASSIGN(const Buffer result, work.buffer(a));
  Launches launches;
  STRIA_RETURN_IF_ERROR(
      launches.add(subject, sums.built,
                   {{"A", {of_a.get(), 0}}, {"B", {of_b.get(), 0}}, {"R", {between.get(), 0}}}));
  std::vector<uint32_t> first(launches.count());
  for (uint32_t n = 0; n < first.size(); ++n) first[n] = n;
  STRIA_RETURN_IF_ERROR(launches.add(
      subject, sums.built,
      {{"A", {between.get(), kAhead * 4}}, {"B", {of_b.get(), 0}}, {"R", {result.get(), 0}}},
      first));
  STRIA_ASSIGN(const Event done, submit(subject, sums.built.executor, launches, {}));
  STRIA_RETURN_IF_ERROR(work.wait(done));
  Bytes wanted(a.size());
  const auto at = [&](const Bytes& bytes, int64_t i) {
    return load_scalar(kType, bytes.data(), i).i;
  };
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t from = i + kAhead;
    const int64_t read = from < kCount ? wrap_to(kType, at(a, from) + at(b, from))
                                       : static_cast<int64_t>(at(before, from));
    store_scalar(kType, wanted.data(), i, Scalar::of_int(kType, wrap_to(kType, read + at(b, i))));
  }
  return work.holds(result, wanted, "what a launch made of the end of what one before it wrote");
}

Finding diamond(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 6));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 2, 0, 1));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 3, 2, 0, {0}));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 4, 2, 1, {0}));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 5, 3, 4, {1, 2}));
  return run(subject, batch);
}

Finding fan_in(Subject& subject) {
  constexpr size_t kLeaves = 16;
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 2 + 2 * kLeaves));
  size_t next = 2;
  std::vector<size_t> level, tensor_of;  // sums, and the tensor that each writes
  for (size_t n = 0; n < kLeaves; ++n) {
    level.push_back(tensor_of.size());
    tensor_of.push_back(next);
    STRIA_RETURN_IF_ERROR(batch.add(subject, next++, n % 2, 1));
  }
  while (level.size() > 1) {
    std::vector<size_t> above;
    for (size_t n = 0; n + 1 < level.size(); n += 2) {
      const size_t a = level[n], b = level[n + 1];
      above.push_back(tensor_of.size());
      tensor_of.push_back(next);
      STRIA_RETURN_IF_ERROR(batch.add(subject, next++, tensor_of[a], tensor_of[b], {a, b}));
    }
    level = std::move(above);
  }
  return run(subject, batch);
}

// What is written again waits for those that read it. They take a while, so that a launch that does
// not wait overtakes one that does, even where launches run one after the other.
Finding write_after_read(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 8, 1 << 15));
  for (size_t n = 0; n < 5; ++n) STRIA_RETURN_IF_ERROR(batch.add(subject, 3 + n, 0, 1));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 0, 1, 2, {0, 1, 2, 3, 4}));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 2, 0, 1, {5}));
  return run(subject, batch);
}

Finding waits_hold_all(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 6));
  for (size_t n = 0; n < 4; ++n) STRIA_RETURN_IF_ERROR(batch.add(subject, 2 + n, 0, 1));
  STRIA_ASSIGN(HeldEvent first, HeldEvent::make(subject));
  STRIA_ASSIGN(HeldEvent second, HeldEvent::make(subject));
  stria_event* const waits[] = {first.get(), second.get()};
  std::vector<Event> each;
  STRIA_ASSIGN(const Event done, batch.submit(subject, waits, &each));
  STRIA_RETURN_IF_ERROR(first.returned("executor.submit"));
  STRIA_RETURN_IF_ERROR(second.returned("executor.submit"));
  STRIA_RETURN_IF_ERROR(second.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).stays_open({&batch.sums.built.executor, 1}, done,
                                                       "an event of its `waits` is open"));
  for (const Event& event : each) {
    STRIA_ASSIGN(const bool early, subject.is_done(event));
    if (early) return broken("a launch of a batch is done while an event of `waits` is open");
  }
  STRIA_RETURN_IF_ERROR(first.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return batch.check(subject);
}

Finding each_ends(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 6));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 2, 0, 1));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 3, 2, 0, {0}));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 4, 0, 1));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 5, 4, 3, {1, 2}));
  std::vector<Event> each;
  STRIA_ASSIGN(const Event done, batch.submit(subject, {}, &each));
  for (size_t n = 0; n < each.size(); ++n) {
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(each[n]));
    for (size_t other = 0; other < n; ++other)
      if (each[other].get() == each[n].get())
        return broken("launches {} and {} of a batch get one handle, to be released twice", other,
                      n);
  }
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return batch.check(subject);
}

// When the batch is done, so is each of its launches.
Finding done_after_each(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 10));
  for (size_t n = 0; n < 8; ++n) STRIA_RETURN_IF_ERROR(batch.add(subject, 2 + n, 0, 1));
  std::vector<Event> each;
  STRIA_ASSIGN(const Event done, batch.submit(subject, {}, &each));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  for (size_t n = 0; n < each.size(); ++n) {
    STRIA_ASSIGN(const bool over, subject.is_done(each[n]));
    if (!over) return broken("a batch is done and launch {} of it is not", n);
  }
  return batch.check(subject);
}

Finding failed_wait(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 5));
  const Sums& sums = batch.sums;
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 1));
  for (int n = 0; n < 3; ++n)
    STRIA_RETURN_IF_ERROR(batch.launches.add(subject, sums.built, tensors.spots()));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  std::vector<Event> each;
  STRIA_ASSIGN(const Event done, batch.submit(subject, waits, &each));
  STRIA_RETURN_IF_ERROR(open.returned("executor.submit"));
  STRIA_RETURN_IF_ERROR(open.signal(Status(StatusCode::cancelled, "as the case wants")));
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(done));
  STRIA_RETURN_IF_ERROR(expect_code(answer_of(subject.tables().event.status(done.get())),
                                    {STRIA_CANCELLED}, "a batch whose wait failed as cancelled"));
  for (const Event& event : each) {
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(event));
    STRIA_RETURN_IF_ERROR(expect_code(answer_of(subject.tables().event.status(event.get())),
                                      {STRIA_CANCELLED},
                                      "a launch of a batch whose wait failed as cancelled"));
  }
  return tensors.check_untouched(subject);
}

Finding keeps_no_pointers(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 5));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 2, 0, 1));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 3, 2, 0, {0}));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 4, 3, 2, {0, 1}));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  std::vector<stria_event*> waits = {open.get()};
  STRIA_ASSIGN(const Event done, batch.submit(subject, waits));
  STRIA_RETURN_IF_ERROR(open.returned("executor.submit"));
  batch.launches.overwrite();
  waits[0] = nullptr;
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return batch.check(subject);
}

Finding without_launches(Subject& subject) {
  STRIA_ASSIGN(const Executor executor, subject.make_executor());
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  Launches none;
  STRIA_ASSIGN(const Event done, submit(subject, executor, none, waits));
  STRIA_RETURN_IF_ERROR(open.returned("executor.submit"));
  STRIA_RETURN_IF_ERROR(open.signal());
  return DeviceWork(subject).wait(done);
}

// A batch whose last launch has an argument too few is refused, or its launches are as they say.
Finding refused_as_a_whole(Subject& subject) {
  STRIA_ASSIGN(const Sums sums, Sums::make(subject));
  STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, 1));
  Launches launches;
  for (int n = 0; n < 3; ++n)
    STRIA_RETURN_IF_ERROR(launches.add(subject, sums.built, tensors.spots()));
  const std::vector<const stria_launch*> list = launches.list();
  const_cast<stria_launch*>(list.back())->argument_count -= 1;
  std::vector<stria_event*> each(list.size(), nullptr);
  stria_event* done = nullptr;
  const SlotAnswer answer = answer_of(subject.tables().executor.submit(
      sums.built.executor.get(), list.data(), list.size(), nullptr, 0, each.data(), &done));
  const Event held(done, subject.tables().event.release);
  bool written = done != nullptr;
  for (stria_event* event : each) {
    if (event) subject.tables().event.release(event);
    written |= event != nullptr;
  }
  STRIA_RETURN_IF_ERROR(expect_code(answer, {STRIA_INVALID_ARGUMENT},
                                    "executor.submit of a launch with an argument too few"));
  if (written)
    return broken_rule(Rule::no_output,
                       "executor.submit fails and has written its events all the same");
  STRIA_SLOT(subject, executor, drain, sums.built.executor.get(), uint64_t{20'000'000'000});
  return tensors.check_untouched(subject);
}

Finding released_in_flight(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 5));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 2, 0, 1));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 3, 2, 0, {0}));
  STRIA_RETURN_IF_ERROR(batch.add(subject, 4, 3, 2, {0, 1}));
  STRIA_ASSIGN(HeldEvent open, HeldEvent::make(subject));
  stria_event* const waits[] = {open.get()};
  std::vector<Event> each;
  STRIA_ASSIGN(const Event done, batch.submit(subject, waits, &each));
  STRIA_RETURN_IF_ERROR(open.returned("executor.submit"));
  each.clear();
  batch.sums.built = Built();
  for (size_t n = 0; n < 4; ++n) batch.tensors[n].release();
  STRIA_RETURN_IF_ERROR(open.signal());
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
  return batch.tensors[4].check(subject, "what a batch made whose kernels were released");
}

// Batches on one executor, each of which waits for the one before.
Finding batch_after_batch(Subject& subject) {
  STRIA_ASSIGN(Batch batch, Batch::make(subject, 3));
  Event last;
  for (size_t n = 0; n < 12; ++n) {
    batch.launches = Launches();
    STRIA_RETURN_IF_ERROR(batch.add(subject, n % 2 == 0 ? 2 : 0, n % 2 == 0 ? 0 : 2, 1));
    stria_event* const before[] = {last.get()};
    STRIA_ASSIGN(Event done, batch.submit(subject, last ? std::span<stria_event* const>(before)
                                                        : std::span<stria_event* const>()));
    last = std::move(done);
  }
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(last));
  return batch.check(subject);
}

// Launches that run beside each other take less than all of them one after the other.
Finding duration(Subject& subject) {
  constexpr int64_t kLong = 200'000;
  constexpr size_t kLaunches = 6;
  STRIA_ASSIGN(Batch batch, Batch::make(subject, kLaunches + 2, kLong));
  for (size_t n = 0; n < kLaunches; ++n) STRIA_RETURN_IF_ERROR(batch.add(subject, 2 + n, 0, 1));
  const DeviceWork work(subject);
  const auto begin = std::chrono::steady_clock::now();
  STRIA_ASSIGN(const Event done, batch.submit(subject));
  STRIA_RETURN_IF_ERROR(work.wait(done));
  const auto span = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::steady_clock::now() - begin);
  uint64_t ns = 0;
  STRIA_SLOT(subject, event, duration_ns, done.get(), &ns);
  // A clock of the device may be off by little.
  if (ns > static_cast<uint64_t>(span.count()) * 21 / 20 + 100'000)
    return broken("a batch of {} launches says that it took {} ns, and was over after {} ns",
                  kLaunches, ns, span.count());
  return {};
}

}  // namespace

void add_batch_cases(CaseMaker& maker) {
  add_executable_case(maker, "submit.one_launch", Level::right, kBatch, one_launch);
  add_executable_case(maker, "submit.independent", Level::right, kBatch, independent);
  for (const size_t length : {2u, 9u, 100u, 1000u})
    add_executable_case(maker, fmt::format("submit.chain_of_{}", length),
                        length == 9 ? Level::right : Level::robust, kBatch,
                        [length](Subject& subject) { return chain(subject, length); });
  add_executable_case(maker, "submit.reads_ahead", Level::right, kBatch, reads_ahead);
  add_executable_case(maker, "submit.duration", Level::robust, kBatch, duration);
  add_executable_case(maker, "submit.diamond", Level::right, kBatch, diamond);
  add_executable_case(maker, "submit.fan_in", Level::robust, kBatch, fan_in);
  add_executable_case(maker, "submit.write_after_read", Level::right, kBatch, write_after_read);
  add_executable_case(maker, "submit.waits_hold_all", Level::right, kBatch, waits_hold_all);
  add_executable_case(maker, "submit.each_ends", Level::right, kEach, each_ends);
  add_executable_case(maker, "submit.done_after_each", Level::right, kEach, done_after_each);
  add_executable_case(maker, "submit.failed_wait", Level::right, kFails, failed_wait);
  add_executable_case(maker, "submit.keeps_no_pointers", Level::right, kPointers,
                      keeps_no_pointers);
  add_executable_case(maker, "submit.without_launches", Level::robust, kBatch, without_launches);
  add_executable_case(maker, "submit.refused_as_a_whole", Level::robust, kNothing,
                      refused_as_a_whole);
  add_executable_case(maker, "submit.released_in_flight", Level::right, kReleased,
                      released_in_flight);
  add_executable_case(maker, "submit.batch_after_batch", Level::right, kBatch, batch_after_batch);
}

}  // namespace stria::conformance
