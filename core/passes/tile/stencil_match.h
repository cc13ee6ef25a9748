// SPDX-License-Identifier: Apache-2.0
// Matches a block with a stencil, which is what an operation of the hardware does at once. The
// match says which index of the block is which index of the stencil, and which view is which
// operand. The search assigns operands first, and each rules out some indices. Then it assigns
// indices, and a bound of the cost cuts the search off.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Strides: by how many elements of the flat access an index moves an operand; 0: not at all.
inline constexpr int64_t kAnyStride = -1;  // 0 included
// By single elements, in one dimension along which no other index of the stencil moves.
inline constexpr int64_t kOwnDim = std::numeric_limits<int64_t>::min();

inline constexpr int64_t kWholeRange = -1;

// What a stencil requires of a block. Borrows the instruction.
struct StencilRules {
  struct Index {
    std::string name;
    int64_t size = kWholeRange;  // points of a tile
    std::vector<int64_t> outs;   // a stride for each tensor written
    std::vector<int64_t> ins;    // a stride for each tensor read
    // Of a micro-kernel: the steps in elements that it takes, or kAnyStride; empty: all are any.
    std::vector<int64_t> out_steps, in_steps;
  };
  std::string name;  // for messages
  int64_t startup_cost = 0;
  std::vector<Index> idxs;
  size_t outs = 1;
  size_t ins = 0;
  // Set for a stencil that the hardware model describes; else null, and there are no operands. The
  // tile must then be exactly this instruction: a sum of products, of these types, without a
  // constraint, and without an uneven end unless these are `masked`.
  const Instruction* instruction = nullptr;
  bool masked = false;
  std::vector<const InstructionOperand*> out_operands;
  std::vector<const InstructionOperand*> in_operands;
};

// The instruction as rules; its indices of size 1 are left out. failed_precondition if it does not
// write exactly one operand.
Result<StencilRules> rules_of(const Instruction& instruction, int64_t startup_cost);

struct StencilMatch {
  // For each index of the stencil, the position of the block's index; nullopt: virtual, of range 1.
  std::vector<std::optional<size_t>> idxs;
  std::vector<size_t> outs;  // for each operand, the position of the block's refinement
  std::vector<size_t> ins;
  // All saturate. `points` is the product of number of tiles times points of a tile, over the
  // block's indices and the virtual ones. Indices that the stencil does not take have tiles of one
  // point.
  int64_t points = 0;
  int64_t tiles = 0;
  int64_t cost = 0;  // points + startup_cost * tiles

  // Points of a tile of the block's index.
  int64_t tile_of(const stripe::Block& block, const StencilRules& rules, size_t index) const;
};

// For each refinement of a block, a number of elements of which the place of the view around is a
// multiple, in the allocation: 0 says that it begins where the allocation does. Empty: all are 0.
using ViewStarts = std::vector<int64_t>;

// Is `a` better than `b`? The cheaper one is; of equals, the one with fewer tiles.
bool is_better(const StencilMatch& a, const StencilMatch& b);

// The best match. Among equals: the order of inputs that is nearest to the block's; then, for each
// index of the stencil in turn, the first index of the block. `even`: tiles must divide the ranges.
// `starts` decides which operands are aligned as a micro-kernel wants them.
std::optional<StencilMatch> match_stencil(const stripe::Block& block, const StencilRules& rules,
                                          bool even, const ViewStarts& starts = {});

// Why there is no match, one reason a line: operands that do not fit, then, for each index of the
// stencil without a partner, what rules out each index of the block.
std::vector<std::string> why_no_match(const stripe::Block& block, const StencilRules& rules,
                                      bool even, const ViewStarts& starts = {});

}  // namespace stria::passes
