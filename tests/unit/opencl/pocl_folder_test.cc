// SPDX-License-Identifier: Apache-2.0
// The folder in which PoCL keeps code: what is wrong with one, and what is left of one that was
// damaged.
#include "pocl_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "scripted_host.h"
#include "stria/base/file.h"

namespace stria::opencl {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string wrong_with(const fs::path& folder) { return check_code_folder(folder).message(); }

TEST(CodeFolder, IsMadeAndLeftEmpty) {
  const hal::TemporaryFolder home;
  const fs::path folder = home.path() / "a" / "b";
  EXPECT_EQ(wrong_with(folder), "");
  EXPECT_TRUE(fs::is_directory(folder));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(CodeFolder, ThatCannotBeIsNamedWithTheReason) {
  const hal::TemporaryFolder home;
  std::ofstream(home.path() / "file") << "x";
  EXPECT_THAT(wrong_with(home.path() / "file"), HasSubstr("file' cannot be made: Not a directory"));
  EXPECT_THAT(wrong_with(home.path() / "file" / "in"),
              HasSubstr("cannot be made: Not a directory"));
  EXPECT_THAT(wrong_with("/proc/no_such"), HasSubstr("'/proc/no_such' cannot be made"));
  EXPECT_THAT(wrong_with("/proc/self/\x1b[31m"), HasSubstr("\\x1b[31m"));
  fs::create_symlink(home.path() / "nowhere" / "at all", home.path() / "link");
  EXPECT_THAT(wrong_with(home.path() / "link"), HasSubstr("cannot be made"));
}

// What check_code_folder says of a new file system with these options; the child's exit code is 0
// if nothing.
[[noreturn]] void try_mounted(const fs::path& at, unsigned long flags, const char* options) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", at.c_str(), "tmpfs", flags, options) != 0)
    ::_exit(99);
  const Status status = check_code_folder(at / "cache");
  std::fprintf(stderr, "%s\n", status.message().c_str());
  ::_exit(status.ok() ? 0 : 1);
}

bool may_mount() { return ::geteuid() == 0; }

TEST(CodeFolder, OnAFileSystemThatRunsNoProgramsIsRefused) {
  if (!may_mount()) GTEST_SKIP() << "needs root, to mount one";
  const hal::TemporaryFolder home;
  EXPECT_EXIT(try_mounted(home.path(), MS_NOEXEC, "size=64m"), testing::ExitedWithCode(1),
              "cache' is on a file system that does not run programs \\(noexec\\)");
  EXPECT_EXIT(try_mounted(home.path(), 0, "size=64m"), testing::ExitedWithCode(0), "");
}

TEST(CodeFolder, OnAFullFileSystemIsRefused) {
  if (!may_mount()) GTEST_SKIP() << "needs root, to mount one";
  const hal::TemporaryFolder home;
  EXPECT_EXIT(try_mounted(home.path(), 0, "size=1m"), testing::ExitedWithCode(1),
              "cache' is on a file system with 1 MiB left, and 32 MiB are needed");
  EXPECT_EXIT(try_mounted(home.path(), 0, "size=64m,nr_inodes=10"), testing::ExitedWithCode(1),
              "cache' is on a file system with room for [0-9]+ files");
}

// PoCL's own layout.
void write_program(const fs::path& folder, const std::string& name, size_t bytes = 100) {
  const fs::path program = folder / name.substr(0, 2) / name.substr(2);
  fs::create_directories(program / "f" / "0-0-0");
  std::ofstream(program / "program.bc") << std::string(bytes, 'b');
  std::ofstream(program / "f" / "0-0-0" / "f.so") << std::string(bytes, 's');
  std::ofstream(program / "last_accessed") << "";
}

class PoclFolderTest : public testing::Test {
 protected:
  // Two programs, recorded.
  void SetUp() override {
    const auto folder = PoclFolder::take(base_);
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    path_ = (*folder)->path();
    write_program(path_, "AAfirst");
    write_program(path_, "BBsecond");
    (*folder)->record();
  }
  // What a later process finds.
  std::vector<std::string> found(uint64_t limit = PoclFolder::kLimit) {
    const auto folder = PoclFolder::take(base_, limit);
    EXPECT_TRUE(folder.ok()) << folder.status().message();
    EXPECT_EQ((*folder)->path(), path_);
    std::vector<std::string> out;
    for (const char* name : {"AA/first", "BB/second"})
      if (fs::exists(path_ / name / "program.bc") || fs::exists(path_ / name / "f"))
        out.push_back(name);
    return out;
  }
  static inline const std::vector<std::string> kBoth = {"AA/first", "BB/second"};
  static inline const std::vector<std::string> kSecond = {"BB/second"};

  const hal::TemporaryFolder home_;
  const fs::path base_ = home_.path() / "cache" / "pocl";
  fs::path path_;
};

TEST_F(PoclFolderTest, KeepsWhatWasRecorded) {
  EXPECT_EQ(found(), kBoth);
  // PoCL notes each use.
  std::ofstream(path_ / "AA/first/last_accessed") << "now";
  EXPECT_EQ(found(), kBoth);
}

TEST_F(PoclFolderTest, DropsAProgramOfWhichAFileWasCutOff) {
  fs::resize_file(path_ / "AA/first/f/0-0-0/f.so", 0);
  EXPECT_EQ(found(), kSecond);
}

TEST_F(PoclFolderTest, DropsAProgramOfWhichAFileWasWrittenWithTheSameSizeAndTime) {
  const fs::path file = path_ / "AA/first/program.bc";
  const auto time = fs::last_write_time(file);
  std::ofstream(file) << std::string(100, 'x');
  fs::last_write_time(file, time);
  EXPECT_EQ(found(), kSecond);
}

TEST_F(PoclFolderTest, DropsAProgramThatMissesAFile) {
  fs::remove(path_ / "AA/first/program.bc");
  EXPECT_EQ(found(), kSecond);
}

TEST_F(PoclFolderTest, DropsAProgramWithAFileThatNobodyRecorded) {
  std::ofstream(path_ / "AA/first/f/other.so") << "x";
  EXPECT_EQ(found(), kSecond);
  fs::create_symlink("/etc/passwd", path_ / "BB/second/f/link.so");
  EXPECT_EQ(found(), std::vector<std::string>());
}

TEST_F(PoclFolderTest, DropsWhatIsNoProgram) {
  std::ofstream(path_ / "tempfile_x.so") << "x";
  std::ofstream(path_ / "AA" / "x") << "x";
  EXPECT_EQ(found(), kBoth);
  EXPECT_FALSE(fs::exists(path_ / "tempfile_x.so"));
  EXPECT_FALSE(fs::exists(path_ / "AA" / "x"));
}

TEST_F(PoclFolderTest, TrustsNothingWithoutItsList) {
  const fs::path list = path_.string() + ".list";
  const std::string text = *read_file(list);
  // Cut off in its last line, which is a file's of one of the two.
  ASSERT_TRUE(write_file(list, text.substr(0, text.size() - 3)).ok());
  EXPECT_EQ(found().size(), 1u);
  ASSERT_TRUE(write_file(list, std::string(1000, '\0')).ok());
  EXPECT_EQ(found(), std::vector<std::string>());
}

// Nobody is waited for that writes to it or reads it.
TEST_F(PoclFolderTest, TakesNoPipeForItsList) {
  const fs::path list = path_.string() + ".list";
  fs::remove(list);
  ASSERT_EQ(::mkfifo(list.c_str(), 0600), 0);
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto folder = PoclFolder::take(base_);
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    EXPECT_FALSE(fs::exists(path_ / "AA/first"));
    write_program(path_, "AAfirst");
    (*folder)->record();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_TRUE(fs::is_regular_file(list));
  EXPECT_EQ(found(), std::vector<std::string>{"AA/first"});
}

// What a link leads to is no folder of ours: nothing is removed there.
TEST_F(PoclFolderTest, LeavesWhatIsNoFolderOfItsOwn) {
  const fs::path precious = home_.path() / "precious";
  fs::create_directories(precious / "photos");
  std::ofstream(precious / "letter") << "x";
  const fs::path own = base_ / "own";
  fs::rename(path_, own);
  fs::create_directory_symlink(precious, path_);
  std::ofstream(base_ / "1") << "no folder";
  fs::create_directory(base_ / "2");
  ::chmod((base_ / "2").c_str(), 0777);
  const auto folder = PoclFolder::take(base_);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  EXPECT_EQ((*folder)->path(), base_ / "3");
  EXPECT_TRUE(fs::exists(precious / "letter"));
  EXPECT_TRUE(fs::exists(precious / "photos"));
  EXPECT_EQ(*read_file(base_ / "1"), "no folder");
  // A link to a folder of ours is none either.
  fs::remove(path_);
  fs::create_directory_symlink(own, path_);
  EXPECT_EQ(PoclFolder::take(base_).value()->path(), base_ / "4");
}

TEST_F(PoclFolderTest, IsHeldByOneAtATime) {
  const auto first = PoclFolder::take(base_), second = PoclFolder::take(base_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*first)->path(), base_ / "0");
  EXPECT_EQ((*second)->path(), base_ / "1");
}

TEST_F(PoclFolderTest, IsNotTakenWhereOthersMayWrite) {
  ::chmod(base_.c_str(), 0777);
  EXPECT_THAT(PoclFolder::take(base_).status().message(), HasSubstr("nobody else may write"));
  ::chmod(base_.c_str(), 0700);
  fs::create_symlink(base_, home_.path() / "link");
  EXPECT_THAT(PoclFolder::take(home_.path() / "link").status().message(),
              HasSubstr("is not a folder that belongs to this user"));
}

// Who may write the folder above, or owns it, puts another one in the place of ours.
TEST_F(PoclFolderTest, IsNotTakenInAFolderThatOthersMayChange) {
  const fs::path above = base_.parent_path();
  const std::string refused = "'" + above.string() +
                              "' is not a folder that belongs to this user and that nobody else "
                              "may write";
  ::chmod(above.c_str(), 0770);
  EXPECT_EQ(PoclFolder::take(base_).status().message(), refused);
  ::chmod(above.c_str(), 0755);
  EXPECT_TRUE(PoclFolder::take(base_).ok());
  fs::create_directory_symlink(above, home_.path() / "link");
  EXPECT_THAT(PoclFolder::take(home_.path() / "link" / "pocl").status().message(),
              HasSubstr("link' is not a folder that belongs to this user"));
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a folder away";
  ASSERT_EQ(::chown(above.c_str(), 12345, 12345), 0);
  EXPECT_EQ(PoclFolder::take(base_).status().message(), refused);
  // Nothing is made in it either.
  EXPECT_FALSE(PoclFolder::take(above / "other").ok());
  EXPECT_FALSE(fs::exists(above / "other"));
}

TEST(PoclFolder, IsMadeForThisUserAloneWhateverTheMask) {
  const hal::TemporaryFolder home;
  const mode_t mask = ::umask(0);
  const auto folder = PoclFolder::take(home.path() / "a" / "b" / "pocl");
  ::umask(mask);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  for (const char* name : {"a", "a/b", "a/b/pocl", "a/b/pocl/0"})
    EXPECT_EQ(fs::status(home.path() / name).permissions(), fs::perms::owner_all) << name;
}

TEST(PoclFolder, KeepsToItsLimit) {
  const hal::TemporaryFolder home;
  const fs::path base = home.path() / "pocl";
  {
    const auto folder = PoclFolder::take(base).value();
    write_program(folder->path(), "AAold", 100000);
    write_program(folder->path(), "BBnew", 100000);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto& entry : fs::recursive_directory_iterator(folder->path() / "AA"))
      if (entry.is_regular_file()) fs::last_write_time(entry.path(), old);
    folder->record();
  }
  const auto folder = PoclFolder::take(base, 300000).value();
  EXPECT_FALSE(fs::exists(folder->path() / "AA" / "old"));
  EXPECT_TRUE(fs::exists(folder->path() / "BB" / "new"));
}

}  // namespace
}  // namespace stria::opencl
