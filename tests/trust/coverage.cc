// SPDX-License-Identifier: Apache-2.0
#include "coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
                                  "const",
                                  "constraints",
                                  "dependencies",
                                  "depth 4",
                                  "index from a form",
                                  "load_index",
                                  "memory location",
                                  "negative access",
                                  "overhang",
                                  "padded or permuted layout",
                                  "prologue",
                                  "range 0",
                                  "read and write",
                                  "read of what grows",
                                  "renamed view",
                                  "scalars beside blocks",
                                  "shifted access",
                                  "special copy",
                                  "special zero",
                                  "strided access",
                                  "swizzle",
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
