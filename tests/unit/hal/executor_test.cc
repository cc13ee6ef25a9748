// SPDX-License-Identifier: Apache-2.0
// The helper's executor: what drain waits for, batches of which a launch cannot be started, and
// failures with their causes.
#include "stria/sdk/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/host/services.h"

namespace stria::sdk {
namespace {

constexpr uint64_t kLong = 10'000'000'000;

class CountingKernel final : public Kernel {
 public:
  void run(const stria_memory*, uint64_t) const override { ++runs; }
  mutable std::atomic<int> runs{0};
};

// Starts so many launches, and then no more.
class TiredExecutor final : public Executor {
 public:
  TiredExecutor(const Host& host, int launches) : Executor(host), left_(launches) {}
  Ref<Event> launch(const Ref<Kernel>& kernel, std::vector<Argument> arguments,
                    Waits waits) override {
    if (left_-- == 0) throw Error(STRIA_OUT_OF_MEMORY, "too many launches");
    return Executor::launch(kernel, std::move(arguments), waits);
  }

 private:
  int left_;
};

class ExecutorTest : public testing::Test {
 protected:
  static std::string outcome_of(const Ref<Event>& event) {
    if (!event->wait(kLong)) return "open";
    return event->outcome() ? event->outcome()->message : "well";
  }
  void TearDown() override { EXPECT_TRUE(host_.tracker()->wait_for_none(kLong)); }

  hal::Services services_{hal::scripted_host(nullptr, 2)};
  Host host_{services_.table()};
};

TEST_F(ExecutorTest, DrainWaitsForWhatWasBegunBeforeTheCallAlone) {
  auto executor = make<Executor>(host_);
  auto first = make<Event>(host_), second = make<Event>(host_);
  Event *const early[] = {first.get()}, *const late[] = {second.get()};
  EXPECT_TRUE(executor->drain(0));
  Ref<Event> before = when_done(host_, executor->tracker(), {early, 1});
  EXPECT_FALSE(executor->drain(1000));
  std::future<bool> drained =
      std::async(std::launch::async, [&executor] { return executor->drain(kLong); });
  // It has begun to wait once it is not over at once; until then "before" and "after" mean nothing.
  EXPECT_EQ(drained.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  Ref<Event> after = when_done(host_, executor->tracker(), {late, 1});
  first->signal();
  EXPECT_TRUE(drained.get());
  EXPECT_TRUE(before->done());
  EXPECT_FALSE(after->done());
  // What is open from before an earlier drain counts for every later one.
  EXPECT_FALSE(executor->drain(1000));
  EXPECT_FALSE(executor->drain(0));
  EXPECT_FALSE(host_.tracker()->wait_for_none(0));
  second->signal();
  EXPECT_TRUE(executor->drain(kLong));
  EXPECT_EQ(outcome_of(after), "well");
}

TEST_F(ExecutorTest, ABatchOfWhichALaunchCannotStartFailsWhole) {
  auto kernel = make<CountingKernel>();
  const uint32_t first[] = {0};
  const auto batch = [&] {
    std::vector<Launch> launches(4);
    for (Launch& launch : launches) launch.kernel = Ref<Kernel>(kernel.get());
    launches[1].after = first;
    launches[1].after_count = 1;
    return launches;
  };
  std::vector<Ref<Event>> each;
  auto executor = make<TiredExecutor>(host_, 2);
  Ref<Event> all = executor->submit(batch(), {}, &each);
  EXPECT_EQ(outcome_of(all), "too many launches");
  ASSERT_EQ(each.size(), 4u);
  EXPECT_EQ(outcome_of(each[0]), "well");
  EXPECT_EQ(outcome_of(each[1]), "well");
  EXPECT_EQ(outcome_of(each[2]), "too many launches");
  EXPECT_EQ(outcome_of(each[3]), "too many launches");
  EXPECT_TRUE(each[3]->is_work());
  EXPECT_EQ(kernel->runs, 2);
  // Where nothing has started, the call fails.
  EXPECT_THROW(make<TiredExecutor>(host_, 0)->submit(batch(), {}, nullptr), Error);
  EXPECT_TRUE(executor->drain(kLong));
}

TEST_F(ExecutorTest, WorkThatWaitsForOneEventOftenAndForMany) {
  std::vector<Ref<Event>> gates;
  std::vector<Event*> waits;
  for (int i = 0; i < 40; ++i) gates.push_back(make<Event>(host_));
  for (int i = 0; i < 120; ++i) waits.push_back(gates[static_cast<size_t>(i) % 40].get());
  Ref<Event> work = when_done(host_, host_.tracker(), {waits.data(), waits.size()});
  gates[7]->signal(std::make_shared<Failure>(Failure{STRIA_DATA_LOSS, "seven", 0, {}, {}, {}}));
  gates[3]->signal(std::make_shared<Failure>(Failure{STRIA_DATA_LOSS, "three", 0, {}, {}, {}}));
  for (const Ref<Event>& gate : gates) {
    EXPECT_FALSE(work->done());
    gate->signal();
  }
  EXPECT_EQ(outcome_of(work), "three");
}

TEST_F(ExecutorTest, FailuresKeepTheirCauses) {
  const auto text = [](const char* words) { return to_c(words); };
  stria_error errors[12]{};
  for (int i = 0; i < 12; ++i) {
    errors[i].size = sizeof errors[i];
    errors[i].code = STRIA_UNAVAILABLE;
    errors[i].native_code = i;
    errors[i].message = text("no answer");
    errors[i].place = text("wire.c:12");
    errors[i].cause = i < 11 ? &errors[i + 1] : nullptr;
  }
  auto gate = make<Event>(host_);
  Event* const waits[] = {gate.get()};
  Ref<Event> behind = when_done(host_, host_.tracker(), {waits, 1});
  gate->signal(sdk::outcome_of(&errors[0]));
  ASSERT_TRUE(behind->wait(kLong));
  stria_error* error = to_error(behind->outcome());
  ASSERT_NE(error, nullptr);
  int causes = 0;
  for (const stria_error* cause = error->cause; cause; cause = cause->cause) {
    ++causes;
    EXPECT_EQ(cause->native_code, causes);
    EXPECT_EQ(view_of(cause->place), "wire.c:12");
  }
  EXPECT_EQ(causes, kMaxCauses);
  error->release(error);
}

}  // namespace
}  // namespace stria::sdk
