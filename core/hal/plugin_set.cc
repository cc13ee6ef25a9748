// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/plugin_set.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::path directory;
  std::string origin;
  Status search;  // why there is no directory to look at
};

// The plugin directories of a place: itself if it has a manifest, else its folders in name order.
std::vector<Candidate> candidates_of(const SearchPlace& place) {
  std::error_code error;
  if (!fs::is_directory(place.path, error)) {
    if (!place.required) return {};
    return {{place.path, place.origin,
             not_found("'{}' (from {}) is no directory", place.path.string(), place.origin)}};
  }
  if (fs::exists(place.path / "plugin.json", error)) return {{place.path, place.origin, Status()}};
  std::vector<Candidate> found;
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
            [](const Candidate& a, const Candidate& b) { return a.directory < b.directory; });
  return found;
}

}  // namespace

Status PluginRecord::status() const {
  for (const Verdict& verdict : verdicts)
    if (!verdict.status.ok()) return verdict.status;
  return Status();
}

PluginSet PluginSet::load(const std::shared_ptr<Host>& host, const SearchOptions& options) {
  PluginSet set;
  std::set<fs::path> seen;  // one directory reached from two places is one plugin
  for (const SearchPlace& place : search_places(options)) {
    for (Candidate& candidate : candidates_of(place)) {
      std::error_code error;
      fs::path real = fs::weakly_canonical(candidate.directory, error);
      if (!error && !seen.insert(real).second) continue;
      PluginRecord record;
      record.directory = candidate.directory;
      record.origin = candidate.origin;
      record.id = candidate.directory.filename().string();
      if (record.id.empty()) record.id = candidate.directory.parent_path().filename().string();
      if (!candidate.search.ok()) {
        record.verdicts.push_back({Step::search, candidate.search});
        set.records_.push_back(std::move(record));
        continue;
      }
      auto manifest = read_manifest(candidate.directory);
      if (manifest.ok()) record.id = manifest->id;
      if (!options.only_ids.empty() && std::find(options.only_ids.begin(), options.only_ids.end(),
                                                 record.id) == options.only_ids.end())
        continue;
      auto first = std::find_if(set.records_.begin(), set.records_.end(), [&](const auto& other) {
        return other.id == record.id && other.plugin.valid();
      });
      if (first != set.records_.end()) {
        record.verdicts.push_back(
            {Step::search, make_error(StatusCode::failed_precondition,
                                      "not loaded: plugin {} was found before in '{}'", record.id,
                                      first->directory.string())});
        set.records_.push_back(std::move(record));
        continue;
      }
      LoadOptions load;
      if (auto it = options.driver_options.find(record.id); it != options.driver_options.end())
        load.driver_options = it->second;
      LoadResult result = load_plugin(candidate.directory, host, load);
      record.verdicts = std::move(result.verdicts);
      record.plugin = result.plugin;
      if (record.plugin.valid()) {
        auto devices = record.plugin.devices();
        record.verdicts.push_back({Step::enumerate, devices.status()});
        if (devices.ok()) record.devices = std::move(devices).value();
      }
      set.records_.push_back(std::move(record));
    }
  }
  return set;
}

Result<Plugin> PluginSet::find(std::string_view id) const {
  const PluginRecord* broken = nullptr;
  std::vector<std::string> ids;
  for (const PluginRecord& record : records_) {
    if (record.id == id && record.plugin.valid()) return record.plugin;
    if (record.id == id && !broken) broken = &record;
    if (record.plugin.valid()) ids.push_back(record.id);
  }
  if (broken && broken->status().ok())
    return make_error(StatusCode::failed_precondition, "plugin {} has been shut down", id);
  if (broken) return broken->status().with_context(fmt::format("plugin {}", id));
  return not_found("no plugin '{}'{}; loaded: {}", id, did_you_mean(id, ids),
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
