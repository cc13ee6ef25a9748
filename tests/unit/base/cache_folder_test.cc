// SPDX-License-Identifier: Apache-2.0
#include "stria/base/cache_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace stria {
namespace {

namespace fs = std::filesystem;

class CacheFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/stria_cache_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    mask_ = ::umask(0);
  }
  void TearDown() override {
    ::umask(mask_);
    fs::remove_all(top_);
  }
  fs::perms mode_of(const std::string& name) const { return fs::status(top_ / name).permissions(); }
  fs::path top_;
  mode_t mask_ = 0;
};

TEST_F(CacheFolderTest, IsMadeForThisUserAloneWhateverTheMask) {
  for (const char* name : {"a", "b/c", "d/e/f/"})
    EXPECT_EQ(make_cache_folder(top_ / name), 0) << name;
  for (const char* name : {"a", "b", "b/c", "d", "d/e", "d/e/f"})
    EXPECT_EQ(mode_of(name), fs::perms::owner_all) << name;
}

TEST_F(CacheFolderTest, WhatIsThereStaysAsItIs) {
  ASSERT_EQ(::mkdir((top_ / "shared").c_str(), 0775), 0);
  EXPECT_EQ(make_cache_folder(top_ / "shared"), 0);
  EXPECT_EQ(make_cache_folder(top_ / "shared" / "own"), 0);
  EXPECT_EQ(mode_of("shared"), fs::perms{0775});
  EXPECT_EQ(mode_of("shared/own"), fs::perms{0700});
  fs::create_directory_symlink("shared", top_ / "way");
  EXPECT_EQ(make_cache_folder(top_ / "way"), 0);
  EXPECT_EQ(make_cache_folder("/"), 0);
  EXPECT_EQ(make_cache_folder("."), 0);
}

TEST_F(CacheFolderTest, SaysWhyThereIsNone) {
  std::ofstream(top_ / "file") << "x";
  EXPECT_EQ(make_cache_folder(top_ / "file"), ENOTDIR);
  EXPECT_EQ(make_cache_folder(top_ / "file" / "a" / "b"), ENOTDIR);
  fs::create_symlink("nowhere/at/all", top_ / "link");
  EXPECT_NE(make_cache_folder(top_ / "link"), 0);
  EXPECT_NE(make_cache_folder("/proc/no_such/folder"), 0);
  EXPECT_NE(make_cache_folder(""), 0);
}

}  // namespace
}  // namespace stria
