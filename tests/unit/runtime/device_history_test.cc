// SPDX-License-Identifier: Apache-2.0
// What is kept of devices for later processes: failures, with a time that doubles, and verdicts of
// the conformance suite. Files are damaged, clocks jump, processes write at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "stria/hal/files/folder_identity.h"
#include "stria/runtime/host/kept_conformance.h"
#include "stria/runtime/host/quarantine_file.h"

namespace stria {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Cause = Quarantine::Cause;

class DeviceHistory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    std::string name = (fs::temp_directory_path() / "stria_history_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    device_.plugin = "acme";
    device_.id = "0";
    device_.name = "Acme 300, driver 1";
    device_.selector = "acme:0";
    device_.folder = (folder_ / "acme").string();
    fs::create_directory(device_.folder);
    std::ofstream(folder_ / "acme" / "libacme.so") << "first";
  }
  void TearDown() override {
    before_ ? ::setenv("XDG_CACHE_HOME", before_->c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }
  QuarantineFile quarantine() {
    return QuarantineFile([this] { return now_; });
  }
  // A failure in work that has just begun.
  void fail(Cause cause = Cause::lost) {
    quarantine().failed(device_, cause, "matmul", "the link is down", now_ - 0.5);
  }
  double left(const DeviceInfo& device) {
    const std::optional<Quarantine> found = quarantine().find(device);
    return found ? found->left_s : 0;
  }
  void overwrite(const std::string& folder, const std::string& text) const {
    size_t files = 0;
    for (const auto& file : fs::recursive_directory_iterator(folder_ / "stria" / folder))
      if (file.is_regular_file()) {
        std::ofstream(file.path(), std::ios::trunc) << text;
        ++files;
      }
    EXPECT_GT(files, 0u);
  }

  double now_ = 1000;
  DeviceInfo device_;
  std::optional<std::string> before_;
  fs::path folder_;
};

TEST_F(DeviceHistory, ALossKeepsOutForATimeThatDoubles) {
  EXPECT_EQ(quarantine().find(device_), std::nullopt);
  for (const double minutes : {1, 2, 4, 8, 16, 32, 60, 60}) {
    fail();
    EXPECT_EQ(left(device_), minutes * 60);
    now_ += minutes * 60 - 1;
    EXPECT_EQ(left(device_), 1);
    now_ += 1;
    EXPECT_EQ(quarantine().find(device_), std::nullopt);
  }
  // A run that ends well begins it anew, also when the time is over.
  quarantine().ended_well(device_, false);
  fail();
  EXPECT_EQ(left(device_), 60);
}

TEST_F(DeviceHistory, WrongResultsKeepOutForLonger) {
  for (const double hours : {1, 2, 4, 8, 16, 24, 24}) {
    fail(Cause::wrong);
    EXPECT_EQ(left(device_), hours * 3600);
    now_ += hours * 3600;
  }
  // Nobody has looked at the results of such a run.
  fail(Cause::wrong);
  quarantine().ended_well(device_, false);
  EXPECT_EQ(left(device_), 24 * 3600);
  quarantine().ended_well(device_, true);
  EXPECT_EQ(left(device_), 0);
}

TEST_F(DeviceHistory, EachCauseCountsForItself) {
  fail(Cause::wrong);
  now_ += 10;
  fail(Cause::lost);
  ASSERT_TRUE(quarantine().find(device_));
  EXPECT_EQ(quarantine().find(device_)->cause, Cause::wrong);
  EXPECT_EQ(left(device_), 3590);
  quarantine().ended_well(device_, false);
  EXPECT_EQ(left(device_), 3590);
  EXPECT_TRUE(quarantine().clear(device_));
  EXPECT_EQ(left(device_), 0);
  EXPECT_FALSE(quarantine().clear(device_));
}

TEST_F(DeviceHistory, SaysWhatHasHappened) {
  fail();
  now_ += 30;
  const Quarantine found = quarantine().find(device_).value();
  EXPECT_EQ(found.program, "matmul");
  EXPECT_EQ(found.ago_s, 30);
  EXPECT_EQ(found.in_a_row, 1);
  EXPECT_THAT(found.to_string(),
              MatchesRegex("lost 30 seconds ago in 'matmul': the link is down; again from "
                           "[0-2][0-9]:[0-5][0-9]"));
  fail(Cause::wrong);
  now_ += 61;
  EXPECT_THAT(quarantine().find(device_)->to_string(),
              HasSubstr("it gave wrong results 1 minute ago in 'matmul'"));
  now_ += 3 * 60;
  EXPECT_THAT(quarantine().find(device_)->to_string(), HasSubstr(" 4 minutes ago "));
}

// What others have said is shown as it can be shown.
TEST_F(DeviceHistory, TextsAreEscapedAndCut) {
  quarantine().failed(device_, Cause::lost, "a\nb\x1b[31m", std::string(5000, 'x'), now_ - 1);
  const std::string text = quarantine().find(device_)->to_string();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 800u);
}

TEST_F(DeviceHistory, TextsAreOneLine) {
  quarantine().failed(device_, Cause::lost, "a\nb", "p.json:1:2: error\n  [\n  ^\n", now_ - 0.5);
  const std::string said = quarantine().find(device_)->to_string();
  EXPECT_EQ(said.find("\\x0a"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST_F(DeviceHistory, AnotherDeviceOrDriverIsNotMeant) {
  fail();
  for (std::string DeviceInfo::* const part :
       {&DeviceInfo::plugin, &DeviceInfo::id, &DeviceInfo::name}) {
    DeviceInfo other = device_;
    other.*part += "2";
    EXPECT_EQ(left(other), 0);
  }
  DeviceInfo listed_elsewhere = device_;
  listed_elsewhere.selector = "isolated:acme:3";
  EXPECT_EQ(left(listed_elsewhere), 60);
}

// Whoever mends a plugin tries it again at once.
TEST_F(DeviceHistory, APluginThatIsBuiltAnewBeginsAnew) {
  fail();
  ASSERT_EQ(left(device_), 60);
  DeviceInfo by_another_name = device_;
  by_another_name.folder = (folder_ / "acme" / ".." / "acme").string();
  EXPECT_EQ(left(by_another_name), 60);
  std::ofstream(folder_ / "acme" / "libacme.so") << "mended";
  EXPECT_EQ(left(device_), 0);
  fail();
  EXPECT_EQ(left(device_), 60);
}

// Several runs on one device meet the same loss.
TEST_F(DeviceHistory, OneLossCountsOnce) {
  fail();
  now_ += 5;
  quarantine().failed(device_, Cause::lost, "softmax", "the link is down", 990);
  EXPECT_EQ(quarantine().find(device_)->program, "matmul");
  EXPECT_EQ(left(device_), 55);
  // Work that was begun after it: by name, or after all others have failed.
  quarantine().failed(device_, Cause::lost, "softmax", "the link is down", 1001);
  EXPECT_EQ(left(device_), 120);
}

TEST_F(DeviceHistory, ProcessesThatFailAtOnceCountOnce) {
  constexpr int kProcesses = 8;
  for (int round = 0; round < 20; ++round) {
    now_ += 7200;
    (void)quarantine().clear(device_);
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    for (int i = 0; i < kProcesses; ++i)
      if (::fork() == 0) {
        char c;
        ::close(gate[1]);
        (void)!::read(gate[0], &c, 1);  // until the other end is closed
        fail();
        ::_exit(0);
      }
    ::close(gate[0]);
    ::close(gate[1]);
    for (int i = 0; i < kProcesses; ++i) {
      int status = 0;
      ::wait(&status);
      EXPECT_EQ(status, 0);
    }
    ASSERT_EQ(left(device_), 60) << round;
  }
}

TEST_F(DeviceHistory, ADamagedFileIsNoQuarantine) {
  for (const char* text : {"", "{", "stria cache 1\n", "\xff\xfe"}) {
    fail();
    EXPECT_GT(left(device_), 0);
    overwrite("quarantine", text);
    EXPECT_EQ(left(device_), 0);
    EXPECT_FALSE(quarantine().clear(device_));
    // And it is written anew.
    fail();
    EXPECT_EQ(left(device_), 60);
    (void)quarantine().clear(device_);
  }
}

// Times are those since this machine has booted. What is kept of a time to come is of another
// clock: then nothing is known.
TEST_F(DeviceHistory, AClockThatJumpsBackKeepsNothingOut) {
  fail();
  now_ -= 1e6;
  EXPECT_EQ(quarantine().find(device_), std::nullopt);
  fail();
  EXPECT_EQ(left(device_), 60);
}

TEST_F(DeviceHistory, TheClockOfTheMachineGoesOn) {
  const QuarantineFile real;
  const double first = real.now();
  ::usleep(20'000);
  EXPECT_GE(real.now(), first + 0.02);
  real.failed(device_, Cause::lost, "p", "w", first);
  EXPECT_NEAR(QuarantineFile().find(device_)->left_s, 60, 1);
}

TEST_F(DeviceHistory, WithoutAFolderNothingIsKept) {
  ::setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  fail();
  EXPECT_EQ(left(device_), 0);
  KeptConformance(hal::folder_lines(folder_)).keep("0: Acme", {1, 2, {}, 0, "2026-11-29"});
  EXPECT_EQ(KeptConformance(hal::folder_lines(folder_)).find("0: Acme"), std::nullopt);
}

class ConformanceHistory : public DeviceHistory {
 protected:
  void SetUp() override {
    DeviceHistory::SetUp();
    fs::create_directories(plugin() / "hw");
    std::ofstream(plugin() / "plugin.json") << "{}";
    std::ofstream(plugin() / "hw/acme.json") << "{}";
  }
  fs::path plugin() const { return folder_ / "acme"; }
  std::optional<Conformance> found(const std::string& device = "0: Acme 300") const {
    return KeptConformance(hal::folder_lines(plugin())).find(device);
  }
  void keep(const Conformance& verdict) const {
    KeptConformance(hal::folder_lines(plugin())).keep("0: Acme 300", verdict);
  }
};

TEST_F(ConformanceHistory, AVerdictIsOfTheFilesAndTheDevice) {
  const Conformance verdict = {1, 3, {"K.a", "M.b"}, 7, "2026-11-29"};
  EXPECT_EQ(found(), std::nullopt);
  keep(verdict);
  EXPECT_EQ(found(), verdict);
  EXPECT_TRUE(found()->is_objection());
  EXPECT_EQ(found()->to_string(), "fails level 2 of conformance: K.a, M.b and 5 more (2026-11-29)");
  EXPECT_EQ(found("0: Acme 300, driver 2"), std::nullopt);
  // Another plugin with the same bytes has its own.
  fs::copy(plugin(), folder_ / "copy", fs::copy_options::recursive);
  EXPECT_EQ(KeptConformance(hal::folder_lines(folder_ / "copy")).find("0: Acme 300"), std::nullopt);
  // The same file with other contents, or written anew, is another.
  std::ofstream(plugin() / "hw/acme.json") << "{ }";
  EXPECT_EQ(found(), std::nullopt);
  keep(verdict);
  std::ofstream(plugin() / "hw/new.json") << "{}";
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(ConformanceHistory, WhatFailsAboveLevelTwoIsNoObjection) {
  EXPECT_TRUE((Conformance{0, 1, {"P.a"}, 1, ""}).is_objection());
  EXPECT_FALSE((Conformance{1, 1, {}, 0, ""}).is_objection());
  EXPECT_TRUE((Conformance{1, 2, {"K.a"}, 1, ""}).is_objection());
  EXPECT_FALSE((Conformance{2, 4, {"T.a"}, 1, ""}).is_objection());
  EXPECT_EQ((Conformance{2, 4, {"T.a"}, 1, "2026-11-29"}).to_string(),
            "conforms to level 2 (2026-11-29)");
}

// A shorter look that finds nothing takes nothing back; one that finds something does, and so does
// one that finds a failure mended.
TEST_F(ConformanceHistory, TheLastVerdictThatSaysSomethingCounts) {
  const Conformance high = {3, 3, {}, 0, "2026-11-01"}, low = {1, 1, {}, 0, "2026-11-02"},
                    bad = {0, 1, {"P.a"}, 1, "2026-11-03"}, right = {2, 2, {}, 0, "2026-11-04"};
  keep(high);
  keep(low);
  EXPECT_EQ(found(), high);
  keep(bad);
  EXPECT_EQ(found(), bad);
  keep(low);
  EXPECT_EQ(found(), low);
  keep(right);
  EXPECT_EQ(found(), right);
}

TEST_F(ConformanceHistory, ADamagedFileIsNoVerdict) {
  keep({0, 1, {"P.a"}, 1, "2026-11-03"});
  ASSERT_TRUE(found());
  overwrite("conformance", "{\"level\": 0}");
  EXPECT_EQ(found(), std::nullopt);
}

}  // namespace
}  // namespace stria
