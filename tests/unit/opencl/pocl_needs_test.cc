// SPDX-License-Identifier: Apache-2.0
// What PoCL takes for granted, taken away one by one, in processes of their own.
#include "pocl_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "scripted_host.h"

namespace stria::opencl {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

[[noreturn]] void end_with(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  ::_exit(status.ok() ? 0 : 1);
}

void limit(int what, rlim_t soft) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(what), &now);
  now.rlim_cur = soft;
  ::setrlimit(static_cast<__rlimit_resource>(what), &now);
}

TEST(PoclNeeds, ANumberOfThreadsThatIsOne) {
  for (const char* good : {"1", "64", "0", "x", ""}) EXPECT_TRUE(check_thread_count(good).ok());
  EXPECT_TRUE(check_thread_count(nullptr).ok());
  for (const char* bad : {"-1", "-2147483648", "99999999999"})
    EXPECT_THAT(check_thread_count(bad).message(),
                HasSubstr("POCL_MAX_PTHREAD_COUNT is '" + std::string(bad) + "'"));
}

TEST(PoclNeeds, MemoryUnderALimit) {
  EXPECT_TRUE(check_memory(64 << 20, "it").ok());
  EXPECT_THAT(check_memory(uint64_t{1} << 60, "it").message(),
              HasSubstr("MiB of address space more than there is"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EXIT(
      {
        limit(RLIMIT_AS, rlim_t{300} << 20);
        end_with(check_memory(uint64_t{400} << 20, "a build"));
      },
      testing::ExitedWithCode(1),
      "a build needs 400 MiB of address space more than the limit of 300 MiB \\(ulimit -v\\)");
#endif
}

TEST(PoclNeeds, ThreadsWithAStack) {
  EXPECT_TRUE(check_threads(4).ok());
  EXPECT_EXIT(
      {
        pthread_attr_t small;
        ::pthread_attr_init(&small);
        ::pthread_attr_setstacksize(&small, 64 << 10);
        ::pthread_setattr_default_np(&small);
        end_with(check_threads(1));
      },
      testing::ExitedWithCode(1), "a stack of 64 KiB \\(ulimit -s\\), and it needs 256 KiB");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(PoclNeeds, ThreadsThatTheSystemStarts) {
  EXPECT_EXIT(
      {
        // Root may start as many as it likes.
        if (::geteuid() == 0 && ::setuid(54321) != 0) ::_exit(2);
        limit(RLIMIT_NPROC, 3);
        end_with(check_threads(4));
      },
      testing::ExitedWithCode(1),
      "it needs 4 threads and processes, and the system starts 2 more .* ulimit -u");
}
#endif

TEST(PoclNeeds, OpenFiles) {
  EXPECT_TRUE(check_open_files(16).ok());
  EXPECT_EXIT(
      {
        limit(RLIMIT_NOFILE, 12);
        end_with(check_open_files(16));
      },
      testing::ExitedWithCode(1),
      "up to 16 files, and the limit of 12 open files \\(ulimit -n\\) leaves [0-9]");
}

TEST(PoclNeeds, FilesThatMayGrow) {
  EXPECT_TRUE(check_file_size().ok());
  EXPECT_EXIT(
      {
        limit(RLIMIT_FSIZE, 4096);
        end_with(check_file_size());
      },
      testing::ExitedWithCode(1), "a file may grow to 4 KiB \\(ulimit -f\\)");
}

TEST(PoclNeeds, ALinker) {
  const hal::TemporaryFolder bin;
  const std::string path = "/nowhere:" + bin.path().string();
  EXPECT_THAT(check_linker(path.c_str()).message(), HasSubstr("in no folder of PATH ('/nowhere:"));
  EXPECT_THAT(check_linker(nullptr).message(), HasSubstr("as that is not set"));
  std::ofstream(bin.path() / "ld") << "";
  fs::permissions(bin.path() / "ld", fs::perms::owner_all);
  EXPECT_TRUE(check_linker(path.c_str()).ok());
}

TEST(PoclNeeds, EndsOfChildren) {
  EXPECT_TRUE(check_ends_of_children().ok());
  EXPECT_EXIT(
      {
        (void)std::signal(SIGCHLD, SIG_IGN);
        end_with(check_ends_of_children());
      },
      testing::ExitedWithCode(1), "this process ignores how its children end: set SIGCHLD to");
  EXPECT_EXIT(
      {
        struct sigaction unheard{};
        unheard.sa_handler = [](int) {};
        unheard.sa_flags = SA_NOCLDWAIT;
        ::sigaction(SIGCHLD, &unheard, nullptr);
        end_with(check_ends_of_children());
      },
      testing::ExitedWithCode(1), "this process ignores how its children end: set SIGCHLD to");
}

// Each starts in a process of its own that has asked for nothing before.
class PoclStartTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Prints what POCL_CACHE_DIR is meanwhile and afterwards. `home` and `own` are paths in folder_,
  // or null for a variable that is not set.
  [[noreturn]] void start(const char* home, const char* own) {
    const auto set = [&](const char* name, const char* value) {
      if (value)
        ::setenv(name, value[0] ? (folder_.path() / value).c_str() : "", 1);
      else
        ::unsetenv(name);
    };
    fs::create_directory(folder_.path() / "tmp");
    set("XDG_CACHE_HOME", nullptr);
    set("TMPDIR", "tmp");
    set("HOME", home);
    set("POCL_CACHE_DIR", own);
    {
      const PoclStart first("/sys", "");
      if (!first.status().ok()) end_with(first.status());
      const char* meanwhile = std::getenv("POCL_CACHE_DIR");
      std::fprintf(stderr, "meanwhile %s\n", meanwhile ? meanwhile : "unset");
    }
    const char* afterwards = std::getenv("POCL_CACHE_DIR");
    std::fprintf(stderr, "afterwards %s\n", afterwards ? afterwards : "unset");
    // PoCL has what it needs, and is not given another one.
    const PoclStart second("/sys", "");
    ::_exit(second.status().ok() ? 0 : 1);
  }
  const hal::TemporaryFolder folder_;
};

TEST_F(PoclStartTest, GivesPoclAFolderForTheTimeOfTheStart) {
  EXPECT_EXIT(start("home", nullptr), testing::ExitedWithCode(0),
              "meanwhile .*/home/.cache/stria/pocl/0\nafterwards unset");
}

TEST_F(PoclStartTest, GivesATemporaryFolderWhereThereIsNoCache) {
  EXPECT_EXIT(start("/proc/nowhere", nullptr), testing::ExitedWithCode(0),
              "meanwhile .*/tmp/stria-[0-9]+/pocl/0\n");
  EXPECT_EXIT(start(nullptr, nullptr), testing::ExitedWithCode(0),
              "meanwhile .*/tmp/stria-[0-9]+/pocl/0\n");
}

// PoCL ends the process where it does not hear of the linker that it has started.
TEST_F(PoclStartTest, AsksForTheEndsOfChildrenWhereALinkerIsOne) {
  const auto ignored_from_the = [&](const char* moment, const char* version) {
    ::setenv("POCL_CACHE_DIR", folder_.path().c_str(), 1);
    if (moment == std::string("start")) (void)std::signal(SIGCHLD, SIG_IGN);
    if (const PoclStart start("/sys", version); !start.status().ok()) end_with(start.status());
    (void)std::signal(SIGCHLD, SIG_IGN);
    end_with(check_pocl_can_build());
  };
  constexpr const char* kOld = "OpenCL 3.0 PoCL 3.1+debian";
  EXPECT_EXIT(ignored_from_the("start", kOld), testing::ExitedWithCode(1),
              "PoCL cannot run here: it waits for the program 'ld'");
  EXPECT_EXIT(ignored_from_the("build", kOld), testing::ExitedWithCode(1),
              "PoCL cannot build here: it waits for the program 'ld'");
  EXPECT_EXIT(ignored_from_the("start", "OpenCL 3.0 PoCL 6.0"), testing::ExitedWithCode(0), "");
}

TEST_F(PoclStartTest, GivesATemporaryFolderWhereOthersMayChangeTheCache) {
  const fs::path shared = folder_.path() / "home/.cache/stria";
  fs::create_directories(shared);
  fs::permissions(shared, fs::perms::all);
  EXPECT_EXIT(start("home", nullptr), testing::ExitedWithCode(0),
              "meanwhile .*/tmp/stria-[0-9]+/pocl/0\n");
}

// Other threads may read the environment meanwhile: no table of variables is freed, neither by us
// nor by what PoCL sets when it starts.
TEST_F(PoclStartTest, FreesNoTableOfVariables) {
  const auto starts = [&] {
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);  // the table is one of the library's
    char** const before = environ;
    const std::vector<char*> variables(before, before + 3);
    const PoclStart start("/sys", "");
    if (!start.status().ok()) end_with(start.status());
    char** const during = environ;
    ::setenv("HWLOC_PLUGINS_PATH", "/dev/null", 1);
    const bool changed = !std::equal(variables.begin(), variables.end(), before);
    ::_exit(environ != during || changed ? 1 : 0);
  };
  EXPECT_EXIT(starts(), testing::ExitedWithCode(0), "");
}

TEST_F(PoclStartTest, LeavesTheUsersFolder) {
  EXPECT_EXIT(start("home", "own"), testing::ExitedWithCode(0),
              "meanwhile .*/own\nafterwards .*/own\n");
}

TEST_F(PoclStartTest, SaysWhatIsWrongWithTheUsersFolder) {
  EXPECT_EXIT(
      start("home", "/proc/nowhere"), testing::ExitedWithCode(1),
      "PoCL cannot run here: POCL_CACHE_DIR cannot be used: '/proc/nowhere' cannot be made: "
      ".*; set it to a folder .*, or unset it");
  EXPECT_EXIT(start("home", ""), testing::ExitedWithCode(1),
              "POCL_CACHE_DIR cannot be used: it is empty");
}

}  // namespace
}  // namespace stria::opencl
