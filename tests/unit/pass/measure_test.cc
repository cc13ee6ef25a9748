// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "stria/base/file.h"

namespace stria {
namespace {

namespace fs = std::filesystem;

class MeasureTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        (std::string("stria_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    measure_.times = one_by_one([this](const stripe::Program&) -> Result<double> {
      ++runs_;
      return ns_;
    });
    measure_.device = "fake 1";
    measure_.folder = folder_ / "times";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static stripe::Program named(const std::string& name) {
    stripe::Program program;
    program.entry.name = name;
    return program;
  }
  // Of a program whose entry block has this name.
  double ask(const std::string& name = "first") {
    const Result<MeasuredTime> time = measured_times(measure_, model_, {named(name)}).at(0);
    if (time.ok()) kept_ = time->kept;
    return time.ok() ? time->ns : -1;
  }
  fs::path only_file() const { return fs::directory_iterator(folder_ / "times")->path(); }

  fs::path folder_;
  Measure measure_;
  HardwareModel model_ = empty_hardware_model();
  int runs_ = 0;
  double ns_ = 125.5;
  bool kept_ = false;
};

TEST_F(MeasureTest, IsKeptForTheNextProcess) {
  EXPECT_EQ(ask(), 125.5);
  EXPECT_FALSE(kept_);
  ns_ = 7;
  EXPECT_EQ(ask(), 125.5);
  EXPECT_TRUE(kept_);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "times"), fs::directory_iterator()), 1);
}

TEST_F(MeasureTest, OfAnotherProgramRestModelOrDeviceIsMeasured) {
  ask();
  EXPECT_EQ(ask("second"), 125.5);
  measure_.rest = "[{\"unroll\": {}}]";
  EXPECT_EQ(ask(), 125.5);
  measure_.device = "fake 2";
  ask();
  auto model = load_hardware_model({"other", R"({"name": "other"})"});
  ASSERT_TRUE(model.ok());
  model_ = *model;
  ask();
  EXPECT_EQ(runs_, 5);
}

TEST_F(MeasureTest, ADamagedEntryIsMeasuredAgainAndMended) {
  ask();
  const std::string good = read_file(only_file()).value();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {std::string(), std::string("{"), good.substr(0, good.size() / 2), std::string("[1, 2]"),
        with("125.5", "\"125.5\""), with("125.5", "-1"), with("125.5", "0"), with("125.5", "null"),
        with("first", "other"), with("\"version\": ", "\"version\": 1"),
        with("\"version\": ", "\"more\": 1, \"version\": ")}) {
    std::ofstream(only_file()) << text;
    const int before = runs_;
    EXPECT_EQ(ask(), 125.5) << text;
    EXPECT_EQ(runs_, before + 1) << text;
    EXPECT_EQ(read_file(only_file()).value(), good);
  }
}

// Nobody is waited for that writes to it or reads it.
TEST_F(MeasureTest, APipeIsNoEntryAndIsReplaced) {
  const auto begin = std::chrono::steady_clock::now();
  ask();
  const fs::path file = only_file();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  ask();
  ask();
  EXPECT_EQ(runs_, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(MeasureTest, WithoutAFolderNothingIsKept) {
  measure_.folder = "";
  ask();
  ask();
  EXPECT_EQ(runs_, 2);
  EXPECT_FALSE(fs::exists(folder_ / "times"));
}

TEST_F(MeasureTest, AFolderThatCannotBeWrittenIsNoError) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "times") << "a file";
  EXPECT_EQ(ask(), 125.5);
}

TEST_F(MeasureTest, WhatTheDeviceRefusesOrCannotHaveMeasuredIsAnError) {
  ns_ = 0;
  EXPECT_EQ(ask(), -1);
  EXPECT_FALSE(fs::exists(folder_ / "times"));
  measure_.times =
      one_by_one([](const stripe::Program&) -> Result<double> { return unsupported("too large"); });
  EXPECT_THAT(measured_times(measure_, model_, {{}}).at(0).status().message(),
              testing::HasSubstr("too large"));
}

TEST_F(MeasureTest, WhatIsNotKeptIsMeasuredTogether) {
  ask("second");
  std::vector<std::string> asked;
  measure_.times = [&](const Measure::Programs& programs) {
    std::vector<Result<double>> out;
    for (const stripe::Program& program : programs) {
      asked.push_back(program.entry.name);
      if (asked.size() == 2)
        out.emplace_back(unsupported("too large"));
      else
        out.emplace_back(static_cast<double>(asked.size()));
    }
    return out;
  };
  const std::vector<Result<MeasuredTime>> times = measured_times(
      measure_, model_, {named("first"), named("second"), named("third"), named("fourth")});
  EXPECT_THAT(asked, testing::ElementsAre("first", "third", "fourth"));
  ASSERT_EQ(times.size(), 4u);
  EXPECT_EQ(times[0]->ns, 1);
  EXPECT_FALSE(times[0]->kept);
  EXPECT_EQ(times[1]->ns, 125.5);
  EXPECT_TRUE(times[1]->kept);
  EXPECT_FALSE(times[2].ok());
  EXPECT_EQ(times[3]->ns, 3);
}

}  // namespace
}  // namespace stria
