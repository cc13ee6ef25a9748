// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/probe.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/files/disk_cache.h"
#include "stria/hal/files/own_files.h"
#include "stria/hal/files/sha256.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kReport = 3;  // the descriptor in the child
// Of what the plugin prints, the end is kept.
constexpr size_t kMaxWords = 400;
// What the child says; more is not ours.
constexpr size_t kMaxReport = 1 << 20;

// ---- what was seen

std::string file_line(const fs::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return file.string() + " missing\n";
  return fmt::format("{} {} {} {} {}.{} {}.{}\n", file.string(), info.st_dev, info.st_ino,
                     info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

bool decides(std::string_view variable, const DriverSurroundings& driver) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (name == "LD_LIBRARY_PATH" || name == "LD_PRELOAD") return true;
  return std::any_of(
      driver.environment.begin(), driver.environment.end(), [&](std::string_view pattern) {
        return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                      : name == pattern;
      });
}

// In the order of their names.
std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> out;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return out;
}

// All that decides whether what was seen holds: the plugin's files and the probe as they lie on the
// disk (a status change cannot be forged, and reading a large plugin's bytes would take longer than
// loading it), this boot of this machine, what the loader is told, what the process may use, and
// what its manifest says that its driver looks at.
std::string identity_of(const fs::path& directory, const fs::path& program,
                        const DriverSurroundings& driver, const Environment& environment) {
  std::string text = file_line(program);
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entries(directory, error), end; !error && entries != end;
       entries.increment(error))
    files.push_back(entries->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) text += file_line(file);
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(boot, line);
  text += line + "\n";
  std::vector<std::string> variables;
  for (const std::string& variable : environment)
    if (decides(variable, driver)) variables.push_back(variable);
  std::sort(variables.begin(), variables.end());
  for (const std::string& variable : variables) text += variable + "\n";
  for (const std::string& pattern : driver.files)
    for (const std::string& file : files_like(pattern)) text += file_line(file);
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_NOFILE,
                        RLIMIT_FSIZE, RLIMIT_MEMLOCK}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0) text += fmt::format("{} ", limit.rlim_cur);
  }
  return sha256(text);
}

// ---- the child process

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    ::fcntl(read, F_SETFL, O_NONBLOCK);
    return true;
  }
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }
  ~Pipe() {
    close_write();
    if (read >= 0) ::close(read);
  }
};

// Appends what there is; false once nobody can write any more.
bool drain(int file, std::string& to, size_t keep_last) {
  char chunk[4096];
  while (true) {
    const ssize_t count = ::read(file, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    to.append(chunk, static_cast<size_t>(count));
    if (to.size() > 2 * keep_last) to.erase(0, to.size() - keep_last);
  }
}

// A run of the probe, from its start to its end.
class ProbeRun {
 public:
  Status start(const fs::path& directory, const fs::path& probe, std::chrono::milliseconds step,
               const Environment& environment) {
    if (!report_.open() || !words_.open())
      return make_error(StatusCode::unavailable, "no pipe: {}", std::strerror(errno));
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, words_.write, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, words_.write, STDERR_FILENO);
    // Onto itself it would keep its close-on-exec flag; glibc clears it then.
    ::posix_spawn_file_actions_adddup2(&files, report_.write, kReport);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    // A group of its own: what the plugin leaves behind ends with it.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    const std::string folder = directory.string();
    const std::string limit = std::to_string(step.count());
    const std::string program = probe.string();
    const char* arguments[] = {program.c_str(), folder.c_str(), limit.c_str(), nullptr};
    std::vector<char*> variables;
    for (const std::string& variable : environment)
      variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    const int failed = ::posix_spawn(&child_, program.c_str(), &files, &attributes,
                                     const_cast<char**>(arguments), variables.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    report_.close_write();
    words_.close_write();
    if (failed != 0)
      return make_error(StatusCode::unavailable, "cannot start '{}': {}{}", program,
                        std::strerror(failed), failed == EAGAIN ? ": see ulimit -u" : "");
    return Status();
  }

  // Until the child has ended or is silent for `patience`.
  void watch(std::chrono::milliseconds patience) {
    Clock::time_point last = Clock::now();
    for (bool running = true; running;) {
      pollfd waits[2] = {{report_.read, POLLIN, 0}, {words_.read, POLLIN, 0}};
      // Ends of pipes may live on in what the plugin has started: the child's end is asked for too.
      ::poll(waits, 2, 10);
      const size_t said = report_text_.size();
      const pid_t ended = ::waitpid(child_, &wait_status_, WNOHANG);
      running = ended == 0;
      // Nobody says how: the application ignores SIGCHLD, or has waited for all that there is.
      end_is_known_ = ended >= 0;
      const bool open = drain(report_.read, report_text_, kMaxReport);
      (void)drain(words_.read, words_text_, kMaxWords);
      if (report_text_.size() != said) last = Clock::now();
      if (running && !open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (running && Clock::now() - last > patience) {
        hangs_ = true;
        ::kill(-child_, SIGKILL);
        ::kill(child_, SIGKILL);
        ::waitpid(child_, &wait_status_, 0);
        running = false;
      }
    }
    ::kill(-child_, SIGKILL);  // whatever it has left behind
  }

  // The step that was begun last and not ended, and what was wrong: ok if nothing was.
  Verdict verdict(const std::string& id, std::chrono::milliseconds limit) const {
    Step step = Step::load;
    std::string began = "being loaded", wrong;
    bool ended = false, hangs = hangs_;
    for (const std::string& line : split(report_text_, '\n')) {
      const nlohmann::json message = nlohmann::json::parse(line, nullptr, false);
      if (!message.is_object()) continue;
      if (message.contains("step")) step = static_cast<Step>(message.value("step", 0));
      if (message.contains("began")) began = message.value("began", "");
      if (message.contains("wrong")) wrong = message.value("wrong", "");
      if (message.contains("hangs")) hangs = true;
      if (message.contains("end")) ended = true;
    }
    const std::string who = fmt::format("plugin {}: ", id);
    if (ended && wrong.empty()) return {step, Status()};
    if (hangs && wrong.empty())
      return {step, make_error(StatusCode::deadline_exceeded,
                               "{}it has not returned within the limit of {} ms, {}{}", who,
                               limit.count(), began, last_words())};
    if (wrong.empty()) wrong = end_of_process();
    return {step, make_error(kPluginFault, "{}{}, {}{}", who, wrong, began, last_words())};
  }

 private:
  std::string end_of_process() const {
    if (!end_is_known_)
      return "it ended the process, and the system does not say how, as this application ignores "
             "SIGCHLD or waits for every child of its own";
    if (WIFSIGNALED(wait_status_))
      return fmt::format("it crashed ({})", ::strsignal(WTERMSIG(wait_status_)));
    return fmt::format("it ended the process with exit code {}", WEXITSTATUS(wait_status_));
  }
  std::string last_words() const {
    const std::string words(trim(words_text_));
    if (words.empty()) return "";
    return fmt::format("; its last words: {}", shown_name(words, kMaxWords));
  }

  Pipe report_, words_;
  pid_t child_ = -1;
  int wait_status_ = 0;
  bool hangs_ = false, end_is_known_ = true;
  std::string report_text_, words_text_;
};

}  // namespace

fs::path find_probe() {
  for (const fs::path& file : {own_executable(), own_library()}) {
    if (file.empty()) continue;
    std::error_code error;
    fs::path probe = file.parent_path().parent_path() / "lib/stria/stria_probe";
    if (fs::is_regular_file(probe, error)) return probe;
  }
  return {};
}

Verdict probe_plugin(const fs::path& directory, const Manifest& manifest,
                     const ProbeOptions& options, std::chrono::milliseconds time_limit) {
  if (options.program.empty()) return {Step::load, Status()};
  DiskCache memory(options.memory, 1 << 20);
  const auto environment = options.environment ? options.environment : environment_now();
  const std::string key = identity_of(directory, options.program, manifest.driver, *environment);
  if (memory.get(key)) return {Step::load, Status()};
  ProbeRun run;
  if (Status started = run.start(directory, options.program, time_limit, *environment);
      !started.ok())
    return {Step::load, std::move(started)};
  // The child keeps the limit itself, of each step, and says when one begins.
  run.watch(2 * time_limit + std::chrono::milliseconds(1000));
  Verdict verdict = run.verdict(manifest.id, time_limit);
  if (verdict.status.ok()) memory.put(key, "behaves");
  return verdict;
}

}  // namespace stria::hal
