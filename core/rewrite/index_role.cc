// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/index_role.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "stria/builtins/builtin.h"
#include "stria/poly/index_forms.h"
#include "stria/rewrite/touched_boxes.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

bool viewed(const Refinement& ref) { return ref.dir != RefDir::none; }

// The ranges of the indices that vary at one point of the block around. Where they start does not
// matter.
std::map<std::string, int64_t> own_ranges(const Block& block) {
  std::map<std::string, int64_t> ranges;
  for (const Index& index : block.idxs)
    if (!index.affine || index.range > 1) ranges[index.name] = index.range;
  return ranges;
}

// For each dimension of a written view, the number of elements that one point of the block touches.
// For a block without statements these are the view's own sizes.
std::vector<int64_t> touched_sizes(const Block& block, const Refinement& ref) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> sizes;
  if (!is_written(ref)) return sizes;
  for (const Interval& part : stripe::reach_of_view(block, ref, index_ranges(block))) {
    int64_t size = 0;
    if (!part.empty() && __builtin_sub_overflow(part.upper, part.lower, &size)) size = kMax;
    sizes.push_back(part.empty() || size == kMax ? size : size + 1);
  }
  return sizes;
}

using Box = std::vector<Interval>;

// Are two boxes in one view disjoint in some dimension?
bool lie_apart(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d].upper < b[d].lower || b[d].upper < a[d].lower) return true;
  return false;
}

bool lie_apart(const std::vector<Box>& some, const std::vector<Box>& others) {
  return std::all_of(some.begin(), some.end(), [&](const Box& a) {
    return std::all_of(others.begin(), others.end(), [&](const Box& b) { return lie_apart(a, b); });
  });
}

// Does the form have several values over the block's points?
bool moves(const Block& block, const Affine& form) {
  return std::any_of(block.idxs.begin(), block.idxs.end(),
                     [&](const Index& index) { return index.range > 1 && form.uses(index.name); });
}

// May the block's points load different values?
bool loads_differ(const Block& block, const stripe::Load& load) {
  const Refinement& ref = *block.find_ref(load.from);
  return !load.at.empty() || is_written(ref) ||
         std::any_of(ref.access.begin(), ref.access.end(),
                     [&](const Affine& form) { return moves(block, form); });
}

}  // namespace

std::map<std::string, Interval> index_ranges(const Block& block) {
  constexpr int64_t kFar = int64_t{1} << 60;
  std::map<std::string, Interval> box;
  for (const Index& index : block.idxs) {
    Interval& range = box[index.name];
    if (index.affine && !index.affine->is_constant()) {
      range = {-kFar, kFar};
      continue;
    }
    range.lower = index.affine ? index.affine->constant() : 0;
    if (__builtin_add_overflow(range.lower, std::max<int64_t>(index.range, 1) - 1, &range.upper))
      range.upper = std::numeric_limits<int64_t>::max();
  }
  return box;
}

std::vector<IndexRole> index_roles(const Block& block) {
  std::map<std::string, int64_t> ranges = own_ranges(block);
  std::vector<std::vector<int64_t>> sizes;  // for each written view, what one point touches
  for (const Refinement& ref : block.refs) sizes.push_back(touched_sizes(block, ref));
  std::vector<IndexRole> roles;
  for (const Index& index : block.idxs) {
    if (index.range <= 1) continue;
    IndexRole role;
    role.name = index.name;
    role.range = index.range;
    bool occurs = false;
    bool apart_everywhere = true;
    bool first = true;
    for (size_t r = 0; r < block.refs.size(); ++r) {
      const Refinement& ref = block.refs[r];
      if (!viewed(ref)) continue;
      int64_t stride = std::abs(ref.flat_access().coefficient(index.name));
      if (!is_written(ref)) {
        role.input_stride = std::max(role.input_stride, stride);
        continue;
      }
      if (first) role.output_stride = stride;
      first = false;
      bool apart = false;
      for (size_t d = 0; d < ref.access.size(); ++d) {
        if (!ref.access[d].uses(index.name)) continue;
        occurs = true;
        const int64_t width = std::max<int64_t>(sizes[r][d], 1);
        apart = apart || told_apart(ref.access[d], ranges, width).count(index.name) > 0;
      }
      apart_everywhere = apart_everywhere && apart;
    }
    role.kind = !occurs            ? IndexKind::reduction
                : apart_everywhere ? IndexKind::output
                                   : IndexKind::overlapping;
    roles.push_back(role);
  }
  return roles;
}

std::vector<std::vector<std::string>> shared_dimensions(const Block& block) {
  std::set<std::string> outputs;
  for (const IndexRole& role : index_roles(block))
    if (role.kind == IndexKind::output) outputs.insert(role.name);
  std::vector<std::vector<std::string>> out;
  for (const Refinement& ref : block.refs) {
    if (!is_written(ref)) continue;
    for (const Affine& form : ref.access) {
      std::vector<std::string> names;
      for (const auto& [name, step] : form.terms())
        if (outputs.count(name)) names.push_back(name);
      if (names.size() < 2) continue;
      std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return std::abs(form.coefficient(a)) < std::abs(form.coefficient(b));
      });
      out.push_back(std::move(names));
    }
  }
  return out;
}

bool multiplies_floats(const Block& block) {
  return std::any_of(block.refs.begin(), block.refs.end(), [](const Refinement& ref) {
    return ref.agg && ref.agg->op == stripe::AggOp::mul && is_float(ref.agg->type);
  });
}

bool meets_other_view(const Block& block, const TensorNames& around) {
  std::map<std::string, std::vector<const Refinement*>> views;
  for (const Refinement& ref : block.refs)
    if (viewed(ref)) views[around.of(ref.from)].push_back(&ref);
  for (const auto& [tensor, refs] : views) {
    if (refs.size() == 1 || std::none_of(refs.begin(), refs.end(),
                                         [](const Refinement* ref) { return is_written(*ref); }))
      continue;
    std::vector<std::vector<Box>> boxes;
    for (const Refinement* ref : refs)
      boxes.push_back(touched_boxes(block, *ref, index_ranges(block)));
    for (size_t i = 0; i < refs.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if ((is_written(*refs[i]) || is_written(*refs[j])) &&
            (refs[i]->from != refs[j]->from || !lie_apart(boxes[i], boxes[j])))
          return true;
  }
  return false;
}

Refusal why_points_do_not_commute(const Block& block, const TensorNames& around) {
  if (has_index_locations(block)) return "a location names an index";
  if (meets_other_view(block, around)) return "a written tensor has a second view";
  std::vector<IndexRole> roles = index_roles(block);
  for (const Refinement& ref : block.refs) {
    if (!is_written(ref)) continue;
    const bool loaded = ref.agg && stripe::is_loaded(block, ref);
    if (ref.agg && !loaded) continue;
    for (const IndexRole& role : roles)
      if (role.kind != IndexKind::output)
        return loaded ? "points may read what others aggregate into"
                      : "points may write the same element without an aggregation";
  }
  return Refusal::none();
}

bool names_index(const stripe::Location& location) {
  for (const stripe::LocationUnit& unit : location.path)
    for (const Affine& form : unit.units)
      if (!form.is_constant()) return true;
  return false;
}

bool opens_aggregation(const Block& parent, const Refinement& ref) {
  if (ref.dir == stripe::RefDir::none || !ref.agg) return false;
  const Refinement* outer = parent.find_ref(ref.from);
  if (outer && outer->agg) return false;
  return ref.dir == stripe::RefDir::out || ref.agg->type != ref.shape.type;
}

bool has_index_locations(const Block& block) {
  if (names_index(block.location)) return true;
  return std::any_of(block.refs.begin(), block.refs.end(),
                     [](const Refinement& ref) { return names_index(ref.location); });
}

bool places_by_index(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const stripe::Statement& stmt) {
    const Block* inner = stmt.block();
    return inner && (has_index_locations(*inner) || places_by_index(*inner));
  });
}

double work_of(const Block& block) {
  double work = 0;
  for (const stripe::Statement& stmt : block.stmts)
    work += stmt.block() ? work_of(*stmt.block()) : 1;
  for (const Index& index : block.idxs) work *= static_cast<double>(index.range);
  return work;
}

double instructions_of(const Block& block) {
  std::set<std::string> varying;  // scalars that differ between the block's points
  double at_each_point = 0, once = 0, points = 1;
  for (const Index& index : block.idxs) points *= static_cast<double>(index.range);
  for (const stripe::Statement& stmt : block.stmts) {
    if (const Block* inner = stmt.block()) {
      at_each_point += instructions_of(*inner);
    } else if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) {
      if (loads_differ(block, *load)) varying.insert(load->into);
    } else if (const auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) {
      if (moves(block, index->from)) varying.insert(index->into);
    } else if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      if (block.find_ref(store->into)->agg) at_each_point += static_cast<double>(Cost::cheap);
    } else if (const auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) {
      const Builtin* builtin = find_builtin(op->name);
      const bool varies =
          std::any_of(op->inputs.begin(), op->inputs.end(),
                      [&](const std::string& name) { return varying.count(name) > 0; });
      if (varies) varying.insert(op->outputs.begin(), op->outputs.end());
      (varies ? at_each_point : once) +=
          static_cast<double>(builtin ? builtin->cost : Cost::medium);
    }
  }
  return once + at_each_point * points;
}

bool writes_into(const Block& block, const std::string& tensor) {
  return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    return ref.from == tensor && stripe::is_written(ref);
  });
}

bool stores_where_chosen(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const stripe::Statement& stmt) {
    auto* store = std::get_if<stripe::Store>(&stmt.op);
    return store && !store->at.empty();
  });
}

bool has_reuse(const Block& block, const std::string& index) {
  return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    const Affine flat = ref.flat_access();
    return ref.dir == RefDir::in && !flat.uses(index) && !flat.is_constant();
  });
}

bool is_leaf(const Block& block) {
  return std::none_of(block.stmts.begin(), block.stmts.end(),
                      [](const stripe::Statement& stmt) { return stmt.block() || stmt.special(); });
}

int64_t widest_element_bytes(const Block& block) {
  int64_t bytes = 1;
  for (const Refinement& ref : block.refs) {
    bytes = std::max(bytes, byte_size(ref.shape.type));
    if (ref.agg) bytes = std::max(bytes, byte_size(ref.agg->type));
  }
  for (const stripe::Statement& stmt : block.stmts) {
    if (auto* op = std::get_if<stripe::Intrinsic>(&stmt.op))
      bytes = std::max(bytes, byte_size(op->type));
    if (auto* op = std::get_if<stripe::Constant>(&stmt.op))
      bytes = std::max(bytes, byte_size(op->value.type));
    if (auto* op = std::get_if<stripe::LoadIndex>(&stmt.op))
      bytes = std::max(bytes, byte_size(op->type));
  }
  return bytes;
}

int64_t fewest_lane_points(const HardwareModel& model, int64_t min_range) {
  const double fact = model.core_facts().fewest_lane_points;
  return std::max<int64_t>(2, min_range > 0 ? min_range : static_cast<int64_t>(fact));
}

VectorChoice choose_vector(const Block& block, const HardwareModel& model, int64_t min_range) {
  min_range = fewest_lane_points(model, min_range);
  VectorChoice choice;
  choice.lanes = model.vector_lanes(widest_element_bytes(block));
  if (choice.lanes <= 1 || !is_leaf(block)) return choice;
  for (const IndexRole& role : index_roles(block)) {
    if (role.range < min_range || role.kind == IndexKind::overlapping) continue;
    bool reduction = role.kind == IndexKind::reduction;
    bool fits = true;
    bool unit_input = false;
    for (const Refinement& ref : block.refs) {
      if (!viewed(ref)) continue;
      int64_t stride = ref.flat_access().coefficient(role.name);
      if (is_written(ref)) {
        fits = fits && (reduction ? ref.agg.has_value() : stride == 1);
      } else {
        fits = fits && (stride == 0 || stride == 1);
        unit_input = unit_input || stride == 1;
      }
    }
    if (!fits || (reduction && !unit_input)) continue;
    bool better = choice.index.empty() || (choice.reduction && !reduction) ||
                  (choice.reduction == reduction && role.range > choice.range);
    if (!better) continue;
    choice.index = role.name;
    choice.reduction = reduction;
    choice.range = role.range;
  }
  return choice;
}

}  // namespace stria::passes
