// SPDX-License-Identifier: Apache-2.0
#include "inputs/open_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <set>

#include "audience.h"
#include "failure.h"
#include "inputs/device_choice.h"
#include "message.h"
#include "plugin_guard.h"
#include "stria/hal/guard/process_state.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/pick/device_selector.h"
#include "stria/several/device_list.h"

namespace stria::command {
namespace {

struct Opened {
  Runtime runtime;
  std::string plugin;
  hal::ProcessState before;
  bool isolated = false;
};
// One runtime a process, made and ended by the thread that runs the verb; `plugin` is that of the
// device it has come to.
std::optional<Opened>& opened() {
  static std::optional<Opened> device;
  return device;
}

}  // namespace

std::vector<std::string>& hw_overlay_files() {
  static std::vector<std::string> files;
  return files;
}

RuntimeOptions runtime_options(double time_limit_s, unsigned threads) {
  RuntimeOptions options;
  options.threads = threads;
  if (time_limit_s > 0) options.wait_limit_ns = static_cast<uint64_t>(time_limit_s * 1e9);
  for (const std::string& file : hw_overlay_files()) options.hw_overlays.emplace_back(file);
  options.author = audience().author;
  options.log = [least = audience().verbose ? LogLevel::debug : LogLevel::warning](
                    LogLevel level, std::string_view line) {
    if (level >= least) print_message(line);
  };
  options.on_hang = [limit = time_limit_s](std::string_view plugin, std::string_view function,
                                           double seconds) {
    // The thread that waits cannot be brought back, and may hold any lock: of the streams, too.
    const std::string text = fmt::format(
        "stria: plugin {}: {} has not returned after {} s, the time limit is "
        "{:g} s: the plugin hangs\n",
        plugin, function,
        seconds < 0.1 ? fmt::format("{:.2g}", seconds) : fmt::format("{:.1f}", seconds), limit);
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    leave(static_cast<int>(ExitCode::device));
  };
  return options;
}

namespace {

// Loads only the plugins that are asked for. Nothing was loaded if these are not there: then all
// may be, to say what is.
Runtime runtime_for(const DeviceSelector& selector, double time_limit_s, unsigned threads) {
  RuntimeOptions all = runtime_options(time_limit_s, threads);
  all.isolate_plugins = selector.isolated;
  RuntimeOptions options = all;
  options.only_plugins = selector.plugins();
  const Runtime one(options);
  return one.plugins().empty() ? Runtime(std::move(all)) : one;
}

}  // namespace

Outcome open_device(const std::string& selector, Device& device, double time_limit_s,
                    unsigned threads, const Compilation* program, Pick* picked) {
  STRIA_FAIL_IF(check_selector(selector, program != nullptr));
  STRIA_OR_FAIL(const DeviceSelector parsed, ExitCode::usage, parse_device_selector(selector));
  const Runtime runtime = runtime_for(parsed, time_limit_s, threads);
  const hal::ProcessState before = hal::ProcessState::now();
  // A device that was asked for says what it lacks when it compiles.
  if (parsed.is_pinned() && !asks_predictions(parsed) && picked == nullptr) program = nullptr;
  STRIA_OR_FAIL(device, ExitCode::device, Inside::open(runtime, selector, program, picked));
  opened() = Opened{runtime, "", before, parsed.isolated};
  take_device(device);
  return Outcome();
}

Outcome open_runner(const std::string& selector, Compilation program, const RunnerOptions& options,
                    ProgramRunner& runner, double time_limit_s, unsigned threads, Pick* picked) {
  STRIA_FAIL_IF(check_selector(selector, true));
  STRIA_OR_FAIL(const DeviceSelector parsed, ExitCode::usage, parse_device_selector(selector));
  if (parsed.is_pinned()) {
    Device device;
    STRIA_FAIL_IF(open_device(selector, device, time_limit_s, threads, &program, picked));
    runner = Inside::runner(device, std::move(program), options);
    return Outcome();
  }
  const Runtime runtime = runtime_for(parsed, time_limit_s, threads);
  opened() = Opened{runtime, "", hal::ProcessState::now(), parsed.isolated};
  STRIA_OR_FAIL(runner, ExitCode::device,
                Inside::runner(runtime, selector, std::move(program), options, picked));
  return Outcome();
}

Runtime runtime_for_devices(const std::string& list, double time_limit_s, unsigned threads) {
  RuntimeOptions all = runtime_options(time_limit_s, threads), some = all;
  bool isolated = true;
  for (const std::string& one : split_device_list(list).value()) {
    const DeviceSelector selector = parse_device_selector(one).value();
    isolated = isolated && selector.isolated;
    const std::vector<std::string> ids = selector.plugins();
    // One that may be any plugin's needs all.
    if (ids.empty()) some.only_plugins.assign(1, "");
    if (!some.only_plugins.empty() && some.only_plugins[0].empty()) continue;
    some.only_plugins.insert(some.only_plugins.end(), ids.begin(), ids.end());
  }
  if (some.only_plugins[0].empty()) some.only_plugins.clear();
  all.isolate_plugins = some.isolate_plugins = isolated;
  Runtime runtime(std::move(some));
  if (runtime.plugins().empty()) runtime = Runtime(std::move(all));
  opened() = Opened{runtime, "", hal::ProcessState::now(), isolated};
  return runtime;
}

void take_device(const Device& device) {
  // The text that is named must last as long as the process.
  static std::set<std::string> names;
  opened()->plugin = device.info().plugin;
  if (!opened()->isolated) name_suspect(names.insert(opened()->plugin).first->c_str());
}

Outcome check_process() {
  if (!opened()) return Outcome();
  const hal::ProcessState now = hal::ProcessState::now();
  if (now.process != opened()->before.process) leave(static_cast<int>(ExitCode::success));
  const std::string changed = opened()->before.changed_to(now);
  if (changed.empty()) return Outcome();
  return Outcome(ExitCode::device,
                 make_error(StatusCode::incompatible, "plugin {}: {}", opened()->plugin, changed));
}

void end_plugins() {
  if (!opened()) return;
  if (Status ended = opened()->runtime.shutdown(); !ended.ok()) print_message(ended.message());
  name_suspect(nullptr);
  opened().reset();
}

}  // namespace stria::command
