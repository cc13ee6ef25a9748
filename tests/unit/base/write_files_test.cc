// SPDX-License-Identifier: Apache-2.0
// Files are written complete or not at all, whatever the target is and however the process ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "stria/base/file.h"
#include "stria/base/output_target.h"
#include "stria/base/temporary_file.h"

namespace stria {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class WriteFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/stria_write_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path at(const std::string& name) const { return folder_ / name; }
  std::string read(const std::string& name) const {
    std::ifstream in(at(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
  }
  // Everything in the folder, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_))
      out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }
  // Writes in a child, which a signal ends; its status as waitpid() gives it. `begun` is called in
  // the child between the first file and the last.
  int end_child(const std::function<void()>& work) const {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  fs::path folder_;
};

// ---- what a target may be ----

TEST_F(WriteFilesTest, ALinkToNothingIsWrittenThrough) {
  fs::create_symlink("target", at("link"));
  ASSERT_TRUE(write_file(at("link"), "text").ok());
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read("target"), "text");
  fs::create_directory(at("deep"));
  fs::create_symlink("../far", at("deep/second"));
  fs::create_symlink("deep/second", at("first"));
  ASSERT_TRUE(write_file(at("first"), "far").ok());
  EXPECT_EQ(read("far"), "far");
  fs::create_symlink("none/x", at("nowhere"));
  EXPECT_THAT(write_file(at("nowhere"), "x").message(),
              HasSubstr("(a link to '" + at("none/x").string() + "'): No such file"));
  EXPECT_THAT(names(), ElementsAre("deep", "far", "first", "link", "nowhere", "target"));
}

TEST_F(WriteFilesTest, LinksInACircleAreRefused) {
  fs::create_symlink("self", at("self"));
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  for (const char* name : {"self", "a", "b"}) {
    EXPECT_THAT(write_file(at(name), "x").message(), HasSubstr("its links lead in a circle"));
    EXPECT_TRUE(fs::is_symlink(at(name)));
  }
}

TEST_F(WriteFilesTest, WhatHoldsNoFileIsRefusedByItsKind) {
  fs::create_directory(at("folder"));
  EXPECT_THAT(write_file(at("folder"), "x").message(), HasSubstr("it is a folder"));
  EXPECT_THAT(write_file(folder_ / "", "x").message(), HasSubstr("it is a folder"));
  EXPECT_THAT(write_file("", "x").message(), HasSubstr("the name of a file is empty"));
  EXPECT_THAT(write_file(at("none/x"), "x").message(), HasSubstr("No such file"));
  put("file", "x");
  EXPECT_THAT(write_file(at("file/x"), "x").message(), HasSubstr("Not a directory"));
  EXPECT_THAT(write_file(at(std::string(256, 'n')), "x").message(), HasSubstr("name too long"));
  EXPECT_TRUE(write_file(at(std::string(255, 'n')), "x").ok());
  EXPECT_TRUE(write_file("/dev/null", "x").ok());
  EXPECT_THAT(write_file("/dev/full", "x").message(), HasSubstr("No space left"));
}

TEST_F(WriteFilesTest, APipeIsWrittenDirectlyIfSomebodyReadsIt) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const std::string text(200'000, 'x');
  std::string got;
  std::thread reader([&] {
    std::ifstream in(at("pipe"));
    got = std::string(std::istreambuf_iterator<char>(in), {});
  });
  EXPECT_TRUE(write_file(at("pipe"), text).ok());
  reader.join();
  EXPECT_EQ(got, text);
  // Nor does a reader that goes away end the process.
  std::thread hasty([&] { std::ifstream(at("pipe")).get(); });
  EXPECT_THAT(write_file(at("pipe"), text).message(), HasSubstr("Broken pipe"));
  hasty.join();
}

TEST_F(WriteFilesTest, ADescriptorIsWrittenWhereItIs) {
  const int file = ::open(at("file").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(::write(file, "one ", 4), 4);
  ASSERT_TRUE(write_file("/dev/fd/" + std::to_string(file), "two").ok());
  EXPECT_EQ(read("file"), "one two");
  fs::create_symlink("/proc/self/fd/" + std::to_string(file), at("link"));
  ASSERT_TRUE(write_file(at("link"), " three").ok());
  EXPECT_EQ(read("file"), "one two three");
  ::close(file);
}

TEST_F(WriteFilesTest, OwnerAndModeOfAnOldFileStay) {
  put("old", "x");
  fs::permissions(at("old"), fs::perms{0640});
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(at("old").c_str(), 1234, 4321), 0);
  }
  struct stat before{}, after{};
  ::stat(at("old").c_str(), &before);
  ASSERT_TRUE(write_file(at("old"), "new").ok());
  ::stat(at("old").c_str(), &after);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  const mode_t mask = ::umask(027);
  ASSERT_TRUE(write_file(at("fresh"), "x").ok());
  ::umask(mask);
  EXPECT_EQ(fs::status(at("fresh")).permissions(), fs::perms{0640});
}

TEST_F(WriteFilesTest, OtherHardLinksKeepTheOldBytes) {
  put("a", "old");
  fs::create_hard_link(at("a"), at("b"));
  ASSERT_TRUE(write_file(at("a"), "new").ok());
  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(read("b"), "old");
}

TEST_F(WriteFilesTest, ANewFileIsNeverOverAnother) {
  EXPECT_TRUE(write_new_file(at("file"), "one").value());
  EXPECT_FALSE(write_new_file(at("file"), "two").value());
  EXPECT_EQ(read("file"), "one");
  EXPECT_THAT(names(), ElementsAre("file"));
}

// ---- one file by two names ----

TEST_F(WriteFilesTest, TwoPathsOfOneFileAreRefused) {
  put("there", "old");
  fs::create_directory(at("d"));
  fs::create_directory_symlink("d", at("way"));
  fs::create_symlink("there", at("soft"));
  fs::create_hard_link(at("there"), at("hard"));
  fs::create_symlink("none", at("dangling"));
  const std::pair<const char*, const char*> same[] = {
      {"x", "x"},          {"x", "./x"},           {"x", "d/../x"},  {"d/x", "way/x"},
      {"there", "soft"},   {"there", "hard"},      {"hard", "soft"}, {"none", "dangling"},
      {"d/x", "d//././x"}, {"way/x", "way/../d/x"}};
  const auto before = names();
  for (const auto& [a, b] : same) {
    const std::vector<FileText> files = {{at(a), "1"}, {at("other"), "2"}, {at(b), "3"}};
    EXPECT_EQ(
        write_files(files).message(),
        "'" + at(a).string() + "'" +
            (fs::is_symlink(at(a)) ? " (a link to '" + at(fs::read_symlink(at(a))).string() + "')"
                                   : "") +
            " and '" + at(b).string() + "'" +
            (fs::is_symlink(at(b)) ? " (a link to '" + at(fs::read_symlink(at(b))).string() + "')"
                                   : "") +
            " are the same file");
  }
  EXPECT_EQ(names(), before);
  EXPECT_EQ(read("there"), "old");
  EXPECT_TRUE(write_files(std::vector<FileText>{{"/dev/null", "1"}, {"/dev/null", "2"}}).ok());
}

TEST_F(WriteFilesTest, AFileBehindADescriptorIsTheSameAsByItsPath) {
  put("there", "old");
  const int first = ::open(at("there").c_str(), O_WRONLY);
  const int second = ::open(at("there").c_str(), O_WRONLY);
  const std::string paths[] = {"/dev/fd/" + std::to_string(first),
                               "/proc/self/fd/" + std::to_string(second), at("there").string()};
  for (const std::string& a : paths)
    for (const std::string& b : paths)
      EXPECT_THAT(write_files(std::vector<FileText>{{a, "1"}, {b, "2"}}).message(),
                  HasSubstr("are the same file"))
          << a << " " << b;
  EXPECT_EQ(read("there"), "old");
  ::close(first);
  ::close(second);
  // The two ends of a stream are not.
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_TRUE(write_files(std::vector<FileText>{{"/dev/fd/" + std::to_string(ends[0]), "1"},
                                                {"/dev/fd/" + std::to_string(ends[1]), "2"}})
                  .ok());
  ::close(ends[0]);
  ::close(ends[1]);
}

// ---- all or none ----

TEST_F(WriteFilesTest, NothingIsLeftWhereOneOfThemCannotBeWritten) {
  put("old", "old");
  const std::vector<FileText> files = {{at("old"), "new"}, {at("new"), "x"}, {at("none/y"), "y"}};
  EXPECT_FALSE(write_files(files).ok());
  EXPECT_FALSE(write_files(files, at("made/here")).ok());
  EXPECT_EQ(read("old"), "old");
  EXPECT_THAT(names(), ElementsAre("old"));
  const std::vector<FileText> good = {{at("made/here/a"), "a"}, {at("old"), "new"}};
  EXPECT_TRUE(write_files(good, at("made/here")).ok());
  EXPECT_EQ(read("made/here/a"), "a");
  EXPECT_EQ(read("old"), "new");
  EXPECT_THAT(write_files({}, at("old/x")).message(), HasSubstr("cannot make the folder"));
}

TEST_F(WriteFilesTest, AFailedRenameIsFollowedByTheOldFiles) {
  put("a_old", "old");
  put("c_mounted", "old");
  put("source", "old");
  // A file that something is mounted on can be written, but no other file can take its name.
  if (::mount(at("source").c_str(), at("c_mounted").c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "needs the right to mount";
  const std::vector<FileText> files = {
      {at("a_old"), "new"}, {at("b_new"), "new"}, {at("c_mounted"), "new"}, {at("d_new"), "new"}};
  struct stat before{}, after{};
  ::stat(at("a_old").c_str(), &before);
  const Status status = write_files(files);
  EXPECT_THAT(status.message(), HasSubstr("c_mounted': Device or resource busy"));
  ::stat(at("a_old").c_str(), &after);
  ::umount(at("c_mounted").c_str());
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(read("a_old"), "old");
  EXPECT_THAT(names(), ElementsAre("a_old", "c_mounted", "source"));
}

TEST_F(WriteFilesTest, AFullDiskLeavesWhatWasThere) {
  fs::create_directory(at("disk"));
  if (::mount("stria_test", at("disk").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  put("disk/old", "old");
  const std::vector<FileText> files = {{at("disk/new"), "x"},
                                       {at("disk/old"), std::string(100'000, 'x')}};
  EXPECT_THAT(write_files(files).message(), HasSubstr("No space left on device"));
  EXPECT_EQ(read("disk/old"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(at("disk")), {}), 1);
  ::mount("stria_test", at("disk").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k");
  EXPECT_THAT(write_file(at("disk/old"), "x").message(), HasSubstr("Read-only file system"));
  EXPECT_THAT(write_file(at("disk/new"), "x").message(), HasSubstr("Read-only file system"));
  ::umount(at("disk").c_str());
}

TEST_F(WriteFilesTest, ALimitOfFileSizesIsAnErrorAndNoSignal) {
  const int status = end_child([&] {
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status written = write_file(at("file"), std::string(2000, 'x'));
    ::_exit(written.message().find("File too large") == std::string::npos ? 1 : 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(WriteFilesTest, MoreFilesThanAProcessMayOpen) {
  std::vector<FileText> files;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit low{64, limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low);
  for (int i = 0; i < 500; ++i) files.push_back({at("f" + std::to_string(i)), "x"});
  const Status status = write_files(files);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(names().size(), 500u);
}

// ---- however the process ends ----

// A writer stands in the middle of its work when the pipe it writes to, too, is full.
class Interrupted : public WriteFilesTest {
 protected:
  void SetUp() override {
    WriteFilesTest::SetUp();
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    reader_ = ::open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
    put("old", "old");
  }
  void TearDown() override {
    ::close(reader_);
    WriteFilesTest::TearDown();
  }
  // A child that has made everything but the renames, and waits.
  pid_t start() const {
    const pid_t child = ::fork();
    if (child == 0) {
      remove_temporaries_on_signals();
      const std::vector<FileText> files = {{at("old"), "new"},
                                           {at("new"), "new"},
                                           {at("made/x"), "x"},
                                           {at("pipe"), std::string(1'000'000, 'x')}};
      ::_exit(write_files(files, at("made")).ok() ? 0 : 1);
    }
    while (names().size() < 6) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return child;
  }
  int reader_ = -1;
};

TEST_F(Interrupted, ASignalRemovesWhatIsHalfDoneAndEndsTheProcess) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGALRM}) {
    const pid_t child = start();
    EXPECT_GT(names().size(), 3u);
    ::kill(child, number);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_THAT(names(), ElementsAre("old", "pipe")) << number;
    EXPECT_EQ(read("old"), "old");
  }
}

TEST_F(Interrupted, WhatAKilledProcessLeftGoesWithTheNextWrite) {
  const pid_t child = start();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_GT(names().size(), 3u);
  // What only looks like it stays, and what is a copy of it under another name.
  std::vector<std::string> mine;
  for (const std::string& name : names())
    if (name.find(".stria-") != std::string::npos) {
      fs::copy_file(at(name), at("my_" + name));
      mine.push_back("my_" + name);
    }
  put("a.npy.stria-0123456789abcdef-1-0123456789abcdef.part", "mine");
  mine.push_back("a.npy.stria-0123456789abcdef-1-0123456789abcdef.part");
  const int status = end_child([&] { ::_exit(write_file(at("next"), "x").ok() ? 0 : 1); });
  EXPECT_EQ(status, 0);
  std::vector<std::string> expected = mine;
  for (const char* name : {"made", "next", "old", "pipe"}) expected.push_back(name);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names(), expected);
}

TEST_F(Interrupted, WhatALivingProcessWritesStays) {
  const pid_t child = start();
  const auto before = names();
  const int status = end_child([&] { ::_exit(write_file(at("next"), "x").ok() ? 0 : 1); });
  EXPECT_EQ(status, 0);
  std::vector<std::string> after = names();
  after.erase(std::find(after.begin(), after.end(), "next"));
  EXPECT_EQ(after, before);
  // It goes on to its end.
  std::thread drain([&] {
    char some[1 << 16];
    while (::read(reader_, some, sizeof some) != 0 ||
           ::waitpid(child, nullptr, WNOHANG | WNOWAIT) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  int ended = 0;
  ::waitpid(child, &ended, 0);
  drain.join();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(read("old"), "new");
  EXPECT_EQ(read("made/x"), "x");
  EXPECT_THAT(names(), ElementsAre("made", "new", "next", "old", "pipe"));
}

TEST_F(WriteFilesTest, ASignalBetweenTwoRenamesWaitsForTheLast) {
  const int status = end_child([&] {
    remove_temporaries_on_signals();
    const SignalsWait wait;
    ::raise(SIGTERM);
    put("after", "x");
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_THAT(names(), ElementsAre("after"));
}

// What `work` does to the first process of a container: its wait status. A wait without end counts
// as SIGKILL.
int end_first_process(const std::function<void()>& work) {
  if (::unshare(CLONE_NEWPID) != 0) ::_exit(125);
  const pid_t first = ::fork();
  if (first == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  for (int i = 0; i < 500; ++i) {
    if (::waitpid(first, &status, WNOHANG) == first) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(first, SIGKILL);
  ::waitpid(first, &status, 0);
  return status;
}

TEST_F(WriteFilesTest, TheFirstProcessOfAContainerEndsToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make one";
  for (const bool waits : {false, true}) {
    const int status = end_child([&] {
      const int first = end_first_process([&] {
        remove_temporaries_on_signals();
        TemporaryBatch batch;
        int descriptor = -1;
        const auto file = batch.create(OutputFolder::open(folder_), "x", &descriptor);
        if (waits) {
          const SignalsWait wait;
          ::raise(SIGTERM);
        } else {
          ::raise(SIGTERM);
        }
        const SignalsWait next;  // here it stayed
      });
      ::_exit(WIFEXITED(first) ? WEXITSTATUS(first) : 1);
    });
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 125) GTEST_SKIP() << "the system makes no container";
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM) << waits;
    EXPECT_THAT(names(), IsEmpty());
  }
}

TEST_F(WriteFilesTest, AnIgnoredSignalStaysIgnored) {
  const int status = end_child([&] {
    ::signal(SIGHUP, SIG_IGN);
    remove_temporaries_on_signals();
    ::raise(SIGHUP);
  });
  EXPECT_EQ(status, 0);
}

TEST_F(WriteFilesTest, ManySignalsAtAnyMomentLeaveAllOrNone) {
  for (int round = 0; round < 200; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      remove_temporaries_on_signals();
      for (int n = 0;; ++n) {
        const std::string text = std::to_string(n);
        (void)write_files(std::vector<FileText>{{at("a"), text}, {at("b"), text}, {at("c"), text}});
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + 37 * round));
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto left = names();
    ASSERT_TRUE(left.empty() || left == std::vector<std::string>({"a", "b", "c"}))
        << testing::PrintToString(left);
    EXPECT_EQ(read("a"), read("b"));
    EXPECT_EQ(read("a"), read("c"));
  }
}

}  // namespace
}  // namespace stria
