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
// A stencil is a list of indices, each with the size of its tile (-1: the whole range) and a stride
// for each tensor that is written (`outs`) and read (`ins`): -1 is any stride, 0 too; every other
// number is exactly the elements that one step moves the flat access by, so 0 says that the tensor
// does not move with the index. Each index of the stencil takes an index of the block. Where the
// block has fewer indices than the stencil, those missing are virtual, of range 1: nothing moves
// with them, and the operation does the rest of its tile for nothing. Indices that the stencil does
// not take have tiles of one point. Inputs may change places if one operation joins them whose
// operands may (a product, a sum, a maximum); outputs stay in their order.
//
// Of all stencils and all matches the cheapest is taken: the product of tiles * tile over all
// indices, virtual ones too, plus startup_cost for each tile. Ties: fewer tiles; the earlier
// stencil; the inputs as the block has them; by index of the stencil, the block's first. With
// max_operand_KiB stencils come first whose operands are no larger, over a tile and all that is
// summed up: where sums stay in one piece, such tiles can be brought near.
//
// `{"unit": "CONV"}` stands for the instructions of that unit in the hardware model. Their tiles
// are S14's: the inner block is tagged `#stencil="name"` and its refinements are called as the
// operands. The block is then a sum of products in the instruction's types, the sizes divide the
// ranges (`pad` can see to that for sums), and no constraint names a tiled index
// (`split_interior`). Where lanes hold operands (fragments), the inner block is tagged
// `#fragments="name"` instead: it is the stencil when whoever gives the operands their owners calls
// it so.
//
// Requires: points of the block commute. Ensures: the same points run; an uneven tile of a stencil
// that is spelled out keeps its constraint. Runs on whole kernels, before autotile, which cuts what
// is outside the tile.
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
  std::string name;  // for reports; with a unit: the one instruction meant, "" = all of them
  std::string unit;  // execution unit of the model, whose instructions are stencils
  int64_t startup_cost = 0;  // of a tile, in points
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
  bool is_strict_dims = false;           // tiles divide the ranges, also of spelled out stencils
  int64_t max_operand_KiB = 0;           // see above; 0 = no limit
  bool copy_tags = false;                // the inner block also gets the block's own tags
};

void describe(TensorizeOptions& options, OptionFields& fields);
// invalid_argument: a stencil that contradicts itself. not_found: a unit or an instruction that the
// model does not have.
Status tensorize(stripe::Program& program, const TensorizeOptions& options, PassContext& context);

}  // namespace stria::passes
