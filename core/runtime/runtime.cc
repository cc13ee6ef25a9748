// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/runtime.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/runtime/host_functions.h"

namespace stria {
namespace {

std::string name_of(const hal::PluginRecord& record, size_t position) {
  return fmt::format("{}:{}", record.id, position);
}

// "  llvm_cpu:0  Name of the device" per device, and a line per broken plugin.
std::string list_of(const std::vector<hal::PluginRecord>& records) {
  std::string out;
  for (const hal::PluginRecord& record : records) {
    if (!record.status().ok())
      out += fmt::format("\n  {}: broken: {}", record.id, hal::one_line(record.status().message()));
    for (size_t i = 0; i < record.devices.size(); ++i)
      out += fmt::format(
          "\n  {}  {}{}", name_of(record, i), record.devices[i].name,
          record.devices[i].available ? "" : " (not available: " + record.devices[i].reason + ")");
  }
  return out.empty() ? "\n  no device at all" : out;
}

std::optional<size_t> whole_number(std::string_view text) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool selects(const DeviceSelector& selector, const hal::DeviceInfo& info, size_t position) {
  if (selector.device.empty()) return true;
  if (auto number = whole_number(selector.device)) return *number == position;
  return glob_match(selector.device, info.name) || glob_match(selector.device, info.id);
}

// Operations per second that the model promises, from its execution units; 0 if it says nothing.
double promised_speed(const hal::Plugin& plugin, const hal::DeviceInfo& info) {
  auto path = plugin.hw_model(info.kind);
  if (!path.ok()) return 0;
  auto text = read_file(*path);
  if (!text.ok()) return 0;
  auto model = load_hardware_model({path->string(), *text}, {}, info.properties);
  if (!model.ok()) return 0;
  double operations = 0;
  for (const ExecutionUnit& unit : model->executors)
    operations += static_cast<double>(unit.count) * unit.ops_per_cycle;
  return operations * model->clock_mhz * 1e6;
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Does the set that starts behind '[' hold `c`? Moves `pattern` behind its ']'.
bool set_match(std::string_view& pattern, char c) {
  const bool negated = !pattern.empty() && pattern[0] == '!';
  if (negated) pattern.remove_prefix(1);
  bool found = false;
  for (bool first = true; !pattern.empty() && (first || pattern[0] != ']'); first = false) {
    const char low = lower_case(pattern[0]);
    char high = low;
    pattern.remove_prefix(1);
    if (pattern.size() >= 2 && pattern[0] == '-' && pattern[1] != ']') {
      high = lower_case(pattern[1]);
      pattern.remove_prefix(2);
    }
    found = found || (low <= c && c <= high);
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  return found != negated;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  // On a mismatch the last star takes one character more: no recursion, at worst a product of
  // lengths.
  std::optional<std::string_view> star;
  std::string_view star_text;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      star = pattern;
      star_text = text;
      continue;
    }
    bool matched = false;
    if (!text.empty() && !pattern.empty()) {
      const char c = lower_case(text[0]);
      const char p = pattern[0];
      pattern.remove_prefix(1);
      matched = p == '?' || (p == '[' ? set_match(pattern, c) : lower_case(p) == c);
      text.remove_prefix(1);
    } else if (text.empty()) {
      return pattern.empty();
    }
    if (matched) continue;
    if (!star || star_text.empty()) return false;
    star_text.remove_prefix(1);
    pattern = *star;
    text = star_text;
  }
}

Result<DeviceSelector> parse_device_selector(std::string_view text) {
  if (text.empty())
    return invalid_argument(
        "the device selector is empty; it is PLUGIN, PLUGIN:N, PLUGIN:NAME or auto");
  DeviceSelector selector;
  if (text == "auto") {
    selector.automatic = true;
    return selector;
  }
  const size_t colon = text.find(':');
  selector.plugin = std::string(text.substr(0, colon));
  const bool word = std::all_of(selector.plugin.begin(), selector.plugin.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  if (selector.plugin.empty() || !word)
    return invalid_argument(
        "the device selector '{}' does not begin with the name of a plugin; it is "
        "PLUGIN, PLUGIN:N, PLUGIN:NAME or auto",
        text);
  if (colon == std::string_view::npos) return selector;
  if (selector.plugin == "auto")
    return invalid_argument("the device selector '{}' has something behind auto; auto stands alone",
                            text);
  selector.device = std::string(text.substr(colon + 1));
  if (selector.device.size() > 1 && selector.device[0] == '-' &&
      selector.device.find_first_not_of("0123456789", 1) == std::string::npos)
    return invalid_argument("the device selector '{}' has a negative number; devices count from 0",
                            text);
  if (selector.device.empty())
    return invalid_argument(
        "the device selector '{}' has nothing behind its colon; it is PLUGIN, "
        "PLUGIN:N, PLUGIN:NAME or auto",
        text);
  return selector;
}

struct Runtime::State {
  RuntimeOptions options;
  std::shared_ptr<hal::Host> host;
  std::mutex mutex;
  std::optional<hal::PluginSet> all;  // guarded by mutex

  const hal::PluginSet& load_all() {
    if (!all) all = hal::PluginSet::load(host, options.search);
    return *all;
  }
};

Runtime::Runtime(RuntimeOptions options) : state_(std::make_shared<State>()) {
  hal::HostFunctions functions;
  functions.log = options.log;
  functions.interpret = interpret_for_plugin;
  state_->host =
      std::make_shared<hal::Host>(std::move(functions), options.threads, options.wait_limit_ns);
  state_->options = std::move(options);
}

const std::vector<hal::PluginRecord>& Runtime::plugins() const {
  std::lock_guard lock(state_->mutex);
  return state_->load_all().records();
}

Result<Device> Runtime::open(std::string_view text) const {
  STRIA_ASSIGN(DeviceSelector selector, parse_device_selector(text));
  struct Candidate {
    const hal::PluginRecord* record;
    const hal::DeviceInfo* info;
  };
  std::vector<Candidate> matching;
  const std::vector<hal::PluginRecord>& records = plugins();
  for (const hal::PluginRecord& record : records) {
    if (!selector.automatic && record.id != selector.plugin) continue;
    if (!record.plugin.valid()) continue;
    for (size_t i = 0; i < record.devices.size(); ++i)
      if (selector.automatic || selects(selector, record.devices[i], i))
        matching.push_back({&record, &record.devices[i]});
  }
  if (matching.empty()) {
    std::vector<std::string> ids;
    for (const hal::PluginRecord& record : records) ids.push_back(record.id);
    std::string hint = std::count(ids.begin(), ids.end(), selector.plugin) > 0
                           ? ""
                           : did_you_mean(selector.plugin, ids);
    return not_found("no device matches '{}'{}; there is:{}", text, hint, list_of(records));
  }
  const Candidate* best = nullptr;
  double best_speed = -1;
  for (const Candidate& candidate : matching) {
    if (!candidate.info->available) continue;
    const double speed =
        selector.automatic ? promised_speed(candidate.record->plugin, *candidate.info) : 0;
    if (best == nullptr || speed > best_speed) {
      best = &candidate;
      best_speed = speed;
    }
  }
  if (best == nullptr)
    return make_error(StatusCode::unavailable, "'{}' matches, but is not available: {}", text,
                      matching[0].info->reason);
  return Device::open(best->record->plugin, best->info->id);
}

}  // namespace stria
