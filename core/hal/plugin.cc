// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/plugin.h"

#include <cxxabi.h>
#include <unistd.h>

#include <array>
#include <boost/dll/shared_library.hpp>
#include <functional>
#include <mutex>
#include <set>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/sized.h"
#include "stria/hal/device_state.h"
#include "stria/hal/files/copied_from.h"
#include "stria/hal/files/inside_file.h"
#include "stria/hal/files/shared_object.h"
#include "stria/hal/files/trust.h"
#include "stria/hal/guard/environment.h"
#include "stria/hal/guard/kept_signals.h"
#include "stria/hal/guard/timed_call.h"
#include "stria/hal/probe.h"
#include "stria/sdk/sanitizer.h"

namespace stria::hal {
namespace {

constexpr char kQuery[] = "stria_plugin_query";

// Loads, unloads and the first steps of devices come one after another in the whole process:
// loaders and vendor drivers are not safe there.
std::mutex& load_mutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

constexpr VersionRange kHostAbi = {STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR};
constexpr VersionRange kHostStripe = {STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};

using sdk::kSanitizer;

std::string_view sanitizer_name(stria_sanitizer kind) {
  switch (kind) {
    case STRIA_SANITIZER_NONE: return "no sanitizer";
    case STRIA_SANITIZER_ADDRESS: return "the address sanitizer";
    case STRIA_SANITIZER_THREAD: return "the thread sanitizer";
  }
  return "an unknown sanitizer";
}

stria_version_range to_c(const VersionRange& range) {
  return {sizeof(stria_version_range), nullptr, range.major, range.minor_min, range.minor_max};
}

VersionRange copied(const stria_version_range* range) {
  if (!is_address(range, alignof(stria_version_range))) return {};
  return {STRIA_SIZED(*range, major, 0u), STRIA_SIZED(*range, minor_min, 0u),
          STRIA_SIZED(*range, minor_max, 0u)};
}

// Asks the plugin for its tables and compares what it says of itself.
Status query_plugin(const QueryFunction& query, PluginState& state) {
  stria_version_range abi = to_c(kHostAbi), stripe = to_c(kHostStripe);
  stria_host_info host{};
  host.size = sizeof host;
  host.abi = &abi;
  host.stripe = &stripe;
  host.sanitizer = kSanitizer;
#ifndef __OPTIMIZE__
  host.debug = 1;
#endif
  host.page_size = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  host.build = stria::hal::to_c("stria, " __VERSION__);
  stria_plugin_info info{};
  info.size = sizeof info;
  using Ask = stria_error* (*)(const QueryFunction*, const Manifest*, const stria_host_info*,
                               stria_plugin_info*);
  const Ask ask = [](const QueryFunction* function, const Manifest* manifest,
                     const stria_host_info* says,
                     stria_plugin_info* answer) { return (*function)(*manifest, says, answer); };
  Status refused = state.call(kQuery, ask, &query, static_cast<const Manifest*>(&state.manifest),
                              static_cast<const stria_host_info*>(&host), &info);
  // The ranges are filled in even by a plugin that refuses, so that both can be said.
  uint32_t abi_minor = 0, stripe_minor = 0;
  if (refused.ok() || refused.code() == StatusCode::incompatible) {
    if (info.abi) {
      STRIA_ASSIGN(abi_minor, negotiate("ABI", kHostAbi, copied(info.abi)));
    }
    if (info.stripe) {
      STRIA_ASSIGN(stripe_minor, negotiate("Stripe text", kHostStripe, copied(info.stripe)));
    }
  }
  STRIA_RETURN_IF_ERROR(refused);
  if (!info.abi || !info.stripe)
    return make_error(StatusCode::incompatible, "the plugin does not say which versions it speaks");
  if (info.abi_minor != abi_minor || info.stripe_minor != stripe_minor)
    return make_error(StatusCode::incompatible,
                      "the highest common versions are ABI {}.{} and Stripe text {}.{}, the plugin "
                      "chose the minors {} and {}",
                      kHostAbi.major, abi_minor, kHostStripe.major, stripe_minor, info.abi_minor,
                      info.stripe_minor);
  if (info.sanitizer != kSanitizer)
    return make_error(StatusCode::incompatible, "the host was built with {}, the plugin with {}",
                      sanitizer_name(kSanitizer), sanitizer_name(info.sanitizer));
  if (info.page_size != 0 && info.page_size != host.page_size)
    return make_error(StatusCode::incompatible,
                      "the plugin needs pages of {} bytes, here they have {}", info.page_size,
                      host.page_size);
  const Manifest& said = state.manifest;
  if (view_of(info.id) != said.id || view_of(info.version) != said.version)
    return make_error(StatusCode::incompatible,
                      "the manifest says {} {}, the shared object says {} {}", said.id,
                      said.version, one_line(shown_text(info.id, kMaxNameBytes)),
                      one_line(shown_text(info.version, kMaxNameBytes)));
  if (copied(info.abi) != said.abi || copied(info.stripe) != said.stripe)
    return make_error(
        StatusCode::incompatible,
        "the manifest says ABI {} and Stripe text {}, the shared object says {} and {}",
        to_string(said.abi), to_string(said.stripe), to_string(copied(info.abi)),
        to_string(copied(info.stripe)));
  state.tables = normalise(info);
  state.table_sizes = sizes_of(info);
  state.get_extension = info.get_extension;
  return Status();
}

// What the dynamic linker said of `file`, without what the library around it adds.
std::string linkers_words(std::string_view text, const std::filesystem::path& file) {
  constexpr std::string_view kBefore = "dlerror system message: ", kBehind = "): ";
  if (const size_t at = text.find(kBefore); at != std::string_view::npos) {
    text.remove_prefix(at + kBefore.size());
    if (const size_t end = text.rfind(kBehind); end != std::string_view::npos)
      text = text.substr(0, end);
  }
  const std::string own = file.string() + ": ";
  if (text.starts_with(own)) text.remove_prefix(own.size());
  return one_line(text);
}

// Loads `file` (absolute); the pointer's last copy unloads it.
STRIA_SEES_THREADS_END Status open_library(const std::filesystem::path& file, const std::string& id,
                                           std::shared_ptr<void>& library,
                                           stria_plugin_query_function& query) {
  const CallInFlight in_flight(id.c_str(), "loading it");
  using boost::dll::load_mode::rtld_local;
  using boost::dll::load_mode::rtld_now;
  try {
    auto object =
        std::make_shared<boost::dll::shared_library>(file.string(), rtld_now | rtld_local);
    query = &object->get<std::remove_pointer_t<stria_plugin_query_function>>(kQuery);
    library = object;
  } catch (const std::exception& error) {
    return make_error(StatusCode::unavailable, "cannot load '{}': {}", file.string(),
                      linkers_words(error.what(), file));
  } catch (const abi::__forced_unwind&) {
    end_of_thread(in_flight);
    throw;
  } catch (...) {
    return make_error(kPluginFault, "cannot load '{}': a constructor of it let an exception out",
                      file.string());
  }
  return Status();
}

QueryFunction own_query(stria_plugin_query_function query) {
  return [query](const Manifest&, const stria_host_info* host, stria_plugin_info* info) {
    return query(host, info);
  };
}

}  // namespace

std::string_view name_of(Step step) {
  constexpr std::array<std::string_view, 10> names = {"search",  "manifest", "trust", "hash",
                                                      "version", "elf",      "load",  "query",
                                                      "create",  "enumerate"};
  return names[static_cast<size_t>(step)];
}

Verdict::Verdict(Step done, Status outcome)
    : step(done),
      status(outcome.ok() ? Status() : Status(outcome.code(), shown_message(outcome.message()))) {}

// The steps of one load; each appends its verdict.
struct PluginLoad {
  explicit PluginLoad(const LoadOptions& how) : options(how) {
    state->time_limit = how.time_limit;
    state->reader = how.reader;
  }

  const LoadOptions& options;
  LoadResult result;
  std::shared_ptr<PluginState> state = std::make_shared<PluginState>();

  bool step(Step step, Status status) {
    result.verdicts.push_back({step, std::move(status)});
    if (options.on_verdict) options.on_verdict(result.verdicts.back());
    return result.verdicts.back().status.ok();
  }

  // A step in which code of the plugin runs. What does not come back holds `state`, which keeps
  // all that it uses.
  bool step(Step step, const std::string& what, std::function<Status()> work) {
    const KeptSignals signals;
    TimedCall call(std::move(work));
    return this->step(step, call.outcome(state->time_limit, what));
  }

  bool versions() {
    Status status = negotiate("ABI", kHostAbi, result.manifest.abi).status();
    if (status.ok())
      status = negotiate("Stripe text", kHostStripe, result.manifest.stripe).status();
    return step(Step::version, status);
  }

  // With load_mutex() held.
  void bring_to_life(QueryFunction query) {
    state->manifest = result.manifest;
    state->process = ::getpid();
    state->services->set_plugin(state->manifest.id);
    state->watched_name = Watchdog::name_for_ever(state->manifest.id);
    const std::string name = fmt::format("plugin {}: ", state->manifest.id);
    if (!step(Step::query, name + kQuery,
              [state = state, query] { return query_plugin(query, *state); }))
      return;
    if (!step(
            Step::create, name + "driver.create",
            [state = state, text = options.driver_options, extensions = options.driver_extensions] {
              return create(*state, text, extensions);
            }))
      return;
    result.plugin.state_ = state;
  }

  static Status create(PluginState& state, const std::string& options, const void* extensions) {
    const std::string directory = state.directory.string();
    stria_driver_options driver_options{};
    driver_options.size = sizeof driver_options;
    driver_options.next = extensions;
    driver_options.directory = stria::hal::to_c(directory);
    driver_options.options = stria::hal::to_c(options);
    driver_options.services = &state.services->table();
    stria_driver* driver = nullptr;
    STRIA_RETURN_IF_ERROR(state.call("driver.create", state.tables.driver.create,
                                     static_cast<const stria_driver_options*>(&driver_options),
                                     &driver));
    if (!driver) return state.gave_nothing("driver.create");
    state.driver = driver;
    return Status();
  }
};

LoadResult load_plugin(const std::filesystem::path& directory, const std::shared_ptr<Host>& host,
                       const LoadOptions& options) {
  PluginLoad load(options);
  LoadResult& result = load.result;
  // Links are followed once, here: what is checked is what is loaded.
  std::error_code error;
  std::filesystem::path home = std::filesystem::weakly_canonical(directory, error);
  if (error) home = directory;
  load.state->directory = home;
  load.state->services = std::make_shared<Services>(host);
  auto manifest = read_manifest(home);
  if (!load.step(Step::manifest, manifest.status())) return result;
  result.manifest = *manifest;
  if (options.check_trust && !load.step(Step::trust, check_trust(home))) return result;
  if (!load.step(Step::hash, check_hashes(home, *manifest))) return result;
  if (!load.versions()) return result;
  const std::filesystem::path file = home / manifest->library;
  if (!load.step(Step::elf, check_shared_object(file, kQuery))) return result;
  if (options.stand_in) {
    load.state->always_back = true;
    load.state->time_limit = std::chrono::hours(24 * 366);
    std::lock_guard lock(load_mutex());
    restrict_environment_once(is_elevated());
    load.bring_to_life(options.stand_in);
    return result;
  }
  if (Verdict seen = probe_plugin(home, *manifest, options.probe, options.time_limit);
      !seen.status.ok()) {
    load.step(seen.step, std::move(seen.status));
    return result;
  }
  std::lock_guard lock(load_mutex());
  restrict_environment_once(is_elevated());
  auto query = std::make_shared<stria_plugin_query_function>();
  const bool opened = load.step(Step::load, fmt::format("loading '{}'", file.string()),
                                [state = load.state, file, id = manifest->id, query] {
                                  return open_library(file, id, state->library, *query);
                                });
  if (opened) load.bring_to_life(own_query(*query));
  return result;
}

LoadResult adopt_plugin(Manifest manifest, stria_plugin_query_function query,
                        const std::shared_ptr<Host>& host, const LoadOptions& options) {
  PluginLoad load(options);
  load.result.manifest = std::move(manifest);
  load.state->services = std::make_shared<Services>(host);
  if (!load.versions()) return load.result;
  std::lock_guard lock(load_mutex());
  load.bring_to_life(own_query(query));
  return load.result;
}

const Manifest& Plugin::manifest() const {
  STRIA_CHECK(state_, "manifest of a plugin that was not loaded");
  return state_->manifest;
}
const std::string& Plugin::id() const { return manifest().id; }
const std::filesystem::path& Plugin::directory() const {
  STRIA_CHECK(state_, "directory of a plugin that was not loaded");
  return state_->directory;
}

namespace {

Result<const DeviceKind*> find_kind(const Manifest& manifest, std::string_view name) {
  if (const DeviceKind* kind = manifest.find_kind(name)) return kind;
  std::vector<std::string> names;
  for (const DeviceKind& kind : manifest.devices) names.push_back(kind.name);
  return not_found("plugin {} has no device kind '{}'{} (its kinds: {})", manifest.id,
                   shown_name(name), did_you_mean(name, names), join(names, ", "));
}

}  // namespace

Result<std::filesystem::path> Plugin::hw_model(std::string_view kind) const {
  STRIA_ASSIGN(const DeviceKind* found, find_kind(manifest(), kind));
  return directory() / found->hw;
}

Result<std::filesystem::path> Plugin::pipeline(std::string_view kind) const {
  STRIA_ASSIGN(const DeviceKind* found, find_kind(manifest(), kind));
  return directory() / found->pipeline;
}

namespace {

// Far beyond any model and any pipeline.
constexpr size_t kMaxModelText = size_t{64} << 20;

Result<SourceText> read_text(const Plugin& plugin, const std::filesystem::path& file) {
  STRIA_ASSIGN(std::string text, read_inside(plugin.directory(), file, kMaxModelText,
                                             fmt::format("plugin {}", plugin.id())));
  std::string name = file_to_edit(plugin.directory(), file, text).string();
  return SourceText{std::move(name), std::move(text)};
}

}  // namespace

Result<SourceText> Plugin::read_hw_model(std::string_view kind) const {
  STRIA_ASSIGN(const DeviceKind* found, find_kind(manifest(), kind));
  return read_text(*this, found->hw);
}

Result<SourceText> Plugin::read_pipeline(std::string_view kind) const {
  STRIA_ASSIGN(const DeviceKind* found, find_kind(manifest(), kind));
  return read_text(*this, found->pipeline);
}

Result<SourceText> Plugin::read_fragment(std::string_view kind, const std::string& name) const {
  STRIA_ASSIGN(const DeviceKind* found, find_kind(manifest(), kind));
  return read_text(*this, found->pipeline.parent_path() / (name + ".json"));
}

Result<std::vector<DeviceInfo>> Plugin::devices() const {
  STRIA_CHECK(state_, "devices of a plugin that was not loaded");
  STRIA_RETURN_IF_ERROR(state_->usable());
  const KeptSignals signals;
  STRIA_ASSIGN(auto devices, state_->received<DeviceInfo>(
                                 "driver.enumerate", state_->tables.driver.enumerate,
                                 Received<DeviceInfo>::sink<stria_device_info>, state_->driver));
  std::set<std::string_view> ids;
  for (const DeviceInfo& device : devices) {
    std::string wrong = find_kind(state_->manifest, device.kind).status().message();
    if (!ids.insert(device.id).second)
      wrong = fmt::format("two devices have the id '{}'", device.id);
    if (!wrong.empty()) return state_->in_slot("driver.enumerate", Status(kPluginFault, wrong));
  }
  return devices;
}

Result<Device> Plugin::open(std::string_view device_id, std::string_view options) const {
  STRIA_CHECK(state_, "device of a plugin that was not loaded");
  std::lock_guard lock(load_mutex());
  STRIA_RETURN_IF_ERROR(state_->usable());
  // A call that does not come back keeps all it uses, and counts as a device: the driver cannot be
  // shut down under it. One that comes back late gives its device back.
  struct Opening {
    std::shared_ptr<PluginState> plugin;
    std::string id, options;
    Device device;
    Opening(std::shared_ptr<PluginState> owner, std::string_view name, std::string_view how)
        : plugin(std::move(owner)), id(name), options(how) {
      plugin->count(Noun::device);
    }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    ~Opening() {
      device = {};
      plugin->count(Noun::device, -1);
    }
  };
  const KeptSignals signals;
  auto opening = std::make_shared<Opening>(state_, device_id, options);
  TimedCall call([opening]() -> Status {
    const std::shared_ptr<PluginState>& plugin = opening->plugin;
    stria_device* handle = nullptr;
    STRIA_RETURN_IF_ERROR(plugin->call("driver.open", plugin->tables.driver.open, plugin->driver,
                                       stria::hal::to_c(opening->id),
                                       stria::hal::to_c(opening->options), &handle));
    if (!handle) return plugin->gave_nothing("driver.open");
    std::shared_ptr<DeviceState> device(new DeviceState(plugin, handle), DeleteOutsideCallbacks());
    STRIA_ASSIGN(auto infos, plugin->received<DeviceInfo>(
                                 "device.info", plugin->tables.device.info,
                                 Received<DeviceInfo>::sink<stria_device_info>, handle));
    if (infos.size() != 1) return plugin->gave_nothing("device.info");
    device->info = std::move(infos[0]);
    STRIA_RETURN_IF_ERROR(find_kind(plugin->manifest, device->info.kind).status());
    opening->device.state_ = std::move(device);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(
      call.outcome(state_->time_limit, fmt::format("plugin {}: driver.open", state_->manifest.id)));
  return std::move(opening->device);
}

const void* Plugin::extension(std::string_view name, uint32_t version) const {
  STRIA_CHECK(state_, "extension of a plugin that was not loaded");
  if (!state_->get_extension || !state_->usable().ok()) return nullptr;
  try {
    return state_->get_extension(stria::hal::to_c(name), version);
  } catch (...) {
    (void)state_->thrown("get_extension");
    return nullptr;
  }
}

Status Plugin::shutdown() {
  if (!state_) return Status();
  std::lock_guard lock(load_mutex());
  STRIA_RETURN_IF_ERROR(state_->usable());
  auto handles = [&] {
    std::vector<std::string> left;
    for (int i = 0; i < kNounCount; ++i)
      if (int64_t count = state_->live[i].load(); count > 0)
        left.push_back(fmt::format("{} x {}", count, name_of(static_cast<Noun>(i))));
    return left;
  };
  std::vector<std::string> left = handles();
  if (!left.empty()) {
    let_callbacks_end();
    left = handles();
  }
  if (!left.empty())
    return make_error(StatusCode::failed_precondition, "plugin {} is still used: {}",
                      state_->manifest.id, join(left, ", "));
  TimedCall call([state = state_] {
    return state->call("driver.shutdown", state->tables.driver.shutdown, state->driver);
  });
  const bool back = call.done_within(state_->time_limit);
  const Status ended = call.outcome(state_->time_limit,
                                    fmt::format("plugin {}: driver.shutdown", state_->manifest.id));
  state_->shut_down = true;
  // A call that never comes back keeps the driver, and all that belongs to it, as they are.
  if (!back) return ended;
  state_->driver = nullptr;
  state_->services->end_log();
  STRIA_RETURN_IF_ERROR(ended);
  const std::string taken = state_->services->taken();
  if (state_->manifest.unloadable && state_->library) {
    // Workers may still be returning from the plugin's code.
    state_->services->host().quiesce();
    state_->library.reset();
  }
  if (!taken.empty())
    return make_error(kPluginFault,
                      "plugin {} leaks: shut down, it has not given back {} of the host's",
                      state_->manifest.id, taken);
  return Status();
}

}  // namespace stria::hal
