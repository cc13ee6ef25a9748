// SPDX-License-Identifier: Apache-2.0
// Prefetches data before it is used. The option `what` says which data.
//
// next_point: what the next point of a loop reads and writes. The last statement that uses a tensor
// gets a mark: the distance in elements at which the next point finds what this one finds here. The
// statements before it have to wait for memory anyway, while this one computes or stores. If the
// last statement of a point is itself a loop over several blocks, the next point is that of this
// loop.
//
//   #kernel block [i:1024] (in A[i, 0] fp32(1:768, 768:1), out O[i, 0] …) {
//     0: block [j:48] (in A[0, 16*j] …) { #vector block [j:16] (in A[0, j] …) { a sum } }
//     1: block [j:48] (in A[0, 16*j] …) { #vector block [j:16] (in A[0, j] …) { … } }
//   }
//     1: block [j:48] (in A[0, 16*j] …) { #vector block [j:16] (#prefetch=768 in A[0, j] …) { … } }
//
// next_block: what the next block of tiles reads, while the tiles of this block run. After the last
// block of a row of blocks comes the first one of the next row, if the same core runs the loop over
// rows. Tiles that walk across their input touch one line in each row, far from the line before.
// Memory works best on whole rows, so whole rows are prefetched.
//
//   block [j:48] (in A[0, 256*j] fp32(64:12288, 256:1), out O[256*j, 0] …) {
//     0: #transposed block [j:16, i:4] (in A[16*i, 16*j] fp32(16:12288, 16:1), out O…) { a tile }
//   }
//     0: #transposed block [j:16, i:4] (in A[16*i, 16*j] …, out O…,
//                                   in A_next = A[0, 256] fp32(64:12288, 256:1)) {
//       0: block [j:1 = j, i:1 = i] (#fetch in A_next[4*j + i, 0] fp32(1:12288, 256:1)) {}
//       1: a tile
//     }
//
// epilogue: what a tile's epilogue reads and writes, while the tile's reduction runs. The rows of a
// tile lie too far apart for the processor's own prefetcher, and many requests at once wait for
// each other. So the reduction prefetches one row after the other. It does not do so at edges,
// where its steps test which rows the tile has.
//
//     0: block [] (…) { … 1: #tile block [c:64] (in A…, in B…, inout S_acc…) { a step } … }
//     1: #eltwise block [x:14, k:2] (in S, in R, out O) { O = max(S + R, 0) }
//
//     … 1: #tile block [c:16] (in A…, in B…, inout S_acc…, in R[0, 0], out O[0, 0]) {
//       0: block [c:1 = c] (13 - c >= 0; #fetch in R[c, 0] fp32(1:256, 32:1),
//                           #fetch out O[c, 0] fp32(1:256, 32:1)) {}
//       1: block [c:4] (in A…, in B…, inout S_acc…) { a step }
//     }
//
// A tensor is prefetched if the kernel touches more of it than caches keep: `percent` of one
// instance of `memory`.
//
// Requires: nothing; a kernel in which there is nothing to prefetch stays as it is. Ensures: points
// run in the same order and compute the same values. A mark changes no value, and neither does a
// view that is marked #fetch and used by no statement; emitters may ignore both. What they cover
// beyond the tensor is prefetched, but never read. Runs last, on the final loops and accesses, and
// after stream_stores, whose results are not prefetched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PrefetchOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a kernel must have
  std::string what = "next_point";             // "next_point", "next_block" or "epilogue"
  // Tags of blocks inside that are left alone, since their loops keep the memory busy already.
  std::vector<std::string> exclude;
  std::string loop;           // tag of the loop that prefetches; "": `what` decides
  std::string memory = "L2";  // memory unit of the model
  int64_t percent = -1;       // of one instance of it; -1: `what` decides
  // Distance from one point or block to the next, at least: the hardware fetches what is closer by
  // itself. -1: `what` decides.
  int64_t min_bytes = -1;
};

void describe(PrefetchOptions& options, OptionFields& fields);
// not_found or invalid_argument if the model has units but not this one; invalid_argument if an
// option means nothing for `what`.
Status prefetch(stripe::Program& program, const PrefetchOptions& options, PassContext& context);

}  // namespace stria::passes
