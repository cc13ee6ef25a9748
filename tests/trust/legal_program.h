// SPDX-License-Identifier: Apache-2.0
// Makes legal Stripe from a seed: what the rules of docs/semantics.md allow, not only what lowering
// and the passes make. Small: the interpreter takes about a millisecond. Legal by construction: the
// verifier is not asked, so that a refusal shows a mistake of it or of this generator.
//
// What may come: several kernels, a prologue, blocks nested to depth 4, uneven tiles, halos,
// constraints, brought-in indices, strided, negative and overlapping accesses, views that overhang,
// temporaries at every level, values handed from point to point, padded, permuted and swizzled
// layouts, all aggregations, also in a wider type, starting anywhere, reads of what is being
// written, chosen coordinates, load_index, zero and copy, work groups of lane blocks with barriers
// and with elements that lanes hold, #parallel, located, #vector, #unroll, #pipeline and #deps
// blocks, #zero_fill reads.
#pragma once

#include <cstdint>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::trust {

struct LegalOptions {
  int depth = 4;         // of blocks inside #main
  int kernels = 2;       // at most, beside those that write outputs first
  int64_t points = 150;  // that a leaf may run, over all blocks around it
};

stripe::Program legal_program(uint64_t seed, const LegalOptions& options = {});

// A machine with the units that the programs name: memories DRAM, SRAM[4] and REG, execution units
// CORE[2], CONV[2] and LANE[4].
HardwareModel small_machine();

}  // namespace stria::trust
