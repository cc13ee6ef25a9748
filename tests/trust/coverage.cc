// SPDX-License-Identifier: Apache-2.0
#include "coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "stria/stripe/footprint.h"
#include "stria/stripe/walk.h"

namespace stria::trust {

using namespace stripe;

namespace {

using Found = std::set<std::string>;

void of_refinement(const Block& block, const Refinement& ref, const Place& place, Found& found) {
  if (ref.dir == RefDir::none) {
    if (place.depth > 0) found.insert(fmt::format("temporary at depth {}", place.depth));
    if (ref.swizzle) found.insert("swizzle");
    int64_t stride = 1;
    for (size_t d = ref.shape.rank(); d-- > 0; stride *= ref.shape.dims[d].size)
      if (ref.shape.dims[d].size > 1 && ref.shape.dims[d].stride != stride)
        found.insert("padded or permuted layout");
    found.insert(fmt::format("storage {}", name_of(ref.shape.type)));
  }
  for (const LocationUnit& unit : ref.location.path) {
    found.insert("memory location");
    if (!unit.owners.empty()) found.insert("held by lanes");
    for (const Affine& form : unit.units)
      found.insert(form.is_constant() ? "bank by number" : "bank by index");
  }
  if (ref.tags.has("zero_fill")) found.insert("#zero_fill");
  if (ref.tags.has("clamp")) found.insert("#clamp");
  if (ref.is_const) found.insert("const");
  if (ref.dir != RefDir::none && ref.from != ref.into) found.insert("renamed view");
  for (const Affine& form : ref.access) {
    for (const auto& [name, factor] : form.terms()) {
      if (factor < 0) found.insert("negative access");
      if (factor > 1) found.insert("strided access");
    }
    if (form.terms().size() > 1) found.insert("access by several indices");
    if (!form.is_constant() && form.constant() != 0) found.insert("shifted access");
  }
  if (!place.parent) return;
  const Refinement* around = place.parent->block->find_ref(ref.from);
  if (around && place.depth > 1)
    for (size_t d = 0; d < ref.access.size(); ++d) {
      const Interval at = interval_of(ref.access[d], place.box);
      if (!at.empty() &&
          (at.lower < 0 || at.upper + ref.shape.dims[d].size > around->shape.dims[d].size))
        found.insert("overhang");
    }
  if (ref.agg && !(around && around->agg)) {
    found.insert(fmt::format("{} from {} at depth {}", name_of(ref.agg->op),
                             ref.dir == RefDir::out ? "identity" : "content", place.depth));
    found.insert(fmt::format("aggregation {}", name_of(ref.agg->op)));
    found.insert(fmt::format("aggregates in {}", name_of(ref.agg->type)));
    if (ref.agg->type != ref.shape.type) found.insert("aggregation wider than storage");
  }
  for (const Refinement& other : block.refs)
    if (&other != &ref && other.dir != RefDir::none && other.from == ref.from)
      found.insert("two views of one tensor");
}

void of_statement(const Block& block, const Statement& stmt, Found& found) {
  if (auto* s = std::get_if<Load>(&stmt.op)) {
    if (!s->at.empty()) found.insert("chosen load");
    const Refinement* ref = block.find_ref(s->from);
    if (ref->dir == RefDir::inout) found.insert(ref->agg ? "read of what grows" : "read and write");
  }
  if (auto* s = std::get_if<Store>(&stmt.op))
    if (!s->at.empty())
      found.insert(block.find_ref(s->into)->agg ? "chosen store, aggregated" : "chosen store");
  if (std::holds_alternative<LoadIndex>(stmt.op)) found.insert("load_index");
  if (auto* s = stmt.special()) found.insert("special " + s->name);
  if (!stmt.deps.empty()) found.insert("dependencies");
}

// What statements of one block are to each other.
void of_statements(const Block& block, Found& found) {
  std::map<std::string, Scalar> constants;
  std::map<std::string, int> stores, loads_after, loads_before;  // of each view
  std::vector<const Intrinsic*> seen;
  for (const Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Constant>(&stmt.op)) constants.emplace(s->into, s->value);
    if (auto* s = std::get_if<Store>(&stmt.op)) ++stores[s->into];
    if (auto* s = std::get_if<Load>(&stmt.op))
      ++(stores[s->from] > 0 ? loads_after : loads_before)[s->from];
    auto* op = std::get_if<Intrinsic>(&stmt.op);
    if (!op) continue;
    for (const Intrinsic* other : seen) {
      if (other->name != op->name || other->type != op->type) continue;
      if (other->inputs == op->inputs) found.insert("computed twice");
      if (op->inputs.size() == 2 && other->inputs != op->inputs &&
          std::is_permutation(op->inputs.begin(), op->inputs.end(), other->inputs.begin()))
        found.insert("operands swapped, " + op->name);
    }
    seen.push_back(op);
    const auto first = constants.find(op->inputs[0]);
    if (first == constants.end()) continue;
    if (op->name == "sub" && !first->second.truth()) found.insert("0 - x");
    if (op->name == "cond") found.insert("constant predicate");
  }
  for (const auto& [view, count] : stores) {
    const Refinement& ref = *block.find_ref(view);
    if (loads_before[view] > 0 && loads_after[view] > 0) found.insert("load, store, load");
    if (ref.dir == RefDir::none && count > 1 && loads_after[view] > 0)
      found.insert("small buffer stored twice");
  }
}

// How a block's temporaries are used.
void of_temporaries(const Place& place, Found& found) {
  const Block& block = *place.block;
  for (const Refinement& ref : block.refs) {
    if (ref.dir != RefDir::none || place.depth == 0) continue;
    int users = 0;
    const Block* user = nullptr;
    bool copied = false;
    for (const Statement& stmt : block.stmts) {
      if (auto* s = stmt.special())
        copied = copied || std::count(s->inputs.begin(), s->inputs.end(), ref.into) > 0;
      if (const Block* inner = stmt.block())
        if (std::any_of(inner->refs.begin(), inner->refs.end(),
                        [&](const Refinement& view) { return view.from == ref.into; })) {
          ++users;
          user = inner;
        }
    }
    if (copied) found.insert("temporary copied by a special");
    if (copied && users == 1) found.insert("temporary made for a special");
    if (users != 1) continue;
    found.insert("temporary of one block");
    for (const Refinement& view : user->refs) {
      if (view.from != ref.into) continue;
      bool apart = true;
      for (const Index& index : user->idxs) {
        bool told = index.range <= 1;
        for (size_t d = 0; d < view.access.size(); ++d)
          told =
              told || std::abs(view.access[d].coefficient(index.name)) >= view.shape.dims[d].size;
        apart = apart && told;
      }
      if (!apart) found.insert("temporary of one block, its parts overlap");
      const auto reach = reach_of_view(*user, view, user->index_box(place.box));
      for (size_t d = 0; d < reach.size(); ++d)
        if (reach[d].lower < 0 || reach[d].upper >= view.shape.dims[d].size)
          found.insert("temporary of one block, its part reached beyond");
    }
  }
}

// Something writes what the user of a temporary writes as well, after the temporary has been made.
void of_order(const Block& block, Found& found) {
  auto uses = [](const Statement& stmt, bool writes) {
    std::set<std::string> names;
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        if (ref.dir == RefDir::inout || ref.dir == (writes ? RefDir::out : RefDir::in))
          names.insert(ref.from);
    return names;
  };
  auto meet = [](const std::set<std::string>& a, const std::set<std::string>& b) {
    return std::any_of(a.begin(), a.end(), [&](const auto& name) { return b.count(name) > 0; });
  };
  for (size_t c = 2; c < block.stmts.size(); ++c) {
    const auto made = uses(block.stmts[c - 2], true), between = uses(block.stmts[c - 1], true);
    if (meet(made, uses(block.stmts[c], false)) && !meet(made, uses(block.stmts[c - 1], false)) &&
        meet(between, uses(block.stmts[c], true)))
      found.insert("a write between what makes and what uses");
  }
}

Found features_of(const Program& program) {
  Found found;
  if (program.prologue()) found.insert("prologue");
  visit_blocks(program.entry, [&](const Place& place) {
    const Block& block = *place.block;
    if (place.depth > 1) found.insert(fmt::format("depth {}", place.depth - 1));
    for (const char* tag : {"parallel", "vector", "unroll", "deps", "pipeline"})
      if (block.tags.has(tag)) found.insert(std::string("#") + tag);
    for (const LocationUnit& unit : block.location.path) {
      found.insert("block location");
      if (unit.name == "LANE") found.insert("lane block");
      if (!unit.units.empty() && !unit.units[0].is_constant())
        found.insert("block location by index");
    }
    if (!block.constraints.empty()) found.insert("constraints");
    for (const Index& index : block.idxs) {
      if (index.affine) found.insert(index.range == 1 ? "brought-in index" : "index from a form");
      if (index.range == 0) found.insert("range 0");
    }
    bool nested = false, simple = false;
    for (const Statement& stmt : block.stmts) {
      (stmt.block() ? nested : simple) = true;
      of_statement(block, stmt, found);
    }
    of_statements(block, found);
    of_temporaries(place, found);
    of_order(block, found);
    if (nested && simple && place.depth > 1) found.insert("scalars beside blocks");
    for (const Refinement& ref : block.refs) of_refinement(block, ref, place, found);
  });
  return found;
}

}  // namespace

void Coverage::add(const Program& program) {
  ++programs_;
  for (const std::string& feature : features_of(program)) ++counts_[feature];
}

std::string Coverage::to_string() const {
  std::string out;
  for (const auto& [feature, count] : counts_) out += fmt::format("  {}: {}\n", feature, count);
  return out;
}

std::vector<std::string> Coverage::missing(const std::vector<std::string>& wanted) const {
  std::vector<std::string> out;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(out),
               [&](const std::string& feature) { return counts_.count(feature) == 0; });
  return out;
}

std::vector<std::string> wanted_features() {
  std::vector<std::string> out = {"#zero_fill",
                                  "#deps",
                                  "#parallel",
                                  "#pipeline",
                                  "#unroll",
                                  "#vector",
                                  "0 - x",
                                  "a write between what makes and what uses",
                                  "access by several indices",
                                  "aggregation wider than storage",
                                  "bank by index",
                                  "bank by number",
                                  "block location",
                                  "block location by index",
                                  "brought-in index",
                                  "chosen load",
                                  "chosen store",
                                  "chosen store, aggregated",
                                  "computed twice",
                                  "const",
                                  "constant predicate",
                                  "constraints",
                                  "dependencies",
                                  "depth 4",
                                  "index from a form",
                                  "held by lanes",
                                  "lane block",
                                  "load, store, load",
                                  "load_index",
                                  "memory location",
                                  "negative access",
                                  "operands swapped, sub",
                                  "overhang",
                                  "padded or permuted layout",
                                  "prologue",
                                  "range 0",
                                  "read and write",
                                  "read of what grows",
                                  "renamed view",
                                  "scalars beside blocks",
                                  "shifted access",
                                  "small buffer stored twice",
                                  "special barrier",
                                  "special copy",
                                  "special zero",
                                  "strided access",
                                  "swizzle",
                                  "temporary made for a special",
                                  "temporary of one block",
                                  "temporary of one block, its part reached beyond",
                                  "temporary of one block, its parts overlap",
                                  "two views of one tensor"};
  for (const char* op : {"add", "mul", "max", "min"})
    for (const char* from : {"identity", "content"})
      for (int depth : {2, 3, 4, 5})
        out.push_back(fmt::format("{} from {} at depth {}", op, from, depth));
  for (int depth : {1, 2, 3, 4}) out.push_back(fmt::format("temporary at depth {}", depth));
  for (const char* type :
       {"fp16", "bf16", "fp32", "fp64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
    out.push_back(fmt::format("storage {}", type));
  return out;
}

}  // namespace stria::trust
