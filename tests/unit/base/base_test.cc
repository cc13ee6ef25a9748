// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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
  EXPECT_EQ(render(source, d), "f.tile:2:9: error: no tensor 'Bx'\n  O = A + Bx;\n          ^~\n");
  EXPECT_EQ(render(source, {Severity::error, {999, 999}, "end"}),
            "f.tile:3:5: error: end\n  last\n      ^\n");
}

TEST(Diagnostic, ControlBytesAreShownEscaped) {
  SourceText source{"f", "a\x1b\x7f\xff\xc3\xa9 B\xc2\x9b"};
  EXPECT_EQ(
      render(source, {Severity::error, {7, 8}, "no 'B\x1b'"}),
      "f:1:8: error: no 'B\\x1b'\n  a\\x1b\\x7f\\xff\xc3\xa9 B\\xc2\\x9b\n                 ^\n");
  EXPECT_TRUE(render(source, {Severity::error, {1, 2}, "x"}).ends_with("\n   ^~~~\n"));
}

TEST(Diagnostic, LongLinesAreCutRoundTheCaret) {
  for (size_t at : {size_t{0}, size_t{100}, size_t{500}, size_t{998}}) {
    std::string text;
    while (text.size() < 1000) text += "\xc3\xa9";
    SourceText source{"f", text};
    std::string shown = render(source, {Severity::error, {at, at + 2}, "m"});
    EXPECT_EQ(shown.find("\\x"), std::string::npos) << shown;
    EXPECT_LT(shown.size(), 400u);
  }
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
  EXPECT_EQ(nearest_name("LOG", {"A", "log"}), "log");
  for (const char* name : {"", "b", "Q", "CC"})
    EXPECT_EQ(nearest_name(name, {"A", "B", "C"}), "") << name;
  EXPECT_EQ(nearest_name("Q", {"QQ"}), "");
  EXPECT_EQ(did_you_mean("lgo", {"log"}), ", did you mean 'log'?");
  EXPECT_EQ(nearest_name("size_bytes", {"line_bytes", "size_KiB"}), "size_KiB");
  EXPECT_EQ(nearest_name("clock_ghz", {"lock_ghz_", "clock_mhz"}), "clock_mhz");
  EXPECT_EQ(nearest_name("size_of", {"size_KiB"}), "");
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

TEST(File, SeveralAreWrittenAllOrNone) {
  const std::string folder = testing::TempDir() + "/stria_files_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/old", "old").ok());
  const std::vector<FileText> bad = {
      {folder + "/old", "new"}, {folder + "/x", "x"}, {folder + "/missing/y", "y"}};
  EXPECT_EQ(write_files(bad).code(), StatusCode::not_found);
  EXPECT_EQ(*read_file(folder + "/old"), "old");
  EXPECT_FALSE(std::filesystem::exists(folder + "/x"));
  EXPECT_TRUE(write_files(std::vector<FileText>{bad[0], bad[1]}).ok());
  EXPECT_EQ(*read_file(folder + "/old"), "new");
  EXPECT_EQ(*read_file(folder + "/x"), "x");
  int files = 0;
  for (auto& entry : std::filesystem::directory_iterator(folder)) files += entry.is_regular_file();
  EXPECT_EQ(files, 2);
  // What is written in place may fail, and does so before a file is replaced.
  const std::vector<FileText> full = {
      {folder + "/old", "newer"}, {"/dev/full", "y"}, {folder + "/z", "z"}};
  EXPECT_FALSE(write_files(full).ok());
  EXPECT_EQ(*read_file(folder + "/old"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder + "/z"));
}

TEST(File, NewFilesHaveTheModeOfTheProcessAndOldOnesKeepTheirs) {
  namespace fs = std::filesystem;
  const fs::path folder = testing::TempDir() + "/stria_mode_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "plain") << "x";
  ASSERT_TRUE(write_file(folder / "new", "x").ok());
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::status(folder / "plain").permissions());
  fs::permissions(folder / "new", fs::perms{0640});
  ASSERT_TRUE(write_file(folder / "new", "y").ok());
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms{0640});
}

TEST(File, AHugeFileWithHolesIsRefusedByItsSize) {
  const std::string path = testing::TempDir() + "/stria_holes_test";
  std::ofstream(path) << "x";
  std::filesystem::resize_file(path, uintmax_t{15} << 40);
  EXPECT_EQ(read_file(path, 1000).status().message(),
            "'" + path + "' is larger than the limit of 1000 bytes: it has 16492674416640");
  EXPECT_EQ(read_file(path).status().code(), StatusCode::invalid_argument);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace stria
