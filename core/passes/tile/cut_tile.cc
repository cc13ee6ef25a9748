// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/cut_tile.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

// Bytes of the tensors read that one step of `index` adds: the part of each view that the step
// before did not read.
double new_bytes(const Block& outer, const std::string& index) {
  double bytes = 0;
  for (const Refinement& ref : outer.refs) {
    if (ref.dir != RefDir::in) continue;
    double elements = 1;
    double fresh_part = 0;  // the largest part of a dimension that is new
    for (size_t d = 0; d < ref.access.size(); ++d) {
      double size = static_cast<double>(std::max<int64_t>(ref.shape.dims[d].size, 1));
      elements *= size;
      double step = std::abs(static_cast<double>(ref.access[d].coefficient(index)));
      fresh_part = std::max(fresh_part, std::min(1.0, step / size));
    }
    bytes += elements * fresh_part * static_cast<double>(byte_size(ref.shape.type));
  }
  return bytes;
}

void order_indices(Block& outer, const std::string& order, const std::string& along) {
  std::vector<IndexRole> roles = index_roles(outer);
  auto role_of = [&](const Index& index) -> const IndexRole* {
    for (const IndexRole& role : roles)
      if (role.name == index.name) return &role;
    return nullptr;
  };
  std::stable_sort(outer.idxs.begin(), outer.idxs.end(), [&](const Index& a, const Index& b) {
    const IndexRole* ra = role_of(a);
    const IndexRole* rb = role_of(b);
    if (!ra || !rb) return ra && !rb;  // outer values come last
    if (order == "stride") return ra->input_stride > rb->input_stride;
    bool output_a = ra->kind == IndexKind::output, output_b = rb->kind == IndexKind::output;
    if (output_a != output_b) return output_a;
    if (a.name == along || b.name == along) return a.name != along;
    return new_bytes(outer, a.name) > new_bytes(outer, b.name);
  });
}

bool has_any(const Block& block, const std::vector<std::string>& tags) {
  return std::any_of(tags.begin(), tags.end(),
                     [&](const std::string& tag) { return block.tags.has(tag); });
}

// The view at a position among the block's refinements without its allocations.
Refinement& view_at(Block& block, size_t position) {
  return *std::find_if(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    return ref.dir != RefDir::none && position-- == 0;
  });
}

}  // namespace

Refusal why_left_alone(const Block& block, const TensorNames& around, const CutOptions& options) {
  if (has_any(block, options.exclude)) return "it has a tag of exclude";
  const auto indices = std::count_if(block.idxs.begin(), block.idxs.end(),
                                     [](const Index& index) { return index.range > 1; });
  if (options.skip_1d && indices == 1) return "it has one index";
  if (options.min_reduction > 0 || options.max_reduction > 0) {
    const int64_t enough = std::max(options.min_reduction, options.max_reduction + 1);
    int64_t points = 1;
    for (const IndexRole& role : index_roles(block))
      if (role.kind != IndexKind::output && points < enough) points *= role.range;
    if (points < options.min_reduction)
      return fmt::format("it reduces over {} points, /min_reduction is {}", points,
                         options.min_reduction);
    if (options.max_reduction > 0 && points > options.max_reduction)
      return fmt::format("it reduces over {} points, /max_reduction is {}", points,
                         options.max_reduction);
  }
  return why_points_do_not_commute(block, around);
}

bool cut_tile(Block& block, const std::map<std::string, int64_t>& sizes,
              const cost::TileMarks& marks, const CutOptions& options) {
  bool cuts = options.always && !block.tags.has(stripe::tag::kVector);  // its one index is lanes
  for (const Index& index : block.idxs) {
    auto size = sizes.find(index.name);
    cuts = cuts || (index.range > 1 && size != sizes.end() && size->second < index.range);
  }
  // Views keep their names, not their places.
  std::vector<std::pair<std::string, const stripe::Tags*>> views;
  for (const auto& [position, tags] : marks.views)
    views.emplace_back(view_at(block, position).into, &tags);
  if (cuts) {
    split_block(block, sizes, options.interleave);
    if (options.order != "keep") order_indices(block, options.order, marks.along);
  }
  Block& inner = cuts ? *block.stmts[0].block() : block;
  for (const auto& [name, tags] : views)
    for (const stripe::Tag& tag : tags->all()) inner.find_ref(name)->tags.set(tag.name, tag.value);
  if (cuts && options.copy_tags) copy_tags(block.tags, inner);
  if (cuts && options.clear_location) inner.location = std::exchange(block.location, {});
  inner.tags.set_all(options.inner_set);
  for (const stripe::Tag& tag : marks.inner.all()) inner.tags.set(tag.name, tag.value);
  block.tags.set_all(options.outer_set);
  for (const stripe::Tag& tag : marks.outer.all()) block.tags.set(tag.name, tag.value);
  return cuts;
}

void cut_tile(Block& block, const std::map<std::string, int64_t>& sizes,
              const cost::TileMarks& marks, const CutOptions& options, PassContext& context) {
  const bool cuts = cut_tile(block, sizes, marks, options);
  if (!cuts && options.inner_set.empty() && options.outer_set.empty()) {
    context.skipped(block.name, "one tile is the whole block");
    return;
  }
  if (cuts) context.count("blocks_tiled");
  context.changed();
}

void describe_cut(CutOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tags("exclude", options.exclude, "tags that a block must not have");
  fields.set_tags("outer_set", options.outer_set, "tags added to the outer block");
  fields.set_tags("inner_set", options.inner_set, "tags of the inner block");
  fields.add("copy_tags", options.copy_tags,
             "the inner block also gets the tags of the block, except those that say how it runs");
  fields.add("clear_location", options.clear_location,
             "the location goes to the inner block, not to the outer one");
  fields.add("skip_1d", options.skip_1d, "leave blocks of one index alone");
  fields.add("interleave", options.interleave,
             "a tile has every n-th point instead of contiguous ones; n is the number of tiles");
  fields.add("always", options.always,
             "a block that is one tile gets an outer block of one point around it, too");
  fields.add("order", options.order, "order of the outer indices",
             std::vector<std::string>{"keep", "stride", "reuse"});
  fields.add("min_reduction", options.min_reduction,
             "leave blocks alone that reduce over fewer points; 0 = none", {0});
  fields.add("max_reduction", options.max_reduction,
             "leave blocks alone that reduce over more points; 0 = none", {0});
}

}  // namespace stria::passes
