// SPDX-License-Identifier: Apache-2.0
// Sums over the lanes of several vectors at once: sixteen reductions of sixteen lanes as a
// transposing tree cost 30 shuffles and 15 additions, one by one they cost 64 and 64. Such groups
// end every tile of a contraction that is vectorised over its reduction index.
#pragma once

namespace llvm {
class Function;
}

namespace stria::llvm_cpu {

// Replaces llvm.vector.reduce.fadd calls (reassociation allowed, fp32, 8 or 16 lanes) of one basic
// block whose operands are all known before the first of them, in groups of 16, 8 and 4. True if it
// did.
bool group_reductions(llvm::Function& function);

}  // namespace stria::llvm_cpu
