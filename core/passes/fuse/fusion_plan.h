// SPDX-License-Identifier: Apache-2.0
// Whether two blocks beside each other, of which the second reads what the first writes, can be one
// block over parts of both, and over which: the analysis of `fusion`.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// One index of the fused block. At its value o the second block has `b_points` points of its index,
// from b_points * o on; the first one those of its index that make what these read:
// a_step * o + a_first on, `a_points` of them.
struct FusedIndex {
  std::string name;  // the second block's
  std::string a_index;
  int64_t range = 1;
  int64_t b_points = 1;
  int64_t a_step = 1, a_first = 0, a_points = 1;
};

// A tensor that the first block writes and the second one reads beside `FusionPlan::tensor`: at
// each point of the fused block both touch the same element of it.
struct SharedTensor {
  std::string name;           // the parent's
  bool may_be_local = false;  // as in FusionPlan
  bool local = false;         // for fuse_blocks: it is to live inside
};

struct FusionPlan {
  std::string tensor;  // the parent's name
  std::vector<SharedTensor> others;
  std::vector<FusedIndex> indices;
  // Points of the first block in the fused one for each that it has alone; below 1: some are not
  // needed.
  double recompute = 1;
  // Parts overlap, or do not cover all that the first block writes: the tensor has to live inside.
  bool needs_local = false;
  // The parent owns the tensor, and nobody else uses it: it may live inside.
  bool may_be_local = false;
  double work = 0;   // statements that the first block runs alone
  double bytes = 0;  // of the tensor
  // Of blocks that cannot be fused; then the rest is open.
  Refusal refusal = Refusal::none();
};

struct FusionRules {
  bool reductions = false;  // also over indices that the second block reduces
};

// What planning has to know of the parent: its tensors, and how many statements use each. Stays
// right while pairs are fused, if told so.
class FusionParent {
 public:
  // `around` are the tensors around the block, which keeps its refinements.
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
