// SPDX-License-Identifier: Apache-2.0
// The analysis of `fusion`. It says whether two neighbouring blocks, of which the second reads what
// the first writes, can be one block over parts of both, and which parts these are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// One index of the fused block. At its value o the second block runs `b_points` points of its
// index, from b_points * o on. The first block runs the points of its index that compute what these
// read: `a_points` of them, from a_step * o + a_first on.
struct FusedIndex {
  std::string name;  // that of the second block's index
  std::string a_index;
  int64_t range = 1;
  int64_t b_points = 1;
  int64_t a_step = 1, a_first = 0, a_points = 1;
};

// Another tensor, besides `FusionPlan::tensor`, that the first block writes and the second one
// reads. At each point of the fused block both touch the same part of it.
struct SharedTensor {
  std::string name;           // in the parent
  bool may_be_local = false;  // as in FusionPlan
  bool local = false;         // asks fuse_blocks to make it an allocation of the fused block
};

struct FusionPlan {
  std::string tensor;  // its name in the parent
  std::vector<SharedTensor> others;
  std::vector<FusedIndex> indices;
  // How many points of the first block run in the fused block for each point that it has alone.
  // Below 1: some are not needed.
  double recompute = 1;
  // The parts overlap, or do not cover all that the first block writes. The tensor must then be an
  // allocation of the fused block.
  bool needs_local = false;
  // The parent owns the tensor, and no other statement uses it: it may be such an allocation.
  bool may_be_local = false;
  double work = 0;   // statements that the first block runs when it is alone
  double bytes = 0;  // of the tensor
  // Why the blocks cannot be fused; the rest then means nothing.
  Refusal refusal = Refusal::none();
};

struct FusionRules {
  bool reductions = false;  // also over indices that the second block reduces
};

// What planning must know about the parent: its tensors, and how many statements use each. It stays
// right while pairs are fused, if `fusing` is called for each.
class FusionParent {
 public:
  // `around` are the tensors around the block. The block must keep its refinements.
  FusionParent(const stripe::Block& block, const TensorNames& around);

  const TensorNames& names() const { return names_; }
  // The block's refinement, or null.
  const stripe::Refinement* find(const std::string& tensor) const;
  int64_t users(const std::string& tensor) const;
  // These neighbours are about to become one.
  void fusing(const stripe::Block& a, const stripe::Block& b);

 private:
  const stripe::Block& block_;
  TensorNames names_;
  std::unordered_map<std::string, size_t> position_;  // of a refinement
  std::unordered_map<std::string, int64_t> users_;
};

// `a` and `b` are neighbours in the parent's list of statements.
FusionPlan plan_fusion(const stripe::Block& a, const stripe::Block& b, const FusionParent& of,
                       const FusionRules& rules);

}  // namespace stria::passes
