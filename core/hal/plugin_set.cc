// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/plugin_set.h"

#include <algorithm>
#include <set>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/files/copied_from.h"
#include "stria/hal/files/trust.h"
#include "stria/hal/guard/environment.h"
#include "stria/hal/guard/timed_call.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;

// The plugin directories of a place: itself if it has a manifest, else its folders in name order.
std::vector<FoundPlugin> found_in(const SearchPlace& place) {
  std::error_code error;
  if (!fs::is_directory(place.path, error)) {
    if (!place.required) return {};
    return {{place.path, place.origin,
             not_found("'{}' (from {}) is no directory", place.path.string(), place.origin)}};
  }
  if (fs::exists(place.path / "plugin.json", error)) return {{place.path, place.origin, Status()}};
  std::vector<FoundPlugin> found;
  fs::directory_iterator entries(place.path, error);
  if (error)
    return {{place.path, place.origin,
             make_error(StatusCode::permission_denied, "cannot list '{}': {}", place.path.string(),
                        error.message())}};
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->is_directory(ignored)) found.push_back({entries->path(), place.origin, Status()});
    if (error) break;
  }
  std::sort(found.begin(), found.end(),
            [](const FoundPlugin& a, const FoundPlugin& b) { return a.directory < b.directory; });
  return found;
}

}  // namespace

std::vector<FoundPlugin> find_plugins(const SearchOptions& options) {
  std::vector<FoundPlugin> all;
  std::set<fs::path> seen;  // one directory reached from two places is one plugin
  for (const SearchPlace& place : search_places(options))
    for (FoundPlugin& found : found_in(place)) {
      std::error_code error;
      fs::path real = fs::weakly_canonical(found.directory, error);
      if (error || seen.insert(real).second) all.push_back(std::move(found));
    }
  return all;
}

Status PluginRecord::status() const {
  for (const Verdict& verdict : verdicts)
    if (!verdict.status.ok()) return verdict.status;
  return Status();
}

// One load of a set: plugins come one after the other, and list their devices while later ones
// come if they take long.
class PluginSetLoad {
 public:
  PluginSetLoad(std::shared_ptr<Host> host, const SearchOptions& options,
                std::vector<PluginRecord>& records)
      : host_(std::move(host)), options_(options), records_(records) {}

  void load(FoundPlugin candidate) {
    PluginRecord record;
    record.directory = candidate.directory;
    record.origin = candidate.origin;
    record.isolated = options_.stand_in != nullptr;
    record.id = shown_name(candidate.directory.filename().string());
    if (record.id.empty())
      record.id = shown_name(candidate.directory.parent_path().filename().string());
    if (!candidate.search.ok()) {
      record.verdicts.push_back({Step::search, candidate.search});
      records_.push_back(std::move(record));
      return;
    }
    auto manifest = read_manifest(candidate.directory);
    if (manifest.ok()) record.id = manifest->id;
    if (!wanted(record.id)) return;
    warn_of_edits(record);
    if (!manifest.ok()) {  // it takes nobody's place
      record.verdicts.push_back({Step::manifest, manifest.status()});
      if (options_.on_verdict) options_.on_verdict(record.verdicts.back());
      records_.push_back(std::move(record));
      return;
    }
    if (const PluginRecord* first = working(record.id)) {
      record.verdicts.push_back(
          {Step::search, make_error(StatusCode::failed_precondition,
                                    "not loaded: plugin {} was found before in '{}'", record.id,
                                    first->directory.string())});
      records_.push_back(std::move(record));
      return;
    }
    LoadOptions load;
    load.time_limit = options_.time_limit;
    load.probe = options_.probe;
    load.probe.environment = environment();
    load.on_verdict = options_.on_verdict;
    load.stand_in = options_.stand_in;
    load.driver_extensions = options_.driver_extensions;
    load.reader = is_own_place(record.origin) ? Reader::author : options_.reader;
    if (auto it = options_.driver_options.find(record.id); it != options_.driver_options.end())
      load.driver_options = it->second;
    LoadResult result = load_plugin(candidate.directory, host_, load);
    record.verdicts = std::move(result.verdicts);
    record.plugin = result.plugin;
    records_.push_back(std::move(record));
    if (result.plugin.valid()) start_list(records_.size() - 1);
  }

  void finish_all() {
    for (Listing& listing : listings_) finish(listing);
  }

 private:
  struct Listing {
    size_t record;
    std::shared_ptr<std::vector<DeviceInfo>> devices;  // shared with the call's thread
    TimedCall call;
    bool finished = false;
  };

  bool wanted(const std::string& id) const {
    const auto& ids = options_.only_ids;
    return ids.empty() || std::find(ids.begin(), ids.end(), id) != ids.end();
  }

  // Who edits a file and does not build runs what was there before.
  void warn_of_edits(const PluginRecord& record) const {
    const auto& log = host_->functions().log;
    if (!log) return;
    for (const std::filesystem::path& file : edited_since_build(record.directory))
      log(LogLevel::warning,
          fmt::format("plugin {}: {} was edited after the last build: build it again", record.id,
                      shown_path(file)));
  }

  // The plugin with that id that works, if there is one: a broken one takes nobody's place.
  const PluginRecord* working(const std::string& id) {
    for (Listing& listing : listings_)
      if (records_[listing.record].id == id) finish(listing);
    for (const PluginRecord& record : records_)
      if (record.id == id && record.plugin.valid() && record.status().ok()) return &record;
    return nullptr;
  }

  void start_list(size_t record) {
    // Vendors' drivers dislike company while they start: the next plugin comes when this one is
    // done, unless it takes longer than the boundary allows.
    constexpr std::chrono::milliseconds kPatience{50};
    auto devices = std::make_shared<std::vector<DeviceInfo>>();
    TimedCall call([plugin = records_[record].plugin, devices] {
      STRIA_ASSIGN(*devices, plugin.devices());
      return Status();
    });
    listings_.push_back({record, devices, std::move(call)});
    if (listings_.back().call.done_within(std::min(kPatience, options_.time_limit)))
      finish(listings_.back());
  }

  // As it was before the first plugin of this load.
  const std::shared_ptr<const Environment>& environment() {
    if (environment_) return environment_;
    restrict_environment_once(is_elevated());
    environment_ = options_.probe.environment ? options_.probe.environment : environment_now();
    return environment_;
  }

  void finish(Listing& listing) {
    if (listing.finished) return;
    listing.finished = true;
    PluginRecord& record = records_[listing.record];
    // What keeps the limit itself is waited for.
    const auto limit = options_.stand_in ? 2 * options_.time_limit : options_.time_limit;
    const bool back = listing.call.done_within(limit);
    Status status =
        listing.call.outcome(limit, fmt::format("plugin {}: driver.enumerate", record.id));
    if (status.ok()) record.devices = std::move(*listing.devices);
    record.verdicts.push_back({Step::enumerate, std::move(status)});
    if (options_.on_verdict) options_.on_verdict(record.verdicts.back());
    // Nobody may shut down what still runs.
    if (!back) record.plugin = Plugin();
  }

  std::shared_ptr<Host> host_;
  const SearchOptions& options_;
  std::vector<PluginRecord>& records_;
  std::vector<Listing> listings_;
  std::shared_ptr<const Environment> environment_;
};

PluginSet PluginSet::load(const std::shared_ptr<Host>& host, const SearchOptions& options) {
  PluginSet set;
  PluginSetLoad load(host, options, set.records_);
  for (FoundPlugin& found : find_plugins(options)) load.load(std::move(found));
  load.finish_all();
  return set;
}

Result<Plugin> PluginSet::find(std::string_view id) const {
  const PluginRecord* broken = nullptr;
  std::vector<std::string> ids;
  for (const PluginRecord& record : records_) {
    const bool works = record.plugin.valid() && record.status().ok();
    if (record.id == id && works) return record.plugin;
    if (record.id == id && !broken) broken = &record;
    if (works) ids.push_back(record.id);
  }
  if (broken && broken->status().ok())
    return make_error(StatusCode::failed_precondition, "plugin {} has been shut down", id);
  if (broken) return broken->status().with_context(fmt::format("plugin {}", id));
  return not_found("no plugin '{}'{} (loaded: {})", id, did_you_mean(id, ids),
                   ids.empty() ? "none" : join(ids, ", "));
}

Status PluginSet::shutdown() {
  Status first;
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
    if (!record->plugin.valid()) continue;
    Status status = record->plugin.shutdown();
    if (status.ok())
      record->plugin = Plugin();
    else if (first.ok())
      first = status;
  }
  return first;
}

}  // namespace stria::hal
