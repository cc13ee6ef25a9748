// SPDX-License-Identifier: Apache-2.0
// The kernel tree as compact text, for golden tests and for reading what an emitter was given:
//
//   kernel scale (out O: fp32[64], in I: fp32[64]) parallel p in 0 .. 4, index i64 {
//     o = p * 16
//     v = I[o x16]
//     O[o x16] = v * broadcast(2.0 fp32)
//   }
//
// `M[o + 3 x16 by 4 if m]` are 16 elements of M, 4 apart, from element o + 3 on, those whose lane
// of m is true. Nothing reads this text back.
#pragma once

#include <string>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

std::string print(const Function& function);
std::string print(const ExprRef& expr, const Function& function);
// With what is inside it; ends in a line break.
std::string print(const Statement& statement, const Function& function);

}  // namespace stria::semtree
