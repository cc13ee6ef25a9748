// SPDX-License-Identifier: Apache-2.0
// Cuts blocks into tiles of the size that an operation of the hardware does at once.
//
//   #agg_op_add #comb_op_mul block [i:64, j:32, k:48] (             m = i: 16, n = j: 8, k whole
//       in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   #agg_op_add #comb_op_mul #MMA block [#stencil #stencil_m i:4, #stencil #stencil_n j:4] (
//       in A[16*i, 0], in B[0, 8*j], out C[16*i, 8*j]:add.fp32) {
//     0: #MMA_inner block [#stencil #stencil_m i:16, #stencil #stencil_n j:8,
//                          #stencil #stencil_k k:48] (
//         in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   }
//
// A stencil is a list of indices. Each has the size of its tile (-1: the whole range) and a stride
// for each tensor that is written (`outs`) and read (`ins`). A stride of -1 is any stride, 0
// included. Every other number is exactly the number of elements by which one step moves the flat
// access; 0 says that the tensor does not move with the index.
//
// Each index of the stencil takes an index of the block. If the block has fewer indices, the
// missing ones are virtual, of range 1: no tensor moves with them, and the operation computes the
// rest of its tile in vain. Indices that the stencil does not take have tiles of one point. Inputs
// may change places if one operation with exchangeable operands (a product, a sum, a maximum)
// combines them. Outputs keep their order.
//
// Of all stencils and all matches the pass takes the cheapest. The cost is the product of number of
// tiles times points of a tile, over all indices, virtual ones too, plus startup_cost for each
// tile. Among equals it prefers fewer tiles; then the earlier stencil; then the order in which the
// block has its inputs; then, for each index of the stencil in turn, the block's first index. With
// max_operand_KiB, stencils are preferred whose operands are no larger than that, over a tile and
// everything that is summed up. If sums stay in one piece, such tiles can be copied into a
// scratchpad.
//
// `{"unit": "CONV"}` stands for the instructions of that unit in the hardware model. Their tiles
// follow S14: the inner block is tagged `#stencil="name"`, and its refinements have the names of
// the operands. The block must then be a sum of products in the instruction's types. Sizes must
// divide the ranges (`pad` can make them do so for sums), and no constraint may name a tiled index
// (`split_interior` can remove them). If lanes hold operands (fragments), the inner block is tagged
// `#fragments="name"` instead. It becomes a stencil when a later pass distributes the operands to
// the lanes and changes the tag.
//
// An instruction with a `symbol` is a micro-kernel, a function of the plugin. Its block stays as it
// is, what the function does, and gets the tag `#micro_kernel="function"` beside `#stencil` (S21).
// Its operands must have the steps and alignments that the model says; a block whose operands have
// others stays plain, and the report says why. An index of the function of any size takes the whole
// range, of two points at least. A later step that moves operands may spoil what the function
// wants, which the verifier finds: let this one run behind those that lay tensors out.
//
// Requires: points of the block commute. Ensures: the same points run. A tile of an instruction is
// never uneven; an uneven tile of another stencil keeps its constraint. Runs on whole kernels,
// before autotile, which cuts what is outside the tile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct StencilIndexOptions {
  std::string name;           // index tag `stencil_<name>`
  int64_t size = -1;          // points of a tile; -1 = the whole range
  std::vector<int64_t> outs;  // stride in each tensor written; -1 = any
  std::vector<int64_t> ins;   // stride in each tensor read; -1 = any
};

struct StencilOptions {
  std::string name;  // for reports; with a unit: the one instruction to use, "" = all of them
  std::string unit;  // execution unit of the model, whose instructions are stencils
  int64_t startup_cost = 0;  // cost of a tile, in points
  std::vector<StencilIndexOptions> idxs;
};

struct OperandTags {
  std::vector<std::string> tags;
};

struct TensorizeOptions {
  std::vector<std::string> reqs = {"contraction"};  // tags that a block must have
  std::vector<std::string> exclude;                 // a block that has one of these stays
  std::vector<StencilOptions> stencils;
  std::vector<std::string> outer_set;    // tags added to the outer block
  std::vector<std::string> inner_set;    // tags of the inner block
  std::vector<OperandTags> inputs_set;   // tags added to the tensors read, by operand
  std::vector<OperandTags> outputs_set;  // tags added to the tensors written, by operand
  bool is_strict_dims = false;           // tiles divide the ranges, also those of stencils in idxs
  int64_t max_operand_KiB = 0;           // see above; 0 = no limit
  bool copy_tags = false;                // the inner block also gets the block's own tags
};

void describe(TensorizeOptions& options, OptionFields& fields);
// invalid_argument: a stencil that contradicts itself. not_found: a unit or an instruction that the
// model does not have.
Status tensorize(stripe::Program& program, const TensorizeOptions& options, PassContext& context);

}  // namespace stria::passes
