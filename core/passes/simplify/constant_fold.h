// SPDX-License-Identifier: Apache-2.0
// Computes at compile time what depends on constants only, and drops operations that change no
// value.
//
//   none new@0x0 T[0] fp32(8:1)
//   0: block [x:8] (out T[x]) { 0: $z = (fp32)0; 1: T = store($z) }
//   1: block [x:8] (in A[x], in T[x], out C[x]) {
//     0: $a = load(A); 1: $t = load(T); 2: $s = sub.fp32($a, $t)
//     3: $h = (fp32)2; 4: $q = mul.fp32($h, $h)
//     5: $c = mul.fp32($s, $q); 6: C = store($c)
//   }
//
//   1: block [x:8] (in A[x], in T[x], out C[x]) {
//     0: $a = load(A); 1: $t = (fp32)0
//     2: $h = (fp32)2; 3: $q = (fp32)4
//     4: $c = mul.fp32($a, $q); 5: C = store($c)
//   }
//
// The identities are those of the functions' records (core/builtins). They are exact for every
// value, NaN and -0.0 included: x - 0.0 is x, but x + 0.0 is not, for it makes 0.0 of -0.0. A load
// from an allocation becomes a constant if all writes to it, by stores or by the special `zero`,
// are of that one constant. Elements that nothing has written do not matter, since nothing may read
// them. Inputs and outputs of the program are no such allocations.
//
// Requires: nothing. Ensures: the same values. Runs after localize and scalarize, which make
// scalars known, and before dead_code, which removes what has lost its last use.
//
// The binder already folds the constants of a Tile program, so no shipped pipeline runs it. It is
// for Stripe that other front ends make.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ConstantFoldOptions {
  std::vector<std::string> reqs;  // tags of the blocks; their insides too; none = the whole program
  bool intrinsics = true;         // intrinsics on constants, and load_index of a number
  bool identities = true;         // intrinsics whose value is one of their operands
  bool tensors = true;            // loads from allocations that hold one constant
};

void describe(ConstantFoldOptions& options, OptionFields& fields);
Status constant_fold(stripe::Program& program, const ConstantFoldOptions& options,
                     PassContext& context);

}  // namespace stria::passes
