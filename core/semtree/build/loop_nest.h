// SPDX-License-Identifier: Apache-2.0
// The loops that are open while a kernel is built. It gives index names their variables, turns
// affine forms into expressions, and puts each part of an address at the outermost loop that
// decides it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/poly/affine.h"
#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// The name that stands for the lane in affine forms; no index can have it.
inline constexpr const char* kLane = "$lane";

class LoopNest {
 public:
  explicit LoopNest(Function& function) : function_(function) { levels_.emplace_back(); }

  // A new variable named after `hint`, made unique.
  int new_variable(std::string_view hint, Type type);
  std::string unique_name(std::string_view hint);

  // Declares index `name` (unique: see unique_name) with its inclusive range, valued `var`, at the
  // innermost open level.
  void bind(const std::string& name, int var, Interval range);
  // Declares index `name` with the value of an expression, assigned at the beginning of the
  // innermost open level, or of the function; returns the name.
  std::string define(std::string_view hint, ExprRef value, Interval range);
  std::string define_outside(std::string_view hint, ExprRef value, Interval range);
  // A narrower range that is known to hold.
  void narrow(const std::string& name, Interval range) { box_[name] = range; }
  // Adds kLane to the box, for intervals of forms over lanes. It has no value.
  void bind_lane(Interval range) { box_[kLane] = range; }
  void unbind_lane() { box_.erase(kLane); }
  const std::map<std::string, Interval>& box() const { return box_; }
  // The same, without what narrow() has changed.
  const std::map<std::string, Interval>& declared_box() const { return declared_box_; }

  // May an element of one be an element of the other?
  bool may_alias(int memory, int other) const;

  void open() { levels_.emplace_back(); }
  // Closes the innermost level, and returns its loop, preceded by the address parts that were
  // placed before it. If the body ends in a condition that is independent of the loop, with nothing
  // but definitions before it, the two are swapped: what the condition needs comes first, then the
  // condition, and in it the loop with the other definitions. `unroll`: the hint that a loop of
  // constant bounds gets.
  Body close(const std::string& name, int var, ExprRef lower, ExprRef upper, Body body,
             bool unroll = false);
  // Ends the function: what was placed outside all loops, then `body`.
  Body finish(Body body);

  // The form as one expression over loop variables.
  ExprRef value(const Affine& form) const;
  // Do all values so far, and the sums on the way to them, fit into i32?
  bool fits_32_bits() const { return fits_32_bits_; }
  // Counts a form that emitters compute beside those of `value`.
  void measure(const Affine& form) const;
  // form >= 0.
  ExprRef at_least_zero(const Affine& form) const;
  // The form without its constant, with partial sums placed at the outermost possible level; null
  // if nothing is left.
  ExprRef offset(const Affine& form);

 private:
  struct Bound {
    ExprRef value;
    size_t level;
  };
  struct Level {
    Body prologue;
    std::map<std::vector<Affine::Term>, ExprRef> offsets;
  };

  // Splits off the statements of `body` that may run once before the loop instead, if condition and
  // loop can be swapped. `inside`: the variables that differ from point to point.
  bool turns_inside_out(Body& body, std::set<int> inside, bool runs, Body& before) const;
  std::string define_at(size_t level, std::string_view hint, ExprRef value, Interval range);

  Function& function_;
  std::vector<Level> levels_;
  std::map<std::string, Bound> names_;
  std::map<std::string, Interval> box_, declared_box_;
  std::map<std::string, int> taken_;  // base name -> next suffix
  mutable bool fits_32_bits_ = true;
};

// Adds to `body`; a condition equal to that of the statement before joins it.
void append(Body& body, Statement statement);

}  // namespace stria::semtree
