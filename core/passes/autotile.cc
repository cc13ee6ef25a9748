// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/autotile.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/index_role.h"
#include "stria/passes/split_block.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

int64_t size_or_whole(int64_t size, int64_t range) {
  return size == 0 ? range : std::min(size, range);
}

// Equal parts: as many tiles as `size` needs, the same size each (the last may be shorter by less
// than the number of tiles).
int64_t balanced(int64_t size, int64_t range) { return ceil_div(range, ceil_div(range, size)); }

// Is there a tensor read that does not vary with the index, but does with another?
bool has_reuse(const Block& block, const std::string& index) {
  return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    Affine flat = ref.flat_access();
    return ref.dir == RefDir::in && !flat.uses(index) && !flat.is_constant();
  });
}

std::map<std::string, int64_t> sizes_by_role(const Block& block, const VectorChoice& vector,
                                             const RoleSizes& sizes, bool balance) {
  std::vector<IndexRole> roles = index_roles(block);
  std::vector<const IndexRole*> outputs;
  std::map<std::string, int64_t> tile;
  for (const IndexRole& role : roles) {
    if (role.name == vector.index) {
      tile[role.name] = size_or_whole(sizes.vectors * vector.lanes, role.range);
    } else if (role.kind == IndexKind::output && has_reuse(block, role.name)) {
      outputs.push_back(&role);
    } else if (role.kind == IndexKind::output) {
      tile[role.name] = size_or_whole(sizes.other_output, role.range);
    } else {
      tile[role.name] = size_or_whole(sizes.reduction, role.range);
    }
  }
  std::stable_sort(outputs.begin(), outputs.end(), [](const IndexRole* a, const IndexRole* b) {
    return a->output_stride < b->output_stride;
  });
  for (size_t i = 0; i < outputs.size(); ++i) {
    int64_t size = size_or_whole(i < sizes.output.size() ? sizes.output[i] : sizes.other_output,
                                 outputs[i]->range);
    tile[outputs[i]->name] = balance ? balanced(size, outputs[i]->range) : size;
  }
  return tile;
}

// Bytes of the tensors read that one step of `index` brings in: of each view that moves with it,
// the part that the step before did not have.
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

void order_indices(Block& outer, const std::string& order) {
  std::vector<IndexRole> roles = index_roles(outer);
  auto role_of = [&](const Index& index) -> const IndexRole* {
    for (const IndexRole& role : roles)
      if (role.name == index.name) return &role;
    return nullptr;
  };
  std::stable_sort(outer.idxs.begin(), outer.idxs.end(), [&](const Index& a, const Index& b) {
    const IndexRole* ra = role_of(a);
    const IndexRole* rb = role_of(b);
    if (!ra || !rb) return ra && !rb;  // brought-in values last
    if (order == "stride") return ra->input_stride > rb->input_stride;
    bool output_a = ra->kind == IndexKind::output, output_b = rb->kind == IndexKind::output;
    if (output_a != output_b) return output_a;
    return new_bytes(outer, a.name) > new_bytes(outer, b.name);
  });
}

class Tiler {
 public:
  Tiler(const AutotileOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  void tile(Block& block, const TensorNames& around) {
    context_.matched();
    std::string reason = why_points_do_not_commute(block, around);
    std::map<std::string, int64_t> sizes;
    if (reason.empty()) reason = choose(block, sizes);
    if (!reason.empty()) return context_.skipped(block.name, reason);
    bool cuts = false;
    for (const Index& index : block.idxs) {
      auto size = sizes.find(index.name);
      cuts = cuts || (!index.affine && size != sizes.end() && size->second < index.range);
    }
    // One tile is the whole block: it gets both sets of tags and no outer block is made.
    if (!cuts && options_.inner_set.empty() && options_.outer_set.empty())
      return context_.skipped(block.name, "one tile is the whole block");
    if (cuts) {
      split_block(block, sizes);
      if (options_.order != "keep") order_indices(block, options_.order);
    }
    Block& inner = cuts ? *block.stmts[0].block() : block;
    for (const std::string& tag : options_.inner_set) inner.tags.set(tag);
    for (const std::string& tag : options_.outer_set) block.tags.set(tag);
    if (cuts) context_.count("blocks_tiled");
    context_.changed();
  }

 private:
  std::string choose(const Block& block, std::map<std::string, int64_t>& sizes) {
    if (!options_.tile_sizes.empty()) {
      bool known = false;
      for (const auto& [name, size] : options_.tile_sizes) {
        const Index* index = block.find_index(name);
        if (!index || index->affine) continue;
        known = true;
        sizes[name] = size_or_whole(size, index->range);
      }
      return known ? "" : "it has none of the indices in tile_sizes";
    }
    VectorChoice vector = choose_vector(block, context_.model(), options_.min_range);
    const RoleSizes& roles = vector.index.empty() ? options_.scalar
                             : vector.reduction   ? options_.reduction_vector
                                                  : options_.output_vector;
    sizes = sizes_by_role(block, vector, roles, options_.balance);
    return "";
  }

  const AutotileOptions& options_;
  PassContext& context_;
};

void describe_roles(RoleSizes& sizes, OptionFields& fields) {
  fields.add("vectors", sizes.vectors,
             "tile of the vector index, in vectors of the hardware; 0 = whole", {0, 1 << 20});
  fields.add("output", sizes.output,
             "tiles of the other output indices with reuse, in points, by rising output stride; 0 "
             "= whole");
  fields.add("other_output", sizes.other_output,
             "tile of the output indices beyond that list or without reuse, in points; 0 = whole");
  fields.add("reduction", sizes.reduction,
             "tile of the other reduction indices, in points; 0 = whole");
}

}  // namespace

void describe(AutotileOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("outer_set", options.outer_set, "tags added to the outer block");
  fields.add("inner_set", options.inner_set, "tags of the inner block");
  fields.add("tile_sizes", options.tile_sizes, "points of a tile by index name; 0 = whole");
  describe_roles(options.output_vector,
                 fields.group("output_vector", "for blocks whose vector index is an output index"));
  describe_roles(
      options.reduction_vector,
      fields.group("reduction_vector", "for blocks whose vector index is a reduction index"));
  describe_roles(options.scalar, fields.group("scalar", "for blocks without a vector index"));
  fields.add("balance", options.balance,
             "shrink tiles of other output indices to equal parts of the range");
  fields.add("order", options.order, "order of the outer indices",
             std::vector<std::string>{"keep", "stride", "reuse"});
  fields.add("min_range", options.min_range, "shortest vector index, in points", {2});
}

Status autotile(stripe::Program& program, const AutotileOptions& options, PassContext& context) {
  return for_each_selected(program, options.reqs, [&](Block& block, const TensorNames& around) {
    Tiler(options, context).tile(block, around);
    return Status();
  });
}

}  // namespace stria::passes
