// SPDX-License-Identifier: Apache-2.0
// Commands and the events that stand for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <thread>

#include "command.h"
#include "fake_driver.h"
#include "queue.h"
#include "scripted_host.h"
#include "stria/hal/host/services.h"

namespace stria::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Memory that the device uses.
struct Staging : sdk::Object {
  ~Staging() override { calls.add("freed"); }
};

struct LoggedBuffer : sdk::Buffer {
  LoggedBuffer() : Buffer(4) {}
  ~LoggedBuffer() override { calls.add("buffer freed"); }
  std::byte* data() override { return nullptr; }
  void* map(uint64_t, uint64_t, sdk::MapMode, sdk::Waits, sdk::Ref<sdk::Event>*) override {
    return nullptr;
  }
  sdk::Ref<sdk::Event> unmap(void*) override { return {}; }
};

struct LoggedKernel : QueuedKernel {
  ~LoggedKernel() override { calls.add("kernel freed"); }
  const std::string& symbol() const override { return symbol_; }
  void enqueue(cl_command_queue, const std::vector<sdk::Argument>& arguments, cl_uint count,
               const cl_event*, cl_event* event) const override {
    calls.add("kernel with " + std::to_string(arguments.at(0).offset) + " after " +
              std::to_string(count));
    if (event) *event = some<cl_event>();
  }
  const std::string symbol_ = "k0_logged";
};

class Commands : public ::testing::Test {
 protected:
  static FoundDevice fake() {
    FoundDevice device;
    device.info.name = "fake";
    device.out_of_order = true;
    device.failure_ends_all = true;  // so that it is not asked
    return device;
  }
  Context& context(ContextOptions options = {}) {
    context_ = std::make_unique<Context>(host_, cl_, fake(), options);
    return *context_;
  }
  void SetUp() override {
    (void)calls.take();
    answers.all_well();
  }
  // Nothing is in flight when a context ends.
  void TearDown() override {
    lists_.clear();
    EXPECT_TRUE(tracker_->wait_for_none(UINT64_MAX));
    EXPECT_TRUE(host_.tracker()->wait_for_none(UINT64_MAX));
  }

  // Lists that commands may name until the test ends.
  static std::span<const uint32_t> kept(std::vector<uint32_t> list) {
    return lists_.emplace_back(std::move(list));
  }
  // A command that says its number of waits; the driver answers `code`.
  static Command command(std::string name, std::vector<uint32_t> after = {},
                         cl_int code = CL_SUCCESS) {
    return {"clEnqueueReadBuffer",
            [name, code, staging = sdk::make<Staging>()](cl_uint count, const cl_event*,
                                                         cl_event* event) -> cl_int {
              calls.add(name + " after " + std::to_string(count) + (event ? "" : ", no event"));
              if (code == CL_SUCCESS && event) *event = some<cl_event>();
              return code;
            },
            kept(std::move(after))};
  }
  sdk::Ref<sdk::Event> start(Context& context, std::vector<Command> commands,
                             std::vector<sdk::Event*> waits = {},
                             std::vector<sdk::Ref<sdk::Event>>* each = nullptr) {
    return opencl::start(context.transfer_queue(), tracker_, std::move(commands),
                         {waits.data(), waits.size()}, each);
  }
  // Kernels with one argument each, whose offset is its number.
  static std::vector<Command> kernels(uint64_t count) {
    std::vector<Command> out;
    for (uint64_t n = 0; n < count; ++n) {
      out.push_back({"clEnqueueNDRangeKernel",
                     KernelLaunch{sdk::make<LoggedKernel>(), {{sdk::make<LoggedBuffer>(), n}}}});
      if (n > 0) out.back().after = kept({static_cast<uint32_t>(n - 1)});
    }
    return out;
  }
  // What its event says.
  static std::string outcome_of(const sdk::Ref<sdk::Event>& event) {
    EXPECT_TRUE(event->wait(UINT64_MAX));
    return event->outcome() ? event->outcome()->message : "well";
  }
  std::vector<std::string> called() {
    EXPECT_TRUE(tracker_->wait_for_none(UINT64_MAX));
    return calls.take();
  }

  const OpenCl cl_ = telling_driver();
  const hal::Services services_{hal::scripted_host(nullptr, 2)};
  const sdk::Host host_{services_.table()};
  const sdk::Ref<sdk::Tracker> tracker_ = sdk::make<sdk::Tracker>();
  std::unique_ptr<Context> context_;
  static inline std::deque<std::vector<uint32_t>> lists_;
};

TEST_F(Commands, FailWithWhatTheDriverSaysOfThem) {
  answers.status = -777;
  EXPECT_EQ(outcome_of(start(context(), {command("a")})),
            "clEnqueueReadBuffer in queue 'transfer' on 'fake': -777");
  // The device finishes what else there is: it is well.
  EXPECT_THAT(called(), ElementsAre("a after 0", "finish", "freed"));
  EXPECT_EQ(context_->lost(), nullptr);
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(start(*context_, {command("b")})), "well");
}

TEST_F(Commands, LetGoOfKernelsAndBuffersBeforeTheirEventIsDone) {
  for (const bool in_order : {false, true}) {
    ContextOptions options;
    options.in_order = in_order;
    sdk::Ref<sdk::Event> gate = sdk::make<sdk::Event>(host_);
    sdk::Ref<sdk::Event> done = start(context(options), kernels(2), {gate.get()});
    done->on_done([](void*, const stria_error*) { calls.add("done"); }, nullptr);
    gate->signal();
    EXPECT_EQ(outcome_of(done), "well");
    std::vector<std::string> all = called();
    EXPECT_THAT(all, ::testing::IsSupersetOf({"kernel with 0 after 0", "kernel freed",
                                              "buffer freed", "kernel freed", "buffer freed"}));
    EXPECT_EQ(all.back(), "done");
  }
}

TEST_F(Commands, OfALostDeviceKeepKernelsAndBuffers) {
  for (const bool in_order : {false, true}) {
    answers.status = answers.status_when_finished = -9999;
    answers.finish = CL_OUT_OF_RESOURCES;
    ContextOptions options;
    options.in_order = in_order;
    sdk::Ref<sdk::Event> done = start(context(options), kernels(2));
    EXPECT_EQ(outcome_of(done),
              "'fake' is lost: clEnqueueNDRangeKernel of 'k0_logged' in queue 'transfer' on "
              "'fake': -9999, then "
              "clFinish: CL_OUT_OF_RESOURCES");
    EXPECT_THAT(called(), ::testing::Each(::testing::Not(::testing::HasSubstr("freed"))));
  }
}

TEST_F(Commands, EndWhereWaitingFailsButFinishingDoesNot) {
  answers.wait = CL_OUT_OF_HOST_MEMORY;
  answers.status = CL_RUNNING;
  EXPECT_EQ(outcome_of(start(context(), {command("a")})), "well");
  EXPECT_THAT(called(), ElementsAre("a after 0", "finish", "freed"));
}

TEST_F(Commands, OfADeviceThatDoesNotAnswerLoseItAndKeepWhatItMayUse) {
  answers.status = -9999;
  answers.finish = CL_OUT_OF_RESOURCES;
  answers.status_when_finished = -9999;
  sdk::Ref<sdk::Event> done = start(context(), {command("a")});
  const std::string message =
      "'fake' is lost: clEnqueueReadBuffer in queue 'transfer' on 'fake': -9999, then clFinish: "
      "CL_OUT_OF_RESOURCES";
  EXPECT_EQ(outcome_of(done), message);
  EXPECT_EQ(done->outcome()->code, STRIA_DEVICE_LOST);
  EXPECT_THAT(called(), ElementsAre("a after 0", "finish"));
  // From then on nothing is started.
  try {
    start(*context_, {command("b")});
    ADD_FAILURE() << "started on a lost device";
  } catch (const sdk::Error& error) {
    EXPECT_EQ(error.what(), message);
  }
  EXPECT_THROW(context_->take_queue(), sdk::Error);
  // Others are not touched.
  answers.all_well();
  Context other(host_, cl_, fake());
  EXPECT_EQ(outcome_of(start(other, {command("c")})), "well");
}

TEST_F(Commands, ThatHangLoseTheDeviceAtTheLimit) {
  answers.status = CL_RUNNING;
  ContextOptions options;
  options.hang_limit = std::chrono::milliseconds(20);
  sdk::Ref<sdk::Event> first = start(context(options), {command("a")});
  sdk::Ref<sdk::Event> second = start(*context_, {command("b")}, {first.get()});
  EXPECT_EQ(outcome_of(first),
            "'fake' is lost: clEnqueueReadBuffer in queue 'transfer' has not ended after 20 ms");
  EXPECT_EQ(outcome_of(second), outcome_of(first));
  EXPECT_THAT(called(), ElementsAre("a after 0", "b after 1"));
}

TEST_F(Commands, WaitOnTheHostForNothingThatTheDriverKnows) {
  sdk::Ref<sdk::Event> gate = sdk::make<sdk::Event>(host_);
  std::vector<sdk::Ref<sdk::Event>> each;
  answers.status = CL_RUNNING;
  ContextOptions options;
  options.hang_limit = std::chrono::milliseconds(10'000);
  // A batch with two ends, and one after it: all of it is the driver's before anything is done.
  sdk::Ref<sdk::Event> all =
      start(context(options), {command("a"), command("b", {0}), command("c", {0})}, {}, &each);
  sdk::Ref<sdk::Event> next = start(*context_, {command("d"), command("e", {0})}, {all.get()});
  sdk::Ref<sdk::Event> last = start(*context_, {command("f")}, {next.get(), each[1].get()});
  EXPECT_THAT(calls.take(), ElementsAre("a after 0", "b after 1", "c after 1", "marker after 2",
                                        "d after 1", "e after 1", "f after 2"));
  sdk::Ref<sdk::Event> late = start(*context_, {command("g")}, {gate.get(), last.get()});
  EXPECT_THAT(calls.take(), ElementsAre());
  gate->signal();
  EXPECT_THAT(calls.take(), ElementsAre("g after 1"));
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(late), "well");
}

TEST_F(Commands, InOrderNameNothingOfTheirOwnQueue) {
  ContextOptions options;
  options.in_order = true;
  options.hang_limit = std::chrono::milliseconds(10'000);
  answers.status = CL_RUNNING;
  Context& slow = context(options);
  sdk::Ref<sdk::Event> all = start(slow, {command("a"), command("b", {0})});
  sdk::Ref<sdk::Event> own = start(slow, {command("c")}, {all.get()});
  Queue& other = slow.take_queue();
  std::vector<Command> commands;
  commands.push_back(command("d"));
  sdk::Event* const waits[] = {own.get()};
  sdk::Ref<sdk::Event> across = opencl::start(other, tracker_, std::move(commands), {waits, 1});
  EXPECT_THAT(calls.take(), ElementsAre("a after 0", "b after 0", "c after 0", "d after 1"));
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(across), "well");
}

// What overwrites what earlier work uses comes after it and does not share its fate.
TEST_F(Commands, InOrderComeAfterAnEndWithoutTheHost) {
  ContextOptions options;
  options.in_order = true;
  options.hang_limit = std::chrono::milliseconds(10'000);
  answers.status = CL_RUNNING;
  Context& slow = context(options);
  sdk::Ref<sdk::Event> first = start(slow, {command("a"), command("b", {0})});
  sdk::Ref<sdk::Event> end = first->make_end();
  sdk::Ref<sdk::Event> again = start(slow, {command("c"), command("d", {0})}, {end.get()});
  EXPECT_THAT(calls.take(), ElementsAre("a after 0", "b after 0", "c after 0", "d after 0"));
  // Another queue does not keep that order: the host waits.
  Queue& other = slow.take_queue();
  std::vector<Command> commands;
  commands.push_back(command("e"));
  sdk::Event* const waits[] = {end.get()};
  sdk::Ref<sdk::Event> across = opencl::start(other, tracker_, std::move(commands), {waits, 1});
  EXPECT_THAT(calls.take(), ElementsAre());
  EXPECT_FALSE(end->done());
  EXPECT_TRUE(end->is_work());
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(across), "well");
  EXPECT_THAT(called(), ::testing::IsSupersetOf({"e after 0"}));
  // Failures stay where they are.
  answers.status = -777;
  first = start(slow, {command("f")});
  end = first->make_end();
  EXPECT_EQ(outcome_of(end), "well");
  EXPECT_EQ(outcome_of(first), "clEnqueueReadBuffer in queue 'transfer' on 'fake': -777");
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(start(slow, {command("g")}, {end.get()})), "well");
}

TEST_F(Commands, InOrderHaveNoEventsThatNobodyAsksFor) {
  ContextOptions options;
  options.in_order = true;
  sdk::Ref<sdk::Event> all =
      start(context(options), {command("a"), command("b", {0}), command("c", {1})});
  EXPECT_EQ(outcome_of(all), "well");
  EXPECT_THAT(called(), ::testing::IsSupersetOf({"a after 0", "b after 0, no event", "c after 0"}));
  std::vector<sdk::Ref<sdk::Event>> each;
  all = start(*context_, {command("a"), command("b", {0}), command("c", {1})}, {}, &each);
  EXPECT_EQ(outcome_of(each[1]), "well");
  EXPECT_EQ(outcome_of(all), "well");
  EXPECT_THAT(called(), ::testing::IsSupersetOf({"a after 0", "b after 0", "c after 0"}));
  // Of what is refused the batch tells, and of what has failed; the rest is waited for.
  all = start(*context_, {command("a"), command("b", {0}, CL_INVALID_KERNEL_ARGS),
                          command("c", {1}), command("d", {0})});
  EXPECT_EQ(outcome_of(all), "clEnqueueReadBuffer on 'fake': CL_INVALID_KERNEL_ARGS");
  EXPECT_THAT(called(), ::testing::IsSupersetOf({"a after 0", "b after 0, no event", "d after 0"}));
  all = start(*context_, {command("a"), command("b", {0}, CL_INVALID_KERNEL_ARGS)});
  EXPECT_EQ(outcome_of(all), "clEnqueueReadBuffer on 'fake': CL_INVALID_KERNEL_ARGS");
  EXPECT_THAT(called(), ::testing::IsSupersetOf({"a after 0", "b after 0", "marker after 0"}));
  sdk::Ref<sdk::Event> gate = sdk::make<sdk::Event>(host_);
  all = start(*context_, {command("a"), command("b", {0})}, {gate.get()});
  gate->signal(std::make_shared<sdk::Failure>(
      sdk::Failure{STRIA_DATA_LOSS, "the disk is gone", 0, {}, {}, {}}));
  EXPECT_EQ(outcome_of(all), "the disk is gone");
  EXPECT_THAT(called(), ElementsAre("freed", "freed"));
  answers.status = -777;
  EXPECT_EQ(outcome_of(start(*context_, {command("a"), command("b", {0})})),
            "clEnqueueReadBuffer in queue 'transfer' on 'fake': -777");
}

// The threads that have waited for an event of the driver below.
std::atomic<std::thread::id> waits_of;
std::atomic<int> waited;

TEST_F(Commands, AreEndedByTheThreadThatWaits) {
  OpenCl cl = telling_driver();
  cl.clWaitForEvents = [](auto, auto) -> cl_int {
    if (std::this_thread::get_id() == waits_of.load()) ++waited;
    return CL_SUCCESS;
  };
  Context context(host_, cl, fake());
  Queue& queue = context.take_queue(true);
  waits_of = std::this_thread::get_id();
  waited = 0;
  const auto start_some = [&] {
    std::vector<Command> commands;
    commands.push_back(command("a"));
    commands.push_back(command("b"));
    return opencl::start(queue, tracker_, std::move(commands), {});
  };
  // The queue's own thread may come first now and then, where this one is kept from running.
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(outcome_of(start_some()), "well");
  EXPECT_GT(waited.load(), 0);
  // What nobody waits for ends too, and after that what others wait for.
  sdk::Ref<sdk::Event> left = start_some();
  std::promise<void> told;
  left->on_done(
      [](void* state, const stria_error*) { static_cast<std::promise<void>*>(state)->set_value(); },
      &told);
  told.get_future().wait();
  EXPECT_EQ(outcome_of(start_some()->make_end()), "well");
  EXPECT_TRUE(start_some()->wait(60'000'000'000));  // with a limit
  EXPECT_TRUE(start_some()->make_end()->wait(60'000'000'000));
  (void)called();
}

// In any order, by any number of threads, each of which ends what comes before its own.
TEST_F(Commands, AreWaitedForByManyThreads) {
  Queue& queue = context().take_queue(true);
  std::vector<sdk::Ref<sdk::Event>> events;
  std::atomic<int> ended = 0;
  for (int round = 0; round < 20; ++round) {
    events.clear();
    for (int i = 0; i < 16; ++i) {
      std::vector<Command> commands;
      commands.push_back(command("a"));
      events.push_back(opencl::start(queue, tracker_, std::move(commands), {}));
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 15 - t; i >= 0; i -= 4)
          if (outcome_of(events[static_cast<size_t>(i)]) == "well") ++ended;
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(ended.load(), 20 * 16);
  (void)called();
}

TEST_F(Commands, InOrderThatHangAreAllKept) {
  answers.status = CL_RUNNING;
  ContextOptions options;
  options.in_order = true;
  options.hang_limit = std::chrono::milliseconds(20);
  EXPECT_EQ(outcome_of(start(context(options), {command("a"), command("b", {0})})),
            "'fake' is lost: clEnqueueReadBuffer in queue 'transfer', the last of 2 commands, has "
            "not ended after 40 ms");
  EXPECT_THAT(called(), ElementsAre("a after 0", "b after 0"));  // nothing is freed
}

// Three times the limit of one command, and a small part of that of all.
TEST_F(Commands, InOrderHaveTheLimitOfAllOfThem) {
  answers.status = CL_RUNNING;
  ContextOptions options;
  options.in_order = true;
  options.hang_limit = std::chrono::milliseconds(100);
  std::vector<Command> many;
  for (int i = 0; i < 1000; ++i) many.push_back(command("a"));
  sdk::Ref<sdk::Event> all = start(context(options), std::move(many));
  EXPECT_FALSE(all->make_end()->wait(300'000'000));
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(all), "well");
  (void)called();
  all = {};  // before its context ends
  // A limit beyond what nanoseconds can count.
  answers.status = CL_RUNNING;
  options.hang_limit = std::chrono::milliseconds(UINT32_MAX);
  many.clear();
  for (int i = 0; i < 3000; ++i) many.push_back(command("a"));
  all = start(context(options), std::move(many));
  EXPECT_FALSE(all->wait(10'000'000));
  answers.status = CL_COMPLETE;
  EXPECT_EQ(outcome_of(all), "well");
}

// An event of the driver below: what becomes of its command, and whether that is known.
struct Told {
  std::atomic<cl_int> status = CL_RUNNING;
};
// The end of the one command that fails: until then all that is given follows it and fails too.
Told failing;

// A driver that fails what follows a failed command in order, as PoCL does.
OpenCl driver_that_fails_followers() {
  OpenCl cl = telling_driver();
  cl.clWaitForEvents = [](cl_uint, const cl_event* events) -> cl_int {
    auto* told = reinterpret_cast<Told*>(*events);
    while (told->status > CL_COMPLETE) std::this_thread::yield();
    return told->status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
  };
  cl.clGetEventInfo = [](cl_event event, auto, auto, void* value, auto) -> cl_int {
    *static_cast<cl_int*>(value) = reinterpret_cast<Told*>(event)->status;
    return CL_SUCCESS;
  };
  return cl;
}
Command told_command(std::string name) {
  return {"clEnqueueReadBuffer", [name](cl_uint, const cl_event*, cl_event* event) -> cl_int {
            static Told well{CL_COMPLETE}, not_run{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
            calls.add(name);
            Told& told = name == "fails" ? failing : failing.status == CL_RUNNING ? not_run : well;
            if (event) *event = reinterpret_cast<cl_event>(&told);
            return CL_SUCCESS;
          }};
}

TEST_F(Commands, InOrderThatFollowAFailedOneAreGivenOnceMore) {
  const OpenCl cl = driver_that_fails_followers();
  ContextOptions options;
  options.in_order = true;
  Context context(host_, cl, fake(), options);
  failing.status = CL_RUNNING;
  const auto start = [&](std::vector<std::string> names, std::vector<sdk::Event*> waits) {
    std::vector<Command> commands;
    for (const std::string& name : names) commands.push_back(told_command(name));
    return opencl::start(context.transfer_queue(), tracker_, std::move(commands),
                         {waits.data(), waits.size()});
  };
  sdk::Ref<sdk::Event> failed = start({"fails"}, {});
  sdk::Ref<sdk::Event> end = failed->make_end();
  // After its end, after that, with nothing to do with it, and after the failure itself.
  sdk::Ref<sdk::Event> after = start({"b", "c"}, {end.get()});
  sdk::Ref<sdk::Event> chained = start({"d"}, {after.get()}), own = start({"e"}, {});
  sdk::Ref<sdk::Event> dependent = start({"f"}, {failed.get()});
  EXPECT_THAT(calls.take(), ElementsAre("fails", "b", "c", "d", "e", "f"));
  failing.status = -777;
  EXPECT_EQ(outcome_of(failed), "clEnqueueReadBuffer in queue 'transfer' on 'fake': -777");
  EXPECT_EQ(outcome_of(end), "well");
  EXPECT_EQ(outcome_of(after), "well");
  EXPECT_EQ(outcome_of(chained), "well");
  EXPECT_EQ(outcome_of(own), "well");
  EXPECT_EQ(outcome_of(dependent), outcome_of(failed));
  // In their order, without the one whose wait has failed.
  EXPECT_THAT(called(), ElementsAre("finish", "finish", "b", "c", "d", "e"));
}

// A driver that runs on after a failed command tells of it by that command's event alone.
TEST_F(Commands, InOrderThatFailAmongOthersFailTheBatchIfEachHasAnEvent) {
  const OpenCl cl = driver_that_fails_followers();
  for (const bool event_each : {false, true}) {
    ContextOptions options;
    options.in_order = true;
    options.event_each = event_each;
    Context context(host_, cl, fake(), options);
    failing.status = -777;
    std::vector<Command> commands;
    for (const char* name : {"a", "fails", "b"}) commands.push_back(told_command(name));
    sdk::Ref<sdk::Event> all =
        opencl::start(context.transfer_queue(), tracker_, std::move(commands), {});
    EXPECT_EQ(outcome_of(all),
              event_each ? "clEnqueueReadBuffer in queue 'transfer' on 'fake': -777" : "well");
    (void)called();
  }
}

// What has run meanwhile may have overwritten what the others read.
TEST_F(Commands, InOrderThatWereOvertakenFailInstead) {
  const OpenCl cl = driver_that_fails_followers();
  ContextOptions options;
  options.in_order = true;
  Context context(host_, cl, fake(), options);
  failing.status = CL_RUNNING;
  const auto start = [&](const char* name) {
    std::vector<Command> commands;
    commands.push_back(told_command(name));
    return opencl::start(context.transfer_queue(), tracker_, std::move(commands), {});
  };
  sdk::Ref<sdk::Event> failed = start("fails"), follows = start("b");
  // The queue's thread does not come to the second one before the third one is given.
  std::atomic<bool> given = false;
  failed->on_done(
      [](void* state, const stria_error*) { static_cast<std::atomic<bool>*>(state)->wait(false); },
      &given);
  failing.status = -777;
  sdk::Ref<sdk::Event> overtakes = start("c");
  given = true;
  given.notify_all();
  EXPECT_EQ(outcome_of(overtakes), "well");
  EXPECT_THAT(outcome_of(follows), HasSubstr("CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"));
  EXPECT_THAT(called(), ElementsAre("fails", "b", "c", "finish", "finish"));
}

TEST_F(Commands, ThatTheDriverRefusesFailAloneAndWithThoseThatWaitForThem) {
  std::vector<sdk::Ref<sdk::Event>> each;
  sdk::Ref<sdk::Event> all = start(context(),
                                   {command("a"), command("b", {0}, CL_INVALID_KERNEL_ARGS),
                                    command("c", {1}), command("d", {0})},
                                   {}, &each);
  sdk::Ref<sdk::Event> next = start(*context_, {command("e")}, {all.get()});
  const std::string message = "clEnqueueReadBuffer on 'fake': CL_INVALID_KERNEL_ARGS";
  EXPECT_EQ(outcome_of(each[0]), "well");
  EXPECT_EQ(outcome_of(each[1]), message);
  EXPECT_EQ(outcome_of(each[2]), message);
  EXPECT_EQ(outcome_of(each[3]), "well");
  EXPECT_EQ(outcome_of(all), message);
  EXPECT_EQ(outcome_of(next), message);
  // c and e never came to the driver.
  EXPECT_THAT(called(), ::testing::IsSupersetOf({"a after 0", "b after 1", "d after 1"}));
}

TEST_F(Commands, ThatCannotEvenAskSayWhy) {
  std::vector<Command> commands;
  commands.push_back({"clEnqueueNDRangeKernel", [](auto, auto, auto) -> cl_int {
                        throw sdk::Error(STRIA_INTERNAL, "the log of a driver");
                      }});
  EXPECT_EQ(outcome_of(start(context(), std::move(commands))), "the log of a driver");
}

TEST_F(Commands, BehindAFailedHostEventFailInAnyNumber) {
  sdk::Ref<sdk::Event> gate = sdk::make<sdk::Event>(host_);
  context();
  sdk::Ref<sdk::Event> last = gate;
  for (int i = 0; i < 20'000; ++i) last = start(*context_, {command("x")}, {last.get()});
  gate->signal(std::make_shared<sdk::Failure>(
      sdk::Failure{STRIA_DATA_LOSS, "the disk is gone", 0, {}, {}, {}}));
  EXPECT_EQ(outcome_of(last), "the disk is gone");
  for (const std::string& call : called()) ASSERT_EQ(call, "freed");
}

}  // namespace
}  // namespace stria::opencl
