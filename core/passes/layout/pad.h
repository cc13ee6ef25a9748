// SPDX-License-Identifier: Apache-2.0
// Puts zeros around what a sum of products reads, so that the sum needs no constraint and its loops
// have rounder ranges.
//
//   none new T[0] fp32(64:1)                                                      64 values, 3 taps
//   #kernel block [x:64, k:3] (-1 + x + k >= 0, 64 - x - k >= 0, in T[-1 + x + k], …) { S }
//   none new T[0] fp32(66:1)              the other views of T begin at 1; T[0] and T[65] get zeros
//   #kernel block [x:64, k:3] (in T[x + k], …) { S }
//
// Without a constraint the block has more points. An added point multiplies by a zero outside of
// the tensor, and adds the product. That changes nothing if the product is exactly zero:
//
// - With integers it always is.
// - With floats 0 * infinity is not zero. So either every factor of an added point is such a zero,
// as at the tail of a sum, where both matrices end early; or there are two factors, and the other
// one is known to be finite: its tensor has one of the tags of `finite_refs`.
// - The sign of a zero does not show: a sum that starts here starts from +0, and adding -0 to it
// changes nothing. A sum of floats that continues from the tensor's content (`inout`) is left
// alone.
//
// An added point writes only elements that other points write anyway, or elements outside of the
// tensor.
//
// Ranges are rounded in two cases. A range of an index that is only summed over becomes a multiple
// of 8 if its largest prime factor is `prime_threshold` or more. A range of any index that
// `multiples` names becomes such a multiple. If the output moves with that index, the output tensor
// grows, too. The sums in its border mean nothing, so any operands will do for them, and no other
// kernel may expect zeros there. Then constraints are dropped one by one, as long as all of this
// holds.
//
// Only tensors that #main or #prologue allocate grow, and all their views get the new strides. A
// tensor that a special or a statement outside of kernels uses does not grow. The program's own
// tensors keep their shapes; with `copy_inputs`, a kernel that reads each element often enough gets
// a padded copy.
//
// Requires: nothing. Ensures: the same values, bit for bit. Runs before tensorize, whose tiles then
// have no uneven ends, and before memory is placed.
//
// No shipped pipeline runs it, since their devices can mask a tile. It is for matrix units and
// accelerators that cannot.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct PadOptions {
  std::vector<std::string> reqs = {"kernel", "contraction"};  // tags that a kernel must have
  // Ranges with a prime factor of this or more are rounded up; 0 = none.
  int64_t prime_threshold = 32;
  std::map<std::string, int64_t> multiples;  // by index: its range becomes a multiple of this
  std::vector<std::string> finite_refs;      // tags of tensors without infinities and NaN
  int64_t max_growth = 100;                  // percent by which a tensor may grow
  bool copy_inputs = false;                  // the program's tensors are copied where that pays
  int64_t min_reads = 16;                    // points of the kernel for each element copied
};

void describe(PadOptions& options, OptionFields& fields);
Status pad(stripe::Program& program, const PadOptions& options, PassContext& context);

}  // namespace stria::passes
