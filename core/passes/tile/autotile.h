// SPDX-License-Identifier: Apache-2.0
// Splits blocks into tiles: an outer block over the tiles, and an inner one over one tile.
//
//   #kernel block [i:100, j:64, k:32] (                                                i: 8, j: 32
//       in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   #kernel block [i:13, j:2] (in A[8*i, 0], in B[0, 32*j], out C[8*i, 32*j]:add.fp32) {
//     0: block [i:8, j:32, k:32, i_0 = i] (
//         99 - i - 8*i_0 >= 0; in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   }
//
// Sizes are given by index name, or by the role of an index, or they are chosen by cost. Sizes by
// role serve every kernel of a shape, whatever its indices are called. index_role.h explains the
// roles; the vector index is the one that `vectorize` would take.
//
// If no sizes are given, the pass takes the tile of the lowest cost that fits into the `memory` of
// the hardware model and keeps the limits. core/cost has the formulas, and `stria opt FILE
// --pipeline P --explain autotile` prints the best candidates with every term. With `interleave`
// the cost is still that of a tile of contiguous points. The cost `registers` is only for the
// register tile of a contraction. With `measure_top` a device times the best candidates, and its
// times are kept.
//
// Requires: points of the block commute; else the block is skipped. Ensures: the same points run.
// Sizes by role leave apart what the indices tell apart, so that tiles can run on different cores.
// An uneven tile has a constraint, and constraints over outer indices alone stand outside. If no
// tile fits, the block gets the fail tags and stays whole; without such tags that is an error. Runs
// before vectorize, which makes lanes of the innermost block. It may run several times, and finds
// its blocks by the tags that the run before has set: a tile for each memory level, outermost
// first, then the register tile, then the loops over a reduction between that tile and its vectors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/tile/tile_choice.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Tile sizes in points; 0 = the whole range.
struct RoleSizes {
  int64_t vectors = 0;  // the vector index, in vectors of the hardware
  // The other output indices with reuse, by rising output stride. An index has no reuse if every
  // tensor read varies with it: a tile of it then uses no value twice.
  std::vector<int64_t> output;
  std::vector<int64_t> apart;  // output indices without reuse, by rising output stride
  int64_t other_output = 0;    // output indices beyond the two lists
  // An output index that walks along a tensor read with stride 1, and along no tensor written; 0 =
  // as the lists say.
  int64_t across = 0;
  int64_t reduction = 0;  // reduction indices (except the vector index) and overlapping ones
  // A limit for a vector index that is a reduction index. The tile has at most so many vectors of
  // running values: the vectors of this index times the tile's outputs. It also has no more vectors
  // than the index. 0 = as `vectors` says.
  int64_t running = 0;

  bool given() const {
    return vectors != 0 || !output.empty() || !apart.empty() || other_output != 0 || across != 0 ||
           reduction != 0 || running != 0;
  }
};

struct AutotileOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a block must have
  std::vector<std::string> exclude;            // tags that it must not have
  std::vector<std::string> outer_set;          // tags added to the outer block
  std::vector<std::string> inner_set;          // tags of the inner block
  // Tags of a block that stays whole because no tile of it fits. It gets both sets, since it takes
  // the place of both blocks.
  std::vector<std::string> fail_outer_set;
  std::vector<std::string> fail_inner_set;
  bool copy_tags = false;  // the inner block also gets the tags that do not say how a block runs
  bool always = false;     // a block that is one tile gets an outer block of one point
  bool clear_location = false;  // the location goes to the inner block instead of the outer one
  bool skip_1d = false;         // leave blocks of one index alone
  bool interleave = false;      // a tile has every n-th point instead of contiguous points
  // By index name; if not empty, sizes by role are not used.
  std::map<std::string, int64_t> tile_sizes;
  RoleSizes output_vector;     // for blocks whose vector index is an output index
  RoleSizes reduction_vector;  // for blocks whose vector index is a reduction index
  RoleSizes scalar;            // for blocks without one
  // Which of the three kinds of blocks are tiled; empty: all.
  std::vector<std::string> roles;
  bool balance = false;  // shrink tiles of other output indices to equal parts of the range
  // Order of the outer indices. "stride": by falling stride in the tensors read. "reuse": output
  // indices first, and innermost the one that reads the fewest new bytes per step; the cost
  // "registers" may choose another one, along the result's memory, if that takes less time.
  std::string order = "keep";
  int64_t min_range = 4;  // an index with fewer points gets no lanes; as for vectorize
  // Blocks that reduce over fewer points than the first, or over more than the second, are left
  // alone; 0 = no such limit.
  int64_t min_reduction = 0;
  int64_t max_reduction = 0;
  // With the cost "registers": a view that is read faster from a copy gets the tag `panels`, for
  // pack_panels. Its value is the dimension to be cut.
  bool panels = false;
  TileChoiceOptions choice;  // where no sizes are given
};

void describe(AutotileOptions& options, OptionFields& fields);
Status autotile(stripe::Program& program, const AutotileOptions& options, PassContext& context);

}  // namespace stria::passes
