// SPDX-License-Identifier: Apache-2.0
// Copies of a plugin's folder: each goes with its case, and one that cannot be made is no fault of
// the plugin's.
#include "company/plugin_copy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "suite/all_cases.h"
#include "suite/runner.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const fs::path kPlugin = fs::path(STRIA_BINARY_DIR) / "lib/stria/plugins/reference";

class PluginCopy : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(testing::TempDir()) / "stria_plugin_copy_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    scratch_ = name;
  }
  void TearDown() override {
    std::error_code error;
    if (!scratch_.empty()) fs::remove_all(scratch_, error);
  }
  SubjectOptions options(const fs::path& scratch) const {
    SubjectOptions out;
    out.directory = kPlugin;
    out.scratch = scratch;
    return out;
  }
  // Runs one case of all, or `other` in its place.
  CaseResult run(const std::string& name, const fs::path& scratch,
                 std::function<Finding(Subject&)> other = nullptr) const {
    std::vector<Case> all = all_cases(kPlugin);
    RunOptions run;
    run.subject = options(scratch);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].name != name) continue;
      if (other) all[i].run = std::move(other);
      const auto result = run_cases(all, {i}, run);
      EXPECT_TRUE(result.ok()) << result.status().to_string();
      if (result.ok() && result->cases.size() == 1) return result->cases[0];
    }
    ADD_FAILURE() << "no result of " << name;
    return {};
  }
  fs::path scratch_;
};

TEST_F(PluginCopy, IsWholeAndGoesWithTheCase) {
  Subject subject(options(scratch_));
  const auto first = copy_of_plugin(subject), second = copy_of_plugin(subject);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_NE(*first, *second);
  for (const fs::path& copy : {*first, *second}) {
    EXPECT_EQ(copy.filename(), kPlugin.filename());
    EXPECT_TRUE(hal::read_manifest(copy).ok());
  }
  subject.remove_scratch();
  EXPECT_TRUE(fs::is_empty(scratch_));
}

TEST_F(PluginCopy, OneThatCannotBeWrittenLeavesNothing) {
  // No file may be longer than a few bytes, as on a disk that is full.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 16;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Subject subject(options(scratch_));
  const auto copy = copy_of_plugin(subject);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(copy.ok());
  EXPECT_THAT(copy.status().message(),
              AllOf(HasSubstr("cannot be copied to"), HasSubstr(scratch_.string())));
  EXPECT_TRUE(fs::is_empty(scratch_));
}

TEST_F(PluginCopy, WithoutRoomACaseIsSkipped) {
  const fs::path nowhere = scratch_ / "file";
  ASSERT_EQ(::close(::creat(nowhere.c_str(), 0600)), 0);
  const CaseResult result = run("C.own_copy.comes_first", nowhere / "folder");
  EXPECT_EQ(result.ending, Ending::skip);
  EXPECT_THAT(result.text, AllOf(HasSubstr("Not a directory"), HasSubstr(nowhere.string())));
}

// Also of a case whose process does not get so far as to remove it.
TEST_F(PluginCopy, NothingIsLeftOfAnyEnding) {
  enum class How { passes, fails, crashes, is_killed };
  for (const How how : {How::passes, How::fails, How::crashes, How::is_killed}) {
    const CaseResult result =
        run("C.own_copy.comes_first", scratch_, [how](Subject& subject) -> Finding {
          STRIA_ASSIGN(const fs::path copy, copy_of_plugin(subject));
          if (how == How::fails) return broken("it lies in '{}'", copy.string());
          if (how == How::crashes) std::abort();
          if (how == How::is_killed) ::raise(SIGKILL);
          return {};
        });
    const Ending expected = how == How::passes  ? Ending::pass
                            : how == How::fails ? Ending::fail
                                                : Ending::crash;
    EXPECT_EQ(result.ending, expected) << result.text;
    EXPECT_TRUE(fs::is_empty(scratch_)) << static_cast<int>(how);
  }
}

}  // namespace
}  // namespace stria::conformance
