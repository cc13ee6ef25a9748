// SPDX-License-Identifier: Apache-2.0
// The Stripe programs of the golden tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::tags {

struct GoldenTest {
  std::string name;                              // "passes/prefetch/plain.test"
  std::string run;                               // what stands behind "// RUN:"
  std::optional<stripe::Program> input, output;  // those that are programs
};

// The tests of the folders that read or print Stripe, by name.
std::vector<GoldenTest> golden_tests();

// Calls `use` with the tags of each block, refinement, index and statement.
void visit_tags(stripe::Block& block, const auto& use) {
  use(block.tags);
  for (stripe::Index& index : block.idxs) use(index.tags);
  for (stripe::Refinement& ref : block.refs) use(ref.tags);
  for (stripe::Statement& stmt : block.stmts) {
    use(stmt.tags);
    if (stripe::Block* inner = stmt.block()) visit_tags(*inner, use);
  }
}

}  // namespace stria::tags
