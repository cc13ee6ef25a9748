// SPDX-License-Identifier: Apache-2.0
#include "verbs/conform.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "message.h"
#include "output_files.h"
#include "printed_json.h"
#include "progress.h"
#include "reports/report.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/files/folder_identity.h"
#include "stria/hal/files/inside_file.h"
#include "stria/hal/files/sha256.h"
#include "stria/hal/host/host.h"
#include "stria/runtime/host/kept_conformance.h"
#include "suite/all_cases.h"
#include "suite/expected.h"
#include "suite/runner.h"
#include "suite/verdict.h"

namespace stria::command {
namespace {

namespace fs = std::filesystem;
using namespace stria::conformance;
using Clock = std::chrono::steady_clock;

// The signal that asks to stop; 0: none. Children are ended before this process is.
std::atomic<bool> stop{false};
std::atomic<int> stop_signal{0};
constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void take_stop_signals() {
  struct sigaction action{}, before{};
  action.sa_handler = [](int number) {
    stop_signal = number;
    stop = true;
  };
  for (const int number : kStopSignals)
    // What is ignored (nohup) stays so.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
}

// Ends as the signal would have ended it.
void end_by_signal() {
  if (const int number = stop_signal; number != 0) {
    ::signal(number, SIG_DFL);
    ::raise(number);
    // The first process of a container is not ended so.
    ::_exit(128 + number);
  }
}

// A folder that goes with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    const fs::path place = fs::temp_directory_path(error);  // $TMPDIR, which may be none
    std::string name = (place / "stria-conform-XXXXXX").string();
    if (error)
      failure_ = fmt::format("no folder for temporary files ($TMPDIR): {}", error.message());
    else if (::mkdtemp(name.data()))
      path_ = name;
    else
      failure_ =
          fmt::format("no folder can be made in '{}': {}", place.string(), std::strerror(errno));
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { remove(); }
  // Before what may end the process without destructors: a signal, a closed pipe.
  void remove() const {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }
  const std::string& failure() const { return failure_; }  // why there is none

 private:
  fs::path path_;
  std::string failure_;
};

// "AMD EPYC 9R14, 8 cores, 23 GiB, Linux 6.1".
std::string machine() {
  std::string processor = "a processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) {
      processor = trim(std::string_view(line).substr(line.find(':') + 1));
      break;
    }
  utsname system{};
  ::uname(&system);
  const auto pages = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return fmt::format("{}, {} cores, {} GiB, {} {}", hal::one_line(processor), hal::usable_cores(),
                     (pages * page) >> 30, system.sysname, system.release);
}

// The bar of `Progress`, without a thread: the cases' processes are made from this one, and none
// may run in it.
class ProgressLine {
 public:
  ProgressLine() : shown_(::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  void show(size_t done, size_t all) {
    if (!shown_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(100);
    const std::chrono::duration<double> time = Clock::now() - begin_;
    std::fputs(progress_bar(all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all),
                            time.count(), fmt::format("{} of {} cases", done, all))
                   .c_str(),
               stderr);
  }

 private:
  const bool shown_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point next_{};
};

void print_list(const std::vector<Case>& all, const std::vector<size_t>& which) {
  for (const size_t index : which)
    std::printf("%-40s level %d  \"%s\"\n", all[index].name.c_str(),
                static_cast<int>(all[index].level), std::string(all[index].sentence).c_str());
}

// What the directory and its manifest say, as far as they say anything.
void describe(const fs::path& directory, Report& report) {
  report.directory = directory.string();
  report.plugin = hal::one_line(directory.filename().string());
  const auto manifest = hal::read_manifest(directory);
  if (!manifest.ok()) return;
  report.plugin = manifest->id;
  report.version = manifest->version;
  report.vendor = manifest->vendor;
  constexpr size_t kMaxLibrary = size_t{1} << 30;
  if (const auto bytes = hal::read_inside(directory, manifest->library, kMaxLibrary, "it");
      bytes.ok())
    report.sha256 = hal::sha256(*bytes);
}

Outcome write_reports(const ConformOptions& options, const Report& report) {
  std::vector<FileText> files;
  if (!options.junit.empty()) files.push_back({options.junit, junit_report(report)});
  if (!options.html.empty()) files.push_back({options.html, html_report(report)});
  if (!options.badge.empty()) files.push_back({options.badge, badge(report)});
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(files));
  return Outcome();
}

// Keeps the verdict, by which `auto` passes over a plugin that fails; of a whole run in this
// process's own way alone: what is isolated is judged with the process between.
void keep_verdict(const ConformOptions& options, const Report& report) {
  if (!options.record || options.isolated || !report.verdict.whole || report.device.empty()) return;
  Conformance verdict;
  verdict.level = report.verdict.level;
  verdict.asked = static_cast<int>(report.verdict.asked);
  verdict.day = report.day;
  for (const CaseResult& result : report.results) {
    const Case& one = (*report.all)[result.index];
    // Those that keep the next level from being reached.
    if ((is_good(result.ending) && result.is_tried) ||
        static_cast<int>(one.level) != verdict.level + 1)
      continue;
    ++verdict.failed;
    if (verdict.failures.size() < Conformance::kMostFailures) verdict.failures.push_back(one.name);
  }
  KeptConformance(hal::folder_lines(report.directory)).keep(report.device, verdict);
  if (verdict.is_objection())
    print_message(fmt::format(
        "'auto' passes over the device '{}' of this plugin from now on, until its files "
        "change or it conforms; --no-record keeps no verdict",
        report.device));
}

Outcome check_files(const ConformOptions& options) {
  std::vector<NamedFile> written;
  for (const auto& [option, file] : {std::pair{"--junit", &options.junit},
                                     {"--html", &options.html},
                                     {"--badge", &options.badge}}) {
    if (file->empty()) continue;
    written.push_back({option, *file});
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(*file));
  }
  return check_files_differ(written, {});
}

// The folder of a plugin in the build that `directory` is, or that is inside it: "; 'build/…' is
// one"; "" if there is none.
std::string built_plugin(const fs::path& directory, const fs::path& shown) {
  for (const char* build : {"", "build", "target"})
    for (const char* plugins : {"lib/stria/plugins", "plugins"}) {
      std::error_code error;
      const fs::path inside = fs::path(build) / plugins;
      for (const fs::directory_entry& entry : fs::directory_iterator(directory / inside, error))
        if (fs::exists(entry.path() / "plugin.json", error))
          return fmt::format(
              "; '{}' is one",
              (shown / inside / entry.path().filename()).lexically_normal().string());
    }
  return "";
}

// Of a project, not of what its build makes.
bool has_sources(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "CMakeLists.txt", error) ||
         fs::exists(directory / "Cargo.toml", error);
}

}  // namespace

Outcome conform(const ConformOptions& options) {
  std::error_code error;
  const fs::path directory = fs::canonical(options.directory, error);
  if (error || !fs::is_directory(directory, error))
    return Outcome(ExitCode::program,
                   not_found("'{}' is no folder of a plugin: {}{}", options.directory,
                             error ? error.message() : "it is a file",
                             options.json && fs::path(options.directory).extension() == ".json"
                                 ? "\n" + print_to_file_hint(options.directory)
                                 : ""));
  if (has_sources(directory))
    return Outcome(ExitCode::program,
                   not_found("'{}' has the sources of a plugin, not the plugin: build it, and give "
                             "the folder that the build makes{}",
                             options.directory, built_plugin(directory, options.directory)));
  if (!fs::exists(directory / "plugin.json", error))
    return Outcome(ExitCode::program,
                   not_found("'{}' is no folder of a plugin: it has no plugin.json{}",
                             options.directory, built_plugin(directory, options.directory)));
  STRIA_FAIL_IF(check_files(options));
  STRIA_OR_FAIL(const std::vector<ExpectedFailure> expected, ExitCode::program,
                read_expected(directory));
  const std::vector<Case> all = all_cases(directory);
  const auto level = static_cast<Level>(options.level);
  STRIA_OR_FAIL(const std::vector<size_t> which, ExitCode::usage,
                selected(all, level, options.only));
  if (options.list) {
    print_list(all, which);
    return Outcome();
  }
  const auto begin = Clock::now();
  take_stop_signals();
  const ScratchFolder scratch;
  if (scratch.path().empty())
    return Outcome(ExitCode::program, make_error(StatusCode::unavailable, "{}", scratch.failure()));
  RunOptions run;
  run.subject = {directory,        options.device, nullptr,
                 options.patience, scratch.path(), options.isolated};
  run.jobs = static_cast<int>(options.jobs != 0 ? options.jobs : hal::usable_cores());
  run.hangs = static_cast<int>(options.hangs);
  run.stop = &stop;
  RunResult result;
  {
    ProgressLine line;
    run.progress = [&line](size_t done, size_t count) { line.show(done, count); };
    STRIA_OR_FAIL(result, ExitCode::program, run_cases(all, which, run));
  }
  scratch.remove();
  apply_expected(expected, today(), all, result.cases);
  Report report;
  describe(directory, report);
  report.device = result.record->device;
  report.kernels = result.record->kernels;
  report.interpreted_kernels = result.record->interpreted_kernels;
  for (const Interpreted& some : result.record->interpreted)
    if (const uint64_t kernels = some.kernels; kernels > 0)
      report.interpreted.emplace_back(shown_name(some.reason.get(), kFaultBytes), kernels);
  std::stable_sort(report.interpreted.begin(), report.interpreted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  report.isolated = options.isolated;
  report.device_id = options.device;
  report.patience = options.patience;
  report.suite = "stria " STRIA_VERSION;
  report.machine = machine();
  report.day = today();
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  report.all = &all;
  report.results = std::move(result.cases);
  report.verdict = verdict_of(all, report.results, level, options.only.empty() && !result.stopped);
  const std::string text =
      options.json ? json_report(report) : text_report(report, options.all_cases);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (result.stopped) {
    std::fflush(stdout);
    end_by_signal();
  }
  keep_verdict(options, report);
  STRIA_FAIL_IF(write_reports(options, report));
  // One that came after the last case.
  if (stop) std::fflush(stdout);
  end_by_signal();
  if (report.verdict.holds()) return Outcome();
  return Outcome(ExitCode::device,
                 make_error(StatusCode::failed_precondition, "{} does not reach level {}: {}",
                            report.plugin, options.level, summary_of(report)));
}

}  // namespace stria::command
