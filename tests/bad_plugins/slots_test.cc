// SPDX-License-Identifier: Apache-2.0
// Every slot of every table lets exceptions out, returns every error code, and does nothing: the
// host says which plugin and which slot, and the good plugin beside goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <mutex>
#include <set>

#include "bad_folder.h"
#include "stria/base/shown_text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/plugin_set.h"

namespace stria::bad_plugins {
namespace {

using ::testing::HasSubstr;
using namespace stria::hal;

const std::vector<std::string>& all_slots() {
  static const std::vector<std::string> slots = {
#define SLOT(table, slot) #table "." #slot,
#include "stria/hal/boundary/slots.def"
  };
  return slots;
}

// What slots that return nothing leave behind is a line in the log.
const std::set<std::string> kVoidSlots = {"driver.shutdown", "device.release", "compiler.release",
                                          "library.release", "kernel.release", "executor.release",
                                          "buffer.release",  "event.release"};

class SlotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto script = std::make_shared<Script>();
    ArgumentInfo out{"R", Direction::out, 8, {}};
    (*script)["nothing"] = {{out}, [](auto) { return Status(); }};
    script_ = script;
    directory_ = make_bad(folder_.path(), "bad");
    host_ = with_log(scripted_functions(script_));
    good_ = load_plugin(built_plugin("reference"), host_);
    ASSERT_TRUE(good_.status().ok()) << good_.status().to_string();
  }
  void TearDown() override { EXPECT_TRUE(good_.plugin.shutdown().ok()); }

  std::shared_ptr<Host> with_log(HostFunctions functions) {
    functions.log = [this](LogLevel, std::string_view line) {
      std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    };
    return std::make_shared<Host>(std::move(functions), 2);
  }

  // Touches every slot; the first failure, or what else was odd.
  Status use(const Plugin& plugin) {
    STRIA_ASSIGN(auto devices, plugin.devices());
    if (devices.empty()) return make_error(StatusCode::unknown, "no devices");
    STRIA_ASSIGN(Device device, plugin.open(devices[0].id));
    STRIA_ASSIGN(Compiler compiler, device.create_compiler());
    STRIA_RETURN_IF_ERROR(compiler.transform("text", "pass", "{}").status());
    STRIA_ASSIGN(Build build, compiler.build("nothing"));
    STRIA_RETURN_IF_ERROR(build.done.wait());
    STRIA_RETURN_IF_ERROR(build.library.source().status());
    STRIA_ASSIGN(Executor executor, device.create_executor());
    STRIA_ASSIGN(Kernel kernel, executor.prepare(build.library, 0));
    STRIA_ASSIGN(Buffer a, device.allocate(8));
    STRIA_ASSIGN(Buffer b, device.allocate(8));
    STRIA_ASSIGN(Event filled, executor.fill(a, 0, 8, std::vector<std::byte>(1)));
    STRIA_ASSIGN(Event copied, executor.copy(a, 0, b, 0, 8, std::vector{filled}));
    STRIA_ASSIGN(Event ran, kernel.run(std::vector<Argument>{{b, 0}}, std::vector{copied}));
    STRIA_ASSIGN(Event submitted,
                 executor.submit(std::vector<Launch>{{kernel, {{b, 0}}, {}}}, std::vector{ran}));
    STRIA_RETURN_IF_ERROR(executor.flush());
    STRIA_ASSIGN(Event end, submitted.end());
    STRIA_RETURN_IF_ERROR(submitted.wait());
    STRIA_RETURN_IF_ERROR(end.wait());
    STRIA_RETURN_IF_ERROR(executor.drain());
    STRIA_RETURN_IF_ERROR(submitted.duration_ns().status());
    STRIA_RETURN_IF_ERROR(submitted.on_done([](const Status&) {}));
    if (!submitted.is_done()) return make_error(StatusCode::unknown, "event.query is never 1");
    STRIA_ASSIGN(Event event, device.create_event());
    STRIA_RETURN_IF_ERROR(event.signal());
    for (int way : {0, 1, 2}) {
      STRIA_ASSIGN(Mapping mapping, way == 0   ? b.map_current()
                                    : way == 1 ? b.map_discard()
                                               : b.map_read());
      STRIA_RETURN_IF_ERROR(mapping.unmap().status());
    }
    return Status();
  }

  // Loads the plugin for one misdeed and uses it.
  Status commit(const std::string& misdeed) {
    {
      std::lock_guard lock(mutex_);
      log_.clear();
    }
    LoadOptions options;
    options.driver_options = misdeed;
    LoadResult loaded = load_plugin(directory_, host_, options);
    Status status = loaded.status();
    if (status.ok()) status = use(loaded.plugin);
    // What was done to `release` has left something behind; all else has not.
    if (Status end = loaded.plugin.shutdown(); status.ok() && !end.ok()) status = end;
    return status;
  }
  std::string log() {
    std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& line : log_) all += line + "\n";
    return all;
  }
  void good_goes_on() {
    EXPECT_EQ(good_.plugin.devices()->size(), 1u);
    EXPECT_TRUE(use_good().ok()) << use_good().to_string();
  }
  Status use_good() {
    STRIA_ASSIGN(Device device, good_.plugin.open(good_.plugin.devices()->at(0).id));
    STRIA_ASSIGN(Compiler compiler, device.create_compiler());
    STRIA_ASSIGN(Build build, compiler.build("nothing"));
    STRIA_RETURN_IF_ERROR(build.done.wait());
    STRIA_ASSIGN(Executor executor, device.create_executor());
    STRIA_ASSIGN(Kernel kernel, executor.prepare(build.library, 0));
    STRIA_ASSIGN(Buffer buffer, device.allocate(8));
    STRIA_ASSIGN(Event done, kernel.run(std::vector<Argument>{{buffer, 0}}));
    return done.wait();
  }

  TemporaryFolder folder_;
  fs::path directory_;
  std::shared_ptr<const Script> script_;
  std::mutex mutex_;
  std::vector<std::string> log_;  // guarded by mutex_
  std::shared_ptr<Host> host_;
  LoadResult good_;
};

TEST_F(SlotsTest, WithoutAMisdeedAllIsWell) {
  EXPECT_EQ(commit("none").to_string(), "ok");
  EXPECT_EQ(log(), "");
}

TEST_F(SlotsTest, EverySlotThrows) {
  std::printf("%-24s %-42s %s\n", "throws out of", "expected", "verdict");
  for (const std::string& slot : all_slots()) {
    for (const char* how : {"throw ", "throw_text "}) {
      const Status status = commit(how + slot);
      const std::string line = "plugin bad: " + slot + ": an exception came out of the plugin";
      const bool quiet = kVoidSlots.count(slot) > 0 || slot == "event.query";
      if (how == std::string("throw "))
        std::printf("%-24s %-42s %s\n", slot.c_str(), quiet ? "a line in the log" : "incompatible",
                    quiet ? log().substr(0, log().find('\n')).c_str() : status.to_string().c_str());
      EXPECT_THAT(log(), HasSubstr(line));
      if (quiet) continue;
      EXPECT_EQ(status.code(), kPluginFault) << slot;
      EXPECT_EQ(status.message(), line);
    }
    good_goes_on();
  }
}

TEST_F(SlotsTest, EverySlotReturnsEveryErrorCode) {
  std::printf("%-24s %-28s %s\n", "fails in", "expected", "verdict");
  for (const std::string& slot : all_slots()) {
    if (kVoidSlots.count(slot) > 0) continue;
    int kept = 0;
    for (int code = STRIA_INVALID_ARGUMENT; code <= STRIA_INTERNAL; ++code) {
      const Status status = commit("fail " + slot + " " + std::to_string(code));
      if (slot == "event.query") {  // says only whether it is done
        EXPECT_EQ(status.message(), "event.query is never 1");
        ++kept;
        continue;
      }
      if ((slot == "event.end" || slot == "buffer.map_read") &&
          code == STRIA_UNIMPLEMENTED) {  // as of an older plugin
        EXPECT_TRUE(status.ok()) << status.to_string();
        ++kept;
        continue;
      }
      const auto expected = code == STRIA_INTERNAL ? kPluginFault : static_cast<StatusCode>(code);
      // An event's own failure is handed on as it is, for its first cause to be seen.
      const std::string message =
          slot == "event.status" ? "as asked" : "plugin bad: " + slot + ": as asked";
      EXPECT_EQ(status.to_string(), Status(expected, message).to_string());
      kept += status.code() == expected && status.message() == message;
    }
    std::printf("%-24s %-28s %d of 16 as they were\n", slot.c_str(), "all 16 codes and the slot",
                kept);
    good_goes_on();
  }
}

TEST_F(SlotsTest, EverySlotDoesNothing) {
  // These only report or start something: to do nothing is no visible fault.
  const std::set<std::string> silent = {"executor.flush", "executor.drain", "event.status",
                                        "event.on_done",  "event.signal",   "event.duration_ns",
                                        "library.source"};
  // Who has not waited meets what is not done, or work that was done by itself in the meantime.
  const std::string racing = "event.wait";
  std::printf("%-24s %-36s %s\n", "does nothing in", "expected", "verdict");
  for (const std::string& slot : all_slots()) {
    if (slot == "driver.shutdown") continue;  // the host cannot see it
    const Status status = commit("empty " + slot);
    const bool leak = kVoidSlots.count(slot) > 0;
    const char* expected = leak                     ? "ok, or a leak"
                           : slot == racing         ? "ok, or a failure"
                           : silent.count(slot) > 0 ? "ok"
                                                    : "a failure";
    std::printf("%-24s %-36s %s\n", slot.c_str(), expected, status.to_string().c_str());
    if (silent.count(slot) > 0) {
      EXPECT_TRUE(status.ok()) << slot << ": " << status.to_string();
    } else if (!leak && slot != racing) {
      EXPECT_FALSE(status.ok()) << slot;
    }
    good_goes_on();
  }
}

struct Case {
  const char* misdeed;
  StatusCode code;
  const char* message;
};

TEST_F(SlotsTest, StructsThatAreWrong) {
  const Case cases[] = {
      {"devices that_are_null", kPluginFault, "the sink was given nothing"},
      {"devices of_text_without_data", kPluginFault, "a null pointer of 100 bytes"},
      {"devices of_endless_text", kPluginFault, "a text of 18446744073709551615 bytes"},
      {"devices of_size_zero", kPluginFault, "a device has no id"},
      {"devices without_end", kPluginFault, "called more than 262144 times"},
      {"devices without_id", kPluginFault, "a device has no id"},
      {"devices twice", kPluginFault, "two devices have the id '0'"},
      {"devices of_another_kind", kPluginFault, "no device kind 'starship'"},
      {"devices with_odd_properties", kPluginFault, "are no JSON object"},
      {"devices with_lines", StatusCode::ok, ""},
      {"devices with_a_long_id", kPluginFault,
       "a device's id is a text of 1048576 bytes, the limit is 256"},
      {"devices with_an_odd_id", kPluginFault, "a device's id, 'a\\xffb', has control characters"},
      {"devices of_an_odd_kind", kPluginFault, "no device kind 'begins\\x1b[31m\\x07\\xff"},
      {"devices with_large_properties", kPluginFault,
       "a device's properties is a text of 2097154 bytes, the limit is 1048576"},
      {"kernels without_arguments", kPluginFault, "has 2 arguments and has no list of them"},
      {"kernels with_null_arguments", kPluginFault, "argument 0 of kernel 'k' is null"},
      {"kernels with_a_million_arguments", kPluginFault,
       "has 1000000 arguments, the limit is 65536"},
      {"kernels of_an_odd_direction", kPluginFault, "the unknown direction 77"},
      {"kernels of_an_odd_part", kPluginFault, "the unknown part 5"},
      {"kernels with_overlaps_nowhere", kPluginFault, "overlaps 3 others and has no list of them"},
      {"kernels with_inputs_first", kPluginFault, "stands behind an input"},
      {"error of_size_zero", kPluginFault, "no message"},
      {"error in_a_ring", StatusCode::unavailable, "because bad; because bad"},
      {"error of_an_odd_code", kPluginFault, "unknown code -5"},
      {"error of_success", kPluginFault, "unknown code 0"},
      {"error without_data", StatusCode::unavailable, "no message"},
      {"error at_an_absurd_address", kPluginFault,
       "an error at the address 0x1, where none can be"},
      {"error of_absurd_pointers", StatusCode::unavailable, "executor.flush: bad"},
      {"devices of_text_nowhere", kPluginFault, "a device's name is at the address 0x1"},
      {"error of_absurd_size", StatusCode::unavailable,
       "a text of 18446744073709551615 bytes, which is not read"},
      {"error of_odd_text", StatusCode::unavailable,
       "begins\\x1b[31m\\x07\\xff\nand goes on\\x1b]"},
      {"error whose_release_throws", kPluginFault, "release let an exception out"},
      {"call_back_twice", StatusCode::ok, ""},
      {"leak", kPluginFault, "has not given back 1 allocation (4096 bytes)"},
  };
  std::printf("%-34s %-14s %s\n", "gives", "expected", "verdict");
  for (const Case& one : cases) {
    const Status status = commit(one.misdeed);
    std::printf("%-34s %-14s %.110s\n", one.misdeed, std::string(name_of(one.code)).c_str(),
                status.to_string().c_str());
    EXPECT_EQ(status.code(), one.code) << one.misdeed << ": " << status.to_string();
    EXPECT_THAT(status.message(), HasSubstr(one.message)) << one.misdeed;
    if (!status.ok()) {
      EXPECT_THAT(status.message(), HasSubstr("plugin bad")) << one.misdeed;
      EXPECT_LE(status.message().size(), kMaxMessageBytes) << one.misdeed;
      EXPECT_EQ(escaped_lines(status.message()), status.message()) << one.misdeed;
    }
    good_goes_on();
  }
}

TEST_F(SlotsTest, NamesForPeopleHaveOneLine) {
  LoadOptions options;
  options.driver_options = "devices with_lines";
  LoadResult loaded = load_plugin(directory_, host_, options);
  ASSERT_TRUE(loaded.status().ok());
  EXPECT_EQ(loaded.plugin.devices()->at(0).name, "one two\\x1b[31m");
  EXPECT_TRUE(loaded.plugin.shutdown().ok());
}

TEST_F(SlotsTest, TextsOfADeviceAreEscapedAndCut) {
  LoadOptions options;
  options.driver_options = "devices of_odd_text";
  LoadResult loaded = load_plugin(directory_, host_, options);
  ASSERT_TRUE(loaded.status().ok());
  const DeviceInfo info = loaded.plugin.devices()->at(0);
  for (const std::string& text : {info.name, info.vendor, info.reason}) {
    EXPECT_THAT(text, ::testing::StartsWith("begins\\x1b[31m\\x07\\xff and "));
    EXPECT_THAT(text, HasSubstr("bytes left out"));
    EXPECT_EQ(text.substr(text.size() - 11), "\\x1b[0mends");
    EXPECT_LE(text.size(), text == info.reason ? kMaxMessageBytes : kMaxNameBytes);
    EXPECT_EQ(shown_name(text, kMaxMessageBytes), text);
  }
  EXPECT_TRUE(loaded.plugin.shutdown().ok());
}

// Nobody reads a million lines, and a terminal is not to be filled with them.
TEST_F(SlotsTest, LinesBeyondALimitAreCountedAndDropped) {
  EXPECT_EQ(commit("log 20000").to_string(), "ok");
  std::lock_guard lock(mutex_);
  ASSERT_EQ(log_.size(), 1002u);
  for (const std::string& line : log_) {
    EXPECT_LE(line.size(), kMaxMessageBytes);
    EXPECT_EQ(escaped_lines(line), line);
  }
  EXPECT_EQ(log_[1000], "plugin bad: 1000 log lines in 60 s: the rest of them are dropped");
  EXPECT_EQ(log_[1001], "plugin bad: 19000 log lines were dropped");
}

TEST_F(SlotsTest, AnErrorThatNobodyCanReleaseIsReadAllTheSame) {
  for (const std::string& slot : all_slots()) {
    if (kVoidSlots.count(slot) > 0 || slot == "event.query") continue;
    const Status status = commit("fail_bare " + slot + " 6");
    EXPECT_EQ(status.code(), StatusCode::unavailable) << slot << ": " << status.to_string();
    EXPECT_THAT(status.message(), HasSubstr("as asked")) << slot;
    good_goes_on();
  }
}

// Who opens a device that hangs waits as long as for a step of a load, and others not at all
// afterwards; the driver under the call that never came back is not shut down.
TEST_F(SlotsTest, OpeningThatHangsEndsWithTheLimit) {
  for (const std::string slot : {"driver.open", "device.create_compiler"}) {
    LoadOptions options;
    options.driver_options = "hang " + slot;
    options.time_limit = std::chrono::seconds(2);
    LoadResult loaded = load_plugin(directory_, host_, options);
    ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
    const Status status = use(loaded.plugin);
    EXPECT_EQ(status.code(), StatusCode::deadline_exceeded);
    EXPECT_EQ(status.message(),
              "plugin bad: " + slot + " has not returned within the limit of 2000 ms");
    good_goes_on();
    const Status end = loaded.plugin.shutdown();
    EXPECT_EQ(end.code(), StatusCode::failed_precondition);
    EXPECT_EQ(end.message(), "plugin bad is still used: 1 x device");
  }
}

TEST_F(SlotsTest, AnEventThatIsNeverDoneNamesItsPluginWhenTheWaitEnds) {
  auto host = std::make_shared<Host>(scripted_functions(script_), 2, uint64_t{50'000'000});
  LoadOptions options;
  options.driver_options = "never_done";
  LoadResult loaded = load_plugin(directory_, host, options);
  ASSERT_TRUE(loaded.status().ok());
  Status status = use(loaded.plugin);
  EXPECT_EQ(status.code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(status.message(),
            "plugin bad: what executor.submit began is not done after 0.05 s, the wait limit: the "
            "device hangs, or the plugin never says that it is done");
  good_goes_on();
}

}  // namespace
}  // namespace stria::bad_plugins
