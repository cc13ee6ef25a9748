// SPDX-License-Identifier: Apache-2.0
// Which refinements are views of one tensor. Two names of a block may stand for one allocation,
// since a block around it may have two views of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria {

// The allocations that a block's refinements are views of. A value; it stays right while the blocks
// around the block keep their refinements. Copies share their content: a section has as many names
// as a program has tensors, and each of its kernels needs them.
class TensorNames {
 public:
  // The names around the entry block: there are none.
  TensorNames() = default;

  // The names of `block`, which is a statement of this object's block.
  TensorNames inside(const stripe::Block& block) const;

  // The allocation of the block's refinement `name`: equal texts mean equal allocations. An unknown
  // name is an allocation of its own.
  const std::string& of(const std::string& name) const;

 private:
  int depth_ = 0;
  std::shared_ptr<const std::map<std::string, std::string>> allocations_;  // null: no names
};

// The names at the places of one walk. Those of the sections, whose refinements stay, are made
// once: there are as many as a program has tensors.
class PlaceNames {
 public:
  // The names of the block at the place.
  TensorNames inside(const stripe::Place& place);
  // Those of the block around it.
  TensorNames around(const stripe::Place& place);
  // The names of the last block of a path that begins with the entry block.
  TensorNames inside(const std::vector<stripe::Block*>& path);

 private:
  const TensorNames& section(const stripe::Place& place);
  std::map<const stripe::Block*, TensorNames> sections_;
};

}  // namespace stria
