// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "stria/base/diagnostic.h"
#include "stria/base/file.h"
#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria {
namespace {

Result<int> half(int x) {
  if (x % 2) return invalid_argument("{} is odd", x);
  return x / 2;
}
Result<int> quarter(int x) {
  STRIA_ASSIGN(int h, half(x));
  return half(h);
}

TEST(Status, ResultsCarryTheFirstFailure) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().to_string(), "invalid_argument: 3 is odd");
  EXPECT_EQ(quarter(6).status().with_context("here").message(), "here: 3 is odd");
}

TEST(StatusDeathTest, ABrokenAssumptionExitsWithFour) {
  EXPECT_EXIT(STRIA_CHECK(1 == 2, "one is {}", 2), testing::ExitedWithCode(4), "one is 2");
}

TEST(Diagnostic, ShowsTheLineAndACaret) {
  SourceText source{"f.tile", "first\nO = A +\tBx;\nlast"};
  Diagnostic d{Severity::error, {14, 16}, "no tensor 'Bx'"};
  EXPECT_EQ(render(source, d),
            "f.tile:2:9: error: no tensor 'Bx'\n  O = A + Bx;\n          ^~\n");
  EXPECT_EQ(render(source, {Severity::error, {999, 999}, "end"}),
            "f.tile:3:5: error: end\n  last\n      ^\n");
}

TEST(Diagnostic, SeveralMessagesInOrderOfPlace) {
  SourceText source{"x", "ab"};
  Diagnostics all(source);
  all.error({1, 2}, "second");
  all.note({0, 1}, "why");
  all.error({0, 1}, "first");
  EXPECT_EQ(all.error_count(), 2u);
  std::string text = all.to_string();
  EXPECT_LT(text.find("first"), text.find("second"));
  EXPECT_LT(text.find("second"), text.find("why"));
  EXPECT_EQ(all.status().code(), StatusCode::invalid_argument);
}

TEST(Text, NearestName) {
  EXPECT_EQ(nearest_name("simgoid", {"sqrt", "sigmoid"}), "sigmoid");
  EXPECT_EQ(nearest_name("zzz", {"sqrt", "sigmoid"}), "");
  EXPECT_EQ(nearest_name("b", {"A", "B"}), "B");
  EXPECT_EQ(nearest_name("Q", {"A", "B"}), "");
  EXPECT_EQ(nearest_name("CC", {"A", "C"}), "C");
  EXPECT_EQ(did_you_mean("lgo", {"log"}), ", did you mean 'log'?");
}

TEST(Text, FloatTextReadsBack) {
  EXPECT_EQ(float_text(1.0), "1.0");
  EXPECT_EQ(float_text(0.1f), "0.1");
  EXPECT_EQ(float_text(1e300), "1e+300");
}

TEST(File, FailedWriteLeavesNothing) {
  std::string folder = testing::TempDir() + "/stria_file_test";
  std::filesystem::remove_all(folder);
  EXPECT_EQ(write_file(folder + "/x", "a").code(), StatusCode::not_found);
  std::filesystem::create_directory(folder);
  EXPECT_TRUE(write_file(folder + "/x", "abc").ok());
  EXPECT_EQ(*read_file(folder + "/x"), "abc");
  EXPECT_FALSE(read_file(folder + "/x", 2).ok());
  EXPECT_EQ(write_file(folder, "a").code(), StatusCode::invalid_argument);
  EXPECT_TRUE(write_file("/dev/null", "a").ok());
  EXPECT_FALSE(write_file("/dev/full", "a").ok());
  std::filesystem::create_directory(folder + "/links");
  std::filesystem::create_symlink(folder + "/x", folder + "/links/y");
  EXPECT_TRUE(write_file(folder + "/links/y", "through").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/links/y"));
  EXPECT_EQ(*read_file(folder + "/x"), "through");
  EXPECT_TRUE(write_file("/proc/self/fd/1", "").ok());
  std::filesystem::remove_all(folder + "/links");
  int files = 0;
  for ([[maybe_unused]] auto& entry : std::filesystem::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace stria
