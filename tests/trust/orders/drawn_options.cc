// SPDX-License-Identifier: Apache-2.0
#include "drawn_options.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/stripe/walk.h"

namespace stria::trust {
namespace {

using nlohmann::json;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool is_of_refinements(const OptionRow& row) {
  return contains(row.name, "ref") || contains(row.name, "alloc") || row.name == "skip_tags";
}

bool names_memory(const OptionRow& row) {
  return contains(row.help, "memory") || contains(row.name, "mem") || row.name == "registers" ||
         row.name == "local" || row.name == "far" || contains(row.help, "that tensors");
}

// A table of so many options holds some that exclude others: few of them at once.
bool many(const std::vector<OptionRow>& rows) { return rows.size() > 20; }

// What looks for tags.
bool is_tags(const OptionRow& row) { return row.kind == "list of tags"; }

}  // namespace

ProgramWords::ProgramWords(const stripe::Program& program) {
  std::set<std::string> refinements, names, by_tag, calls;
  stripe::visit_blocks(program.entry, [&](const stripe::Place& place) {
    std::vector<std::string> tags;
    for (const stripe::Tag& tag : place.block->tags.all()) tags.push_back(tag.name);
    if (!tags.empty() && std::find(of_blocks.begin(), of_blocks.end(), tags) == of_blocks.end())
      of_blocks.push_back(std::move(tags));
    for (const stripe::Refinement& ref : place.block->refs)
      for (const stripe::Tag& tag : ref.tags.all()) refinements.insert(tag.name);
    for (const stripe::Index& index : place.block->idxs) {
      names.insert(index.name);
      for (const stripe::Tag& tag : index.tags.all()) by_tag.insert(tag.name);
    }
    for (const stripe::Statement& stmt : place.block->stmts)
      if (const auto* call = std::get_if<stripe::Intrinsic>(&stmt.op)) calls.insert(call->name);
  });
  of_refinements.assign(refinements.begin(), refinements.end());
  indices.assign(names.begin(), names.end());
  index_tags.assign(by_tag.begin(), by_tag.end());
  functions.assign(calls.begin(), calls.end());
}

json OptionDrawer::nonsense() {
  static const std::vector<json> all = {"",
                                        "two words",
                                        "vector",
                                        "x'",
                                        -1,
                                        0,
                                        1e30,
                                        nullptr,
                                        true,
                                        "#",
                                        "{}",
                                        json::array(),
                                        "placed",
                                        7,
                                        "\n",
                                        0.5,
                                        json::array({""}),
                                        json::array({"main"}),
                                        json::object(),
                                        "NO_UNIT"};
  return dice_.one_of(all);
}

json OptionDrawer::number(const OptionRow& row) {
  int64_t lower = 0, upper = 6;
  if (const size_t to = row.limits.find(" to "); to != std::string::npos) {
    lower = std::stoll(row.limits);
    const int64_t most = std::stoll(row.limits.substr(to + 4));
    if (dice_.once_in(12)) return dice_.once_in(2) ? most : lower;
    upper = std::min<int64_t>(most, std::max<int64_t>(lower, 8));
  } else if (row.limits.ends_with(" or more")) {
    lower = std::stoll(row.limits);
    upper = lower + 6;
  }
  // What decides whether a kernel is worth it is made so that small ones are.
  if (row.name.starts_with("min_")) upper = std::min<int64_t>(upper, lower + 2);
  if (row.name.starts_with("max_") && dice_.once_in(2)) return json::parse(row.initial);
  // Many are powers of two.
  if (dice_.once_in(2)) {
    const int64_t power = int64_t{1} << dice_.below(7);
    if (power >= lower && (power <= upper || row.limits.empty())) return power;
  }
  return dice_.between(lower, upper);
}

std::string OptionDrawer::new_tag() {
  static const std::vector<std::string> all = {"made", "tile", "outer", "part", "near_by", "fused"};
  if (!dice_.once_in(12) || words_.of_blocks.empty()) return dice_.one_of(all);
  const auto& tags = dice_.one_of(words_.of_blocks);
  return dice_.one_of(tags);  // one that means something is refused
}

json OptionDrawer::tags(const OptionRow& row) {
  json list = json::array();
  if (is_of_refinements(row)) {
    if (words_.of_refinements.empty() || dice_.once_in(2)) return list;
    list.push_back(dice_.one_of(words_.of_refinements));
    return list;
  }
  // Most often there is nothing to leave out.
  if (row.name == "exclude" && !dice_.once_in(4)) return list;
  if (words_.of_blocks.empty() || dice_.once_in(8)) return list;
  const auto& of_block = dice_.one_of(words_.of_blocks);
  list.push_back(dice_.one_of(of_block));
  if (dice_.once_in(3)) {
    const std::string& other = dice_.one_of(of_block);
    if (list[0] != other) list.push_back(other);
  }
  return list;
}

std::string OptionDrawer::unit(const OptionRow& row) {
  std::vector<std::string> names;
  const bool any = dice_.once_in(20);
  if (any || names_memory(row))
    for (const MemoryUnit& one : model_.memories) names.push_back(one.name);
  if (any || !names_memory(row)) {
    for (const ExecutionUnit& one : model_.executors) names.push_back(one.name);
    if (row.name.starts_with("xfer") || row.name == "transfer" || any)
      for (const TransferUnit& one : model_.transfers) names.push_back(one.name);
  }
  return names.empty() ? "NONE" : dice_.one_of(names);
}

bool OptionDrawer::lacks(const OptionRow& row, const json& given) const {
  if (row.kind == "unit") {
    // A default stands as JSON.
    const json name = given.is_null() ? json::parse(row.initial) : given;
    return name.is_string() && name != "" && !model_.unit_count(name.get<std::string>());
  }
  if (row.kind != "location" || given.is_null()) return false;
  const json units = given.is_array() ? given : json::array({given});
  return std::any_of(units.begin(), units.end(), [&](const json& unit) {
    if (!unit.is_object() || !unit.contains("name") || !unit["name"].is_string()) return false;
    const auto count = model_.unit_count(unit["name"].get<std::string>());
    if (!count) return true;
    const json numbers = unit.value("units", json::array());
    return std::any_of(numbers.begin(), numbers.end(), [&](const json& number) {
      return number.is_number_integer() && number.get<int64_t>() >= *count;
    });
  });
}

json OptionDrawer::location(const OptionRow& row) {
  json one = {{"name", unit(row)}};
  const auto count = model_.unit_count(one["name"].get<std::string>());
  if (count && *count > 0 && dice_.once_in(2))
    one["units"] = {static_cast<int64_t>(dice_.below(static_cast<size_t>(*count)))};
  if (dice_.once_in(10)) return json::array({one, {{"name", unit(row)}}});
  return one;
}

std::string OptionDrawer::index() {
  if (!words_.index_tags.empty() && dice_.once_in(5)) return "#" + dice_.one_of(words_.index_tags);
  return words_.indices.empty() ? "i" : dice_.one_of(words_.indices);
}

json OptionDrawer::value(const OptionRow& row) {
  if (dice_.once_in(150)) return nonsense();
  const std::string& kind = row.kind;
  if (kind == "true or false") return dice_.once_in(2);
  if (kind == "integer") return number(row);
  if (kind == "number") return dice_.one_of(std::vector<double>{0, 0.5, 1, 2, 100});
  if (kind == "location") return location(row);
  if (kind == "unit") return unit(row);
  if (kind == "index") return index();
  if (kind == "name") return std::string(1, static_cast<char>('k' + dice_.below(8)));
  if (kind == "tag")
    return words_.of_blocks.empty() ? "a" : dice_.one_of(dice_.one_of(words_.of_blocks));
  if (kind == "tag to set") return new_tag();
  if (kind == "list of tags") return tags(row);
  if (kind == "text") {
    if (!row.limits.starts_with("one of ")) return row.name;
    std::vector<std::string> choices;
    for (const std::string& one : split(row.limits.substr(7), ',')) choices.emplace_back(trim(one));
    return dice_.one_of(choices);
  }
  json list = json::array();
  if (kind == "list of tags to set") {
    for (size_t n = dice_.below(3); n > 0; --n) list.push_back(new_tag());
  } else if (kind == "list of indices") {
    for (size_t n = dice_.below(3); n > 0; --n) list.push_back(index());
  } else if (kind == "list of texts") {
    for (size_t n = dice_.below(4); n > 0 && !words_.functions.empty(); --n)
      list.push_back(dice_.one_of(words_.functions));
  } else if (kind == "list of integers") {
    for (size_t n = dice_.below(4); n > 0; --n) list.push_back(number(row));
  } else if (kind == "object of integers") {
    list = json::object();
    for (const std::string& name : words_.indices)
      if (!dice_.once_in(3)) list[name] = dice_.between(1, 4);
  }
  return list;
}

json OptionDrawer::object(const std::vector<OptionRow>& rows, size_t& at, int depth,
                          size_t one_in) {
  json out = json::object();
  while (at < rows.size() && rows[at].depth >= depth) {
    const OptionRow& row = rows[at++];
    const bool holds_rows = at < rows.size() && rows[at].depth > row.depth;
    if (!holds_rows) {
      const bool needed =
          (is_tags(row) && row.name.ends_with("reqs")) || (!many(rows) && lacks(row, nullptr));
      if (needed ? !dice_.once_in(4) : dice_.once_in(one_in)) out[row.name] = value(row);
      continue;
    }
    const size_t begin = at;
    if (row.kind == "list of objects") {
      json list = json::array();
      for (size_t n = (dice_.below(5) + 1) / 2; n > 0; --n) {
        at = begin;
        list.push_back(object(rows, at, row.depth + 1, 1));
      }
      if (list.empty()) (void)object(rows, at, row.depth + 1, 1);
      if (!list.empty()) out[row.name] = std::move(list);
      continue;
    }
    json inner = object(rows, at, row.depth + 1, one_in + 1);
    if (!inner.empty() && dice_.once_in(2)) out[row.name] = std::move(inner);
  }
  return out;
}

json OptionDrawer::fresh(const std::vector<OptionRow>& rows) {
  size_t at = 0;
  return object(rows, at, 0, many(rows) ? rows.size() / 3 : 2 + dice_.below(3));
}

json OptionDrawer::changed(const json& options, const std::vector<OptionRow>& rows) {
  json out = options;
  for (const OptionRow& row : rows) {
    if (row.depth > 0 || row.kind == "object" || row.kind == "list of objects") continue;
    const auto given = out.find(row.name);
    bool again = dice_.once_in(given == out.end() ? std::max<size_t>(20, 4 * rows.size()) : 15);
    if (given != out.end() || !many(rows))
      again = again || (lacks(row, given == out.end() ? json() : *given) && !dice_.once_in(20));
    // Tags that no block has select nothing.
    if (is_tags(row) && row.name.ends_with("reqs") && !is_of_refinements(row) &&
        given != out.end() && given->is_array()) {
      std::vector<std::string> wanted;
      for (const json& tag : *given)
        if (tag.is_string()) wanted.push_back(tag.get<std::string>());
      const bool there =
          std::any_of(words_.of_blocks.begin(), words_.of_blocks.end(), [&](const auto& tags) {
            return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& tag) {
              return std::find(tags.begin(), tags.end(), tag) != tags.end();
            });
          });
      again = again || (!there && !dice_.once_in(5));
    }
    if (again) out[row.name] = value(row);
  }
  return out;
}

}  // namespace stria::trust
