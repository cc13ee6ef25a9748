// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "child_process.h"
#include "open_device.h"
#include "stria/base/text.h"
#include "stria/hal/error.h"
#include "stria/runtime/inside.h"

namespace stria::command {
namespace {

void print_text(const std::vector<hal::PluginRecord>& records) {
  struct Line {
    std::string selector, name, verdict;
  };
  std::vector<Line> lines;
  for (const hal::PluginRecord& record : records) {
    if (const Status status = record.status(); !status.ok()) {
      lines.push_back(
          {record.id, record.directory.string(), "broken: " + hal::one_line(status.message())});
      continue;
    }
    if (record.devices.empty()) lines.push_back({record.id, "no devices", ""});
    for (size_t i = 0; i < record.devices.size(); ++i) {
      const hal::DeviceInfo& device = record.devices[i];
      lines.push_back({fmt::format("{}:{}", record.id, i), device.name,
                       device.available ? "available" : "not available: " + device.reason});
    }
  }
  size_t selector_width = 0, name_width = 0;
  for (const Line& line : lines) {
    selector_width = std::max(selector_width, line.selector.size());
    name_width = std::max(name_width, line.name.size());
  }
  for (const Line& line : lines) {
    std::string text = fmt::format("{:<{}}  {:<{}}  {}", line.selector, selector_width, line.name,
                                   name_width, line.verdict);
    text.erase(text.find_last_not_of(' ') + 1);
    std::printf("%s\n", text.c_str());
  }
  if (lines.empty()) std::printf("no plugins found\n");
}

void print_json(const std::vector<hal::PluginRecord>& records) {
  nlohmann::ordered_json plugins = nlohmann::ordered_json::array();
  for (const hal::PluginRecord& record : records) {
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (size_t i = 0; i < record.devices.size(); ++i) {
      const hal::DeviceInfo& device = record.devices[i];
      devices.push_back(
          {{"selector", fmt::format("{}:{}", record.id, i)},
           {"id", device.id},
           {"name", device.name},
           {"kind", device.kind},
           {"vendor", device.vendor},
           {"available", device.available},
           {"reason", device.reason},
           {"memory_bytes", device.memory_bytes},
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
  return how;
}

void print(const std::vector<hal::PluginRecord>& records, const DevicesOptions& options) {
  options.json ? print_json(records) : print_text(records);
}

// Lists plugins of which some end the process: each is tried in a process of its own first, those
// that fail there are not loaded here.
void list_around_crashes(const DevicesOptions& options) {
  std::vector<hal::PluginRecord> records;  // in the order they were found, crashed ones complete
  std::vector<std::string> sound;
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
    const std::string failure = run_in_child(
        [&] {
          RuntimeOptions alone = listing_options(options);
          alone.plugin_paths = {found.directory};
          alone.only_plugin_paths = true;
          Inside::records(Runtime(std::move(alone)));  // loads and lists
        },
        Prints::no);
    if (failure.empty()) {
      sound.push_back(record.id);
    } else {
      record.verdicts.push_back(
          {hal::Step::enumerate,
           make_error(hal::kPluginFault, "plugin {}: {} while its devices were listed", record.id,
                      failure)});
    }
  }
  if (!sound.empty()) {
    RuntimeOptions how = listing_options(options);
    how.only_plugins = std::move(sound);
    const Runtime runtime(std::move(how));
    for (const hal::PluginRecord& listed : Inside::records(runtime))
      for (hal::PluginRecord& record : records)
        if (record.directory == listed.directory && record.verdicts.empty()) record = listed;
  }
  print(records, options);
}

}  // namespace

Outcome devices(const DevicesOptions& options) {
  // What a plugin does to its process must not keep the others from being listed.
  const auto list = [&] { print(Inside::records(Runtime(listing_options(options))), options); };
  std::string failure = run_in_child(list, Prints::yes);
  if (!failure.empty()) failure = run_in_child([&] { list_around_crashes(options); }, Prints::yes);
  if (failure.empty()) return Outcome();
  return Outcome(ExitCode::device,
                 make_error(hal::kPluginFault,
                            "listing the devices {} twice; 'stria doctor' looks at "
                            "each plugin alone",
                            failure));
}

}  // namespace stria::command
