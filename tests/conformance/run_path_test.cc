// SPDX-License-Identifier: Apache-2.0
// A run path is wrong if somebody else decides what is loaded from it, and right otherwise.
#include "package/run_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A plugin in a folder of the test's own, which may lie in /tmp as those of users do.
class RunPath : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(testing::TempDir()) / "stria_run_path_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = fs::canonical(name);
    fs::create_directories(home_ / "acme/lib");
    fs::create_directories(home_ / "shared");
    fs::create_directories(home_ / "everybodys/lib");
    fs::permissions(home_ / "everybodys", fs::perms::all);
  }
  void TearDown() override {
    std::error_code error;
    if (!home_.empty()) fs::remove_all(home_, error);
  }
  std::string fault(const std::string& entry) const {
    return run_path_fault(entry, home_ / "acme/libacme.so", home_ / "acme");
  }
  fs::path home_;
};

TEST_F(RunPath, OfTheSystemAndOfThePluginIsRight) {
  for (const char* entry :
       {"/usr/local/cuda/lib64", "/usr/lib", "/opt/vendor that is not here/lib", "/usr/$LIB/vendor",
        "$ORIGIN", "${ORIGIN}", "$ORIGIN/lib", "${ORIGIN}/lib/", "$ORIGIN/not_here",
        "$ORIGIN/../shared", "$ORIGIN/./lib"})
    EXPECT_EQ(fault(entry), "") << entry;
  EXPECT_EQ(fault((home_ / "acme/lib").string()), "");
}

TEST_F(RunPath, OfTheWorkingFolderIsWrong) {
  for (const char* entry :
       {"", ".", "lib", "./lib", "../lib", "$ORIGINAL/lib", "${LIB}/vendor", "lib/$ORIGIN"})
    EXPECT_THAT(fault(entry), HasSubstr("working folder")) << "'" << entry << "'";
}

TEST_F(RunPath, WhereEverybodyWritesIsWrong) {
  for (const char* entry : {"/tmp", "/tmp/", "/tmp/vendor/lib", "/var/tmp/lib", "/dev/shm/lib",
                            "/usr/../tmp/lib", "/tmp/not_here/../lib"})
    EXPECT_THAT(fault(entry), HasSubstr("everybody may write to '/")) << entry;
  EXPECT_EQ(fault("/tmpfiles/lib"), "");
  const std::string named = "everybody may write to '" + (home_ / "everybodys").string() + "'";
  EXPECT_EQ(fault("$ORIGIN/../everybodys"), named);
  EXPECT_EQ(fault("$ORIGIN/../everybodys/lib"), named);
}

TEST_F(RunPath, LinksAreFollowed) {
  fs::create_symlink(home_ / "everybodys/lib", home_ / "acme/link");
  EXPECT_THAT(fault("$ORIGIN/link"), HasSubstr("everybody may write to"));
  EXPECT_THAT(fault((home_ / "acme/link").string()), HasSubstr("everybody may write to"));
}

}  // namespace
}  // namespace stria::conformance
