// SPDX-License-Identifier: Apache-2.0
// A block that is being made, with what its maker knows about it: where its views lie, which of
// their elements hold values, what may still be written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::trust {

// A refinement that the statements of its block may use.
struct View {
  stripe::Refinement ref;  // as it stands in the block
  int tensor = 0;          // which allocation it is of
  // Per dimension: a coordinate c within the view may be touched if c >= every `lower` and
  // c <= every `upper`, forms over the block's indices.
  std::vector<std::vector<Affine>> lower, upper;
  bool readable = false;  // every element that may be touched holds a value
  bool writable = false;
  bool overhangs = false;  // what is inside may touch more than its sizes say
  bool wished = false;     // what is read here has to matter
  bool input = false;      // of a tensor that its section only reads
  int depth = 0;           // of the block that allocates it
};

struct Frame {
  stripe::Block block;
  Frame* outer = nullptr;
  int depth = 0;
  std::map<std::string, Interval> box;  // of the block's indices, constraints ignored
  std::vector<View> views;
  std::map<std::string, std::string> brought;  // an index of the block around -> its name here
  int64_t points = 1;                          // run by the block and those around it, at most
  bool may_cut = true;                         // constraints may remove points
  bool may_walk = false;                       // more points may meet in what is written
  bool located = false;                        // this block, or one around it, has a location
  int scalars = 0;                             // made so far

  // The name under which the block knows an index of the block around it.
  std::string bring(const std::string& outer_index);
  // A form over the indices of the block around, over those of this one.
  Affine translate(const Affine& outer_form);
  // Whether form >= 0 at every point that the block runs, as far as intervals and single
  // constraints tell.
  bool holds(const Affine& form) const;
  // Makes it hold by a constraint if it does not yet.
  void cut(const Affine& form);
  // A name of an index that the block has not.
  std::string new_index_name(uint64_t choice) const;
  // `base`, or a name like it that no refinement of the block has.
  std::string new_view_name(const std::string& base) const;
  View* find(const std::string& name);
};

// What of the view around may be touched through an inner view with these first coordinates; with
// `sizes`, inside them only.
struct Reach {
  std::vector<std::vector<Affine>> lower, upper;
};
Reach reach_inside(Frame& frame, const View& around, const std::vector<Affine>& access,
                   const std::vector<int64_t>& sizes, bool overhang);

// The dependencies of every statement: on all earlier ones that it conflicts with, by whole
// allocations, and on those whose scalars it uses. With `sparse`, without those that follow from
// others.
void write_dependencies(Frame& frame, bool sparse);

}  // namespace stria::trust
