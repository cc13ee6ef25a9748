// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/runtime.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "stria/base/cache_folder.h"
#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/hal/files/folder_identity.h"
#include "stria/hal/files/trust.h"
#include "stria/hal/guard/environment.h"
#include "stria/hal/host/host.h"
#include "stria/hal/isolation/isolate.h"
#include "stria/hal/plugin_set.h"
#include "stria/hal/probe.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/device_picker.h"
#include "stria/runtime/host/host_functions.h"
#include "stria/runtime/host/hw_overlays.h"
#include "stria/runtime/host/kept_conformance.h"
#include "stria/runtime/host/kept_times.h"
#include "stria/runtime/host/quarantine_file.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/pick/selection.h"

namespace stria {
namespace {

std::string name_of(const hal::PluginRecord& record, size_t position) {
  return fmt::format("{}{}:{}", record.isolated ? kIsolated : "", record.id, position);
}

// What earlier processes have found out of the device, if anybody has.
void add_records(DeviceFacts& facts, const KeptConformance& conformance) {
  facts.quarantine = QuarantineFile().find(facts.info);
  // As the suite's reports call it.
  facts.conformance =
      conformance.find(hal::one_line(shown_name(facts.info.id + ": " + facts.info.name, 250)));
}

}  // namespace

// What is known of a device without opening it.
struct [[gnu::visibility("hidden")]] KnownDevice {
  DeviceFacts facts;
  std::shared_ptr<const HardwareModel> model;  // if asked for; null: there is none
};

namespace {

KnownDevice listed(const hal::PluginRecord& record, size_t position) {
  KnownDevice out;
  out.facts.info =
      public_info(record.devices[position], record.id, name_of(record, position), record.directory);
  out.facts.number = static_cast<uint32_t>(position);
  return out;
}

KnownDevice with_model(const hal::PluginRecord& record, size_t position) {
  const hal::DeviceInfo& info = record.devices[position];
  KnownDevice out = listed(record, position);
  const Result<SourceText> text = record.plugin.read_hw_model(info.kind);
  // What was measured of the machine counts here as it does once the device is open.
  const auto refined = hw_overlays(record.plugin.directory(), record.plugin.id(), info.name, {});
  Result<HardwareModel> model = !text.ok() ? text.status()
                                : !refined.ok()
                                    ? refined.status()
                                    : load_hardware_model(*text, {}, info.properties, *refined);
  if (!model.ok()) {
    out.facts.model_trouble = hal::one_line(model.status().message());
    return out;
  }
  out.model = std::make_shared<const HardwareModel>(*std::move(model));
  out.facts.simulated = out.model->simulated;
  out.facts.lacks_types = out.model->lacking_types;
  if (out.model->simulated) return out;
  double operations = 0;
  for (const ExecutionUnit& unit : out.model->executors)
    operations += static_cast<double>(unit.count) * unit.ops_per_cycle;
  out.facts.operations_per_second = operations * out.model->clock_mhz * 1e6;
  return out;
}

}  // namespace

// What models say, kept for the next choice as long as the files that say it stay as they are: to
// read them takes longer than all else of a choice. Thread-safe.
class [[gnu::visibility("hidden")]] KnownModels {
 public:
  // `files`: of the plugin's folder and the user's overlays, as folder_lines gives them.
  KnownDevice get(const hal::PluginRecord& record, size_t position, const std::string& files) {
    const std::lock_guard lock(mutex_);
    auto& [files_then, known] = known_[{&record, position}];
    if (!known || files_then != files) {
      known = with_model(record, position);
      files_then = files;
    }
    return *known;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const hal::PluginRecord*, size_t>,
           std::pair<std::string, std::optional<KnownDevice>>>
      known_;  // guarded by mutex_
};

namespace {

// Of all devices, and of plugins that cannot be used; `records` has the positions of their plugins.
struct Known {
  std::vector<DeviceFacts> facts;
  std::vector<const hal::PluginRecord*> records;
  std::vector<std::shared_ptr<const HardwareModel>> models;
};
// `models`: null, if nobody asks what they say.
Known known_of(const std::vector<hal::PluginRecord>& records, KnownModels* models,
               bool with_history) {
  Known out;
  const std::string overlays = models != nullptr ? hal::folder_lines(user_hw_folder()) : "";
  for (const hal::PluginRecord& record : records) {
    const Status status = record.status();
    if (!status.ok() || !record.plugin.valid()) {
      DeviceFacts& broken = out.facts.emplace_back();
      out.records.push_back(&record);
      out.models.emplace_back();
      broken.info.plugin = broken.info.selector = record.id;
      broken.plugin_trouble = hal::one_line(status.message());
      continue;
    }
    const std::string files = hal::folder_lines(record.directory);
    for (size_t i = 0; i < record.devices.size(); ++i) {
      KnownDevice one =
          models != nullptr ? models->get(record, i, files + overlays) : listed(record, i);
      if (with_history) add_records(one.facts, KeptConformance(files));
      out.facts.push_back(std::move(one.facts));
      out.models.push_back(std::move(one.model));
      out.records.push_back(&record);
    }
  }
  return out;
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
  // Those that run in processes of their own beside these, by the ids that were asked for; "": all.
  std::map<std::string, hal::PluginSet> isolated;  // likewise
  // As it was before the first driver was loaded; guarded by mutex.
  std::shared_ptr<const hal::Environment> environment;
  std::atomic<bool> ended = false;
  KnownModels models;
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
    const std::vector<std::string> named = selector.plugins();
    const std::string key = join(named, ",");
    const auto it = isolated.find(key);
    if (it != isolated.end()) return it->second.records();
    hal::SearchOptions search = search_options(options);
    std::vector<std::string> wanted = named;
    std::erase_if(wanted, [&](const std::string& id) {
      const std::vector<std::string>& only = search.only_ids;
      return !only.empty() && std::count(only.begin(), only.end(), id) == 0;
    });
    if (!wanted.empty()) search.only_ids = std::move(wanted);
    return isolated.emplace(key, load(std::move(search), true)).first->second.records();
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
      out.push_back(
          public_info(record.devices[i], record.id, name_of(record, i), record.directory));
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

// Notes on its pipeline go to the log.
Result<Device> open_device(const hal::PluginRecord& record, const DeviceInfo& info,
                           const RuntimeOptions& options) {
  STRIA_ASSIGN(Device device,
               Inside::open(record.plugin, info.id, info.selector, options.hw_overlays));
  if (options.log)
    for (const std::string& note : Inside::pipeline_notes(device))
      options.log(LogLevel::warning, note);
  return device;
}

Status none_can_be(const char* what, const std::vector<std::string>& reasons) {
  constexpr size_t kMaxReasons = 10;
  std::string list;
  for (size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i)
    list += "\n  " + cut_text(reasons[i], kMaxNameBytes);
  if (reasons.size() > kMaxReasons)
    list += fmt::format("\n  and {} more", reasons.size() - kMaxReasons);
  return make_error(StatusCode::unavailable, "none of the {} available devices can be {}:{}",
                    reasons.size(), what, list);
}

// Why the program cannot run there, or what earlier processes have found, if that alone keeps the
// device from being taken.
std::string lack_of(const DeviceVerdict& verdict, const DeviceSelector& selector) {
  const auto is_news = [](const Objection& one) {
    return one.gate == Gate::quarantine || one.gate == Gate::conformance || one.gate >= Gate::types;
  };
  if (verdict.kept() || !std::all_of(verdict.objections.begin(), verdict.objections.end(), is_news))
    return "";
  std::vector<std::string> texts;
  for (const Objection& one : verdict.objections) texts.push_back(text_of(one, selector));
  return join(texts, "; ");
}

}  // namespace

Result<Device> Runtime::open(std::string_view selector) const {
  return Inside::open(*this, selector, nullptr);
}

Result<Device> Runtime::open(std::string_view selector, const Program& program,
                             const InputTypes& inputs) const {
  STRIA_ASSIGN(const Compilation generic, lower_program(program, inputs));
  return Inside::open(*this, selector, &generic);
}

Result<Selection> Runtime::select(std::string_view selector) const {
  return Inside::select(*this, selector, nullptr);
}

Result<Selection> Runtime::select(std::string_view selector, const Program& program,
                                  const InputTypes& inputs) const {
  STRIA_ASSIGN(const Compilation generic, lower_program(program, inputs));
  const ProgramNeeds needs = CompileDriver::needs(generic);
  return Inside::select(*this, selector, &needs);
}

Result<Selection> Inside::select(const Runtime& runtime, std::string_view text,
                                 const ProgramNeeds* needs) {
  STRIA_ASSIGN(const DeviceSelector selector, parse_device_selector(text));
  const auto& state = runtime.state_;
  return select_among(state->records_for(selector), selector, needs, state->options.device_history);
}

Selection Inside::select_among(const std::vector<hal::PluginRecord>& records,
                               const DeviceSelector& selector, const ProgramNeeds* needs,
                               bool with_history) {
  KnownModels models;
  const bool with_models = asks_models(selector) || needs != nullptr;
  return stria::select(known_of(records, with_models ? &models : nullptr, with_history).facts,
                       selector, needs);
}

namespace {

// What an open device says of the program; why not in `verdict` or in the candidate.
void ask_device(const hal::PluginRecord& record, const RuntimeOptions& options,
                const Compilation& generic, const CompileOptions& compile, Candidate& candidate,
                DeviceVerdict& verdict, std::optional<Device>& kept) {
  const Result<Device> device = open_device(record, verdict.device, options);
  if (!device.ok()) {
    verdict.objections.push_back(
        {Gate::available, std::nullopt, hal::one_line(device.status().message())});
    return;
  }
  verdict.device = device->info();
  kept = *device;
  auto predictions = DevicePicker::of_device(*device, generic, compile);
  if (predictions.ok()) {
    for (Prediction& one : *predictions) candidate.predictions.push_back(std::move(one));
    if (predictions->empty()) candidate.trouble = "its hardware model lacks rates";
    return;
  }
  const std::string why = hal::one_line(predictions.status().message());
  if (predictions.status().code() == StatusCode::unsupported)
    verdict.objections.push_back({Gate::types, std::nullopt, why});
  else
    verdict.objections.push_back({Gate::build, std::nullopt, why});
}

// A prediction of the same program that is more certain keeps what only the other one knows.
Prediction measured_like(Prediction measured, const Prediction* other) {
  if (other == nullptr) return measured;
  Prediction out = *other;
  out.by = PredictedBy::measured;
  out.run = measured.run;
  out.unknown_kernels = 0;
  return out;
}

void add_measured(const TimeRange& run, Candidate& candidate) {
  Prediction measured;
  measured.by = PredictedBy::measured;
  measured.run = run;
  // A lie of ten times is worth a word.
  constexpr double kLie = 10;
  for (const Prediction& one : candidate.predictions)
    if (one.by == PredictedBy::plugin &&
        (one.run.seconds > kLie * run.seconds || run.seconds > kLie * one.run.seconds))
      candidate.trouble = fmt::format("its plugin says {:.3g} us, and a run takes {:.3g} us",
                                      one.run.seconds * 1e6, run.seconds * 1e6);
  candidate.predictions.push_back(measured_like(std::move(measured), candidate.best()));
}

// Times the devices between which the choice is close; whether any was.
bool measure_close(const Pick& pick, const Compilation& generic, const PickOptions& options,
                   const KeptTimes& times, const std::map<size_t, Device>& devices,
                   std::vector<Candidate>& candidates) {
  const DeviceSelector& selector = pick.selection.selector;
  std::vector<size_t> close;
  const auto value = [&](const Candidate& one) -> std::optional<TimeRange> {
    return one.best() != nullptr ? objective_of(*one.best(), selector) : std::nullopt;
  };
  const std::optional<TimeRange> best = value(pick.candidates[0]);
  for (const size_t at : pick.selection.order) {
    const Candidate& one = *pick.candidate(at);
    const std::optional<TimeRange> of_this = value(one);
    if (one.simulated == pick.candidates[0].simulated &&
        one.software == pick.candidates[0].software && devices.count(at) > 0 && best && of_this &&
        of_this->overlaps(*best))
      close.push_back(at);
  }
  bool any = false;
  for (Candidate& one : candidates) {
    if (std::count(close.begin(), close.end(), one.device) == 0) continue;
    if (one.best()->by == PredictedBy::measured) continue;
    const Device& device = devices.at(one.device);
    const Result<Prediction> measured = DevicePicker::measured(
        device, generic, options.compile, options.measure_s / static_cast<double>(close.size()));
    if (!measured.ok()) {
      one.trouble = hal::one_line(measured.status().message());
      continue;
    }
    any = true;
    times.keep(device.info(), measured->run);
    add_measured(measured->run, one);
  }
  return any;
}

// `needs`: what drops devices before they are asked; null: nothing of the program does.
Pick pick_among(const Known& known, const RuntimeOptions& how, const DeviceSelector& selector,
                const Compilation& generic, const ProgramNeeds* needs, const PickOptions& options,
                const std::vector<PickedModel>& models = {}) {
  Selection selection = stria::select(known.facts, selector, needs);
  const KeptTimes times(generic.generic, options.compile.fast_math);
  std::vector<Candidate> candidates;
  std::map<size_t, Device> devices;  // that are kept open to be timed
  for (const size_t at : selection.order) {
    const DeviceFacts& facts = known.facts[at];
    if (options.progress)
      options.progress(candidates.size(), selection.order.size(), facts.info.selector);
    Candidate& candidate = candidates.emplace_back();
    candidate.device = at;
    candidate.software = is_software(facts.info);
    candidate.simulated = facts.simulated;
    const std::optional<TimeRange> kept = times.find(facts.info);
    // What was measured needs no bound.
    if (const auto& model = known.models[at]; model && !(options.bounds_only && kept))
      if (std::optional<Prediction> bounds = DevicePicker::by_bounds(generic, *model))
        candidate.predictions.push_back(*std::move(bounds));
    std::optional<Device> device;
    if (!options.bounds_only)
      ask_device(*known.records[at], how, generic, options.compile, candidate,
                 selection.devices[at], device);
    if (kept) add_measured(*kept, candidate);
    if (device && options.measure_s > 0) devices.emplace(at, *device);
  }
  Pick out = choose(selection, candidates, models);
  if (options.measure_s > 0 && out.is_close &&
      measure_close(out, generic, options, times, devices, candidates))
    out = choose(std::move(selection), std::move(candidates), models);
  return out;
}

// The devices of a selector as they are tried, and why others are not.
struct Ordered {
  DeviceSelector selector;
  bool pinned = false;
  Selection selection;
  std::vector<std::string> reasons;  // of devices that only the program drops
};

void pass_over(Ordered& ordered, const RuntimeOptions& options, const DeviceInfo& info,
               const std::string& why) {
  ordered.reasons.push_back(fmt::format("{}: {}", info.selector, why));
  if (options.log)
    options.log(LogLevel::warning, fmt::format("'{}' passes over {}", ordered.selector.to_string(),
                                               ordered.reasons.back()));
}

void tell_history(const DeviceVerdict& first, const RuntimeOptions& options) {
  if (!options.log) return;
  const auto tell = [&](const std::string& what) {
    options.log(LogLevel::warning, fmt::format("{}: {}", first.device.selector, what));
  };
  if (first.quarantine) tell("in quarantine: " + first.quarantine->to_string());
  if (first.conformance && first.conformance->is_objection())
    tell("its plugin " + first.conformance->to_string());
}

Result<Ordered> order_of(const Known& known, const RuntimeOptions& options, DeviceSelector selector,
                         const Compilation* program, Pick* picked) {
  Ordered out;
  out.selector = std::move(selector);
  // One name alone is tried: what the device lacks it says when it is open, kernel by kernel.
  const bool asked = asks_predictions(out.selector);
  out.pinned = out.selector.is_pinned() && !asked;
  ProgramNeeds needs;
  if (program != nullptr && !out.pinned) needs = CompileDriver::needs(*program);
  const ProgramNeeds* const asks = out.pinned ? nullptr : &needs;
  if (program != nullptr && (out.selector.automatic || asked || picked != nullptr)) {
    // By bounds no device is opened but the one that is taken. Who asks for more pays for more.
    PickOptions how;
    how.bounds_only = !asked;
    Pick pick = pick_among(known, options, out.selector, *program, asks, how);
    out.selection = pick.selection;
    if (picked != nullptr) *picked = std::move(pick);
  } else {
    out.selection = stria::select(known.facts, out.selector, asks);
    if (picked != nullptr) picked->selection = out.selection;
  }
  // Who names a device takes it as it is, and is told.
  if (!out.selector.automatic && !out.selection.order.empty())
    tell_history(out.selection.devices[out.selection.order[0]], options);
  if (options.log)
    for (const std::string& idle : idle_names(out.selection))
      options.log(LogLevel::warning, fmt::format("'{}': {}", out.selector.to_string(), idle));
  for (const DeviceVerdict& verdict : out.selection.devices)
    if (const std::string why = lack_of(verdict, out.selector); !why.empty())
      pass_over(out, options, verdict.device, why);
  if (out.reasons.empty()) STRIA_RETURN_IF_ERROR(check_any_kept(out.selection));
  return out;
}

// The selector, if there is anything to be opened by it.
Result<DeviceSelector> selector_for(std::string_view text, const Compilation* program, bool ended) {
  STRIA_ASSIGN(DeviceSelector selector, parse_device_selector(text));
  STRIA_RETURN_IF_ERROR(check_can_be_kept(selector, program != nullptr));
  if (ended) return make_error(StatusCode::failed_precondition, "this runtime has been shut down");
  return selector;
}

// Does a selector need to know what hardware models say?
bool needs_models(const DeviceSelector& selector) {
  return asks_models(selector) || !selector.is_pinned() || asks_predictions(selector);
}

}  // namespace

Result<Device> Inside::open(const Runtime& runtime, std::string_view text,
                            const Compilation* program, Pick* picked) {
  const auto& state = runtime.state_;
  STRIA_ASSIGN(const DeviceSelector selector, selector_for(text, program, state->ended));
  const Known known =
      known_of(state->records_for(selector),
               needs_models(selector) || picked != nullptr ? &state->models : nullptr,
               state->options.device_history);
  STRIA_ASSIGN(Ordered ordered, order_of(known, state->options, selector, program, picked));
  for (const size_t at : ordered.selection.order) {
    const DeviceInfo& info = known.facts[at].info;
    Result<Device> device = open_device(*known.records[at], info, state->options);
    const Status fits = device.ok() && program != nullptr
                            ? CompileDriver::check_device(*device, *program)
                            : device.status();
    if (fits.ok()) return device;
    if (ordered.pinned) return fits;
    pass_over(ordered, state->options, info, hal::one_line(fits.message()));
  }
  return none_can_be(program != nullptr ? "used" : "opened", ordered.reasons);
}

Result<Selection> Inside::order(const Runtime& runtime, std::string_view text,
                                const Compilation* program, Pick* picked) {
  const auto& state = runtime.state_;
  STRIA_ASSIGN(const DeviceSelector selector, selector_for(text, program, state->ended));
  const Known known =
      known_of(state->records_for(selector),
               needs_models(selector) || picked != nullptr ? &state->models : nullptr,
               state->options.device_history);
  STRIA_ASSIGN(Ordered ordered, order_of(known, state->options, selector, program, picked));
  if (ordered.selection.order.empty()) return none_can_be("used", ordered.reasons);
  return std::move(ordered.selection);
}

Result<Device> Inside::open_kept(const Runtime& runtime, const DeviceSelector& selector,
                                 const DeviceInfo& device) {
  const auto& state = runtime.state_;
  for (const hal::PluginRecord& record : state->records_for(selector))
    if (record.id == device.plugin && record.plugin.valid())
      return open_device(record, device, state->options);
  if (state->ended)
    return make_error(StatusCode::failed_precondition, "this runtime has been shut down");
  return not_found("plugin {} is not loaded", device.plugin);
}

bool Inside::has_ended(const Runtime& runtime) { return runtime.state_->ended; }

bool Inside::keeps_history(const Runtime& runtime) {
  return runtime.state_->options.device_history;
}

void Inside::log(const Runtime& runtime, LogLevel level, const std::string& line) {
  if (runtime.state_->options.log) runtime.state_->options.log(level, line);
}

Result<Pick> Runtime::pick(std::string_view text, const Program& program, const InputTypes& inputs,
                           const PickOptions& options) const {
  STRIA_ASSIGN(const Compilation generic, lower_program(program, inputs, options.compile));
  return Inside::pick(*this, text, generic, options);
}

Result<Pick> Inside::pick(const Runtime& runtime, std::string_view text, const Compilation& generic,
                          const PickOptions& options) {
  const auto& state = runtime.state_;
  STRIA_ASSIGN(const DeviceSelector selector, parse_device_selector(text));
  if (state->ended)
    return make_error(StatusCode::failed_precondition, "this runtime has been shut down");
  const std::vector<hal::PluginRecord>& records = state->records_for(selector);
  std::vector<PickedModel> models;
  for (const ModelFile& one : options.models) {
    STRIA_ASSIGN(models.emplace_back(),
                 DevicePicker::of_model(records, one, generic, options.bounds_only));
  }
  const Known known = known_of(records, &state->models, state->options.device_history);
  const ProgramNeeds needs = CompileDriver::needs(generic);
  return pick_among(known, state->options, selector, generic, &needs, options, models);
}

}  // namespace stria
