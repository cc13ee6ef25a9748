// SPDX-License-Identifier: Apache-2.0
#include "option_sets.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dice.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"
#include "stria/template/json_text.h"

namespace stria::trust {
namespace {

using nlohmann::json;

// What generated programs call their blocks and indices.
const std::vector<json> kTags = {{"kernel"}, {"kernel"}, {"kernel"},       {"a"}, {"b"}, {"a", "c"},
                                 {"main"},   {"b", "c"}, {"register_tile"}};
const std::vector<std::string> kIndices = {"i", "j", "k", "x", "y", "n"};
const std::vector<json> kLocations = {{{"name", "CORE"}},
                                      {{"name", "DRAM"}},
                                      {{"name", "CONV"}, {"units", {1}}},
                                      {{"name", "SRAM"}, {"units", {2}}},
                                      {{"name", "REG"}}};

// Passes that do nothing without options of a kind that no table tells: theirs, as well.
const std::map<std::string, std::vector<std::string>>& given_sets() {
  static const std::map<std::string, std::vector<std::string>> sets = [] {
    const std::string file = STRIA_SOURCE_DIR "/tests/trust/given_options.json";
    const json all = parse_json_text({file, read_file(file).value()}).value();
    std::map<std::string, std::vector<std::string>> out;
    for (auto it = all.begin(); it != all.end(); ++it)
      for (const json& options : *it) out[it.key()].push_back(options.dump());
    return out;
  }();
  return sets;
}

// Passes that work on what another one makes: that one, run before.
// By pass, or by pass and what its option `what` says.
const std::map<std::string, std::string>& steps_before() {
  static const std::map<std::string, std::string> steps = {
      {"merge_views", R"({"join_pieces": {"reqs": ["kernel"]}})"},
      {"barrier",
       R"({"thread_lanes": {"reqs": ["kernel"], "unit": "CORE", "group": "CONV", "group_lanes": 4}})"},
      {"distribute", R"({"fusion": {"local": true, "recompute": "never"}})"},
      {"fusion", R"({"cache": {"reqs": ["kernel"]}})"},
      {"hold_fetches",
       R"({"tile": {"reqs": ["kernel"], "inner_set": ["tile"], "outer_set": ["group"],
                        "scalar": {"output": [4], "other_output": 1, "reduction": 2},
                        "output_vector": {"vectors": 1, "output": [4], "other_output": 1, "reduction": 2},
                        "reduction_vector": {"vectors": 1, "output": [4], "other_output": 1}}},
          {"tile": {"reqs": ["group"], "inner_set": ["steps"], "scalar": {"other_output": 1},
                        "output_vector": {"vectors": 1, "other_output": 1},
                        "reduction_vector": {"vectors": 1, "other_output": 1}}},
          {"cache": {"reqs": ["steps"], "loc": {"name": "SRAM"}}},
          {"thread_lanes": {"reqs": ["group"], "unit": "CORE", "group": "CONV", "group_lanes": 4}},
          {"pipeline": {"depth": 2}}, {"unroll": {}})"},
      {"stage_units",
       R"({"partition_compute": {"reqs": ["kernel"], "num_parts": 3, "set_tags": ["parts"],
                                 "idx_tag": "part"}},
          {"unroll": {"reqs": ["parts"], "expand_idx": "#part", "make_views": true,
                      "part_name": "part"}})"},
      {"prefetch/next_block",
       R"({"register_transpose": {"min_range": 2, "tiles": 2, "tiles_across": 2}})"},
      {"prefetch/epilogue", R"({"fusion": {"a_inner_set": ["tile"], "recompute": "always"}})"},
      {"prefetch", R"({"vectorize": {"min_range": 2}}, {"fusion": {"local": true}})"},
      {"stream_stores", R"({"vectorize": {"min_range": 2}})"},
      {"swizzle", R"({"cache": {"reqs": ["kernel"], "loc": {"name": "SRAM"}}},
                     {"cache": {"reqs": ["kernel"], "dir": "out", "loc": {"name": "SRAM"}}},
                     {"thread_lanes": {"reqs": ["kernel"], "unit": "CORE", "group": "CONV", "group_lanes": 8, "access_bytes": 64}})"},
      {"rollup",
       R"({"cache": {"dir": "out", "reqs": ["kernel"]}}, {"cache": {"dir": "out", "reqs": ["a"]}},
                    {"cache": {"dir": "out", "reqs": ["b"]}})"},
  };
  return steps;
}

json number(const OptionRow& row, Dice& dice) {
  int64_t lower = 0, upper = 6;
  if (const size_t to = row.limits.find(" to "); to != std::string::npos) {
    lower = std::stoll(row.limits);
    upper = std::min(std::stoll(row.limits.substr(to + 4)), std::max<long long>(lower, 6));
  } else if (row.limits.ends_with(" or more")) {
    lower = std::stoll(row.limits);
    upper = lower + 6;
  }
  // What decides whether a kernel is worth it is made so that small ones are.
  if (row.name.starts_with("min_")) upper = std::min<int64_t>(upper, lower + 2);
  if (row.name.starts_with("max_") && dice.once_in(2)) return json::parse(row.initial);
  return dice.between(lower, upper);
}

// The value of a field, or nothing: its default.
std::optional<json> value(const OptionRow& row, Dice& dice) {
  if (row.kind == "true or false") return dice.once_in(2);
  if (row.kind == "integer") return number(row, dice);
  if (row.kind == "location") return dice.one_of(kLocations);
  if (row.kind == "text" || row.kind == "unit") {
    if (row.limits.starts_with("one of ")) {
      std::vector<std::string> choices;
      for (const std::string& one : split(row.limits.substr(7), ','))
        choices.push_back(std::string(trim(one)));
      return dice.one_of(choices);
    }
    return std::nullopt;
  }
  if (row.kind.starts_with("list of t")) {  // texts, tags, tags to set
    if (row.name.ends_with("_set")) return dice.once_in(2) ? json({"made"}) : json({"made", "a"});
    if (row.name.find("req") == std::string::npos)
      return dice.once_in(2) ? std::optional(json::array()) : std::nullopt;
    // Few programs tag their refinements.
    if (row.name.find("ref") != std::string::npos || row.name.find("alloc") != std::string::npos)
      return std::nullopt;
    return dice.one_of(kTags);
  }
  if (row.kind == "list of integers") {
    json list = json::array();
    for (size_t n = dice.below(3); n > 0; --n) list.push_back(number(row, dice));
    return list;
  }
  if (row.kind == "object of integers") {
    json object = json::object();
    for (const std::string& name : kIndices)
      if (!dice.once_in(3)) object[name] = std::max<int64_t>(1, dice.between(1, 4));
    return object;
  }
  return std::nullopt;
}

// The fields from `at` on of groups of this depth; `at` moves behind them.
json fields(const std::vector<OptionRow>& rows, size_t& at, int depth, bool defaults, Dice& dice) {
  json object = json::object();
  std::map<std::string, std::string> initial;  // values as JSON
  bool counts = true;                          // not below the heading of another alternative
  while (at < rows.size() && rows[at].depth >= depth) {
    const OptionRow& row = rows[at++];
    if (row.heading) {
      const size_t colon = row.name.find(": ");
      const std::string name = row.name.substr(0, colon);
      const std::string chosen = object.contains(name) ? object[name].dump() : initial[name];
      counts = chosen == row.name.substr(colon + 2);
      continue;
    }
    if (!counts) continue;
    initial[row.name] = row.initial;
    if (at < rows.size() && rows[at].depth > row.depth) {
      json inner = fields(rows, at, row.depth + 1, defaults, dice);
      if (!inner.empty()) object[row.name] = std::move(inner);
      continue;
    }
    if (defaults && row.kind != "location" && !row.name.starts_with("min_")) continue;
    if (auto chosen = value(row, dice)) object[row.name] = std::move(*chosen);
  }
  return object;
}

// Whether the options fit the pass and the machine: they do if they fit a program of one kernel.
bool is_valid(const PassInfo& pass, const HardwareModel& machine, const json& options) {
  static const stripe::Program tiny = stripe::parse({"tiny", R"(stripe 1.0
0: #program block [] (
    none new@0x00000000 O[0] i32(4:1)
) {
  0: #main block [] (
      out O[0] i32(4:1)
  ) {
    0: #kernel #main #a #b #c #register_tile block [i:4] (
        out O[i] i32(1:1)
    ) {
      0: $a = (i32)1
      1: O = store($a)
    }
  }
}
)"})
                                          .value();
  auto bound = pass.bind(options, "", nullptr);
  if (!bound.ok()) return false;
  stripe::Program program = tiny;
  PassContext context(machine);
  return (*bound)(program, context).ok();
}

}  // namespace

std::vector<std::string> given_options(const std::string& pass) {
  const auto given = given_sets().find(pass);
  return given == given_sets().end() ? std::vector<std::string>() : given->second;
}

bool regroups(const std::string& pass) {
  static const std::set<std::string> all = {
      "autotile",      "cache",     "delay_stores", "distribute",     "fusion",
      "order_indices", "prefetch",  "rollup",       "split_interior", "split_reduction",
      "stream_stores", "tensorize", "tile",         "vectorize",      "winograd"};
  return all.count(pass) > 0;
}

double error_growth(const std::string& pass) {
  // winograd.h: 256 times n * v * k * gamma(n + 20), of the largest values and taps; the bounds are
  // of the terms themselves, which for quarters in -2..2 are a fourth of the largest on average,
  // and of n + 1 roundings where n may be 9.
  return pass == "winograd" ? 256.0 * 4 * 3 : 1;
}

std::string step_before(const std::string& pass, const std::string& options) {
  const json given = json::parse(options);
  auto step = steps_before().end();
  if (given.contains("what"))
    step = steps_before().find(pass + "/" + given["what"].get<std::string>());
  if (step == steps_before().end()) step = steps_before().find(pass);
  return step == steps_before().end() ? "" : step->second;
}

std::vector<std::string> option_sets(const PassInfo& pass, const HardwareModel& machine,
                                     size_t count, uint64_t seed) {
  std::vector<std::string> sets;
  const std::vector<OptionRow> rows = pass.options();
  Dice dice(seed);
  auto add = [&](const json& options) {
    const std::string text = options.dump();
    if (std::find(sets.begin(), sets.end(), text) == sets.end() && is_valid(pass, machine, options))
      sets.push_back(text);
  };
  if (auto given = given_sets().find(pass.name); given != given_sets().end())
    for (const std::string& one : given->second) add(json::parse(one));
  for (size_t attempt = 0; attempt < 20 * count && sets.size() < count; ++attempt) {
    size_t at = 0;
    add(fields(rows, at, 0, attempt < 5 && sets.empty(), dice));
  }
  return sets;
}

}  // namespace stria::trust
