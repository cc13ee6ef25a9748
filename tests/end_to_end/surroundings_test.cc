// SPDX-License-Identifier: Apache-2.0
// The command where the shell and the machine leave it less than it is used to: limits, variables,
// folders. It works, or says in one error what is missing; it never ends with a signal, and never
// says nothing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "command.h"

namespace stria::end_to_end {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// Under a sanitizer the process needs far more of everything.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

using Before = std::function<void()>;

Before limit(int what, rlim_t bytes) {
  return [what, bytes] {
    const rlimit both{bytes, bytes};
    if (::setrlimit(static_cast<__rlimit_resource>(what), &both) != 0) ::_exit(125);
  };
}
// A null value: not set.
Before variable(const char* name, const char* value) {
  return [name, value] { value ? ::setenv(name, value, 1) : ::unsetenv(name); };
}

class Surroundings : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "sanitizers need more of everything";
    folder_.write("m.tile",
                  "function f(A[M, L], B[L, N]) -> (C) {\n"
                  "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n}\n");
    folder_.write("elementwise.tile", "function f(A[M]) -> (C) { C = A + 1; }\n");
  }

  Ended run(const std::string& device, const Before& before, const char* more = "") const {
    return folder_.stria(words("run m.tile --input A=random:1 --shape A=4,8 --input B=random:2 "
                               "--shape B=8,4 --device " +
                               device + " " + more),
                         before);
  }
  // It works, or one line says why not.
  static void expect_decent(const Ended& ended) {
    EXPECT_EQ(ended.signal, 0) << ended.err;
    EXPECT_THAT(ended.code, AnyOf(0, 1, 3)) << ended.err;
    if (ended.code != 0) {
      EXPECT_THAT(ended.err, HasSubstr("stria: "));
      EXPECT_THAT(ended.err, testing::Not(HasSubstr("bug"))) << ended.err;
    }
    EXPECT_LT(ended.err.size(), 4096u);
    if (ended.code == 0) {
      EXPECT_FALSE(ended.out.empty());
    }
  }
  // All of it works.
  void expect_well(const Before& before) const {
    for (const char* device : {"llvm_cpu", "reference"}) {
      const Ended ended = run(device, before);
      EXPECT_EQ(ended.code, 0) << device << ": signal " << ended.signal << ": " << ended.err;
      EXPECT_THAT(ended.out, HasSubstr("C: fp32[4, 4]"));
    }
    const Ended listed = folder_.stria({"devices"}, before);
    EXPECT_EQ(listed.code, 0) << "signal " << listed.signal << ": " << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("llvm_cpu:0"));
    expect_decent(run("opencl", before));
  }

  Folder folder_;
};

TEST_F(Surroundings, AStackOfSixtyFourKiB) {
  expect_well(limit(RLIMIT_STACK, 64 << 10));
  const Ended doctor =
      folder_.stria(words("doctor llvm_cpu reference sim"), limit(RLIMIT_STACK, 64 << 10));
  EXPECT_EQ(doctor.code, 0) << doctor.signal << doctor.out << doctor.err;
}

// What recurses gets as deep as its limits say, whatever the shell's stack.
TEST_F(Surroundings, ASmallStackLeavesTheLimitsOfParsers) {
  const auto nested = [](int depth, const std::string& open, const std::string& core,
                         const std::string& close) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += core;
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  const Before small = limit(RLIMIT_STACK, 64 << 10);
  for (const int depth : {200, 100000}) {
    folder_.write("deep.tile",
                  "function f(A[N]) -> (C) { C = " + nested(depth, "(", "A", ")") + "; }\n");
    folder_.write("minus.tile",
                  "function f(A[N]) -> (C) { C = " + nested(depth, "-", "A", "") + "; }\n");
    folder_.write("deep.json", nested(depth, "{\"a\":", "1", "}"));
    folder_.write("template.json", "{\"clock_mhz\": {{ " + nested(depth, "(", "1", ")") + " }} }");
    folder_.write("not.json", "{\"clock_mhz\": {{ " + nested(depth, "not ", "1", "") + " }} }");
    folder_.write("deep.stripe", "stripe 1.0\n" + nested(depth, "0: block [] () {\n", "", "}\n"));
    for (const char* command :
         {"compile deep.tile --shape A=4 --device reference -o o.stripe",
          "compile minus.tile --shape A=4 --device reference -o o.stripe", "fmt deep.tile",
          "hw deep.json", "hw template.json", "hw not.json", "opt deep.stripe"}) {
      const Ended ended = folder_.stria(words(command), small);
      EXPECT_EQ(ended.signal, 0) << command << ", depth " << depth;
      EXPECT_THAT(ended.code, AnyOf(0, 1)) << command << ": " << ended.err.substr(0, 500);
      if (depth > 1000) {
        EXPECT_EQ(ended.code, 1) << command;
      }
      EXPECT_EQ(ended.code == 0, ended.err.find("error") == std::string::npos) << ended.err;
      EXPECT_LT(ended.err.size(), 4096u) << command;
    }
  }
}

TEST_F(Surroundings, LimitsOfMemory) {
  // With less than the first the loader has no room for the program, and says so itself.
  for (const rlim_t mib : {36, 60, 75, 95, 150, 512}) {
    const Before less = limit(RLIMIT_AS, mib << 20);
    for (const char* device : {"reference", "llvm_cpu", "opencl", "auto"})
      expect_decent(run(device, less));
    expect_decent(folder_.stria({"devices"}, less));
  }
}

// Memory ends once, at any malloc(), and what was begun is taken back. Left out is what loads
// drivers into this process: they abort then, and a constructor of theirs that fails keeps the
// loader's lock.
TEST_F(Surroundings, OneAllocationFails) {
  const char* const asked = std::getenv("STRIA_FAILING_ALLOCATIONS");
  const long points = asked ? std::strtol(asked, nullptr, 10) : 20;
  constexpr long kAllocations = 45'000;  // about what one of these commands asks for
  for (long i = 0; i < points; ++i) {
    const std::string at = std::to_string(i * kAllocations / points + i % 13);
    SCOPED_TRACE("allocation " + at);
    const Before fails = [at] {
      ::setenv("LD_PRELOAD", STRIA_FAILING_MEMORY, 1);
      ::setenv("STRIA_FAIL_AT", at.c_str(), 1);
    };
    for (const char* device : {"reference", "llvm_cpu"}) expect_decent(run(device, fails));
    const Ended listed = folder_.stria({"devices"}, fails);
    expect_decent(listed);
    // The first one is asked for before anything could do without it.
    if (i == 0) {
      EXPECT_EQ(listed.code, 1);
      EXPECT_THAT(listed.err, HasSubstr("out of memory"));
    }
  }
}

TEST_F(Surroundings, LimitsOfOpenFiles) {
  for (const rlim_t files : {4, 5, 6, 8, 12, 20}) {
    const Before less = [files] {
      (void)::close_range(3, ~0u, 0);  // the test's own
      limit(RLIMIT_NOFILE, files)();
    };
    for (const char* device : {"reference", "llvm_cpu", "opencl"}) expect_decent(run(device, less));
    expect_decent(folder_.stria({"devices"}, less));
    expect_decent(folder_.stria({"doctor"}, less));
  }
}

TEST_F(Surroundings, AFileMayNotGrow) {
  const Before none = limit(RLIMIT_FSIZE, 0);
  for (const char* device : {"reference", "llvm_cpu", "opencl"}) {
    const Ended ended = run(device, none, "--output C=c.npy");
    EXPECT_EQ(ended.signal, 0) << device;
    EXPECT_THAT(ended.code, AnyOf(1, 3)) << device;
    EXPECT_EQ(folder_.files().size(), 2u) << device;
  }
}

TEST_F(Surroundings, LimitsOfProcesses) {
  for (const rlim_t processes : {1, 2, 3, 4, 6}) {
    const Before less = [processes] {
      limit(RLIMIT_NPROC, processes)();
      // Root may start as many as it likes.
      if (::geteuid() == 0 && ::setuid(54321) != 0) ::_exit(125);
      ::setenv("HOME", "/proc", 1);
      ::unsetenv("POCL_CACHE_DIR");
    };
    ::chmod(folder_.path("").c_str(), 0755);
    for (const char* device : {"reference", "llvm_cpu", "opencl"}) {
      const Ended ended = run(device, less);
      if (ended.code == 126) GTEST_SKIP() << "another user may not read the build folder";
      expect_decent(ended);
    }
    expect_decent(folder_.stria({"devices"}, less));
    expect_decent(folder_.stria(words("doctor reference"), less));
  }
}

TEST_F(Surroundings, NoHome) {
  for (const char* home : {static_cast<const char*>(nullptr), "/nonexistent/home", "/dev/null",
                           "/proc", "", "relative"})
    expect_well([home] {
      variable("HOME", home)();
      variable("XDG_CACHE_HOME", nullptr)();
      // The test's own would hide what happens.
      if (home && home[0] == '/') variable("TMPDIR", "/nonexistent/tmp")();
    });
  expect_well(variable("XDG_CACHE_HOME", "relative"));
}

TEST_F(Surroundings, NonsenseInVariables) {
  for (const char* threads : {"0", "-1", "1000000000", "x", "", "99999999999999999999"})
    expect_well(variable("STRIA_THREADS", threads));
  for (const char* path : {":", "relative::/nonexistent", "/dev/null", "."})
    expect_well(variable("STRIA_PLUGIN_PATH", path));
  expect_well([] {
    for (const char* name : {"LANG", "LC_ALL", "LANGUAGE", "TZ"}) ::setenv(name, "nonsense\x1b", 1);
    ::setenv("HUGE", std::string(100000, 'x').c_str(), 1);
  });
}

TEST_F(Surroundings, AProcessorOfNonsense) {
  const std::string huge(100000, 'x');
  for (const char* name : {"no_such", "i386", "\x1b[31mred", "haswel", huge.c_str()}) {
    const Before processor = variable("STRIA_LLVM_CPU_PROCESSOR", name);
    const Ended ended = run("llvm_cpu", processor);
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("not available: STRIA_LLVM_CPU_PROCESSOR is '"));
    EXPECT_EQ(ended.err.find('\x1b'), std::string::npos);
    EXPECT_LT(ended.err.size(), 2048u);
    EXPECT_EQ(folder_.files(), (std::vector<std::string>{"elementwise.tile", "m.tile"}));
    const Ended listed = folder_.stria({"devices"}, processor);
    EXPECT_EQ(listed.code, 0);
    EXPECT_THAT(listed.out, HasSubstr("not available: STRIA_LLVM_CPU_PROCESSOR"));
  }
  EXPECT_THAT(run("llvm_cpu", variable("STRIA_LLVM_CPU_PROCESSOR", "haswel")).err,
              HasSubstr("did you mean 'haswell'?"));
}

TEST_F(Surroundings, ClosedDescriptors) {
  for (const int closed : {0, 1, 2}) {
    const Ended ended = run("reference", [closed] { ::close(closed); }, "--output C=c.npy");
    EXPECT_EQ(ended.code, 0) << closed << ended.err;
    EXPECT_EQ(parse_npy_bytes(folder_.read("c.npy")).values.size(), 16u) << closed;
    fs::remove(folder_.path("c.npy"));
  }
  const Ended unheard = run("reference", [] { ::close(1); });
  EXPECT_EQ(unheard.code, 1);
  EXPECT_THAT(unheard.err, HasSubstr("stria: "));
}

// Whoever ignores the ends of its children hands that on, and the system then keeps none of them.
TEST_F(Surroundings, EndsOfChildrenAreIgnored) {
  const Before ignored = [] { (void)std::signal(SIGCHLD, SIG_IGN); };
  expect_well(ignored);
  const Ended listed = folder_.stria({"devices"}, ignored);
  EXPECT_EQ(listed.out, folder_.stria({"devices"}).out);
  const Ended doctor = folder_.stria(words("doctor reference"), ignored);
  EXPECT_EQ(doctor.code, 0) << doctor.out << doctor.err;
  // The linker of a driver is such a child, where nothing is built yet.
  const Ended linked = run("opencl", [&] {
    ignored();
    ::setenv("XDG_CACHE_HOME", folder_.path("cache").c_str(), 1);
    ::unsetenv("POCL_CACHE_DIR");
  });
  EXPECT_EQ(linked.code, run("opencl", [] {}).code) << linked.err;
}

TEST_F(Surroundings, AFolderThatIsGone) {
  const Before gone = [] {
    std::string pattern = "/tmp/stria_gone_XXXXXX";
    if (!::mkdtemp(pattern.data()) || ::chdir(pattern.c_str()) != 0 ||
        ::rmdir(pattern.c_str()) != 0)
      ::_exit(125);
  };
  const Ended listed = folder_.stria({"devices"}, gone);
  EXPECT_EQ(listed.code, 0) << listed.signal << listed.err;
  const Ended ended = run("reference", gone);
  EXPECT_EQ(ended.code, 1) << ended.signal;
  EXPECT_THAT(ended.err, HasSubstr("m.tile"));
}

TEST_F(Surroundings, OneCore) {
  expect_well([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) ::_exit(125);
  });
}

// A file system of its own at `at`, for the process alone.
void mounted(const char* at, unsigned long flags, const char* options) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", at, "tmpfs", flags, options) != 0)
    ::_exit(125);
}

TEST_F(Surroundings, ProcIsNotMounted) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to mount file systems";
  expect_well([] { mounted("/proc", 0, "size=1m"); });
}

TEST_F(Surroundings, NothingCanBeWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to mount file systems";
  // Where temporary files lie may be a file system of its own.
  const Before read_only = [here = folder_.path(".").string()] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(here.c_str(), here.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr, here.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0 ||
        ::chdir(here.c_str()) != 0)
      ::_exit(125);
    ::unsetenv("POCL_CACHE_DIR");
  };
  expect_well(read_only);
  const Ended unwritten = run("reference", read_only, "--output C=c.npy");
  EXPECT_EQ(unwritten.code, 1);
  EXPECT_THAT(unwritten.err, HasSubstr("Read-only file system"));
}

TEST_F(Surroundings, PoclsFolder) {
  const fs::path cache = folder_.path("cache");
  fs::create_directory(cache);
  const std::string at = cache.string();
  if (folder_.stria({"devices"}).out.find("Portable Computing Language") == std::string::npos)
    GTEST_SKIP() << "there is no PoCL";
  // The user's own is refused with the reason.
  const Before bad = variable("POCL_CACHE_DIR", "/proc/nowhere");
  EXPECT_THAT(run("opencl", bad).err,
              HasSubstr("POCL_CACHE_DIR cannot be used: '/proc/nowhere' cannot be made"));
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to mount file systems";
  const auto user_folder = [&](unsigned long flags, const char* options) {
    return [&at, flags, options] {
      mounted(at.c_str(), flags, options);
      ::setenv("POCL_CACHE_DIR", at.c_str(), 1);
    };
  };
  Ended ended = run("opencl", user_folder(MS_NOEXEC, "size=64m"));
  EXPECT_EQ(ended.code, 3) << ended.signal << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("does not run programs (noexec)"));
  ended = run("opencl", user_folder(0, "size=200k"));
  EXPECT_EQ(ended.code, 3) << ended.signal << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("MiB are needed"));
  // In the place of ours another is found.
  ended = run("opencl", [&at] {
    mounted(at.c_str(), MS_NOEXEC, "size=64m");
    ::setenv("XDG_CACHE_HOME", at.c_str(), 1);
    ::unsetenv("POCL_CACHE_DIR");
  });
  EXPECT_EQ(ended.code, 0) << ended.signal << ended.err;
}

TEST_F(Surroundings, DamagedFilesOfPocl) {
  const Before own = [cache = folder_.path("cache").string()] {
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    ::unsetenv("POCL_CACHE_DIR");
  };
  if (run("opencl", own).code != 0) GTEST_SKIP() << "there is no PoCL";
  int damaged = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path("cache")))
    if (entry.is_regular_file() && entry.path().string().find("/pocl/") != std::string::npos) {
      fs::resize_file(entry.path(), 0);
      ++damaged;
    }
  if (damaged == 0) GTEST_SKIP() << "there is no PoCL";
  const Ended ended = run("opencl", own);
  EXPECT_EQ(ended.code, 0) << ended.signal << ended.err;
}

}  // namespace
}  // namespace stria::end_to_end
