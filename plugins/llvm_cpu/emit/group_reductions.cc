// SPDX-License-Identifier: Apache-2.0
#include "emit/group_reductions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <vector>

namespace stria::llvm_cpu {
namespace {

using Values = std::vector<llvm::Value*>;

class Tree {
 public:
  explicit Tree(llvm::Instruction* before) : b_(before) {
    llvm::FastMathFlags flags;
    flags.setAllowReassoc(true);
    flags.setNoSignedZeros(true);
    flags.setAllowContract(true);
    b_.setFastMathFlags(flags);
  }

  // A vector whose lane i is the sum of the lanes of inputs[i]; 4, 8 or 16 inputs of 8 or 16 lanes,
  // not more inputs than lanes. Comments: abcd are the four inputs that meet, 0123 lanes or
  // quarters.
  llvm::Value* sums(Values inputs, int lanes) {
    // Within each quarter of four lanes: a0 b0 a1 b1 + a2 b2 a3 b3, then a a' b b' likewise.
    Values rows = pairwise(inputs, quarters({0, 4, 1, 5}, lanes), quarters({2, 6, 3, 7}, lanes));
    rows = pairwise(rows, quarters({0, 1, 4, 5}, lanes), quarters({2, 3, 6, 7}, lanes));
    // Now each row has abcd in every quarter: add up the quarters, of several rows at once.
    if (lanes == 8) {
      if (rows.size() == 2) return pairwise(rows, blocks({0, 2}), blocks({1, 3}))[0];
      return add_halves(rows[0], 8);
    }
    if (rows.size() == 1) return add_halves(add_halves(rows[0], 16), 8);
    rows = pairwise(rows, blocks({0, 1, 4, 5}), blocks({2, 3, 6, 7}));
    if (rows.size() == 2) return pairwise(rows, blocks({0, 2, 4, 6}), blocks({1, 3, 5, 7}))[0];
    llvm::Value* even = b_.CreateShuffleVector(rows[0], blocks({0, 2}));
    llvm::Value* odd = b_.CreateShuffleVector(rows[0], blocks({1, 3}));
    return b_.CreateFAdd(even, odd);
  }

 private:
  Values pairwise(const Values& in, const std::vector<int>& first, const std::vector<int>& second) {
    Values out;
    for (size_t i = 0; i + 1 < in.size(); i += 2)
      out.push_back(b_.CreateFAdd(b_.CreateShuffleVector(in[i], in[i + 1], first),
                                  b_.CreateShuffleVector(in[i], in[i + 1], second)));
    return out;
  }
  llvm::Value* add_halves(llvm::Value* x, int lanes) {
    std::vector<int> low, high;
    for (int i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(i + lanes / 2);
    }
    return b_.CreateFAdd(b_.CreateShuffleVector(x, low), b_.CreateShuffleVector(x, high));
  }
  // The pattern of one quarter (0-3 of the first, 4-7 of the second vector) repeated in all.
  static std::vector<int> quarters(const std::vector<int>& pattern, int lanes) {
    std::vector<int> mask;
    for (int base = 0; base < lanes; base += 4)
      for (int i : pattern) mask.push_back(i < 4 ? base + i : lanes + base + i - 4);
    return mask;
  }
  // Whole quarters, numbered through both vectors.
  static std::vector<int> blocks(const std::vector<int>& pattern) {
    std::vector<int> mask;
    for (int block : pattern)
      for (int i = 0; i < 4; ++i) mask.push_back(4 * block + i);
    return mask;
  }

  llvm::IRBuilder<> b_;
};

// The lanes of a sum that belongs here, else 0.
int summed_lanes(const llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::vector_reduce_fadd ||
      !call->hasAllowReassoc())
    return 0;
  auto* start = llvm::dyn_cast<llvm::ConstantFP>(call->getArgOperand(0));
  auto* type = llvm::cast<llvm::FixedVectorType>(call->getArgOperand(1)->getType());
  if (!start || !start->isZero() || !type->getElementType()->isFloatTy()) return 0;
  const int lanes = static_cast<int>(type->getNumElements());
  return lanes == 8 || lanes == 16 ? lanes : 0;
}

bool known_before(const llvm::Value* value, const llvm::Instruction* place) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return !instruction || instruction->getParent() != place->getParent() ||
         instruction->comesBefore(place);
}

bool group_in_block(llvm::BasicBlock& block, int lanes) {
  std::vector<llvm::Instruction*> calls;
  for (llvm::Instruction& instruction : block)
    if (summed_lanes(instruction) == lanes &&
        (calls.empty() || known_before(instruction.getOperand(1), calls[0])))
      calls.push_back(&instruction);
  bool changed = false;
  size_t done = 0;
  for (size_t size = lanes; size >= 4; size /= 2) {
    for (; calls.size() - done >= size; done += size) {
      Values inputs;
      for (size_t i = 0; i < size; ++i) inputs.push_back(calls[done + i]->getOperand(1));
      // Results are wanted where the first one of the group was.
      llvm::Value* sums = Tree(calls[done]).sums(inputs, lanes);
      for (size_t i = 0; i < size; ++i) {
        llvm::Instruction* call = calls[done + i];
        call->replaceAllUsesWith(llvm::IRBuilder<>(call).CreateExtractElement(sums, i));
        call->eraseFromParent();
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace

bool group_reductions(llvm::Function& function) {
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (int lanes : {16, 8}) changed = group_in_block(block, lanes) || changed;
  return changed;
}

}  // namespace stria::llvm_cpu
