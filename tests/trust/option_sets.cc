// SPDX-License-Identifier: Apache-2.0
#include "option_sets.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dice.h"
#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"

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
  static const std::map<std::string, std::vector<std::string>> sets = {
      {"autotile",
       {R"({"max_points": 6, "fail_inner_set": ["large"], "order": "reuse"})",
        R"({"max_total_bytes": 48, "only_po2": true, "fail_outer_set": ["large"], "interleave": true,
            "copy_tags": true})",
        R"({"max_points": 20, "search": "ascend", "max_tiles": 40, "border_cost": 1,
            "fail_outer_set": ["large"], "clear_location": true})",
        R"({"output_vector": {"apart": [2]}, "scalar": {"apart": [3, 2]}, "always": true})",
        R"({"scalar": {"across": 2, "apart": [3]}, "roles": ["scalar"], "min_reduction": 1})",
        R"({"tile_sizes": {"i": 2, "j": 3, "x": 2, "y": 1}, "order": "stride", "always": true})",
        R"({"tile_sizes": {"k": 2, "n": 2, "x": 3}, "order": "reuse", "interleave": true})"}},
      {"block_reduction", {R"({"memory": "SRAM", "min_steps": 1, "min_range": 2, "percent": 1})"}},
      {"cache",
       {R"({"reqs": ["kernel"], "loc": {"name": "SRAM"}})",
        R"({"reqs": ["a"], "loc": {"name": "SRAM"}, "layout": "odd"})",
        R"({"reqs": ["b"], "layout": "odd", "edges": "zero_fill"})",
        R"({"reqs": ["kernel"], "loc": {"name": "SRAM"}, "layout": "outputs", "access_bytes": 8})",
        R"({"reqs": ["a"], "layout": "outputs", "edges": "zero_fill"})",
        R"({"reqs": ["kernel"], "dir": "out", "loc": {"name": "REG"}})",
        R"({"reqs": ["kernel"], "across": true, "layout": "odd"})",
        R"({"reqs": ["a"], "dir": "out"})", R"({"reqs": ["c"], "dir": "out"})"}},
      {"distribute",
       {R"({"reqs": ["kernel"], "unit": "CORE", "points": 64, "groups_per_unit": 1})",
        R"({"reqs": ["kernel"], "unit": "CORE", "points": 4096, "groups_per_unit": 1, "max_local_bytes": 0})",
        R"({"reqs": ["kernel"], "unit": "CORE", "groups_per_unit": 1, "lane_points": 2, "min_threads": 2, "threads": 8})",
        R"({"reqs": ["a"], "unit": "CORE", "points": 512, "groups_per_unit": 1})"}},
      {"fusion",
       {R"({"reductions": true, "recompute": "always", "local": true})",
        R"({"parent_reqs": ["kernel"], "local": true, "loc": {"name": "SRAM"}})",
        R"({"parent_reqs": ["kernel"], "recompute": "always"})",
        R"({"parent_reqs": ["kernel"], "recompute": "always", "reductions": true})",
        R"({"parent_reqs": ["kernel"], "recompute": "always", "reductions": true, "local": true})",
        R"({"parent_reqs": ["a"], "recompute": "always"})"}},
      {"free_lanes", {"{}", R"({"reqs": []})", R"({"reqs": ["a"]})"}},
      {"winograd",
       {R"({"tile": 2, "min_channels": 1, "min_tiles": 1})",
        R"({"tile": 4, "min_channels": 1, "min_tiles": 1})"}},
      {"pack_inputs", {R"({"memory": "SRAM", "reads": 1, "min_range": 2})"}},
      {"prefetch_block", {R"({"memory": "SRAM", "percent": 0})"}},
      {"prefetch_tile", {R"({"memory": "SRAM", "percent": 0})"}},
      {"join_pieces", {R"({"reqs": ["kernel"]})", R"({"reqs": ["kernel"], "parts": 0})"}},
      {"merge_views", {"{}"}},
      {"delay_stores",
       {R"({"stream": false, "functions": ["tanh", "mul", "neg", "abs", "relu", "ident", "add"]})"}},
      {"prefetch_next",
       {R"({"memory": "SRAM", "percent": 0, "min_bytes": 1})",
        R"({"memory": "SRAM", "percent": 0, "min_bytes": 1, "exclude": ["contraction"]})"}},
      {"rewrite_locations",
       {R"({"rewrites": [{"prefix": {"name": "SRAM"}, "target": {"name": "DRAM", "units": [0]}}]})",
        R"({"rewrites": [{"prefix": {"name": "REG"}, "target": {"name": "SRAM", "units": [3]}},
            {"prefix": {"name": "CORE"}, "target": {"name": "CONV"}}], "reqs": ["kernel"]})"}},
      {"partition_compute",
       {R"({"reqs": ["kernel"], "num_parts": 3, "set_tags": ["parts"], "idx_tag": "part"})",
        R"({"reqs": ["a"], "num_parts": 4})", R"({"reqs": ["b"], "num_parts": 6})"}},
      {"partition_memory",
       {R"({"reqs": ["kernel"], "num_parts": 3, "set_tags": ["parts"], "idx_tag": "part"})",
        R"({"reqs": ["kernel"], "memory": "SRAM"})",
        R"({"reqs": ["kernel"], "memory": "REG", "idx_tag": "bank"})", R"({"num_parts": 2})"}},
      {"rollup",
       {R"({"reqs": ["kernel"], "threads": 8, "loc": {"name": "SRAM"}})",
        R"({"reqs": ["a"], "threads": 64, "loc": {"name": "SRAM"}, "round_up": true})",
        R"({"reqs": ["kernel"], "threads": 32, "radix": 4, "part_loc": {"name": "REG"}})",
        R"({"reqs": ["kernel"], "threads": 4, "parts": 2, "loc": {"name": "SRAM"}})",
        R"({"reqs": ["b"], "threads": 4})"}},
      {"schedule",
       {R"({"mem_loc": {"name": "SRAM"}, "xfer_loc": {"name": "CORE"}})",
        R"({"mem_loc": {"name": "SRAM"}, "mem_KiB": 1, "num_banks": 4, "alignment": 16})",
        R"({"mem_loc": {"name": "SRAM", "units": [3]}, "mem_KiB": 2, "alignment": 3})",
        R"({"mem_loc": {"name": "SRAM"}, "mem_KiB": 3, "allow_out_of_range_accesses": true})"}},
      {"near_units",
       {R"({"reqs": ["parts"], "unit": "CONV", "memory": "SRAM", "xfer_loc": {"name": "CORE"}})",
        R"({"reqs": ["parts"], "unit": "CONV", "memory": "SRAM", "share_loc": {"name": "CORE"}})",
        R"({"reqs": ["parts"], "unit": "CORE", "memory": "SRAM", "multicast": false})"}},
      {"split_reduction",
       {R"({"reqs": ["kernel"], "unit": "CORE", "parts": 3, "min_steps": 1})",
        R"({"reqs": ["a"], "unit": "CORE", "parts": 2, "min_steps": 1})",
        R"({"reqs": [], "unit": "CONV", "outputs": 1, "groups_per_unit": 8, "min_steps": 2})"}},
      {"pipeline",
       {R"({"reqs": ["a"], "depth": 2})", R"({"reqs": [], "depth": 3})",
        R"({"reqs": ["b"], "memory": "SRAM"})"}},
      {"swizzle",
       {R"({"memory": "SRAM", "banks": 4, "lanes": 8, "bank_bytes": 1})",
        R"({"memory": "SRAM", "banks": 2, "lanes": 4, "bank_bytes": 8})",
        R"({"memory": "SRAM", "banks": 2, "lanes": 8, "bank_bytes": 2})"}},
      {"tensorize",
       {R"({"reqs": ["kernel"], "stencils": [
            {"idxs": [{"name": "m", "size": 2, "outs": [-1], "ins": [-1]},
                      {"name": "n", "size": 3, "outs": [-1], "ins": [-1]}]},
            {"idxs": [{"name": "m", "size": 2, "outs": [-1], "ins": [-1, -1]}]},
            {"idxs": [{"name": "m", "size": 2, "outs": [-1], "ins": []}]}],
            "outer_set": ["out"], "inner_set": ["in"]})",
        R"({"reqs": ["a"], "stencils": [
            {"idxs": [{"name": "m", "outs": [-1], "ins": [0]}], "startup_cost": 5},
            {"idxs": [{"name": "m", "size": 3, "outs": [1], "ins": [-1, 0]}], "startup_cost": 1}],
            "copy_tags": true})",
        R"({"reqs": ["b"], "stencils": [
            {"idxs": [{"name": "m", "outs": [-1, -1], "ins": [-1]}]},
            {"idxs": [{"name": "m", "size": 2, "outs": [-1], "ins": [-1, -1]},
                      {"name": "k", "outs": [0], "ins": [-1, -1]}]},
            {"idxs": [{"name": "m", "size": 2, "outs": [-1], "ins": [-1]}]}],
            "is_strict_dims": true})",
        R"({"reqs": ["kernel"], "stencils": [
            {"idxs": [{"name": "k", "size": 2, "outs": [0], "ins": [-1]}]},
            {"idxs": [{"name": "k", "size": 2, "outs": [0], "ins": [-1, -1]}]}]})"}},
      {"thread", {R"({"min_work": 1})", R"({"min_work": 1, "points_per_core": 0})"}},
      {"thread_lanes",
       {R"({"reqs": ["kernel"], "group": "CONV", "unit": "CORE", "threads": 4})",
        R"({"reqs": ["a"], "group": "CONV", "unit": "CORE", "threads": 8, "access_bytes": 8})",
        R"({"reqs": ["kernel"], "group": "CONV", "unit": "CORE", "threads": 64})",
        R"({"reqs": ["kernel"], "group": "CONV", "unit": "CORE", "threads": 4, "run_bytes": 8})",
        R"({"reqs": ["kernel"], "group": "CONV", "unit": "CORE", "threads": 2, "run_bytes": 16})",
        R"({"reqs": ["kernel"], "group": "CONV", "unit": "CORE", "threads": 16, "run_bytes": 8,
            "pairs": 2})"}},
      {"unroll",
       {R"({"reqs": ["kernel"], "expand_idx": "i"})", R"({"reqs": ["a"], "expand_idx": "j"})",
        R"({"reqs": ["b"], "expand_idx": "x", "make_views": true})",
        R"({"reqs": ["c"], "expand_idx": "i", "part_name": "part"})",
        R"({"reqs": ["a"], "hint": true})"}}};
  return sets;
}

// Passes that work on what another one makes: that one, run before.
const std::map<std::string, std::string>& steps_before() {
  static const std::map<std::string, std::string> steps = {
      {"merge_views", R"({"join_pieces": {"reqs": ["kernel"]}})"},
      {"barrier",
       R"({"thread_lanes": {"reqs": ["kernel"], "unit": "CORE", "group": "CONV", "threads": 4}})"},
      {"distribute", R"({"fusion": {"local": true, "recompute": "never"}})"},
      {"fusion", R"({"cache": {"reqs": ["kernel"]}})"},
      {"near_units",
       R"({"partition_compute": {"reqs": ["kernel"], "num_parts": 3, "set_tags": ["parts"],
                                 "idx_tag": "part"}},
          {"unroll": {"reqs": ["parts"], "expand_idx": "#part", "make_views": true,
                      "part_name": "part"}})"},
      {"prefetch_block", R"({"turn_lanes": {"min_range": 2, "tiles": 2, "tiles_across": 2}})"},
      {"prefetch_tile", R"({"fusion": {"a_inner_set": ["tile"], "recompute": "always"}})"},
      {"prefetch_next", R"({"vectorize": {"min_range": 2}}, {"fusion": {"local": true}})"},
      {"stream_stores", R"({"vectorize": {"min_range": 2}})"},
      {"swizzle", R"({"cache": {"reqs": ["kernel"], "loc": {"name": "SRAM"}}},
                     {"cache": {"reqs": ["kernel"], "dir": "out", "loc": {"name": "SRAM"}}},
                     {"thread_lanes": {"reqs": ["kernel"], "unit": "CORE", "group": "CONV", "threads": 8, "access_bytes": 64}})"},
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
  while (at < rows.size() && rows[at].depth >= depth) {
    const OptionRow& row = rows[at++];
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
  auto bound = pass.bind(options, "");
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
      "autotile",        "cache",         "delay_stores",  "distribute", "fusion",
      "order_indices",   "prefetch_next", "prefetch_tile", "rollup",     "split_interior",
      "split_reduction", "stream_stores", "tensorize",     "vectorize",  "winograd"};
  return all.count(pass) > 0;
}

double error_growth(const std::string& pass) {
  // winograd.h: 256 times n * v * k * gamma(n + 20), of the largest values and taps; the bounds are
  // of the terms themselves, which for quarters in -2..2 are a fourth of the largest on average,
  // and of n + 1 roundings where n may be 9.
  return pass == "winograd" ? 256.0 * 4 * 3 : 1;
}

std::string step_before(const std::string& pass) {
  auto step = steps_before().find(pass);
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
