// SPDX-License-Identifier: Apache-2.0
// What each index of a block does to the tensors that are written, and which index becomes lanes:
// the analysis that autotile, vectorize and thread share, so that they agree.
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
  // Different values write different elements of every written tensor, for any values of the other
  // indices.
  output,
  // Occurs in no access of a written tensor: all its values write the same elements.
  reduction,
  // Occurs in an access of a written tensor, but different values may write the same element (O[x +
  // i]).
  overlapping,
};

struct IndexRole {
  std::string name;
  int64_t range = 1;
  IndexKind kind = IndexKind::output;
  // Magnitudes of strides, in elements: in the first written tensor, and the largest one in the
  // tensors read.
  int64_t output_stride = 0;
  int64_t input_stride = 0;
};

// The ranges of the block's indices, as far as the block alone tells. An index that starts at an
// outer value gets a very large range.
std::map<std::string, Interval> index_ranges(const stripe::Block& block);

// The block's indices of range over 1, wherever they start, in block order. The coefficients in one
// dimension of an access decide; the verifier ensures that different coordinates of a tensor are
// different elements. A written view counts with all that is reached through it, since views inside
// may overhang it.
std::vector<IndexRole> index_roles(const stripe::Block& block);

// For each dimension of a written view in which several output indices occur: their names, the one
// with the smallest step first.
std::vector<std::vector<std::string>> shared_dimensions(const stripe::Block& block);

// Does the block aggregate a product of floats? Only sums may be reordered (M10).
bool multiplies_floats(const stripe::Block& block);

// May an element be reached through a written view of the block, and also through another view?
// `around`: the tensors of the block around it.
bool meets_other_view(const stripe::Block& block, const TensorNames& around);

// Refuses a block whose points may not run in any order, or for which that is not known. Points
// commute if no element that is written through one view is reached through another one, and if for
// every written tensor each point writes elements of its own, or the tensor aggregates and is not
// read meanwhile. `around`: the tensors of the block around it.
Refusal why_points_do_not_commute(const stripe::Block& block, const TensorNames& around);

// Does the location name an index?
bool names_index(const stripe::Location& location);

// `ref` belongs to a statement of `parent`. Does it start an aggregation from the identity, or
// round it to the storage type, each time the statement runs? If the statement is split, each part
// would do so.
bool opens_aggregation(const stripe::Block& parent, const stripe::Refinement& ref);

// Does any location of the block or its refinements name an index?
bool has_index_locations(const stripe::Block& block);

// Does any location in the blocks inside name an index? The verifier takes the values of such a
// location from ranges alone, and those of an uneven tile reach too far.
bool places_by_index(const stripe::Block& block);

// Is there reuse along the index: a tensor read that does not vary with it, but with another index?
bool has_reuse(const stripe::Block& block, const std::string& index);

struct VectorChoice {
  std::string index;       // "" if no index of the block qualifies
  bool reduction = false;  // its lanes are partial results of one element
  int64_t range = 1;
  int64_t lanes = 1;  // of the hardware, for the widest element type of the block
};

// The index whose points become lanes. It is an output index with stride 1 in every written tensor
// and 0 or 1 in every tensor read. If there is none, and all written tensors aggregate, it is a
// reduction index with stride 0 or 1 in every tensor read and 1 in at least one. Among several it
// is the longest, and then the first in block order. Its range must be at least
// fewest_lane_points(model, min_range). There is none if `block` holds other blocks or specials.
VectorChoice choose_vector(const stripe::Block& block, const HardwareModel& model,
                           int64_t min_range);

// `min_range`, or what the model's calibration says if that is 0; at least 2.
int64_t fewest_lane_points(const HardwareModel& model, int64_t min_range);

// Bytes of the widest element type that the block's refinements, aggregations and statements use.
int64_t widest_element_bytes(const stripe::Block& block);

// The number of scalar statements that one run of the block executes. Constraints are ignored; the
// number may be infinite.
double work_of(const stripe::Block& block);

// The instructions that one run of the block takes, as the records of its functions count them
// (Cost), to compare blocks by how much they compute. What is the same at all points of a block
// counts once. Constraints are ignored; the number may be infinite.
double instructions_of(const stripe::Block& block);

// Has the block a view of `tensor`, of the block around it, through which it writes?
bool writes_into(const stripe::Block& block, const std::string& tensor);

// Does a scalar choose the element for one of the block's own stores?
bool stores_where_chosen(const stripe::Block& block);

// True if the block holds neither blocks nor specials.
bool is_leaf(const stripe::Block& block);

}  // namespace stria::passes
