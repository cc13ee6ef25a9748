// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/runtime.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "stria/base/cache_folder.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/hal/files/trust.h"
#include "stria/hal/guard/environment.h"
#include "stria/hal/host/host.h"
#include "stria/hal/isolation/isolate.h"
#include "stria/hal/plugin_set.h"
#include "stria/hal/probe.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/device_selector.h"
#include "stria/runtime/host/host_functions.h"
#include "stria/runtime/inside.h"

namespace stria {
namespace {

std::string name_of(const hal::PluginRecord& record, size_t position) {
  return fmt::format("{}{}:{}", record.isolated ? kIsolated : "", record.id, position);
}

// "  llvm_cpu:0  Name of the device" per device, and a line per broken plugin: what can be used
// first, and not more than anybody reads.
std::string list_of(const std::vector<hal::PluginRecord>& records) {
  constexpr size_t kMaxLines = 20;
  constexpr size_t kMaxLine = 160;
  std::vector<std::string> available, others, broken;
  for (const hal::PluginRecord& record : records) {
    if (!record.status().ok())
      broken.push_back(
          fmt::format("{}: broken: {}", record.id, hal::one_line(record.status().message())));
    for (size_t i = 0; i < record.devices.size(); ++i) {
      const hal::DeviceInfo& info = record.devices[i];
      const std::string line = fmt::format("{}  {}", name_of(record, i), info.name);
      if (info.available)
        available.push_back(line);
      else
        others.push_back(fmt::format("{} (not available: {})", line, info.reason));
    }
  }
  for (std::vector<std::string>* more : {&others, &broken})
    available.insert(available.end(), more->begin(), more->end());
  if (available.empty()) return "\n  no device at all";
  std::string out;
  for (size_t i = 0; i < std::min(available.size(), kMaxLines); ++i)
    out += "\n  " + cut_text(available[i], kMaxLine);
  if (available.size() > kMaxLines)
    out += fmt::format("\n  and {} more", available.size() - kMaxLines);
  return out;
}

// Operations per second that the model promises, from its execution units; 0 if it says nothing, or
// of no machine.
double promised_speed(const hal::Plugin& plugin, const hal::DeviceInfo& info) {
  auto text = plugin.read_hw_model(info.kind);
  if (!text.ok()) return 0;
  auto model = load_hardware_model(*text, {}, info.properties);
  if (!model.ok() || model->simulated) return 0;
  double operations = 0;
  for (const ExecutionUnit& unit : model->executors)
    operations += static_cast<double>(unit.count) * unit.ops_per_cycle;
  return operations * model->clock_mhz * 1e6;
}

hal::SearchOptions search_options(const RuntimeOptions& options) {
  hal::SearchOptions search;
  search.paths = options.plugin_paths;
  search.only_paths = options.only_plugin_paths;
  search.only_ids = options.only_plugins;
  search.driver_options = options.plugin_options;
  search.time_limit = options.plugin_time_limit;
  search.reader = options.author ? hal::Reader::author : hal::Reader::user;
  if (options.probe_plugins) {
    search.probe.program = hal::find_probe();
    const std::filesystem::path kept = user_cache_folder();
    if (!kept.empty()) search.probe.memory = kept / "behaved";
    if (search.probe.program.empty() && options.log)
      options.log(LogLevel::warning,
                  "plugins are not tried in a process of their own: no stria_probe "
                  "in ../lib/stria of the executable or of libstria");
  }
  return search;
}

}  // namespace

struct Runtime::State {
  RuntimeOptions options;
  std::shared_ptr<hal::Host> host;
  std::mutex mutex;
  std::function<void(const hal::Verdict&)> on_verdict;
  std::optional<hal::PluginSet> all;  // guarded by mutex; constant once set, until `ended`
  // Those that run in processes of their own beside these, by the id that was asked for; "": all.
  std::map<std::string, hal::PluginSet> isolated;  // likewise
  // As it was before the first driver was loaded; guarded by mutex.
  std::shared_ptr<const hal::Environment> environment;
  std::atomic<bool> ended = false;
  const std::vector<hal::PluginRecord> none;  // what there is then

  const std::vector<hal::PluginRecord>& records() {
    std::lock_guard lock(mutex);
    if (ended) return none;
    if (!all) all = load(search_options(options), options.isolate_plugins);
    return all->records();
  }

  const std::vector<hal::PluginRecord>& records_for(const DeviceSelector& selector) {
    if (!selector.isolated || options.isolate_plugins) return records();
    std::lock_guard lock(mutex);
    if (ended) return none;
    const auto it = isolated.find(selector.plugin);
    if (it != isolated.end()) return it->second.records();
    hal::SearchOptions search = search_options(options);
    const std::vector<std::string>& only = search.only_ids;
    if (!selector.automatic &&
        (only.empty() || std::count(only.begin(), only.end(), selector.plugin) > 0))
      search.only_ids = {selector.plugin};
    return isolated.emplace(selector.plugin, load(std::move(search), true)).first->second.records();
  }

 private:
  hal::PluginSet load(hal::SearchOptions search, bool isolate) {
    search.on_verdict = on_verdict;
    if (!environment) {
      hal::restrict_environment_once(hal::is_elevated());
      environment = hal::environment_now();
    }
    search.probe.environment = environment;
    if (!isolate) return hal::PluginSet::load(host, search);
    hal::IsolateOptions how;
    how.program = hal::find_isolated();
    how.environment = environment;
    how.step_limit = options.plugin_time_limit;
    how.work_limit = std::max(how.work_limit, how.step_limit);
    const std::chrono::nanoseconds wait_limit(
        std::min<uint64_t>(options.wait_limit_ns, std::chrono::nanoseconds::max().count()));
    how.work_limit =
        std::min(how.work_limit, std::chrono::ceil<std::chrono::milliseconds>(wait_limit));
    hal::IsolateExtension extension;
    extension.options = &how;
    search.stand_in = hal::query_isolated;
    search.driver_extensions = &extension;
    return hal::PluginSet::load(host, search);
  }
};

Runtime::Runtime(RuntimeOptions options) : state_(std::make_shared<State>()) {
  hal::HostFunctions functions = functions_for_plugins();
  functions.log = options.log;
  functions.on_hang = options.on_hang;
  state_->host =
      std::make_shared<hal::Host>(std::move(functions), options.threads, options.wait_limit_ns);
  state_->options = std::move(options);
}

Runtime Inside::runtime(RuntimeOptions options,
                        std::function<void(const hal::Verdict&)> on_verdict) {
  Runtime out(std::move(options));
  out.state_->on_verdict = std::move(on_verdict);
  return out;
}

const std::vector<hal::PluginRecord>& Inside::records(const Runtime& runtime) {
  return runtime.state_->records();
}

std::vector<PluginInfo> Runtime::plugins() const {
  std::vector<PluginInfo> out;
  for (const hal::PluginRecord& record : state_->records())
    out.push_back({record.id, record.directory, record.status()});
  return out;
}

std::vector<DeviceInfo> Runtime::devices() const {
  std::vector<DeviceInfo> out;
  for (const hal::PluginRecord& record : state_->records())
    for (size_t i = 0; i < record.devices.size(); ++i)
      out.push_back(public_info(record.devices[i], record.id, name_of(record, i)));
  return out;
}

Status Runtime::shutdown() const {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  Status first = state_->all ? state_->all->shutdown() : Status();
  for (auto& [plugin, set] : state_->isolated)
    if (Status status = set.shutdown(); first.ok()) first = status;
  return first;
}

namespace {

// A device that a selector matches.
struct Candidate {
  const hal::PluginRecord* record;
  const hal::DeviceInfo* info;
  size_t position;
  double speed;  // promised
};

// Does it run on the processor what is made for another device? Then whatever else is there is
// better, whatever the models promise: they cannot tell what the detour costs.
bool is_software(const Candidate& candidate) { return candidate.info->kind == "software"; }

// Notes on its pipeline go to the log.
Result<Device> open_device(const Candidate& candidate, const std::string& name,
                           const RuntimeOptions& options) {
  STRIA_ASSIGN(Device device, Inside::open(candidate.record->plugin, candidate.info->id, name,
                                           options.hw_overlays));
  if (options.log)
    for (const std::string& note : Inside::pipeline_notes(device))
      options.log(LogLevel::warning, fmt::format("{}: {}", Inside::pipeline_name(device), note));
  return device;
}

// The first of `candidates` that can be opened. What is passed over is said in the log.
Result<Device> open_first(const std::vector<Candidate>& candidates, const RuntimeOptions& options,
                          const Inside::DeviceCheck& check) {
  std::vector<std::string> reasons;
  for (const Candidate& candidate : candidates) {
    const std::string name = name_of(*candidate.record, candidate.position);
    Result<Device> device = open_device(candidate, name, options);
    const Status fits = device.ok() && check ? check(*device) : device.status();
    if (fits.ok()) return device;
    reasons.push_back(fmt::format("{}: {}", name, hal::one_line(fits.message())));
    if (options.log)
      options.log(LogLevel::warning, fmt::format("'auto' passes over {}", reasons.back()));
  }
  constexpr size_t kMaxReasons = 10;
  std::string list;
  for (size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i)
    list += "\n  " + cut_text(reasons[i], kMaxNameBytes);
  if (reasons.size() > kMaxReasons)
    list += fmt::format("\n  and {} more", reasons.size() - kMaxReasons);
  return make_error(StatusCode::unavailable, "none of the {} available devices can be {}:{}",
                    reasons.size(), check ? "used" : "opened", list);
}

}  // namespace

Result<Device> Runtime::open(std::string_view selector) const {
  return Inside::open(*this, selector, nullptr);
}

Result<Device> Runtime::open(std::string_view selector, const Program& program,
                             const InputTypes& inputs) const {
  STRIA_ASSIGN(const Compilation generic, lower_program(program, inputs));
  return Inside::open(*this, selector, [&](const Device& device) {
    return CompileDriver::check_device(device, generic);
  });
}

Result<Device> Inside::open(const Runtime& runtime, std::string_view text,
                            const DeviceCheck& check) {
  const auto& state_ = runtime.state_;
  STRIA_ASSIGN(DeviceSelector selector, parse_device_selector(text));
  if (state_->ended)
    return make_error(StatusCode::failed_precondition, "this runtime has been shut down");
  std::vector<Candidate> matching;
  const std::vector<hal::PluginRecord>& records = state_->records_for(selector);
  for (const hal::PluginRecord& record : records) {
    if (!selector.automatic && record.id != selector.plugin) continue;
    if (!record.plugin.valid()) continue;
    for (size_t i = 0; i < record.devices.size(); ++i)
      if (selector.automatic || selects(selector, record.devices[i].name, record.devices[i].id, i))
        matching.push_back({&record, &record.devices[i], i, 0});
  }
  if (matching.empty()) {
    std::vector<std::string> ids;
    for (const hal::PluginRecord& record : records) ids.push_back(record.id);
    std::string hint = std::count(ids.begin(), ids.end(), selector.plugin) > 0
                           ? ""
                           : did_you_mean(selector.plugin, ids);
    return not_found("no device matches '{}'{}; there is:{}", shown_name(text), hint,
                     list_of(records));
  }
  std::vector<Candidate> available;
  for (const Candidate& candidate : matching)
    if (candidate.info->available) available.push_back(candidate);
  if (available.empty())
    return make_error(StatusCode::unavailable, "'{}' matches, but is not available: {}", text,
                      matching[0].info->reason);
  if (!selector.automatic) {
    const Candidate& first = available[0];
    STRIA_ASSIGN(Device device,
                 open_device(first, name_of(*first.record, first.position), state_->options));
    if (check) STRIA_RETURN_IF_ERROR(check(device));
    return device;
  }
  for (Candidate& candidate : available)
    candidate.speed = promised_speed(candidate.record->plugin, *candidate.info);
  std::stable_sort(available.begin(), available.end(), [](const Candidate& a, const Candidate& b) {
    return is_software(a) == is_software(b) ? a.speed > b.speed : is_software(b);
  });
  return open_first(available, state_->options, check);
}

}  // namespace stria
