// SPDX-License-Identifier: Apache-2.0
// The helper's queue of submissions, on a made-up device that runs one submission after the other
// when the test lets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/host/services.h"
#include "stria/sdk/submission_queue.h"

namespace stria::sdk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A driver's queue, which counts what it has run.
struct Machine {
  DeviceLoss loss;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> given, ended;  // guarded by mutex, as all below
  std::vector<std::thread::id> enders;
  uint64_t allowed = UINT64_MAX;  // it runs so many
  std::atomic<int> begun{0};      // submissions whose end somebody waits for, or did

  void allow(uint64_t count) {
    std::lock_guard<std::mutex> lock(mutex);
    allowed = count;
    changed.notify_all();
  }
  void lose() {
    std::lock_guard<std::mutex> lock(mutex);
    loss.lose("made-up", "it burns");
    changed.notify_all();
  }
  std::vector<std::string> names(const std::vector<std::string>& list) {
    std::lock_guard<std::mutex> lock(mutex);
    return list;
  }
};

class MadeUpEvent final : public SubmissionEvent {
 public:
  explicit MadeUpEvent(SubmissionQueue& queue) : SubmissionEvent(queue, true) {}
  bool submitted() const override { return number != 0; }
  std::atomic<uint64_t> number{0};
};

struct Name final : Object {
  explicit Name(std::string text) : text(std::move(text)) {}
  const std::string text;
};

struct Work final : Submission {
  Work(Machine& machine, SubmissionQueue& queue, const std::string& name)
      : machine(machine), name(make<Name>(name)), done(make<MadeUpEvent>(queue)) {}
  ~Work() override {
    if (gone) *gone = true;
  }
  bool can_wait_for(const SubmissionEvent&, bool) const override { return driver_waits; }
  void prepare() override {
    if (name->text == "throws") throw Error(STRIA_OUT_OF_MEMORY, "no memory to prepare it");
  }
  Outcome give() override {
    std::lock_guard<std::mutex> lock(machine.mutex);
    if (name->text == "refused") {
      number = 1;  // a part of it is there
      return std::make_shared<Failure>(
          Failure{STRIA_INTERNAL, "the driver refuses", 0, {}, {}, {}});
    }
    machine.given.push_back(name->text);
    number = machine.given.size();
    return nullptr;
  }
  void publish() override { done->number = number; }
  Object* subject() const override { return number > 0 ? name.get() : nullptr; }
  void end() override {
    Outcome outcome = refused();
    ++machine.begun;
    {
      std::unique_lock<std::mutex> lock(machine.mutex);
      machine.changed.wait(
          lock, [&] { return outcome || machine.allowed >= number || machine.loss.lost(); });
      machine.ended.push_back(name->text);
      machine.enders.push_back(std::this_thread::get_id());
    }
    if (!outcome) outcome = machine.loss.lost();
    done->signal(outcome, outcome ? 0 : 10 * number, outcome ? 0 : 10 * number + 7);
  }

  Machine& machine;
  const Ref<Name> name;
  const Ref<MadeUpEvent> done;
  bool driver_waits = true;
  std::atomic<bool>* gone = nullptr;
  uint64_t number = 0;
};

class Submissions : public testing::Test {
 protected:
  Ref<Event> start(const std::string& name, std::vector<Ref<Event>> waits = {},
                   bool driver_waits = true, std::atomic<bool>* gone = nullptr) {
    auto work = std::make_unique<Work>(machine_, queue_, name);
    work->driver_waits = driver_waits;
    work->gone = gone;
    Ref<Event> done = work->done;
    std::vector<Event*> events;
    for (const Ref<Event>& wait : waits) events.push_back(wait.get());
    queue_.start(std::move(work), host_.tracker(), {events.data(), events.size()}, false);
    return done;
  }
  static std::string outcome_of(const Ref<Event>& event) {
    if (!event->wait(UINT64_MAX)) return "open";
    return event->outcome() ? event->outcome()->message : "well";
  }
  std::string under_way() const {
    return queue_.under_way(
        [](const Object& subject) { return static_cast<const Name&>(subject).text; });
  }
  std::vector<std::string> given() { return machine_.names(machine_.given); }
  std::vector<std::string> ended() { return machine_.names(machine_.ended); }
  void TearDown() override {
    machine_.allow(UINT64_MAX);
    EXPECT_TRUE(host_.tracker()->wait_for_none(10'000'000'000));
  }

  hal::Services services_{hal::scripted_host(nullptr, 2)};
  Host host_{services_.table()};
  Machine machine_;
  SubmissionQueue queue_{host_, machine_.loss};
};

TEST_F(Submissions, GoToTheDriverBeforeWhatTheyWaitForHasRun) {
  machine_.allow(0);
  const Ref<Event> a = start("a"), b = start("b", {a}), c = start("c", {a->make_end(), b});
  EXPECT_THAT(given(), ElementsAre("a", "b", "c"));
  EXPECT_FALSE(a->done() || b->done() || c->done());
  EXPECT_FALSE(c->wait(1'000'000));
  EXPECT_FALSE(host_.tracker()->wait_for_none(0));
  machine_.allow(1);
  EXPECT_EQ(outcome_of(a), "well");
  EXPECT_FALSE(b->done());
  machine_.allow(3);
  EXPECT_EQ(outcome_of(c), "well");
  EXPECT_TRUE(b->done());
  EXPECT_THAT(ended(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(c->duration_ns(), 7u);
}

TEST_F(Submissions, WaitOnTheHostForWhatTheDriverDoesNotKnow) {
  auto gate = make<Event>(host_);
  const Ref<Event> a = start("a", {gate}), b = start("b", {a}), free = start("free");
  EXPECT_THAT(given(), ElementsAre("free"));
  gate->signal();
  EXPECT_EQ(outcome_of(b), "well");
  EXPECT_THAT(given(), ElementsAre("free", "a", "b"));
  // A driver that cannot wait for its own work gets it when that is over.
  machine_.allow(3);
  const Ref<Event> c = start("c"), d = start("d", {c}, false);
  EXPECT_EQ(given().back(), "c");
  machine_.allow(UINT64_MAX);
  EXPECT_EQ(outcome_of(d), "well");
  EXPECT_EQ(given().back(), "d");
}

TEST_F(Submissions, FailWithTheirFirstCauseAndDoNotReachTheDriver) {
  const Ref<Event> refused = start("refused"), after = start("a", {refused}),
                   last = start("b", {start("free"), after}), throws = start("throws"),
                   after_throw = start("c", {throws, after});
  EXPECT_EQ(outcome_of(last), "the driver refuses");
  EXPECT_EQ(last->duration_ns(), 0u);
  EXPECT_EQ(outcome_of(refused), "the driver refuses");
  EXPECT_EQ(outcome_of(after_throw), "no memory to prepare it");
  EXPECT_EQ(outcome_of(start("e", {refused})), "the driver refuses");  // which is over
  // Who waits for an end does not care.
  EXPECT_EQ(outcome_of(start("d", {refused->make_end(), after->make_end()})), "well");
  EXPECT_THAT(given(), ElementsAre("free", "d"));
}

TEST_F(Submissions, BehindAFailedHostEventFailInAnyNumber) {
  auto gate = make<Event>(host_);
  Ref<Event> last(gate.get());
  for (int i = 0; i < 20'000; ++i) last = start("x", {last});
  gate->signal(
      std::make_shared<Failure>(Failure{STRIA_DATA_LOSS, "the disk is gone", 0, {}, {}, {}}));
  EXPECT_EQ(outcome_of(last), "the disk is gone");
  EXPECT_THAT(given(), IsEmpty());
}

TEST_F(Submissions, BehindAHostEventThatIsReleasedUnsignalledFail) {
  auto gate = make<HostEvent>(host_);
  const Ref<Event> first = start("x", {gate}), last = start("y", {start("free"), first});
  EXPECT_FALSE(first->done());
  gate->handle_released();  // the submission still holds it
  EXPECT_EQ(outcome_of(first), "a host event was released before it was signalled");
  EXPECT_EQ(outcome_of(last), "a host event was released before it was signalled");
  EXPECT_FALSE(gate->signal());
  EXPECT_THAT(given(), ElementsAre("free"));
  // One that was signalled is what it was.
  auto other = make<HostEvent>(host_);
  other->signal();
  other->handle_released();
  EXPECT_EQ(outcome_of(other), "well");
}

TEST_F(Submissions, AreEndedByTheThreadThatWaitsOrByTheQueuesOwn) {
  // The queue's thread may be the first, if this one is kept from running for so long.
  const auto own = std::this_thread::get_id();
  int by_own = 0;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(outcome_of(start("a")), "well");
    by_own += machine_.enders.back() == own;
  }
  EXPECT_GT(by_own, 0);
  const Ref<Event> unwatched = start("b");
  EXPECT_TRUE(host_.tracker()->wait_for_none(10'000'000'000));
  EXPECT_TRUE(unwatched->done());
  EXPECT_NE(machine_.enders.back(), own);
  // With a limit the thread must come back.
  machine_.allow(0);
  const Ref<Event> limited = start("c");
  EXPECT_FALSE(limited->wait(1'000'000));
  machine_.allow(UINT64_MAX);
  EXPECT_TRUE(limited->wait(10'000'000'000));
  EXPECT_NE(machine_.enders.back(), own);
}

TEST_F(Submissions, ThatAnotherThreadEndsAreWaitedFor) {
  machine_.allow(0);
  const Ref<Event> a = start("a"), b = start("b");
  std::thread first([&] { EXPECT_EQ(outcome_of(a), "well"); });
  while (machine_.begun < 1) std::this_thread::yield();
  std::thread second([&] { EXPECT_EQ(outcome_of(b), "well"); });
  // Long enough for the second to see that one is being ended.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  machine_.allow(UINT64_MAX);
  first.join();
  second.join();
}

TEST_F(Submissions, AreWaitedForByManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> well{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Ref<Event> last;
      for (int i = 0; i < 200; ++i) {
        last = last ? start("x", {last}) : start("x");
        if (i % 7 == 0) well += outcome_of(last) == "well";
      }
      well += outcome_of(last) == "well";
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(well, 4 * (29 + 1));
  EXPECT_EQ(given().size(), 800u);
}

TEST_F(Submissions, AreGoneBeforeNothingIsInFlight) {
  std::atomic<bool> gone{false};
  start("a", {}, true, &gone);
  EXPECT_TRUE(host_.tracker()->wait_for_none(10'000'000'000));
  EXPECT_TRUE(gone);
}

// The driver of each queue says when its work is done, and what comes later may be asked first.
TEST_F(Submissions, EndAfterWhatTheyWaitForInAnotherQueue) {
  machine_.allow(0);
  Machine other_machine;
  SubmissionQueue other(host_, other_machine.loss);
  const Ref<Event> first = start("first");
  std::vector<Ref<Event>> chain;
  for (const bool whole : {true, false}) {
    auto work = std::make_unique<Work>(other_machine, other, "later");
    chain.push_back(work->done);
    const Ref<Event> wait = whole ? first : first->make_end();
    Event* const waits[] = {wait.get()};
    other.start(std::move(work), host_.tracker(), {waits, 1}, true);
  }
  EXPECT_THAT(other_machine.names(other_machine.given), ElementsAre("later", "later"));
  std::thread waiting([&] { chain[0]->wait(UINT64_MAX); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const Ref<Event>& later : chain) EXPECT_FALSE(later->done());
  machine_.allow(1);
  waiting.join();
  EXPECT_TRUE(first->done());
  EXPECT_EQ(outcome_of(chain[1]), "well");
  EXPECT_TRUE(host_.tracker()->wait_for_none(10'000'000'000));
}

TEST_F(Submissions, OfALostDeviceAllEnd) {
  EXPECT_EQ(under_way(), "");
  machine_.allow(1);
  auto gate = make<Event>(host_);
  const Ref<Event> a = start("a"), b = start("b", {a}), c = start("c", {b}), d = start("d", {gate});
  EXPECT_EQ(outcome_of(a), "well");
  // In the list or on its way out of it.
  EXPECT_EQ(under_way(), "b");
  while (machine_.begun < 2) std::this_thread::yield();
  EXPECT_EQ(under_way(), "b");
  machine_.loss.check_not_lost();
  machine_.lose();
  machine_.loss.lose("made-up", "and once more");
  gate->signal();
  for (const Ref<Event>& event :
       {b, c, d, start("e"), start("f", {c}), start("g", {c->make_end()})}) {
    EXPECT_EQ(outcome_of(event), "'made-up' is lost: it burns");
    EXPECT_EQ(event->outcome()->code, STRIA_DEVICE_LOST);
    EXPECT_THAT(event->outcome()->suggestion, HasSubstr("reset the device"));
  }
  EXPECT_THAT(given(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(under_way(), "");
  EXPECT_THROW(machine_.loss.check_not_lost(), Error);
}

}  // namespace
}  // namespace stria::sdk
