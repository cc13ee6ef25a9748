// SPDX-License-Identifier: Apache-2.0
// From a bound Tile program to generic Stripe: kernel blocks for each statement, in program order,
// with exact index sets, and with no decision about any device. Rules M1 to M6 of docs/semantics.md
// become blocks here:
//
// * a contraction runs over exactly its valid index sets (`out` refinement with the aggregation);
// * what no valid index set writes is written by kernels of its own, 0 or the `default` tensor;
// * an elementwise statement is one block, whatever the size of its expression.
#pragma once

#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"
#include "stria/tile/bind/bound.h"

namespace stria {

// `program` is as bind makes it. The result has typed intrinsics, dense tensors, a block tagged
// #main and no locations. It names tensors as `program` does. A tensor without elements has no
// kernel. unknown or out_of_range (see integer_set.h), with the statement's place and excerpt, if
// its sets cannot be decided. `warnings`, if given, gets the contractions that leave a part of
// their output unwritten without a `default` (at most kMaxWarnings). Thread-safe.
Result<stripe::Program> lower(const tile::BoundProgram& program,
                              std::vector<Diagnostic>* warnings = nullptr);

}  // namespace stria
