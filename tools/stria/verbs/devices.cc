// SPDX-License-Identifier: Apache-2.0
#include "verbs/devices.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "child_process.h"
#include "inputs/open_device.h"
#include "message.h"
#include "show/selection_table.h"
#include "standard_output.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/runtime/host/quarantine_file.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/pick/device_selector.h"
#include "verbs/topology.h"

namespace stria::command {
namespace {

std::string selector_of(const hal::PluginRecord& record, size_t position) {
  return fmt::format("{}{}:{}", record.isolated ? kIsolated : "", record.id, position);
}

DeviceInfo info_of(const hal::PluginRecord& record, size_t position) {
  return public_info(record.devices[position], record.id, selector_of(record, position),
                     record.directory);
}

void clear_quarantine(const std::vector<hal::PluginRecord>& records, const std::string& names) {
  bool any = false;
  for (const hal::PluginRecord& record : records)
    for (size_t i = 0; i < record.devices.size(); ++i) {
      const DeviceInfo info = info_of(record, i);
      if (!is_called(info, names) || !QuarantineFile().clear(info)) continue;
      any = true;
      print_message(fmt::format("{} is no longer in quarantine", info.selector));
    }
  if (!any)
    print_message(fmt::format("no device that '{}' means is in quarantine", shown_name(names)));
}

void print_text(const std::vector<hal::PluginRecord>& records) {
  struct Line {
    std::string selector, name, verdict;
  };
  // A person reads a screen; whatever lies in a plugin folder must not hide what works.
  constexpr size_t kMaxBroken = 20;
  constexpr size_t kMaxWidth = 64;
  std::vector<Line> lines, broken;
  for (const hal::PluginRecord& record : records) {
    if (const Status status = record.status(); !status.ok()) {
      // One of that id came first: that is how a plugin is replaced by another.
      const bool replaced = status.code() == StatusCode::failed_precondition &&
                            record.verdicts.back().step == hal::Step::search;
      broken.push_back({record.id, hal::shown_path(record.directory),
                        (replaced ? "" : "broken: ") + hal::one_line(status.message())});
      continue;
    }
    if (record.devices.empty()) lines.push_back({record.id, "no devices", ""});
    for (size_t i = 0; i < record.devices.size(); ++i) {
      const hal::DeviceInfo& device = record.devices[i];
      std::string said = device.available ? "available" : "not available: " + device.reason;
      if (const auto kept_out = QuarantineFile().find(info_of(record, i)))
        said += "; in quarantine: " + kept_out->to_string();
      lines.push_back({selector_of(record, i), device.name, std::move(said)});
    }
  }
  const size_t left_out = broken.size() > kMaxBroken ? broken.size() - kMaxBroken : 0;
  broken.resize(broken.size() - left_out);
  lines.insert(lines.end(), broken.begin(), broken.end());
  // What is wider than a column may be moves only its own line's rest.
  size_t selector_width = 0, name_width = 0;
  for (const Line& line : lines) {
    if (line.selector.size() <= kMaxWidth)
      selector_width = std::max(selector_width, line.selector.size());
    if (line.name.size() <= kMaxWidth) name_width = std::max(name_width, line.name.size());
  }
  for (const Line& line : lines) {
    std::string text = fmt::format("{:<{}}  {:<{}}  {}", line.selector, selector_width, line.name,
                                   name_width, line.verdict);
    text.erase(text.find_last_not_of(' ') + 1);
    std::printf("%s\n", text.c_str());
  }
  if (left_out > 0)
    std::printf("and %zu more that cannot be used; 'stria devices --json' lists all\n", left_out);
  if (lines.empty()) std::printf("no plugins found\n");
}

void print_json(const std::vector<hal::PluginRecord>& records) {
  nlohmann::ordered_json plugins = nlohmann::ordered_json::array();
  for (const hal::PluginRecord& record : records) {
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (size_t i = 0; i < record.devices.size(); ++i) {
      const hal::DeviceInfo& device = record.devices[i];
      devices.push_back(
          {{"selector", selector_of(record, i)},
           {"id", device.id},
           {"name", device.name},
           {"kind", device.kind},
           {"vendor", device.vendor},
           {"available", device.available},
           {"reason", device.reason},
           {"memory_bytes", device.memory_bytes},
           {"quarantine", json_of_quarantine(QuarantineFile().find(info_of(record, i)))},
           {"properties", nlohmann::ordered_json::parse(device.properties, nullptr, false)}});
    }
    const Status status = record.status();
    plugins.push_back({{"id", record.id},
                       {"directory", record.directory.string()},
                       {"origin", record.origin},
                       {"ok", status.ok()},
                       {"error", hal::one_line(status.message())},
                       {"devices", std::move(devices)}});
  }
  // Texts come from plugins: bytes that are no UTF-8 are replaced, not thrown at us.
  const nlohmann::ordered_json all = {{"plugins", std::move(plugins)}};
  std::printf("%s\n",
              all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

RuntimeOptions listing_options(const DevicesOptions& options) {
  RuntimeOptions how = runtime_options();
  how.plugin_time_limit = std::chrono::milliseconds(std::llround(options.step_limit_s * 1e3));
  how.isolate_plugins = options.isolated;
  return how;
}

WorkEnd print(const std::vector<hal::PluginRecord>& records, const DevicesOptions& options) {
  if (!options.clear_quarantine.empty()) clear_quarantine(records, options.clear_quarantine);
  if (options.select.empty()) {
    options.json ? print_json(records) : print_text(records);
    return WorkEnd::well;
  }
  // It has been read before.
  const DeviceSelector selector = parse_device_selector(options.select).value();
  const Selection selection = Inside::select_among(records, selector, nullptr);
  options.json ? print_selection_json(selection) : print_selection(selection);
  for (const std::string& idle : idle_names(selection)) print_message(idle);
  if (!selection.order.empty()) return WorkEnd::well;
  if (const std::string near = nearest_of(selection); !near.empty())
    print_message(fmt::format("a name in '{}' means nothing{}", selector.to_string(), near));
  if (const std::string hint = plugin_path_hint(selection); !hint.empty()) print_message(hint);
  return WorkEnd::without_result;
}

// Whether a plugin keeps the loader's lock for ever: what comes after it then fails without fault.
bool holds_the_loader(const std::vector<hal::PluginRecord>& records) {
  for (const hal::PluginRecord& record : records)
    for (const hal::Verdict& verdict : record.verdicts)
      if (verdict.step == hal::Step::load && verdict.status.code() == StatusCode::deadline_exceeded)
        return true;
  return false;
}

// Loads and lists, in a process that ends with it. What a plugin holds that hangs, a destructor
// would wait for.
const std::vector<hal::PluginRecord>& records_without_end(RuntimeOptions options) {
  return Inside::records(*new Runtime(std::move(options)));
}

// Lists plugins of which some end the process, or stop it: each is tried in a process of its own
// first, those that fail there are not loaded here.
WorkEnd list_around_failures(const DevicesOptions& options) {
  std::vector<hal::PluginRecord> records;  // in the order they were found, failed ones complete
  RuntimeOptions sound = listing_options(options);
  sound.only_plugin_paths = true;
  for (const hal::FoundPlugin& found : hal::find_plugins({})) {
    hal::PluginRecord& record = records.emplace_back();
    record.directory = found.directory;
    record.origin = found.origin;
    auto manifest = hal::read_manifest(found.directory);
    record.id = manifest.ok() ? manifest->id : found.directory.filename().string();
    if (!found.search.ok() || !manifest.ok()) {  // nothing of it is ever loaded
      record.verdicts.push_back(found.search.ok()
                                    ? hal::Verdict{hal::Step::manifest, manifest.status()}
                                    : hal::Verdict{hal::Step::search, found.search});
      continue;
    }
    const ChildEnd end = run_in_child(
        [&] {
          RuntimeOptions alone = listing_options(options);
          alone.plugin_paths = {found.directory};
          alone.only_plugin_paths = true;
          return holds_the_loader(records_without_end(std::move(alone))) ? WorkEnd::hangs
                                                                         : WorkEnd::well;
        },
        Prints::no);
    if (end.work == WorkEnd::hangs) {
      record.verdicts.push_back(
          {hal::Step::load, make_error(StatusCode::deadline_exceeded,
                                       "loading '{}' has not returned within the limit of {} ms",
                                       (found.directory / manifest->library).string(),
                                       sound.plugin_time_limit.count())});
    } else if (!end.failure.empty()) {
      record.verdicts.push_back(
          {hal::Step::enumerate,
           make_error(hal::kPluginFault, "plugin {}: {} while its devices were listed", record.id,
                      end.failure)});
    } else {
      sound.plugin_paths.push_back(found.directory);
    }
  }
  if (!sound.plugin_paths.empty()) {
    for (const hal::PluginRecord& listed : records_without_end(std::move(sound)))
      for (hal::PluginRecord& record : records)
        if (record.directory == listed.directory && record.verdicts.empty()) {
          std::string origin = std::move(record.origin);  // where it was found at first
          record = listed;
          record.origin = std::move(origin);
        }
  }
  return print(records, options);
}

Outcome list_devices(const DevicesOptions& options) {
  // What a plugin does to its process must not keep the others from being listed.
  ChildEnd end = run_in_child(
      [&] {
        const std::vector<hal::PluginRecord>& records =
            records_without_end(listing_options(options));
        if (holds_the_loader(records)) return WorkEnd::hangs;
        return print(records, options);
      },
      Prints::yes);
  if (end.started && (end.work == WorkEnd::hangs || !end.failure.empty()))
    end = run_in_child([&] { return list_around_failures(options); }, Prints::yes);
  if (!end.started) {
    // No other process: each plugin's probe has the same trouble, and says so.
    print_message(end.failure);
    end.work = print(records_without_end(listing_options(options)), options);
    end.failure.clear();
  }
  if (end.work == WorkEnd::without_result)
    return Outcome(ExitCode::device, not_found("no device is kept by '{}'", options.select));
  if (end.work == WorkEnd::unwritable)
    return Outcome(ExitCode::program, invalid_argument("{}", kUnwritable));
  if (end.failure.empty()) return Outcome();
  return Outcome(ExitCode::device,
                 make_error(hal::kPluginFault,
                            "listing the devices {} twice; 'stria doctor' looks at "
                            "each plugin alone",
                            end.failure));
}

}  // namespace

Outcome devices(const DevicesOptions& options) {
  if (options.topology) return show_topology(options);
  if (options.select.empty()) return list_devices(options);
  STRIA_OR_FAIL(const DeviceSelector selector, ExitCode::usage,
                parse_device_selector(options.select));
  // It is carried, and said: nothing of a selector is passed over in silence.
  if (const Status kept = check_can_be_kept(selector); !kept.ok()) print_message(kept.message());
  DevicesOptions how = options;
  how.isolated = options.isolated || selector.isolated;
  return list_devices(how);
}

}  // namespace stria::command
