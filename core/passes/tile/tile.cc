// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/tile.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"

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

// The sizes of a tile, or why there are none.
Refusal sizes_of(const Block& block, const TileOptions& options, const HardwareModel& model,
                 std::map<std::string, int64_t>& sizes) {
  if (!options.tile_sizes.empty()) {
    bool known = false;
    for (const auto& [name, size] : options.tile_sizes) {
      const Index* index = block.find_index(name);
      if (!index || index->affine) continue;
      known = true;
      sizes[name] = size_or_whole(size, index->range);
    }
    if (!known) return "it has none of the indices in tile_sizes";
    return Refusal::none();
  }
  const VectorChoice vector = choose_vector(block, model, options.min_range);
  const RoleSizes& by_role = vector.index.empty() ? options.scalar
                             : vector.reduction   ? options.reduction_vector
                                                  : options.output_vector;
  const char* role = vector.index.empty() ? "scalar"
                     : vector.reduction   ? "reduction_vector"
                                          : "output_vector";
  if (!options.roles.empty() &&
      std::find(options.roles.begin(), options.roles.end(), role) == options.roles.end())
    return fmt::format("its role is {}", role);
  sizes = sizes_by_role(block, vector, by_role, options.balance);
  keep_apart(block, options.cut.interleave, sizes);
  return Refusal::none();
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

void describe(TileOptions& options, OptionFields& fields) {
  describe_cut(options.cut, fields);
  fields.add("tile_sizes", options.tile_sizes,
             "points of a tile by index name; 0 = whole. Without these, sizes are by role");
  describe_roles(options.output_vector,
                 fields.group("output_vector", "for blocks whose vector index is an output index"));
  describe_roles(
      options.reduction_vector,
      fields.group("reduction_vector", "for blocks whose vector index is a reduction index"));
  describe_roles(options.scalar, fields.group("scalar", "for blocks without a vector index"));
  fields.add("roles", options.roles, "which of these three kinds of blocks are tiled; none = all");
  fields.add("balance", options.balance,
             "shrink tiles of other output indices to equal parts of the range");
  fields.add("min_range", options.min_range,
             "an index with fewer points gets no lanes; 0 = the calibration of the model says");
}

Status tile(stripe::Program& program, const TileOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_not_excluded("/reqs", options.cut.reqs, options.cut.exclude));
  return for_each_selected_below_sections(
      program, options.cut.reqs, context, [&](Block& block, const TensorNames& around) -> Status {
        context.matched();
        std::map<std::string, int64_t> sizes;
        Refusal refusal = why_left_alone(block, around, options.cut);
        if (!refusal) refusal = sizes_of(block, options, context.model(), sizes);
        if (refusal)
          context.skipped(block.name, refusal.reason());
        else
          cut_tile(block, sizes, {}, options.cut, context);
        return {};
      });
}

}  // namespace stria::passes
