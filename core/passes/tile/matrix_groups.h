// SPDX-License-Identifier: Apache-2.0
// Cuts products of matrices into tiles for groups that have matrix units.
//
//   #kernel block [m:1024, n:512, k:256] (                        m: 128, n: 128, k: 32
//       in A[m, k] fp16(1:256, 1:1), in B[k, n] fp16(1:512, 1:1), out C[m, n]:add.fp32) { S }
//   #kernel #group #matrix #group_lanes=128 block [m:8, n:4, k:8] (
//       in A[128*m, 32*k], in B[32*k, 128*n], out C[128*m, 128*n]:add.fp32) {
//     0: #tile #fragments="name" #row_subgroups=2 block [
//            #stencil_m m:128, #stencil_n n:128, #stencil_k k:32] (
//            in A[m, k], in B[k, n], out C[m, n]:add.fp32) { S }
//   }
//
// A kernel gets such a tile if an instruction of `unit` computes its product, in these types; and
// if that takes less time than the same product without matrix units. Both times are predicted
// (core/cost/workgroup, matrix_time.h and group_time.h), from rates that the model states. So
// matrix units that are slower than other arithmetic are not used.
//
// Sizes of tiles divide the kernel's if those of the instruction do. Else the last tile goes beyond
// the end, with a constraint. A kernel with constraints of its own on these indices is left alone.
//
// A factor may be computed from several tensors (stage_operands), if its elements hang on no more
// indices than a matrix has, besides those outside of the tile. Its values must be values of the
// instruction's operand: nothing is rounded to it. What lanes load and compute for it counts.
//
// Which lane has which element of a matrix is not known. So what follows a product in its kernel
// must do the same with every element. Elementwise kernels of which that holds get `tail_set`: they
// read the product, or what another such kernel made of it, and all that they touch lies as a
// matrix of the same rows and columns.
//
// Requires: points of the block commute. Ensures: the same points run. Runs before autotile, which
// leaves these groups alone, and before the fusion of what follows; matrix_units gives the work to
// subgroups.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct MatrixGroupsOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a block must have
  std::vector<std::string> exclude = {"group"};               // and must not have
  std::string unit = "SUBGROUP";  // execution unit whose instructions multiply matrices
  std::string group = "CU";       // execution unit of a group
  std::string local = "LOCAL";    // memory unit that the lanes of a group share
  std::string registers = "REG";  // memory unit that each lane has of its own
  // What the same product is like without matrix units (cost::GroupForm).
  int64_t pipeline_depth = 1;
  bool parts = false, direct = false;
  std::vector<std::string> outer_set = {"group", "matrix"};  // tags added to the outer block
  std::vector<std::string> inner_set = {"tile"};             // tags of the inner block
  std::vector<std::string> tail_set = {"matrix_tail"};       // tags of kernels that may follow
  int64_t measure_top = 0;  // so many of the best tiles are timed; 0 = the cost decides
  // By how much the times of two builds of one kernel may differ, as in TileChoiceOptions.
  int64_t measure_margin_ns = 0;
};

void describe(MatrixGroupsOptions& options, OptionFields& fields);
// not_found if the model has units but not these; unsupported if `measure_top` is given and there
// is no device; fails if no candidate can be timed.
Status matrix_groups(stripe::Program& program, const MatrixGroupsOptions& options,
                     PassContext& context);

}  // namespace stria::passes
