// SPDX-License-Identifier: Apache-2.0
// Enlarges what a sum of products reads by zeros around it, so that the sum needs no constraint and
// runs over rounder ranges.
//
//   none new T[0] fp32(64:1)                                                      64 values, 3 taps
//   #kernel block [x:64, k:3] (-1 + x + k >= 0, 64 - x - k >= 0, in T[-1 + x + k], …) { S }
//   none new T[0] fp32(66:1)              the other views of T begin at 1; T[0] and T[65] get zeros
//   #kernel block [x:64, k:3] (in T[x + k], …) { S }
//
// The points that are added multiply by a zero beside the tensor, and add it: exact if the product
// is. For integers it is. For floats 0 * infinity is no zero, so every factor of an added point has
// to be such a zero (a sum's tail: both matrices end early), or the other one of two be known to be
// finite: a tensor with one of the tags of `finite_refs`. The sign of a zero tells nothing: a sum
// that starts here starts from +0, to which no -0 can be added that would be seen; floats that
// continue from what is there (`inout`) are left alone. No element of a tensor is written that was
// not: what the added points write, other points write, or it lies beside the tensor.
//
// Ranges of indices that are only summed over are rounded up where their largest prime factor is
// prime_threshold or more, to a multiple of 8; or of any index by name, to what `multiples` says.
// One that the output moves with makes that tensor larger, too, and the sums beside it mean
// nothing: any operands will do for them, but no other kernel finds zeros there. Then constraints
// are dropped, one after the other, as long as all this holds.
//
// Only tensors that #main or #prologue allocate grow, all views of them with the new strides; one
// that a special or a statement beside the kernels sees does not. The program's tensors keep their
// shapes; with `copy_inputs` a kernel that reads each element often enough gets a copy with the
// zeros around it. Requires: nothing. Ensures: the same values, bit for bit. Runs before tensorize,
// whose tiles have no uneven ends then, and before memory is placed.
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
  int64_t prime_threshold =
      32;  // ranges with a prime factor of this or more are rounded up; 0 = none
  std::map<std::string, int64_t> multiples;  // by index: its range becomes a multiple of this
  std::vector<std::string> finite_refs;      // tags of tensors without infinities and NaN
  int64_t max_growth = 100;                  // percent by which a tensor may grow
  bool copy_inputs = false;                  // the program's tensors are copied where that pays
  int64_t min_reads = 16;                    // points of the kernel for each element copied
};

void describe(PadOptions& options, OptionFields& fields);
Status pad(stripe::Program& program, const PadOptions& options, PassContext& context);

}  // namespace stria::passes
