// SPDX-License-Identifier: Apache-2.0
// Moves what depends on constants alone into the prologue, which a binding runs once.
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
// A statement of #main moves if all that it reads are const inputs and what other moved statements
// write, and if only moved statements write what it writes. What #main still reads of that becomes
// a const tensor of the program. Such a tensor must have at most `growth` times the bytes of the
// constants behind it: a larger one costs more to read in each run than it costs to make again.
// Requires: nothing; leaves a #placed program and a #main ordered by dependencies alone. Ensures:
// the same values; an input that #main no longer reads is one of #prologue only. Runs after
// pack_inputs, whose copies of constants move as well, and before fusion, which would make one
// block of what is computed once and what is computed in each run.
#pragma once

#include <cstdint>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct SplitPrologueOptions {
  int64_t growth = 4;  // bytes that #main reads for each byte of the constants behind, at most
};

void describe(SplitPrologueOptions& options, OptionFields& fields);
Status split_prologue(stripe::Program& program, const SplitPrologueOptions& options,
                      PassContext& context);

}  // namespace stria::passes
