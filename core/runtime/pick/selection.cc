// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/pick/selection.h"

#include <algorithm>
#include <cstdlib>

#include "stria/base/shown_text.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/pick/glob.h"
#include "stria/runtime/pick/quantity.h"
#include "stria/runtime/pick/selector_words.h"

namespace stria {
namespace {

using Kind = SelectorTerm::Kind;

bool means_plugin(const SelectorTerm& term, const std::string& plugin) {
  return is_pattern(term.plugin) ? glob_match(term.plugin, plugin) : term.plugin == plugin;
}

// A plugin that cannot be used is meant by its name alone: nobody knows its devices.
bool means(const SelectorTerm& term, const DeviceFacts& facts) {
  if (!means_plugin(term, facts.info.plugin)) return false;
  if (!facts.plugin_trouble.empty()) return true;
  if (term.number) return *term.number == facts.number;
  return term.device.empty() || glob_match(term.device, facts.info.name) ||
         glob_match(term.device, facts.info.id);
}

bool any_matches(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, text); });
}

// How a device stands to a condition. `said` is what it has, for people.
struct Answer {
  bool known = true;
  bool met = false;
  std::string said;
};

Answer model_unknown(const DeviceFacts& facts) {
  return {false, false, "its hardware model cannot be read: " + facts.model_trouble};
}

Answer memory_answer(const SelectorTerm& term, const DeviceFacts& facts) {
  const uint64_t bytes = facts.info.memory_bytes;
  if (bytes == 0) return {false, false, "it does not say how much memory it has"};
  bool met = false;
  switch (term.comparison) {
    case Comparison::at_least: met = bytes >= term.bytes; break;
    case Comparison::at_most: met = bytes <= term.bytes; break;
    case Comparison::more: met = bytes > term.bytes; break;
    case Comparison::less: met = bytes < term.bytes; break;
  }
  std::string said = "it has " + shown_bytes(bytes);
  // Close to the limit, the exact number is the one that tells.
  if (shown_bytes(bytes) == shown_bytes(term.bytes)) said += fmt::format(" ({} bytes)", bytes);
  return {true, met, std::move(said)};
}

Answer type_answer(const SelectorTerm& term, const DeviceFacts& facts) {
  if (!facts.model_trouble.empty()) return model_unknown(facts);
  std::vector<std::string> missing;
  for (const DataType type : term.types) {
    // A packed type is unpacked before any kernel sees it.
    const auto lack = facts.lacks_types.find(held_type(type));
    if (lack == facts.lacks_types.end())
      return {true, true, fmt::format("it has {}", name_of(type))};
    missing.push_back(fmt::format("{} ({})", name_of(lack->first), lack->second));
  }
  return {true, false, "it lacks " + join(missing, ", ")};
}

Answer answer(const SelectorTerm& term, const DeviceFacts& facts) {
  switch (term.kind) {
    case Kind::device: break;
    case Kind::memory: return memory_answer(term, facts);
    case Kind::type: return type_answer(term, facts);
    case Kind::kind:
      return {true, any_matches(term.patterns, facts.info.kind),
              fmt::format("its kind is '{}'", facts.info.kind)};
    case Kind::vendor:
      return {true, any_matches(term.patterns, facts.info.vendor),
              facts.info.vendor.empty() ? "it names no vendor"
                                        : fmt::format("its vendor is '{}'", facts.info.vendor)};
    case Kind::real:
      if (!facts.model_trouble.empty()) return model_unknown(facts);
      return {true, !facts.simulated, facts.simulated ? "it is simulated" : "it is real"};
  }
  return {};
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) out.push_back("'" + names[i] + "'");
  if (names.size() > kMost) out.push_back(fmt::format("and {} more", names.size() - kMost));
  return join(out, ", ");
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  std::string out = join({names.begin(), names.begin() + std::min(kMost, names.size())}, ", ");
  if (names.size() > kMost) out += fmt::format(" and {} more", names.size() - kMost);
  return out;
}

class Judge {
 public:
  Judge(const DeviceSelector& selector, const ProgramNeeds* needs)
      : selector_(selector), needs_(needs) {
    for (size_t i = 0; i < selector.terms.size(); ++i) {
      const SelectorTerm& term = selector.terms[i];
      if (term.kind == Kind::device && !term.negated) names_.push_back(i);
    }
  }

  DeviceVerdict verdict(const DeviceFacts& facts) const {
    DeviceVerdict out{facts.info, {}, facts.quarantine, facts.conformance};
    add_names(facts, out.objections);
    if (!facts.plugin_trouble.empty()) {
      out.objections.push_back({Gate::plugin, std::nullopt, facts.plugin_trouble});
      return out;
    }
    if (!facts.info.available)
      out.objections.push_back(
          {Gate::available, std::nullopt,
           facts.info.reason.empty() ? "it gives no reason" : facts.info.reason});
    add_records(facts, out.objections);
    add_conditions(facts, out.objections);
    if (needs_ == nullptr) return out;
    for (Objection& one : lacks_of(*needs_, facts.lacks_types, facts.info.memory_bytes))
      out.objections.push_back(std::move(one));
    return out;
  }

  // The position, among the names, of the first one that means the device; 0 if there are none.
  size_t rank(const DeviceFacts& facts) const {
    for (size_t i = 0; i < names_.size(); ++i)
      if (means(selector_.terms[names_[i]], facts)) return i;
    return names_.size();
  }

 private:
  void add_names(const DeviceFacts& facts, std::vector<Objection>& out) const {
    if (!names_.empty() && rank(facts) == names_.size()) {
      std::vector<std::string> texts;
      for (const size_t i : names_) texts.push_back(selector_.terms[i].to_string());
      const bool one = names_.size() == 1;
      out.push_back({Gate::name, one ? std::optional(names_[0]) : std::nullopt,
                     one ? "it does not mean this device"
                         : fmt::format("none of {} means it", quoted_list(texts))});
    }
    for (size_t i = 0; i < selector_.terms.size(); ++i) {
      const SelectorTerm& term = selector_.terms[i];
      if (term.kind == Kind::device && term.negated && means(term, facts))
        out.push_back({Gate::name, i, "it is excluded"});
    }
  }

  void add_conditions(const DeviceFacts& facts, std::vector<Objection>& out) const {
    for (size_t i = 0; i < selector_.terms.size(); ++i) {
      const SelectorTerm& term = selector_.terms[i];
      if (term.kind == Kind::device) continue;
      const Answer found = answer(term, facts);
      // What is not known meets no condition, and no excluded one either. Of a device that is not
      // there it is no news.
      if (!found.known ? facts.info.available : found.met == term.negated)
        out.push_back({Gate::condition, i, found.said});
    }
  }

  // What is named is a wish, and the user may know more than the records do.
  void add_records(const DeviceFacts& facts, std::vector<Objection>& out) const {
    if (!selector_.automatic) return;
    if (facts.quarantine)
      out.push_back({Gate::quarantine, std::nullopt, facts.quarantine->to_string()});
    if (facts.conformance && facts.conformance->is_objection())
      out.push_back({Gate::conformance, std::nullopt, "it " + facts.conformance->to_string()});
  }

  const DeviceSelector& selector_;
  const ProgramNeeds* needs_;
  std::vector<size_t> names_;  // positions of terms that name devices
};

// Is it dropped because no name means it?
bool is_not_meant(const DeviceVerdict& verdict, const DeviceSelector& selector) {
  return std::any_of(verdict.objections.begin(), verdict.objections.end(), [&](const auto& one) {
    return one.gate == Gate::name && !(one.term && selector.terms[*one.term].negated);
  });
}

// ":\n  llvm_cpu:0  Name of the device: reason" for each device, or for those that are meant: what
// comes nearest to being taken first, and not more than anybody reads.
std::string list_of(const Selection& selection, bool all) {
  constexpr size_t kMaxLines = 20;
  constexpr size_t kMaxLine = 200;
  std::vector<std::pair<Gate, std::string>> lines;
  for (const DeviceVerdict& one : selection.devices) {
    const bool not_meant = is_not_meant(one, selection.selector);
    if (not_meant && !all) continue;
    std::string line = one.device.selector;
    if (!one.device.name.empty()) line += "  " + one.device.name;
    Gate worst = Gate::name;  // what can be used comes first, then what is not there
    std::string reasons;
    for (const Objection& objection : one.objections) {
      if (objection.gate == Gate::name && not_meant) continue;
      if (objection.gate == Gate::available) worst = Gate::available;
      if (objection.gate == Gate::plugin) worst = Gate::memory;
      reasons += (reasons.empty() ? ": " : "; ") + text_of(objection, selection.selector);
    }
    lines.emplace_back(worst, line + reasons);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (lines.empty()) return ":\n  no device at all";
  if (lines.size() == 1 && !all) return ": " + lines[0].second;
  std::string out = ":";
  for (size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i)
    out += "\n  " + cut_text(lines[i].second, kMaxLine);
  if (lines.size() > kMaxLines) out += fmt::format("\n  and {} more", lines.size() - kMaxLines);
  return out;
}

}  // namespace

std::vector<Objection> lacks_of(const ProgramNeeds& needs,
                                const std::map<DataType, std::string>& lacks_types,
                                uint64_t memory_bytes) {
  std::vector<Objection> out;
  for (const auto& [type, kernels] : needs.types)
    if (const auto lack = lacks_types.find(type); lack != lacks_types.end())
      out.push_back({Gate::types, std::nullopt,
                     fmt::format("it lacks {} ({}), which is needed by {}", name_of(type),
                                 lack->second, first_names(kernels))});
  if (memory_bytes > 0 && needs.bytes > memory_bytes)
    out.push_back({Gate::memory, std::nullopt,
                   fmt::format("it lacks memory: inputs and outputs have {} bytes, it has {}",
                               needs.bytes, memory_bytes)});
  return out;
}

bool is_software(const DeviceInfo& device) { return device.kind == "software"; }

std::string_view name_of(Gate gate) {
  switch (gate) {
    case Gate::name: return "name";
    case Gate::plugin: return "plugin";
    case Gate::available: return "available";
    case Gate::quarantine: return "quarantine";
    case Gate::conformance: return "conformance";
    case Gate::condition: return "condition";
    case Gate::types: return "types";
    case Gate::memory: return "memory";
    case Gate::build: return "build";
    case Gate::limit: return "limit";
  }
  return "";
}

std::string text_of(const Objection& objection, const DeviceSelector& selector) {
  const std::string_view before = objection.gate == Gate::available    ? "not available: "
                                  : objection.gate == Gate::plugin     ? "broken: "
                                  : objection.gate == Gate::quarantine ? "quarantine: "
                                                                       : "";
  if (!objection.term) return fmt::format("{}{}", before, objection.why);
  return fmt::format("'{}': {}{}", selector.terms[*objection.term].to_string(), before,
                     objection.why);
}

std::string nearest_of(const Selection& selection) {
  std::vector<std::string> plugins, known, kinds = {"cpu", "gpu", "accelerator", "software"};
  for (const DeviceVerdict& one : selection.devices) {
    plugins.push_back(one.device.plugin);
    kinds.push_back(one.device.kind);
  }
  known = plugins;
  known.insert(known.end(), selector_words().begin(), selector_words().end());
  for (const SelectorTerm& term : selection.selector.terms)
    if (term.kind == Kind::kind && !term.negated && term.patterns.size() == 1 &&
        std::none_of(kinds.begin(), kinds.end(),
                     [&](const std::string& kind) { return glob_match(term.patterns[0], kind); }))
      if (std::string near = did_you_mean(term.patterns[0], kinds); !near.empty()) return near;
  for (const SelectorTerm& term : selection.selector.terms) {
    if (term.kind != Kind::device || term.negated) continue;
    if (std::any_of(plugins.begin(), plugins.end(),
                    [&](const std::string& plugin) { return means_plugin(term, plugin); }))
      continue;
    // *300* is meant as the name of a device.
    for (const DeviceVerdict& one : selection.devices)
      if (is_pattern(term.plugin) && term.device.empty() && !term.number &&
          glob_match(term.plugin, one.device.name))
        return fmt::format(" (names of devices stand behind a colon: '*:{}')", term.plugin);
    if (std::string near = did_you_mean(term.plugin, known); !near.empty()) return near;
  }
  return "";
}

std::string plugin_path_hint(std::string_view plugin) {
  const char* folders = std::getenv("STRIA_PLUGIN_PATH");
  const std::string shown = shown_name(plugin);
  if (!folders || !*folders)
    return fmt::format(
        "STRIA_PLUGIN_PATH is not set: of a plugin that is not installed it names the folder that "
        "holds {}/plugin.json",
        shown);
  return fmt::format("no folder of STRIA_PLUGIN_PATH, '{}', holds {}/plugin.json",
                     shown_name(folders), shown);
}

std::string plugin_path_hint(const Selection& selection) {
  for (const SelectorTerm& term : selection.selector.terms) {
    if (term.kind != Kind::device || term.negated || is_pattern(term.plugin)) continue;
    if (std::none_of(
            selection.devices.begin(), selection.devices.end(),
            [&](const DeviceVerdict& one) { return means_plugin(term, one.device.plugin); }))
      return plugin_path_hint(term.plugin);
  }
  return "";
}

std::vector<std::string> idle_names(const Selection& selection) {
  std::vector<std::string> out;
  if (selection.order.empty()) return out;  // then the failure says what is near
  std::vector<std::string> plugins;
  for (const DeviceVerdict& one : selection.devices) plugins.push_back(one.device.plugin);
  for (const size_t t : selection.idle) {
    const SelectorTerm& term = selection.selector.terms[t];
    const bool known = std::any_of(plugins.begin(), plugins.end(), [&](const std::string& plugin) {
      return means_plugin(term, plugin);
    });
    out.push_back(fmt::format("'{}' means no device here{}", term.to_string(),
                              known ? "" : did_you_mean(term.plugin, plugins)));
  }
  return out;
}

bool asks_models(const DeviceSelector& selector) {
  return selector.automatic ||
         std::any_of(selector.terms.begin(), selector.terms.end(), [](const SelectorTerm& term) {
           return term.kind == Kind::type || term.kind == Kind::real;
         });
}

Selection select(const std::vector<DeviceFacts>& devices, const DeviceSelector& selector,
                 const ProgramNeeds* needs) {
  Selection out;
  out.selector = selector;
  const Judge judge(out.selector, needs);
  std::vector<size_t> ranks;
  for (size_t i = 0; i < devices.size(); ++i) {
    out.devices.push_back(judge.verdict(devices[i]));
    ranks.push_back(judge.rank(devices[i]));
    if (out.devices[i].kept()) out.order.push_back(i);
  }
  for (size_t t = 0; t < selector.terms.size(); ++t) {
    const SelectorTerm& term = selector.terms[t];
    if (term.kind == Kind::device &&
        std::none_of(devices.begin(), devices.end(), [&](auto& one) { return means(term, one); }))
      out.idle.push_back(t);
  }
  std::stable_sort(out.order.begin(), out.order.end(), [&](size_t a, size_t b) {
    if (!selector.automatic) return ranks[a] < ranks[b];
    const DeviceFacts &one = devices[a], &other = devices[b];
    return is_software(one.info) == is_software(other.info)
               ? one.operations_per_second > other.operations_per_second
               : is_software(other.info);
  });
  return out;
}

Status check_any_kept(const Selection& selection) {
  if (!selection.order.empty()) return Status();
  const std::string shown = shown_name(selection.selector.to_string());
  const auto& devices = selection.devices;
  // Of a plugin that is broken nobody knows a device that could be meant.
  if (std::all_of(devices.begin(), devices.end(), [&](const DeviceVerdict& one) {
        return is_not_meant(one, selection.selector) || one.objections[0].gate == Gate::plugin;
      })) {
    const std::string near = nearest_of(selection), hint = plugin_path_hint(selection);
    return not_found("no device matches '{}'{} There is{}{}{}", shown, near.empty() ? "." : near,
                     list_of(selection, true), hint.empty() ? "" : "\n", hint);
  }
  const bool program_alone =
      std::any_of(devices.begin(), devices.end(), [](const DeviceVerdict& one) {
        return !one.objections.empty() && one.objections[0].gate >= Gate::types;
      });
  return make_error(program_alone ? StatusCode::unsupported : StatusCode::unavailable,
                    "no device is left of '{}'{}{}", shown, nearest_of(selection),
                    list_of(selection, false));
}

}  // namespace stria
