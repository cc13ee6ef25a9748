// SPDX-License-Identifier: Apache-2.0
// Instructions of PTX as inline assembly, for the languages of the C family whose compilers take
// it: spellings for semtree::Dialect, by the key "instruction.<name>.<types of operands>".
#pragma once

#include "stria/semtree/c/dialect.h"

namespace stria::ptx {

// $0 to $3 are the registers of A, $4 and $5 of B, $6 to $9 of C.
inline void add_instructions(semtree::Dialect& dialect) {
  dialect.spellings["instruction.mma.m16n8k16.fp16.fp16.fp32"] = {
      "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" : \"+f\"($6), \"+f\"($7), \"+f\"($8), "
      "\"+f\"($9) : \"r\"($0), \"r\"($1), \"r\"($2), \"r\"($3), \"r\"($4), \"r\"($5))",
      {}};
}

}  // namespace stria::ptx
