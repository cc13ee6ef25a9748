// SPDX-License-Identifier: Apache-2.0
// What each index of a block does for the tensors it touches, and which index vectorises: the
// analysis that autotile, vectorize and thread share, so that they agree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"

namespace stria::passes {

enum class IndexKind {
  // Different values write different elements of every written tensor, whatever the other indices
  // are.
  output,
  // Occurs in the access of no written tensor: all its values meet in the same elements.
  reduction,
  // Occurs in the access of a written tensor, but different values may meet there (O[x + i]).
  overlapping,
};

struct IndexRole {
  std::string name;
  int64_t range = 1;
  IndexKind kind = IndexKind::output;
  // Elements between neighbours, magnitude: in the first written tensor, and the largest over the
  // tensors read.
  int64_t output_stride = 0;
  int64_t input_stride = 0;
};

// The ranges of the block's indices seen from the block alone: of one that starts at an outer value
// only that it is no extreme number.
std::map<std::string, Interval> index_ranges(const stripe::Block& block);

// The block's indices of range over 1, wherever they start, in block order. A
// coefficient in one dimension of an access decides; that different coordinates of a tensor's
// dimensions are different elements is the verifier's business. A written view is as large as all
// that is reached through it: views inside may overhang it.
std::vector<IndexRole> index_roles(const stripe::Block& block);

// Does the block aggregate a product of floats? Sums alone may be taken in another order (M10).
bool multiplies_floats(const stripe::Block& block);

// May an element be reached through a view of the block that is written and through another one?
// `around`: the tensors of the block around it.
bool meets_other_view(const stripe::Block& block, const TensorNames& around);

// May the block's points run in any order, also interleaved with those of its other indices? Yes if
// no element that is written through one view is reached through another, and every written tensor
// is written by each point on its own, or aggregates and is not read meanwhile. Refuses a block of
// which that is not known. `around`: the tensors of the block around it.
Refusal why_points_do_not_commute(const stripe::Block& block, const TensorNames& around);

// Does the location name an index?
bool names_index(const stripe::Location& location);

// Does the refinement of a statement of `parent` start from the identity, or is it rounded to the
// storage type, with each run of that statement? Its parts would do so once each.
bool opens_aggregation(const stripe::Block& parent, const stripe::Refinement& ref);

// Does any location of the block or its refinements name an index?
bool has_index_locations(const stripe::Block& block);

// Does any location in the blocks inside name an index? The verifier takes its values from the
// ranges alone, which an uneven tile exceeds.
bool places_by_index(const stripe::Block& block);

// Is there a tensor read that does not vary with the index, but does with another?
bool has_reuse(const stripe::Block& block, const std::string& index);

struct VectorChoice {
  std::string index;       // "" if no index of the block qualifies
  bool reduction = false;  // its lanes are partial results of one element
  int64_t range = 1;
  int64_t lanes = 1;  // of the hardware, for the widest element type of the block
};

// The index whose points become lanes: an output index with stride 1 in every written tensor and 0
// or 1 in every tensor read; else a reduction index with stride 0 or 1 in every tensor read and 1
// in at least one, if all written tensors aggregate. Of several the longest, then the first in
// block order. Its range must be at least `min_range`. `block` holds loads, stores and scalar
// statements only, else none.
VectorChoice choose_vector(const stripe::Block& block, const HardwareModel& model,
                           int64_t min_range);

// Bytes of the widest element type that the block's refinements, aggregations and statements use.
int64_t widest_element_bytes(const stripe::Block& block);

// Scalar statements that one run of the block executes, constraints ignored. Infinite at most.
double work_of(const stripe::Block& block);

// Instructions that one run of the block takes, as the records of its functions count them (Cost):
// how much it computes beside other blocks. Constraints are ignored. What is the same at all points
// of a block is computed once. Infinite at most.
double instructions_of(const stripe::Block& block);

// Does a scalar choose the element of one of the block's own stores?
bool stores_where_chosen(const stripe::Block& block);

// True if the block holds neither blocks nor specials.
bool is_leaf(const stripe::Block& block);

}  // namespace stria::passes
