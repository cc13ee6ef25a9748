// SPDX-License-Identifier: Apache-2.0
// What a path may name, and what the reader does with it.
#include "stria/base/input_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "stria/base/file.h"

namespace stria {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr StreamPatience kShort{.writer = 100ms, .bytes = 300ms};

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/stria_input_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string pipe(const std::string& name) const {
    EXPECT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
    return folder_ / name;
  }
  // The message of a read that fails.
  static std::string refusal(const fs::path& path, size_t limit = 1000) {
    return read_file(path, limit, kShort).status().message();
  }
  fs::path folder_;
};

TEST_F(InputFileTest, WhatIsNoFileIsRefusedByItsKind) {
  EXPECT_THAT(refusal(folder_), HasSubstr("it is a folder"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("cannot read '/dev/zero': it is a device"));
  EXPECT_THAT(refusal("/dev/full"), HasSubstr("it is a device"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("it is a device"));
  fs::create_symlink("/dev/zero", folder_ / "link");
  EXPECT_THAT(refusal(folder_ / "link"), HasSubstr("it is a device"));
  const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = folder_ / "socket";
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::copy(name.begin(), name.end(), address.sun_path);
  ASSERT_EQ(::bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(refusal(name), HasSubstr("it is a socket"));
  ::close(made);
}

TEST_F(InputFileTest, NamesThatNameNothing) {
  EXPECT_EQ(refusal(""), "cannot read '': the name of a file is empty");
  EXPECT_EQ(read_file(folder_ / "none").status().code(), StatusCode::not_found);
  EXPECT_THAT(refusal(std::string(4096, 'n')), HasSubstr("name too long"));
  EXPECT_LT(refusal(std::string(100'000, 'n')).size(), 500u);
  EXPECT_THAT(refusal("two\nlines\x1b[31m"), HasSubstr("'two\\x0alines\\x1b[31m'"));
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_THAT(refusal(folder_ / "a"), HasSubstr("symbolic links"));
}

TEST_F(InputFileTest, ALimitIsAskedBeforeMemoryIsTaken) {
  std::ofstream(folder_ / "exact") << std::string(1000, 'x');
  std::ofstream(folder_ / "more") << std::string(1001, 'x');
  EXPECT_EQ(read_file(folder_ / "exact", 1000)->size(), 1000u);
  EXPECT_THAT(refusal(folder_ / "more"), HasSubstr("is larger than the limit of 1000 bytes"));
  fs::resize_file(folder_ / "more", uintmax_t{1} << 40);
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_THAT(refusal(folder_ / "more", size_t{1} << 30), HasSubstr("is larger than the limit"));
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 10'000);  // KiB
}

TEST_F(InputFileTest, AFileOfTheKernelHasBytesThoughItsSizeIsNone) {
  EXPECT_THAT(read_file("/proc/self/status").value(), HasSubstr("Pid:"));
  EXPECT_FALSE(InputFile::open("/proc/self/status")->size().has_value());
  EXPECT_THAT(refusal("/proc/self/status", 10), HasSubstr("is larger than the limit of 10 bytes"));
  // It says that it has a page of bytes, and has fewer.
  const fs::path small = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (fs::exists(small)) {
    EXPECT_THAT(read_file(small).value(), HasSubstr("never"));
  }
}

TEST_F(InputFileTest, NobodyWritesToAPipe) {
  const std::string path = pipe("pipe");
  EXPECT_EQ(refusal(path), "cannot read '" + path +
                               "': it is a pipe, and nobody has opened it for writing for 0.1 s");
}

TEST_F(InputFileTest, WhoeverWritesToAPipeIsSilent) {
  const std::string path = pipe("pipe");
  const int writer = ::open(path.c_str(), O_RDWR);
  ASSERT_EQ(::write(writer, "ab", 2), 2);
  EXPECT_THAT(refusal(path), HasSubstr("whoever writes to it has been silent for 0.3 s"));
  ::close(writer);
}

TEST_F(InputFileTest, APipeIsReadToItsEnd) {
  const std::string path = pipe("pipe");
  const std::string text(300'000, 'x');
  std::thread writer([&] {
    std::this_thread::sleep_for(30ms);
    std::ofstream out(path);
    out << text.substr(0, 5) << std::flush;
    std::this_thread::sleep_for(150ms);  // longer than a writer may take to come
    out << text.substr(5);
  });
  EXPECT_EQ(read_file(path, 300'000, kShort).value(), text);
  writer.join();
}

TEST_F(InputFileTest, APipeHasALimitToo) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], std::string(2000, 'x').data(), 2000), 2000);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_TRUE(is_stream(path));
  EXPECT_THAT(refusal(path), HasSubstr("is larger than the limit of 1000 bytes"));
  ::close(ends[1]);
  ::close(ends[0]);
}

TEST_F(InputFileTest, ADescriptorIsReadFromWhereItIs) {
  std::ofstream(folder_ / "file") << "one two";
  const int file = ::open((folder_ / "file").c_str(), O_RDONLY);
  ASSERT_EQ(::lseek(file, 4, SEEK_SET), 4);
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(file)).value(), "two");
  ::close(file);
  EXPECT_EQ(descriptor_named("/dev/stdin"), 0);
  EXPECT_EQ(descriptor_named("/dev/fd/63"), 63);
  for (const char* other : {"/dev/fd/", "/dev/fd/1x", "/dev/fd/-1", "/dev/zero", "fd/1", ""})
    EXPECT_EQ(descriptor_named(other), -1) << other;
}

TEST_F(InputFileTest, AFileThatChangesIsNotReadAsOne) {
  const fs::path path = folder_ / "file";
  std::ofstream(path) << std::string(100, 'x');
  for (const size_t length : {50, 150}) {
    auto file = InputFile::open(path);
    char some[10];
    ASSERT_EQ(*file->read(some, sizeof some), sizeof some);
    EXPECT_TRUE(file->check_unchanged().ok());
    fs::resize_file(path, length);
    EXPECT_TRUE(file->read_rest(1000).ok());
    EXPECT_THAT(file->check_unchanged().message(), HasSubstr("changed while it was read"));
  }
}

}  // namespace
}  // namespace stria
