// SPDX-License-Identifier: Apache-2.0
// Moves what depends on constants alone into the prologue, which runs once for each binding.
//
//   none const new W    none new A    none new R
//   0: #main (in const W, in A, out R, none new P) {
//     0: block (in W, out P) {…}
//     1: block (in A, in P, out R) {…}
//   }
//
//   none const new W    none new A    none new R    none const new P
//   0: #prologue (in W, out P) { 0: block (in W, out P) {…} }
//   1: #main (in A, in const P, out R) { 0: block (in A, in P, out R) {…} }
//
// A statement of #main moves if it reads only const inputs and results of other moved statements,
// and if only moved statements write what it writes. A result that #main still reads becomes a
// const tensor of the program. Such a tensor has at most `growth` times the bytes of the constants
// that it is computed from. It costs more to read a larger one in each run than to compute it
// again.
//
// Requires: nothing; it leaves a #placed program, and a #main that is ordered by dependencies, as
// they are. Ensures: the same values; an input that #main no longer reads is read by #prologue
// only. Runs after pack_inputs, whose copies of constants move, too, and before fusion, which would
// make one block of what is computed once and what is computed in each run.
#pragma once

#include <cstdint>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct SplitPrologueOptions {
  // A result of the prologue has at most so many times the bytes of the constants behind it.
  int64_t growth = 4;
};

void describe(SplitPrologueOptions& options, OptionFields& fields);
Status split_prologue(stripe::Program& program, const SplitPrologueOptions& options,
                      PassContext& context);

}  // namespace stria::passes
