// SPDX-License-Identifier: Apache-2.0
// Splits a block into an outer and an inner one, index by index: the step that tiling, spreading
// over cores and lanes, and vectorising share.
//
//   block [x:10] (9 - … >= 0; in I[x + 1] …) { S }            tile x by 4
//   block [x:3] (in I[1 + 4*x] fp32(4:1)) {
//     0: block [x:4, x_0 = x] (9 - 4*x_0 - x >= 0; in I[x] fp32(1:1)) { S }
//   }
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// Replaces `block` by the outer block, whose only statement is the inner one.
//   tile   for each index, how many of its points one inner block has. Without an entry, or with at
//          least the range, the whole index stays inside. With 1 the whole index goes outside.
//          Otherwise both blocks have an index of this name, the outer one of range
//          ceil(range / tile).
// If the tile does not divide the range, the inner block gets a constraint. A constraint that outer
// values alone decide goes to the outer block. Name, comments, location and tags stay with the
// outer block; allocations and statements go to the inner one. Both keep the order of indices. An
// index that runs from an affine form over several values is first made to start at 0. The points
// run in another order; the caller has made sure that they commute.
//   interleave  an inner block has every n-th point instead of contiguous points; n is the number
//               of inner blocks along the index
void split_block(stripe::Block& block, const std::map<std::string, int64_t>& tile,
                 bool interleave = false);

// Gives the inner block the tags of the block that was split. Tags that say how a block's points
// and statements run, or what part of the program it is, are left out: they hold for the outer
// block alone.
void copy_tags(const stripe::Tags& from, stripe::Block& inner);

// Does the block run in another way than as a plain loop? It may have a location, be parallel,
// pipelined or ordered by dependencies, be one instruction, and so on.
bool runs_in_its_own_way(const stripe::Block& block);

// Removes the block's own indices of one value, except `keep`: split_block leaves them inside.
void drop_single_values(stripe::Block& block, const std::string& keep);

// The largest divisor of `range` that is at most `size` and more than half of it, else `size`.
int64_t even_size(int64_t size, int64_t range);

// Brings the value of `outer_index`, an index of the block around, into `inner`. Returns the name
// of the index of range 1 that has this value; it is made if there is none.
std::string bring_in(stripe::Block& inner, const std::string& outer_index);

// Makes every index of the block that has an affine form and a range over 1 start at 0. The values
// of its form are brought in as indices of range 1.
void start_indices_at_zero(stripe::Block& block);

// Replaces indices by forms wherever the block uses them: in accesses, constraints, locations,
// load_index statements, and the affine forms of its inner blocks' indices.
void substitute_indices(stripe::Block& block, const std::map<std::string, Affine>& forms);

}  // namespace stria::passes
