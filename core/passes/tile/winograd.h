// SPDX-License-Identifier: Apache-2.0
// Computes convolutions of 3x3 taps and stride 1 with fewer products, in tiles of results. Values
// and taps are transformed and multiplied element by element: the sum over channels becomes a
// matrix product for each element of the transform. The products are then transformed back.
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
// A tile of 2x2 results takes 16 products where the sum takes 36, and one of 4x4 results takes 36
// where the sum takes 144.
//
// The results differ from the sum by more than its rounding. Let the sum have n products, and let v
// and k be the largest magnitudes of values and taps. The difference is then less than n * v * k *
// gamma(n + 20) times 7.2 for tiles of 2, and times 256 for tiles of 4. These factors are how much
// the matrices enlarge numbers at most. Here gamma(i) = i u / (1 - i u), and u is half a unit in
// the last place of 1. With random values in fp32 no error was above 5e-6 (tiles of 2) and 5e-5
// (tiles of 4) of the results' root mean square. An infinity or NaN reaches all results of its
// tile. The pass therefore runs only where it is asked for.
//
// A kernel qualifies if its sum runs over two windows of 3 of one input, in steps of 1, if its only
// constraints are the edges of that input, and if it writes every element of the other dimensions
// of its output. Uneven ends of the output become kernels of their own.
//
// Requires: nothing. Ensures: values within the bound above. Runs before split_prologue, which
// moves the transform of constant taps, and before all passes that shape kernels, which then shape
// these.
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
  int64_t min_channels = 32;  // input channels, and also output channels, at least
  int64_t min_tiles = 12;     // tiles that use the same taps, at least
  int64_t line_bytes = 0;     // of a cache line; 0: the calibration says
};

void describe(WinogradOptions& options, OptionFields& fields);
// invalid_argument for tiles of another size.
Status winograd(stripe::Program& program, const WinogradOptions& options, PassContext& context);

}  // namespace stria::passes
