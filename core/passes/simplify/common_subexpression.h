// SPDX-License-Identifier: Apache-2.0
// Computes equal values of one block once.
//
//   block [x:8] (in A[x], in B = A[x], out C[x]) {
//     0: $a = load(A); 1: $b = load(B); 2: $s = exp.fp32($a); 3: $t = exp.fp32($b)
//     4: $c = mul.fp32($s, $t); 5: C = store($c)
//   }
//   block [x:8] (in A[x], in B = A[x], out C[x]) {
//     0: $a = load(A); 1: $s = exp.fp32($a)
//     2: $c = mul.fp32($s, $s); 3: C = store($c)
//   }
//
// Equal are: constants, load_index statements of one affine form, intrinsics of equal operands (in
// any order, if the function is commutative), and loads of one element, if nothing writes its
// allocation between them. Scalars belong to one point of one block, so different blocks share
// nothing.
//
// Requires: nothing. Ensures: the same values. Runs after localize, scalarize and constant_fold,
// which make equal values visible, and before dead_code, which removes views that have lost their
// last use.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct CommonSubexpressionOptions {
  std::vector<std::string> reqs;  // tags of the blocks; their insides too; none = the whole program
  bool loads = true;              // share loads, too
};

void describe(CommonSubexpressionOptions& options, OptionFields& fields);
Status common_subexpression(stripe::Program& program, const CommonSubexpressionOptions& options,
                            PassContext& context);

}  // namespace stria::passes
