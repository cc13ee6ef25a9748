// SPDX-License-Identifier: Apache-2.0
#include "pocl_needs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "pocl_folder.h"
#include "stria/base/cache_folder.h"
#include "stria/base/environment_table.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria::opencl {
namespace {

namespace fs = std::filesystem;

// Measured with PoCL 3.1, which aborts with less: address space from the first question on, with a
// build in it, and for one more build. Most of it is LLVM's code and the stacks of threads.
constexpr uint64_t kStartBytes = uint64_t{640} << 20;
constexpr uint64_t kBuildBytes = uint64_t{400} << 20;
// Files that the linker and what reads its result have open at a time.
constexpr unsigned kOpenFiles = 16;
// The linker is a process of its own, and forks once.
constexpr unsigned kLinkerProcesses = 2;
// Of a thread that runs PoCL's compiler. With 64 KiB it crashes, with 128 KiB small kernels pass.
constexpr size_t kStackBytes = size_t{256} << 10;
constexpr rlim_t kFileBytes = rlim_t{16} << 20;

constexpr const char* kFolderVariable = "POCL_CACHE_DIR";
// PoCL sets this one itself when it starts, to this value.
constexpr const char* kPluginsVariable = "HWLOC_PLUGINS_PATH";
constexpr const char* kNoPlugins = "/dev/null";

// The folder that PoCL was given, for the life of the process: PoCL asks once.
struct Given {
  std::mutex mutex;
  bool started = false;  // guarded by mutex, as all below
  bool links_with_program = false;
  std::unique_ptr<PoclFolder> folder;  // null where the user's own is used
  fs::path path;
};
Given& given() {
  static Given& all = *new Given;  // never destroyed: PoCL's threads outlive static objects
  return all;
}

Status unavailable(std::string text) { return Status(StatusCode::unavailable, std::move(text)); }

// Files that tell hwloc what the processor is. Any of them will do.
Status check_processor_described(const std::string& sysfs) {
  // hwloc reads this file instead, if it is told to.
  if (std::getenv("HWLOC_XMLFILE") != nullptr) return {};
  const std::string topology = sysfs + "/devices/system/cpu/cpu0/topology";
  for (const char* file : {"core_cpus", "thread_siblings", "package_cpus", "core_siblings"})
    if (::access((topology + "/" + file).c_str(), R_OK) == 0) return {};
  return unavailable("the processor is not described in " + topology + ": mount sysfs at " + sysfs);
}

// The number of threads that PoCL starts.
unsigned pocl_threads() {
  int asked = 0;
  if (const char* text = std::getenv("POCL_MAX_PTHREAD_COUNT"))
    (void)std::from_chars(text, text + std::strlen(text), asked);
  if (asked > 0) return static_cast<unsigned>(asked);
  return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

// PoCL up to version 4 links kernels with the program `ld`.
bool links_with_program(const std::string& version) {
  const size_t at = version.find("PoCL ");
  return at != std::string::npos && std::atoi(version.c_str() + at + 5) < 5;
}

// Folders of this plugin's own, the better ones first.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> out;
  if (const fs::path cache = user_cache_folder(); !cache.empty()) out.push_back(cache / "pocl");
  const char* temporary = secure_getenv("TMPDIR");
  const std::string mine = fmt::format("stria-{}", ::geteuid());
  if (temporary && temporary[0] == '/') out.push_back(fs::path(temporary) / mine / "pocl");
  out.push_back(fs::path("/tmp") / mine / "pocl");
  return out;
}

// Sets given().path, under its mutex.
Status choose_folder(Given& out) {
  // Others' variables mean nothing to an elevated process, whatever PoCL makes of them.
  const char* own = secure_getenv(kFolderVariable);
  if (own) {
    const Status good = own[0] == '\0' ? unavailable("it is empty") : check_code_folder(own);
    if (!good.ok())
      return unavailable(fmt::format(
          "{} cannot be used: {}; set it to a folder that may be written and from which code may "
          "be run, or unset it",
          kFolderVariable, good.message()));
    out.path = own;
    return {};
  }
  std::vector<std::string> reasons;
  for (const fs::path& base : own_folders()) {
    auto folder = PoclFolder::take(base);
    if (folder.ok()) {
      out.folder = std::move(*folder);
      out.path = out.folder->path();
      return {};
    }
    reasons.push_back(folder.status().message());
  }
  return unavailable(
      fmt::format("it has no folder for what it builds: {}; set {} to a folder that "
                  "may be written and from which code may be run",
                  join(reasons, "; "), kFolderVariable));
}

Status check_start(const std::string& sysfs, const std::string& version) {
  STRIA_RETURN_IF_ERROR(check_processor_described(sysfs));
  STRIA_RETURN_IF_ERROR(check_thread_count(std::getenv("POCL_MAX_PTHREAD_COUNT")));
  STRIA_RETURN_IF_ERROR(check_open_files(kOpenFiles));
  STRIA_RETURN_IF_ERROR(check_file_size());
  STRIA_RETURN_IF_ERROR(check_memory(kStartBytes, "it"));
  STRIA_RETURN_IF_ERROR(check_threads(pocl_threads() + kLinkerProcesses));
  if (!links_with_program(version)) return {};
  STRIA_RETURN_IF_ERROR(check_ends_of_children());
  return check_linker(std::getenv("PATH"));
}

}  // namespace

Status check_thread_count(const char* text) {
  if (!text) return {};
  int count = 0;
  const char* const end = text + std::strlen(text);
  const auto [behind, error] = std::from_chars(text, end, count);
  // What is no number PoCL does not take notice of, nor of 0.
  if (error == std::errc::result_out_of_range || (error == std::errc() && count < 0))
    return unavailable(fmt::format("POCL_MAX_PTHREAD_COUNT is '{}', which is no number of threads",
                                   shown_name(text)));
  return {};
}

Status check_memory(uint64_t bytes, const char* what) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    ::munmap(memory, bytes);
    return {};
  }
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return make_error(
      StatusCode::out_of_memory, "{} needs {} MiB of address space more{}", what, bytes >> 20,
      limited ? fmt::format(" than the limit of {} MiB (ulimit -v) leaves", limit.rlim_cur >> 20)
              : " than there is");
}

Status check_threads(unsigned count) {
  pthread_attr_t defaults;
  size_t stack = 0;
  if (::pthread_getattr_default_np(&defaults) == 0) {
    (void)::pthread_attr_getstacksize(&defaults, &stack);
    (void)::pthread_attr_destroy(&defaults);
    if (stack < kStackBytes)
      return unavailable(
          fmt::format("threads begin with a stack of {} KiB (ulimit -s), and it needs {} KiB",
                      stack >> 10, kStackBytes >> 10));
  }
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  } gate;
  std::vector<pthread_t> threads;
  threads.reserve(count);
  int failed = 0;
  while (threads.size() < count && failed == 0) {
    pthread_t thread{};
    failed = ::pthread_create(
        &thread, nullptr,
        [](void* state) -> void* {
          auto& waits = *static_cast<Gate*>(state);
          std::unique_lock lock(waits.mutex);
          waits.opened.wait(lock, [&] { return waits.open; });
          return nullptr;
        },
        &gate);
    if (failed == 0) threads.push_back(thread);
  }
  {
    std::lock_guard lock(gate.mutex);
    gate.open = true;
    gate.opened.notify_all();
  }
  for (const pthread_t thread : threads) (void)::pthread_join(thread, nullptr);
  if (failed == 0) return {};
  return unavailable(
      fmt::format("it needs {} threads and processes, and the system starts {} more ({}): see "
                  "ulimit -u and the "
                  "control group's pids.max, or set POCL_MAX_PTHREAD_COUNT=1",
                  count, threads.size(), std::strerror(failed)));
}

Status check_open_files(unsigned count) {
  std::vector<int> files;
  int failed = 0;
  while (files.size() < count && failed == 0) {
    const int file = ::open("/", O_PATH | O_CLOEXEC);
    if (file < 0)
      failed = errno;
    else
      files.push_back(file);
  }
  for (const int file : files) ::close(file);
  if (failed == 0) return {};
  rlimit limit{};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  return unavailable(
      fmt::format("it opens up to {} files, and the limit of {} open files (ulimit -n) leaves {}",
                  count, limit.rlim_cur, files.size()));
}

Status check_file_size() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= kFileBytes) return {};
  return unavailable(
      fmt::format("it writes files of up to {} KiB, and a file may grow to {} KiB (ulimit -f)",
                  kFileBytes >> 10, limit.rlim_cur >> 10));
}

Status check_linker(const char* path) {
  for (const std::string& folder : split(path ? path : "", ':')) {
    const fs::path linker = fs::path(folder.empty() ? "." : folder) / "ld";
    if (::access(linker.c_str(), X_OK) == 0) return {};
  }
  return unavailable(fmt::format(
      "it links kernels with the program 'ld', which is in no folder of PATH{}: install binutils",
      path ? " ('" + shown_name(path) + "')" : ", as that is not set"));
}

Status check_ends_of_children() {
  struct sigaction now{};
  if (::sigaction(SIGCHLD, nullptr, &now) != 0) return {};
  if (now.sa_handler != SIG_IGN && (now.sa_flags & SA_NOCLDWAIT) == 0) return {};
  return unavailable(
      "it waits for the program 'ld' that links kernels, and this process ignores how its "
      "children end: set SIGCHLD to SIG_DFL or to a handler without SA_NOCLDWAIT");
}

PoclStart::PoclStart(const std::string& sysfs, const std::string& version) : lock_(given().mutex) {
  Given& out = given();
  if (out.started) return;
  status_ = check_start(sysfs, version);
  if (status_.ok()) status_ = choose_folder(out);
  status_ = status_.with_context("PoCL cannot run here");
  if (!status_.ok()) return;
  out.started = true;
  out.links_with_program = links_with_program(version);
  // Other plugins are asked for their devices at the same time, and read the environment. PoCL uses
  // setenv(), which frees the table that they read, unless the variable is there already.
  set_variable(kPluginsVariable, kNoPlugins);
  if (!out.folder) return;
  set_variable(kFolderVariable, out.path.string());
  sets_variable_ = true;
}

PoclStart::~PoclStart() {
  // PoCL has read it. Children of this process are to look for folders of their own.
  if (sets_variable_) set_variable(kFolderVariable, std::nullopt);
}

Status check_pocl_can_build() {
  Given& out = given();
  fs::path folder;
  bool links_with_program = false;
  {
    std::lock_guard lock(out.mutex);
    folder = out.path;
    links_with_program = out.links_with_program;
  }
  Status status = check_memory(kBuildBytes, "a build");
  if (status.ok() && !folder.empty()) status = check_room(folder);
  if (status.ok()) status = check_threads(kLinkerProcesses);
  if (status.ok()) status = check_open_files(kOpenFiles);
  if (status.ok() && links_with_program) status = check_ends_of_children();
  return status.with_context("PoCL cannot build here");
}

void record_pocl_folder() {
  Given& out = given();
  std::lock_guard lock(out.mutex);
  if (out.folder) out.folder->record();
}

std::string why_pocl_has_no_device() {
  if (const char* devices = std::getenv("POCL_DEVICES"))
    return fmt::format(
        "PoCL has no device: POCL_DEVICES is '{}', which names none that it knows; unset it, or "
        "set it to 'pthread'",
        shown_name(devices));
  return "PoCL says that it has no device; what it prints with POCL_DEBUG=all says why";
}

}  // namespace stria::opencl
