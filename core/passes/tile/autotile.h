// SPDX-License-Identifier: Apache-2.0
// Splits blocks into tiles: an outer block over the tiles, an inner one over a tile.
//
//   #kernel block [i:100, j:64, k:32] (                                                i: 8, j: 32
//       in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   #kernel block [i:13, j:2] (in A[8*i, 0], in B[0, 32*j], out C[8*i, 32*j]:add.fp32) {
//     0: block [i:8, j:32, k:32, i_0 = i] (
//         99 - i - 8*i_0 >= 0; in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   }
//
// Sizes are given by index name, or by role, or they are chosen by cost. Role sizes serve every
// kernel of a shape, whatever its indices are called; index_role.h says what the roles are, and the
// vector index is the one that `vectorize` would take. Where neither is given, the tile of the
// lowest cost is taken among those that fit the `memory` of the hardware model and the limits:
// core/cost has the formulas, `stria opt FILE --pipeline P --explain autotile` prints the best
// candidates with every term. The cost is that of points in a row, also where they are
// interleaved. The cost `registers` is for the register tile of a contraction alone. With
// `measure_top` a device times the best candidates, and what it finds is kept. Requires: points of
// the block commute (else the block is skipped). Ensures: the same points run; an uneven tile has a
// constraint; constraints that outer indices decide are outside. If no tile fits, the block gets
// the fail tags and stays whole, or without such tags it is an error. Runs before vectorize, which
// makes lanes of its innermost block, and may run several times: a tile for each memory level,
// outermost first, by the tags that the step before has set; last the register tile, and the loops
// over a reduction between the tile and its vectors.
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
  // The other output indices by rising output stride. An index that every tensor read varies with
  // is not among them: a tile of it uses no value twice.
  std::vector<int64_t> output;
  std::vector<int64_t> apart;  // of those without reuse, by rising output stride
  int64_t other_output = 0;    // those beyond the lists
  // An output index whose neighbours are neighbours in a tensor read, and in none that is written;
  // 0 = as one of the lists.
  int64_t across = 0;
  int64_t reduction = 0;  // reduction indices (except the vector index) and overlapping ones
  // Of a vector index that is a reduction index: no more vectors than make so many of running
  // values with the tile's outputs, nor than the index has; 0 = as `vectors` says.
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
  // Tags of a block that stays whole because no tile of it fits; both sets, for it is both blocks.
  std::vector<std::string> fail_outer_set;
  std::vector<std::string> fail_inner_set;
  bool copy_tags = false;  // the inner block gets tags of the block that do not say how it runs
  bool always = false;     // one tile that holds all is cut, too: into a block of one point
  bool clear_location = false;  // the location goes to the inner block instead of the outer one
  bool skip_1d = false;         // leave blocks of one index alone
  bool interleave = false;      // a tile has every n-th point instead of points in a row
  // By name; if not empty, roles are not asked.
  std::map<std::string, int64_t> tile_sizes;
  RoleSizes output_vector;     // for blocks whose vector index is an output index
  RoleSizes reduction_vector;  // for blocks whose vector index is a reduction index
  RoleSizes scalar;            // for blocks without one
  // Of the three, those whose blocks are tiled; empty: all.
  std::vector<std::string> roles;
  bool balance = false;  // shrink tiles of other output indices to equal parts of the range
  // Order of the outer indices: "keep"; "stride": by falling stride in the tensors read; "reuse":
  // output indices first, and the one that needs the fewest new bytes per step innermost; with the
  // cost "registers" the one along the result's memory where that is said to be shorter.
  std::string order = "keep";
  int64_t min_range = 4;  // shortest vector index, as for vectorize
  // Blocks that reduce over fewer points are left alone; 0 = none are.
  int64_t min_reduction = 0;
  int64_t max_reduction = 0;  // and those that reduce over more; 0 = none are
  // With the cost "registers": views that are read faster from a copy get the tag `panels`, whose
  // value is the dimension to be cut, for pack_panels.
  bool panels = false;
  TileChoiceOptions choice;  // where no sizes are given
};

void describe(AutotileOptions& options, OptionFields& fields);
Status autotile(stripe::Program& program, const AutotileOptions& options, PassContext& context);

}  // namespace stria::passes
