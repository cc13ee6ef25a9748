// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/autotile.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/tile/register_block.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

int64_t size_or_whole(int64_t size, int64_t range) {
  return size == 0 ? range : std::min(size, range);
}

// Makes tiles equal: as many tiles as with `size`, all of one size. The last may be shorter, by
// less than the number of tiles.
int64_t balanced(int64_t size, int64_t range) { return ceil_div(range, ceil_div(range, size)); }

// Does the index walk with stride 1 along a tensor read, and along none that is written?
bool runs_across(const Block& block, const std::string& index) {
  bool read = false, written = false;
  for (const Refinement& ref : block.refs)
    if (ref.dir != RefDir::none && std::abs(ref.flat_access().coefficient(index)) == 1)
      (ref.dir == RefDir::in ? read : written) = true;
  return read && !written;
}

std::map<std::string, int64_t> sizes_by_role(const Block& block, const VectorChoice& vector,
                                             const RoleSizes& sizes, bool balance) {
  std::vector<IndexRole> roles = index_roles(block);
  std::vector<const IndexRole*> outputs, apart;
  std::map<std::string, int64_t> tile;
  for (const IndexRole& role : roles) {
    if (role.name == vector.index) {
      tile[role.name] = size_or_whole(sizes.vectors * vector.lanes, role.range);
    } else if (sizes.across > 0 && role.kind == IndexKind::output &&
               runs_across(block, role.name)) {
      tile[role.name] = std::min(sizes.across, role.range);
    } else if (role.kind == IndexKind::output && has_reuse(block, role.name)) {
      outputs.push_back(&role);
    } else if (role.kind == IndexKind::output) {
      apart.push_back(&role);
    } else {
      tile[role.name] = size_or_whole(sizes.reduction, role.range);
    }
  }
  for (auto [indices, list] :
       {std::pair(&outputs, &sizes.output), std::pair(&apart, &sizes.apart)}) {
    std::stable_sort(indices->begin(), indices->end(), [](const IndexRole* a, const IndexRole* b) {
      return a->output_stride < b->output_stride;
    });
    for (size_t i = 0; i < indices->size(); ++i) {
      const IndexRole& role = *(*indices)[i];
      const int64_t size =
          size_or_whole(i < list->size() ? (*list)[i] : sizes.other_output, role.range);
      const bool even = balance && (indices == &outputs || i < list->size());
      tile[role.name] = even ? balanced(size, role.range) : size;
    }
  }
  if (vector.reduction && sizes.running > 0) {
    int64_t values = 1;
    for (const IndexRole& role : roles)
      if (role.kind == IndexKind::output) values *= tile[role.name];
    const int64_t vectors = std::max<int64_t>(
        1, std::min({sizes.vectors, sizes.running / values, vector.range / vector.lanes}));
    tile[vector.index] = std::min(vectors * vector.lanes, vector.range);
  }
  return tile;
}

// Tiles of several indices may reach into each other: in i + 5*r, tiles of 4 values of i and 2 of
// r do, though no two points write the same element. No core or lane could have such a tile for
// itself, so tiles have one value of these indices.
void keep_apart(const Block& block, bool interleave, std::map<std::string, int64_t>& tile) {
  const std::vector<std::vector<std::string>> shared = shared_dimensions(block);
  if (shared.empty()) return;
  Block outer = block;
  split_block(outer, tile, interleave);
  for (const IndexRole& role : index_roles(outer))
    if (role.kind == IndexKind::overlapping)
      for (const std::vector<std::string>& names : shared)
        if (std::find(names.begin(), names.end(), role.name) != names.end())
          for (const std::string& name : names) tile[name] = 1;
}

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

bool roles_given(const AutotileOptions& options) {
  return options.output_vector.given() || options.reduction_vector.given() ||
         options.scalar.given();
}

bool has_any(const Block& block, const std::vector<std::string>& tags) {
  return std::any_of(tags.begin(), tags.end(),
                     [&](const std::string& tag) { return block.tags.has(tag); });
}

class Tiler {
 public:
  Tiler(const stripe::Program& program, const AutotileOptions& options, PassContext& context,
        TileMemo& memo)
      : program_(program), options_(options), context_(context), memo_(memo) {}

  Status tile(Block& block, const TensorNames& around) {
    context_.matched();
    Refusal refusal = why_left_alone(block, around);
    TileChoice choice;
    if (!refusal) {
      STRIA_ASSIGN(choice, choose(block));
      refusal = choice.refusal;
      if (!choice.fits) return leave_whole(block, refusal.reason());
    }
    if (refusal) {
      context_.skipped(block.name, refusal.reason());
      return {};
    }
    const bool cuts = cut(block, choice);
    // If one tile is the whole block, no outer block is made, and the block gets both sets of tags.
    if (!cuts && options_.inner_set.empty() && options_.outer_set.empty()) {
      context_.skipped(block.name, "one tile is the whole block");
      return {};
    }
    if (cuts) context_.count("blocks_tiled");
    context_.changed();
    return {};
  }

 private:
  Refusal why_left_alone(const Block& block, const TensorNames& around) const {
    if (has_any(block, options_.exclude)) return "it has a tag of exclude";
    const auto indices = std::count_if(block.idxs.begin(), block.idxs.end(),
                                       [](const Index& index) { return index.range > 1; });
    if (options_.skip_1d && indices == 1) return "it has one index";
    if (options_.min_reduction > 0 || options_.max_reduction > 0) {
      const int64_t enough = std::max(options_.min_reduction, options_.max_reduction + 1);
      int64_t points = 1;
      for (const IndexRole& role : index_roles(block))
        if (role.kind != IndexKind::output && points < enough) points *= role.range;
      if (points < options_.min_reduction)
        return fmt::format("it reduces over {} points, /min_reduction is {}", points,
                           options_.min_reduction);
      if (options_.max_reduction > 0 && points > options_.max_reduction)
        return fmt::format("it reduces over {} points, /max_reduction is {}", points,
                           options_.max_reduction);
    }
    return why_points_do_not_commute(block, around);
  }

  // Cuts the block and tags both parts. Returns whether an outer block was made.
  bool cut(Block& block, const TileChoice& choice) const {
    const std::map<std::string, int64_t>& sizes = choice.sizes;
    const std::vector<std::pair<std::string, int64_t>> panels = panels_of(block, choice.panels);
    bool cuts =
        options_.always && !block.tags.has(stripe::tag::kVector);  // its one index is its lanes
    for (const Index& index : block.idxs) {
      auto size = sizes.find(index.name);
      cuts = cuts || (index.range > 1 && size != sizes.end() && size->second < index.range);
    }
    if (cuts) {
      split_block(block, sizes, options_.interleave);
      if (options_.order != "keep") order_indices(block, options_.order, choice.along);
    }
    Block& inner = cuts ? *block.stmts[0].block() : block;
    for (const auto& [name, dim] : panels)
      inner.find_ref(name)->tags.set(stripe::tag::kPanels, dim);
    if (cuts && options_.copy_tags) copy_tags(block.tags, inner);
    if (cuts && options_.clear_location) inner.location = std::exchange(block.location, {});
    inner.tags.set_all(options_.inner_set);
    block.tags.set_all(options_.outer_set);
    if (choice.group_lanes > 0) block.tags.set(stripe::tag::kGroupLanes, choice.group_lanes);
    if (choice.parts > 0) block.tags.set(stripe::tag::kParts, choice.parts);
    if (choice.direct) block.tags.set(stripe::tag::kDirect);
    return cuts;
  }

  Status leave_whole(Block& block, const std::string& reason) {
    const std::string name = block.name.empty() ? "" : fmt::format(" '{}'", block.name);
    if (options_.fail_outer_set.empty() && options_.fail_inner_set.empty())
      return make_error(StatusCode::out_of_range, "block{}: {}", name, reason);
    block.tags.set_all(options_.fail_inner_set);
    block.tags.set_all(options_.fail_outer_set);
    context_.count("blocks_that_do_not_fit");
    context_.note(fmt::format("{}: {}", block.name.empty() ? "block" : block.name, reason));
    context_.changed();
    return {};
  }

  // The names of the views at these positions, each with the dimension that is to be cut.
  std::vector<std::pair<std::string, int64_t>> panels_of(const Block& block,
                                                         const std::vector<size_t>& views) const {
    std::vector<std::pair<std::string, int64_t>> out;
    if (views.empty()) return out;
    const std::string index = choose_vector(block, context_.model(), options_.min_range).index;
    size_t position = 0;
    for (const Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none) continue;
      if (std::find(views.begin(), views.end(), position++) == views.end()) continue;
      for (size_t d = 0; d < ref.access.size(); ++d)
        if (ref.access[d].uses(index)) out.emplace_back(ref.into, static_cast<int64_t>(d));
    }
    return out;
  }

  // Chooses the tile, or refuses.
  Result<TileChoice> choose(const Block& block) {
    TileChoice out;
    std::map<std::string, int64_t>& sizes = out.sizes;
    if (!options_.tile_sizes.empty()) {
      bool known = false;
      for (const auto& [name, size] : options_.tile_sizes) {
        const Index* index = block.find_index(name);
        if (!index || index->affine) continue;
        known = true;
        sizes[name] = size_or_whole(size, index->range);
      }
      if (!known) out.refusal = "it has none of the indices in tile_sizes";
      return out;
    }
    if (!roles_given(options_)) {
      std::optional<RegisterBlock> registers;
      if (options_.choice.cost == "registers") {
        // A block that gets no lanes is one tile.
        const VectorChoice vector = choose_vector(block, context_.model(), options_.min_range);
        if (vector.index.empty()) return out;
        registers = register_block(program_, block, vector, context_.model(), options_.choice.unit,
                                   options_.panels);
        if (!registers) {
          out.refusal = "the model does not say how many vector registers there are";
          return out;
        }
      }
      return choose_tile(
          program_, block, options_.choice, context_, memo_,
          [&](const TileChoice& candidate) {
            Block copy = block;
            cut(copy, candidate);
            return copy;
          },
          registers);
    }
    VectorChoice vector = choose_vector(block, context_.model(), options_.min_range);
    const RoleSizes& roles = vector.index.empty() ? options_.scalar
                             : vector.reduction   ? options_.reduction_vector
                                                  : options_.output_vector;
    const char* role = vector.index.empty() ? "scalar"
                       : vector.reduction   ? "reduction_vector"
                                            : "output_vector";
    if (!options_.roles.empty() &&
        std::find(options_.roles.begin(), options_.roles.end(), role) == options_.roles.end()) {
      out.refusal = fmt::format("its role is {}", role);
      return out;
    }
    sizes = sizes_by_role(block, vector, roles, options_.balance);
    keep_apart(block, options_.interleave, sizes);
    return out;
  }

  const stripe::Program& program_;
  const AutotileOptions& options_;
  PassContext& context_;
  TileMemo& memo_;
};

// Sizes are either given or chosen by cost.
Status check_options(const AutotileOptions& options, const PassContext& context) {
  const std::string chosen_by = first_given(options.choice);
  if (!chosen_by.empty() && (!options.tile_sizes.empty() || roles_given(options)))
    return invalid_argument("{}: a tile would be chosen by it, and {} says its sizes already",
                            chosen_by, options.tile_sizes.empty() ? "a role" : "/tile_sizes");
  if (options.panels && options.choice.cost != "registers")
    return invalid_argument(
        "/panels: true: the cost 'registers' alone asks for panels, and this is '{}'",
        options.choice.cost);
  STRIA_RETURN_IF_ERROR(check_not_excluded("/reqs", options.reqs, options.exclude));
  return check_choice(options.choice, context);
}

void describe_roles(RoleSizes& sizes, OptionFields& fields) {
  fields.add("vectors", sizes.vectors,
             "tile of the vector index, in vectors of the hardware; 0 = whole", {0, 1 << 20});
  fields.add("output", sizes.output,
             "tiles of the other output indices with reuse, in points, by rising output stride; 0 "
             "= whole");
  fields.add(
      "apart", sizes.apart,
      "tiles of the output indices without reuse, in points, by rising output stride; 0 = whole");
  fields.add("other_output", sizes.other_output,
             "tile of the output indices beyond those lists, in points; 0 = whole");
  fields.add("across", sizes.across,
             "tile of an output index that walks with stride 1 along a tensor read, but along none "
             "written, in points; 0 = as the others");
  fields.add("reduction", sizes.reduction,
             "tile of the other reduction indices, in points; 0 = whole");
  fields.add("running", sizes.running,
             "if the vector index is a reduction index: vectors of running values of a tile, at "
             "most; 0 = no limit",
             {0, 1 << 10});
}

}  // namespace

void describe(AutotileOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tags("exclude", options.exclude, "tags that a block must not have");
  fields.set_tags("outer_set", options.outer_set, "tags added to the outer block");
  fields.set_tags("inner_set", options.inner_set, "tags of the inner block");
  fields.set_tags("fail_outer_set", options.fail_outer_set,
                  "tags of a block of which no tile fits; without such tags, that is an error");
  fields.set_tags("fail_inner_set", options.fail_inner_set, "more tags of such a block");
  fields.add("copy_tags", options.copy_tags,
             "the inner block also gets the tags of the block, except those that say how it runs");
  fields.add("clear_location", options.clear_location,
             "the location goes to the inner block, not to the outer one");
  fields.add("skip_1d", options.skip_1d, "leave blocks of one index alone");
  fields.add("interleave", options.interleave,
             "a tile has every n-th point instead of contiguous ones; n is the number of tiles");
  fields.add("always", options.always,
             "a block that is one tile gets an outer block of one point around it, too");
  fields.add("tile_sizes", options.tile_sizes,
             "points of a tile by index name; 0 = whole. Without these and sizes by role, the tile "
             "is chosen by cost");
  describe_roles(options.output_vector,
                 fields.group("output_vector", "for blocks whose vector index is an output index"));
  describe_roles(
      options.reduction_vector,
      fields.group("reduction_vector", "for blocks whose vector index is a reduction index"));
  describe_roles(options.scalar, fields.group("scalar", "for blocks without a vector index"));
  fields.add("roles", options.roles, "which of these three kinds of blocks are tiled; none = all");
  fields.add("balance", options.balance,
             "shrink tiles of other output indices to equal parts of the range");
  fields.add("order", options.order, "order of the outer indices",
             std::vector<std::string>{"keep", "stride", "reuse"});
  fields.add("min_range", options.min_range, "an index with fewer points gets no lanes", {2});
  fields.add("min_reduction", options.min_reduction,
             "leave blocks alone that reduce over fewer points; 0 = none", {0});
  fields.add("max_reduction", options.max_reduction,
             "leave blocks alone that reduce over more points; 0 = none", {0});
  fields.add("panels", options.panels,
             "registers: tag views that are read faster from a copy, for pack_panels");
  describe_choice(options.choice, fields);
}

Status autotile(stripe::Program& program, const AutotileOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_options(options, context));
  TileMemo memo;
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames& around) {
        return Tiler(program, options, context, memo).tile(block, around);
      });
}

}  // namespace stria::passes
