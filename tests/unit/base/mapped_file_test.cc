// SPDX-License-Identifier: Apache-2.0
// Files as bytes without memory of their own; those below a folder, and no others.
#include "stria/base/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace stria {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/stria_mapped_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directories(folder_ / "home/below");
    write("home/file", "abc");
    write("outside", "abc");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const fs::path& name, std::string_view bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  // The bytes of the file in the folder, or what is wrong with it.
  std::string below(const fs::path& name) const {
    auto file = MappedFile::open_below(folder_ / "home", name);
    return file.ok() ? std::string((*file)->bytes()) : file.status().to_string();
  }
  fs::path folder_;
};

TEST_F(MappedFileTest, GivesTheBytes) {
  auto file = MappedFile::open(folder_ / "home/file");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ((*file)->bytes(), "abc");
  fs::remove(folder_ / "home/file");
  EXPECT_EQ((*file)->bytes(), "abc") << "a file that is removed stays";
  write("empty", "");
  EXPECT_EQ(MappedFile::open(folder_ / "empty").value()->bytes(), "");
}

TEST_F(MappedFileTest, HoldsNoDescriptor) {
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  auto file = MappedFile::open(folder_ / "home/file");
  const int after = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(after);
  EXPECT_EQ(before, after);
}

TEST_F(MappedFileTest, ReadsStreams) {
  const std::string text(100'000, 'x');
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write("pipe", text); });
  auto file = MappedFile::open(folder_ / "pipe");
  writer.join();
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ((*file)->bytes(), text);
  // Of a descriptor that the process was given, what is left.
  const int given = ::open((folder_ / "home/file").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::lseek(given, 1, SEEK_SET), 1);
  EXPECT_EQ(MappedFile::open("/dev/fd/" + std::to_string(given)).value()->bytes(), "bc");
  ::close(given);
}

TEST_F(MappedFileTest, RefusesWhatCannotBeRead) {
  EXPECT_EQ(MappedFile::open(folder_ / "none").status().code(), StatusCode::not_found);
  EXPECT_THAT(MappedFile::open(folder_ / "home").status().message(), HasSubstr("a folder"));
}

TEST_F(MappedFileTest, OpensFilesOfTheFolderAlone) {
  EXPECT_EQ(below("file"), "abc");
  EXPECT_EQ(below("./file"), "abc");
  write("home/below/deep", "deep");
  EXPECT_EQ(below("below/deep"), "deep");
  fs::create_symlink("below/deep", folder_ / "home/link");
  EXPECT_EQ(below("link"), "deep");
  EXPECT_EQ(below("../outside"),
            "permission_denied: '../outside' has '..'; it must lie in the folder or below");
  EXPECT_THAT(below("below/../file"), HasSubstr("has '..'"));
  EXPECT_THAT(below(folder_ / "home/file"), HasSubstr("is an absolute path"));
  fs::create_symlink("../outside", folder_ / "home/out");
  EXPECT_THAT(below("out"), HasSubstr("permission_denied: 'out' is a link that leads out of"));
  fs::create_symlink("..", folder_ / "home/up");
  EXPECT_THAT(below("up/outside"), HasSubstr("is a link that leads out"));
  EXPECT_EQ(below("up/home/file"), "abc") << "it leads out and in again";
  fs::create_directory(folder_ / "home2");
  write("home2/file", "abc");
  fs::create_symlink("../home2/file", folder_ / "home/next");
  EXPECT_THAT(below("next"), HasSubstr("is a link that leads out"));
  ASSERT_EQ(::mkfifo((folder_ / "home/pipe").c_str(), 0600), 0);
  EXPECT_THAT(below("pipe"), HasSubstr("is not a regular file"));
  EXPECT_THAT(below(""), HasSubstr("a folder"));
  EXPECT_THAT(below("file/x"), HasSubstr("cannot read"));
}

TEST_F(MappedFileTest, TheFolderMayBeALinkItself) {
  fs::create_symlink("home", folder_ / "alias");
  EXPECT_EQ(MappedFile::open_below(folder_ / "alias", "file").value()->bytes(), "abc");
}

}  // namespace
}  // namespace stria
