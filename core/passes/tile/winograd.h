// SPDX-License-Identifier: Apache-2.0
// Computes convolutions of 3x3 taps and stride 1 with fewer products, in tiles of results: values
// and taps are transformed, multiplied element by element (sums over channels, a product of
// matrices for each element of the transform), and the products are transformed back.
//
//   #contraction #kernel block [ci:64, co:64, i:3, j:3, x:8, y:8] (                      tile: 4
//       -1 + i + y >= 0 …, in I[-1 + i + y, -1 + j + x, ci], in K[i, j, ci, co],
//       out O[y, x, co]:add …) { S }
//
//   none new I_padded[0, 0, 0] fp32(10:…, 10:…, 64:1)
//   none new I_values[0, 0, 0, 0] fp32(6:…, 6:…, 4:…, 64:1)
//   none new K_taps[0, 0, 0, 0] fp32(6:…, 6:…, 64:…, 64:1)
//   none new O_products[0, 0, 0, 0] fp32(6:…, 6:…, 4:…, 64:1)
//   #copy #kernel block [y:10, x:10, ci:64] (
//       #zero_fill in I[-1 + y, -1 + x, ci], out I_padded[y, x, ci]) {…}
//   #winograd #kernel block [ty:2, tx:2] (
//       in I_padded[4*ty, 4*tx, 0] …, out I_values[0, 0, tx + 2*ty, 0] …) {…}
//   #winograd #kernel block [ci:64] (in K[0, 0, ci, 0] …, out K_taps[0, 0, ci, 0] …) {…}
//   #contraction #kernel block [a:6, b:6, p:4, ci:64, co:64] (
//       in I_values[a, b, p, ci], in K_taps[a, b, ci, co], out O_products[a, b, p, co]:add …) { S }
//   #winograd #kernel block [ty:2, tx:2] (
//       in O_products[0, 0, tx + 2*ty, 0] …, out O[4*ty, 4*tx, 0] …) {…}
//
// Tiles of 2x2 results take 16 products where the sum takes 36, of 4x4 results 36 where it
// takes 144. Results differ from the sum's by more than its rounding: with n products in the sum
// and values and taps of magnitude v and k at most, by less than n * v * k * gamma(n + 20) times
// 7.2 for tiles of 2 and 256 for tiles of 4, what the matrices enlarge at most (gamma(i) =
// i u / (1 - i u), u half a unit in the last place of 1). Of random values no error was above 5e-6
// and 5e-5 of the results' root mean square in fp32. An infinity or NaN reaches all results of its
// tile. So it runs only where it is asked for.
//
// A kernel qualifies whose sum runs over two windows of 3 of one input, stepping by 1, has no other
// constraints than that input's edges, and writes every element of the other dimensions of its
// output. Uneven ends of the output are kernels of their own. Requires: nothing. Ensures: values
// within the bound above. Runs before split_prologue, which finds the transform of constant taps,
// and before all passes that shape kernels, which do so with these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct WinogradOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a kernel must have
  int64_t tile = 4;           // results of a tile along each of the two dimensions: 2 or 4
  int64_t min_channels = 32;  // values summed over, and results that share a value, at least
  int64_t min_tiles = 12;     // for which the same taps are used, at least
  int64_t line_bytes = 64;    // of a line of the caches
};

void describe(WinogradOptions& options, OptionFields& fields);
// invalid_argument for tiles of another size.
Status winograd(stripe::Program& program, const WinogradOptions& options, PassContext& context);

}  // namespace stria::passes
