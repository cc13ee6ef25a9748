// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/touched_boxes.h"

#include <algorithm>
#include <limits>

#include "stria/poly/index_forms.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

using Box = std::map<std::string, Interval>;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

bool is_empty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const auto& one) { return one.second.empty(); });
}

// Leaves out values of single indices at which the form is below 0, whatever the others are.
void narrow(Box& box, const Affine& form) {
  for (const Affine::Term& term : form.terms()) {
    const auto& [name, step] = term;
    const auto range = box.find(name);
    if (range == box.end() || step == kLeast) continue;
    const int64_t rest = interval_of(form - Affine::of(name, step), box).upper;
    if (rest == kMost || rest == kLeast) continue;
    Interval& of = range->second;
    // step * x + rest >= 0
    if (step > 0)
      of.lower = std::max(of.lower, -floor_div(rest, step));
    else
      of.upper = std::min(of.upper, floor_div(rest, -step));
  }
}

// The part of the box in which a point of the statement may run.
Box running_box(const Block& statement, const Box& box) {
  // Its own indices have the values that they start from and an offset. No index is named like
  // one: names begin with a letter.
  Box all = box;
  std::map<std::string, Affine> values;
  for (const Index& index : statement.idxs) {
    Affine value = index.affine.value_or(Affine());
    if (index.range > 1) {
      const std::string offset = "0" + index.name;
      all[offset] = {0, index.range - 1};
      value += Affine::of(offset);
    }
    values[index.name] = value;
  }
  for (const Affine& constraint : statement.constraints)
    if (const Result<Affine> form = substitute_checked(constraint, values); form.ok())
      narrow(all, *form);
  Box out;
  for (const auto& [name, range] : box) out[name] = all.at(name);
  return out;
}

bool names(const stripe::Statement& statement, const std::string& view) {
  if (auto* load = std::get_if<stripe::Load>(&statement.op)) return load->from == view;
  if (auto* store = std::get_if<stripe::Store>(&statement.op)) return store->into == view;
  const stripe::Special* special = statement.special();
  return special && (std::count(special->inputs.begin(), special->inputs.end(), view) > 0 ||
                     std::count(special->outputs.begin(), special->outputs.end(), view) > 0);
}

}  // namespace

std::vector<std::vector<Interval>> touched_boxes(const Block& block, const Refinement& ref,
                                                 std::map<std::string, Interval> box) {
  for (const Affine& constraint : block.constraints) narrow(box, constraint);
  std::vector<std::vector<Interval>> out;
  if (is_empty(box)) return out;
  if (std::any_of(block.stmts.begin(), block.stmts.end(),
                  [&](const stripe::Statement& stmt) { return names(stmt, ref.into); }))
    out.push_back(stripe::footprint(ref, box));
  for (const stripe::Statement& stmt : block.stmts) {
    const Block* inner = stmt.block();
    if (!inner) continue;
    const Box running = running_box(*inner, box);
    if (is_empty(running)) continue;
    for (const Refinement& view : inner->refs) {
      if (view.dir == RefDir::none || view.from != ref.into) continue;
      std::vector<Interval> part = stripe::reach(*inner, view, inner->index_box(running));
      for (size_t d = 0; d < part.size() && d < ref.access.size(); ++d) {
        if (part[d].empty()) continue;
        Box with_part = running;
        with_part["0"] = part[d];
        part[d] = interval_of(ref.access[d] + Affine::of("0"), with_part);
      }
      out.push_back(std::move(part));
    }
  }
  return out;
}

}  // namespace stria::passes
