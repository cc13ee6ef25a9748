// SPDX-License-Identifier: Apache-2.0
// Finds the part of a block that an operation of the hardware does at once: which index of the
// block is which of the stencil's, which view is which operand. By constraint matching: operands
// first, each dropping the indices that it rules out, then indices, cut off by a bound of the cost.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// How an index moves an operand, in elements of the flat access; 0: not at all.
inline constexpr int64_t kAnyStride = -1;  // also 0
// By ones, in one dimension that no other index of the stencil moves.
inline constexpr int64_t kOwnDim = std::numeric_limits<int64_t>::min();

inline constexpr int64_t kWholeRange = -1;

// What a stencil wants of a block. Borrows the instruction.
struct StencilRules {
  struct Index {
    std::string name;
    int64_t size = kWholeRange;  // points of a tile
    std::vector<int64_t> outs;   // a stride for each tensor written
    std::vector<int64_t> ins;    // a stride for each tensor read
  };
  std::string name;  // for messages
  int64_t startup_cost = 0;
  std::vector<Index> idxs;
  size_t outs = 1;
  size_t ins = 0;
  // Of one that the hardware model describes; else null, and no operands. The tile is then exactly
  // this instruction: products that are summed, of these types, no uneven end, no constraint.
  const Instruction* instruction = nullptr;
  std::vector<const InstructionOperand*> out_operands;
  std::vector<const InstructionOperand*> in_operands;
};

// The instruction as rules; its indices of size 1 are left out. failed_precondition with the reason
// if it has not one operand that it writes.
Result<StencilRules> rules_of(const Instruction& instruction, int64_t startup_cost);

struct StencilMatch {
  // For each index of the stencil the position of the block's; nothing: virtual, of range 1.
  std::vector<std::optional<size_t>> idxs;
  std::vector<size_t> outs;  // for each operand the position of the block's refinement
  std::vector<size_t> ins;
  // Saturated. Points: the product, over the block's indices and the virtual ones, of tiles * tile,
  // where indices that the stencil does not take have tiles of 1.
  int64_t points = 0;
  int64_t tiles = 0;
  int64_t cost = 0;  // points + startup_cost * tiles

  // Points of a tile of the block's index.
  int64_t tile_of(const stripe::Block& block, const StencilRules& rules, size_t index) const;
};

// Is `a` to be had rather than `b`? The cheaper one; then the one with fewer tiles.
bool is_better(const StencilMatch& a, const StencilMatch& b);

// The best match. Ties: the order of inputs that is nearest to the block's, then, index by index of
// the stencil, the block's first. `even`: tiles divide the ranges.
std::optional<StencilMatch> match_stencil(const stripe::Block& block, const StencilRules& rules,
                                          bool even);

// Why there is none, a line for each term: operands, then for each index of the stencil that has no
// partner what rules out each index of the block.
std::vector<std::string> why_no_match(const stripe::Block& block, const StencilRules& rules,
                                      bool even);

}  // namespace stria::passes
