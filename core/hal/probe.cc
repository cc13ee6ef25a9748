// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/probe.h"

#include <glob.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/files/disk_cache.h"
#include "stria/hal/files/folder_identity.h"
#include "stria/hal/files/own_files.h"
#include "stria/hal/files/sha256.h"
#include "stria/hal/guard/child_process.h"

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
  // A call that ran out of memory has freed what it had found.
  if (::glob(pattern.c_str(), 0, nullptr, &found) != 0) return {};
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, ::globfree);
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

// All that decides whether what was seen holds: the plugin's files and the probe as they lie on the
// disk (a status change cannot be forged, and reading a large plugin's bytes would take longer than
// loading it), this boot of this machine, what the loader is told, what the process may use, and
// what its manifest says that its driver looks at.
std::string identity_of(const fs::path& directory, const fs::path& program,
                        const DriverSurroundings& driver, const Environment& environment) {
  std::string text = file_line(program) + folder_lines(directory);
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

// A run of the probe, from its start to its end.
class ProbeRun {
 public:
  Status start(const fs::path& directory, const fs::path& probe, std::chrono::milliseconds step,
               const Environment& environment) {
    if (!report_.open() || !words_.open())
      return make_error(StatusCode::unavailable, "no pipe: {}", std::strerror(errno));
    const Status started = child_.start(
        {probe,
         {directory.string(), std::to_string(step.count())},
         environment,
         {{words_.write, STDOUT_FILENO}, {words_.write, STDERR_FILENO}, {report_.write, kReport}}});
    report_.close_write();
    words_.close_write();
    return started;
  }

  // Until the child has ended or is silent for `patience`.
  void watch(std::chrono::milliseconds patience) {
    Clock::time_point last = Clock::now();
    for (bool running = true; running;) {
      pollfd waits[2] = {{report_.read, POLLIN, 0}, {words_.read, POLLIN, 0}};
      // Ends of pipes may live on in what the plugin has started: the child's end is asked for too.
      ::poll(waits, 2, 10);
      const size_t said = report_text_.size();
      running = !child_.ended();
      const bool open = drain(report_.read, report_text_, kMaxReport);
      (void)drain(words_.read, words_text_, kMaxWords);
      if (report_text_.size() != said) last = Clock::now();
      if (running && !open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (running && Clock::now() - last > patience) {
        hangs_ = true;
        child_.end();
        running = false;
      }
    }
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
    if (wrong.empty()) wrong = child_.how_it_ended();
    return {step, make_error(kPluginFault, "{}{}, {}{}", who, wrong, began, last_words())};
  }

 private:
  std::string last_words() const {
    const std::string words(trim(words_text_));
    if (words.empty()) return "";
    return fmt::format("; its last words: {}", shown_name(words, kMaxWords));
  }

  Pipe report_, words_;
  ChildProcess child_;
  bool hangs_ = false;
  std::string report_text_, words_text_;
};

}  // namespace

fs::path find_probe() { return own_program("stria_probe"); }

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
