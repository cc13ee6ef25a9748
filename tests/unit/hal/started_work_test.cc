// SPDX-License-Identifier: Apache-2.0
// The helper's works that something else than the host's threads ends.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/host/services.h"
#include "stria/sdk/event.h"

namespace stria::sdk {
namespace {

class StartedWorkTest : public testing::Test {
 protected:
  template <typename Start>
  Ref<Event> after(std::vector<Event*> waits, Start start) {
    return start_when(host_, host_.tracker(), {waits.data(), waits.size()}, std::move(start));
  }
  static std::string outcome_of(const Ref<Event>& event) {
    if (!event->wait(UINT64_MAX)) return "open";
    return event->outcome() ? event->outcome()->message : "well";
  }
  void TearDown() override { EXPECT_TRUE(host_.tracker()->wait_for_none(10'000'000'000)); }

  hal::Services services_{hal::scripted_host(nullptr, 2)};
  Host host_{services_.table()};
};

TEST_F(StartedWorkTest, IsDoneWhenItsDriverSaysSo) {
  Ref<StartedWork> handed;
  auto gate = make<Event>(host_);
  Ref<Event> work = after({gate.get()}, [&](const Ref<StartedWork>& self) { handed = self; });
  EXPECT_FALSE(handed);
  EXPECT_TRUE(work->is_work());
  gate->signal();
  ASSERT_TRUE(handed);
  EXPECT_FALSE(work->done());
  EXPECT_FALSE(host_.tracker()->wait_for_none(0));
  std::thread driver([&] { handed->finish(nullptr, 100, 250); });
  EXPECT_EQ(outcome_of(work), "well");
  driver.join();
  EXPECT_EQ(work->duration_ns(), 150u);
  handed->finish(std::make_shared<Failure>());  // too late
  EXPECT_EQ(outcome_of(work), "well");
}

TEST_F(StartedWorkTest, FailsWithWhatItsStartThrowsAndWithItsWaits) {
  auto gate = make<Event>(host_);
  Ref<Event> thrown =
      after({gate.get()}, [](const Ref<StartedWork>&) { throw Error(STRIA_DEVICE_LOST, "gone"); });
  bool started = false;
  Ref<Event> next = after({thrown.get()}, [&](const Ref<StartedWork>&) { started = true; });
  gate->signal();
  EXPECT_EQ(outcome_of(thrown), "gone");
  EXPECT_EQ(outcome_of(next), "gone");
  EXPECT_FALSE(started);
}

TEST_F(StartedWorkTest, IsCancelledIfItIsDropped) {
  Ref<Event> work = after({}, [](const Ref<StartedWork>&) {});
  Ref<Event> next = after({work.get()}, [](const Ref<StartedWork>&) {});
  work = {};
  EXPECT_EQ(next->outcome()->code, STRIA_CANCELLED);
}

TEST_F(StartedWorkTest, ALongChainOfWorksThatEndAtOnceIsNoRecursion) {
  auto gate = make<Event>(host_);
  Ref<Event> last(gate.get());
  int64_t count = 0;
  constexpr int64_t kChain = 200'000;
  for (int64_t i = 0; i < kChain; ++i)
    last = after({last.get()}, [&](const Ref<StartedWork>& self) {
      ++count;
      self->finish(nullptr);
    });
  gate->signal();
  EXPECT_EQ(outcome_of(last), "well");
  EXPECT_EQ(count, kChain);
}

// A batch lasts from the first start to the last end of its parts.
TEST_F(StartedWorkTest, ABatchWithAPartOfUnknownDurationHasNone) {
  auto part = [&](uint64_t begin, uint64_t end) {
    return after({}, [=](const Ref<StartedWork>& self) { self->finish(nullptr, begin, end); });
  };
  auto duration = [&](std::vector<Ref<Event>> parts) {
    Ref<Event> all = join(host_, host_.tracker(), std::move(parts));
    EXPECT_EQ(outcome_of(all), "well");
    return all->duration_ns();
  };
  EXPECT_EQ(duration({part(100, 250), part(200, 300)}), 200u);
  EXPECT_EQ(duration({part(100, 250), part(0, 0), part(200, 300)}), 0u);
  // Neither do batches of which it is a part.
  EXPECT_EQ(duration({part(100, 250), join(host_, host_.tracker(), {part(0, 0), part(200, 300)})}),
            0u);
  // What needed nobody to do it took no time, whatever clock the others have.
  const Ref<Event> nothing = when_done(host_, host_.tracker(), {});
  EXPECT_EQ(nothing->duration_ns(), 0u);
  EXPECT_EQ(duration({part(100, 250), nothing}), 150u);
  EXPECT_EQ(duration({nothing, nothing}), 0u);
}

}  // namespace
}  // namespace stria::sdk
