// SPDX-License-Identifier: Apache-2.0
// Cuts a block into an outer and an inner one, index by index: the step that tiling, threading and
// vectorising share.
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
//   tile   points of an index in one inner block, >= 1; at least its range (or no entry): the index
//          stays inside whole; 1: it goes outside whole. Otherwise both blocks have an index of
//          this name, the outer one of range ceil(range / tile).
// Where the tile does not divide the range, the inner block gets the constraint that ends it. A
// constraint that outer values alone decide goes to the outer block. Name, comments, location and
// tags stay with the outer block; allocations and statements go to the inner one. The order of
// indices is kept in both. An index that runs from an affine form over several values is first made
// to start at 0. Changes the order in which points run: the caller has made sure that they commute.
//   interleave  an inner block has every n-th point, n being the number of inner blocks along the
//               index, instead of points in a row
void split_block(stripe::Block& block, const std::map<std::string, int64_t>& tile,
                 bool interleave = false);

// Gives the block that was cut off one with these tags the same, but for those that say how a
// block's points and statements run, or what part of the program it is: they are true of the outer
// block alone.
void copy_tags(const stripe::Tags& from, stripe::Block& inner);

// Does the block run in another way than as a plain loop: somewhere by its location, in parallel,
// pipelined, by dependencies, as one instruction, …?
bool runs_in_its_own_way(const stripe::Block& block);

// Takes away the block's own indices of one value, but for `keep`: split_block leaves them inside.
void drop_single_values(stripe::Block& block, const std::string& keep);

// The largest divisor of `range` that is at most `size` and more than half of it, else `size`.
int64_t even_size(int64_t size, int64_t range);

// The name under which `inner`, a statement of the block that has index `outer_index`, knows its
// value: an index of range 1 that is made if there is none.
std::string bring_in(stripe::Block& inner, const std::string& outer_index);

// Makes every index of the block that has an affine form and a range over 1 start at 0, its form
// brought in as indices of range 1.
void start_indices_at_zero(stripe::Block& block);

// Replaces index names by forms in everything of the block that names its indices: accesses,
// constraints, location, load_index statements and the affine forms of its inner blocks' indices.
void substitute_indices(stripe::Block& block, const std::map<std::string, Affine>& forms);

}  // namespace stria::passes
