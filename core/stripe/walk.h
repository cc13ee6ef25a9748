// SPDX-License-Identifier: Apache-2.0
// Visits the blocks of a program, with what a pass needs to know of the place: path, parent and the
// ranges of the indices. Also the interface of a program and of a kernel: which tensors go in and
// out, in which order. The order of kernel arguments is part of the plugin boundary, so it is
// decided here only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::stripe {

// Where a visited block stands. Valid during the visit only.
struct Place {
  const Place* parent = nullptr;  // null for the root of the visit
  const Block* block = nullptr;
  size_t position = 0;  // of the block among its parent's statements
  int depth = 0;        // 0 for the root of the visit
  // Inclusive ranges of the block's own indices over everything that encloses it (constraints
  // ignored).
  std::map<std::string, Interval> box;

  // "layer_test7/main/kernel_0/1": names, and positions for blocks without one. For messages.
  std::string path() const;
};

// Calls `visit` for `root` and every block below it, a parent before its children, in program
// order.
void visit_blocks(const Block& root, const std::function<void(const Place&)>& visit);

// The same for changing: `visit` may change the block it is given, its statements included; the
// blocks found in it afterwards are visited next. It must not change enclosing blocks.
void visit_blocks(Block& root, const std::function<void(Block&, const Place&)>& visit);

// The refinements of a kernel block in the order of its arguments: `out` and `inout` in printed
// order, then `in` in printed order.
std::vector<const Refinement*> kernel_arguments(const Block& kernel);

// A kernel that is a special of `section`, as a kernel block: views of its outputs, then of its
// inputs, each whole, and the statement. invalid_argument if it is none, or names what `section`
// does not have.
Result<Block> block_around(const Statement& special, const Block& section);

}  // namespace stria::stripe
