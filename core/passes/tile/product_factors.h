// SPDX-License-Identifier: Apache-2.0
// The two factors of a sum of products. Each is loaded, or computed from what is loaded.
//
//   block [m:8, n:8, k:8] (in A[m, k], in S[k], in B[k, n], out C[m, n]:add.fp32) {
//     $a = load(A); $s = load(S); $l = mul.fp16($a, $s)         the first factor: $l, of A and S
//     $b = load(B); $c = mul.fp32($l, $b); C = store($c)        the second factor: $b
//   }
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ProductFactor {
  std::string scalar;  // that is multiplied
  DataType type = DataType::fp32;
  std::vector<size_t> statements;  // of the block, that compute it, in order
  std::vector<std::string> views;  // refinements through which they load, in order
  std::string main;                // the view whose indices are all that the factor depends on
  int64_t operations = 0;          // intrinsics among the statements
  bool is_load() const { return statements.size() == 1; }
};

// Refuses a block that does anything but sum up products of two factors. A factor whose main view
// does not move with all of its indices is refused, too.
Refusal product_factors(const stripe::Block& block, std::array<ProductFactor, 2>& factors);

// The block with factors that are loaded through their main views, which get the types `types`.
stripe::Block with_loaded_factors(const stripe::Block& block,
                                  const std::array<ProductFactor, 2>& factors,
                                  const std::array<DataType, 2>& types);

}  // namespace stria::passes
