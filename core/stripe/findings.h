// SPDX-License-Identifier: Apache-2.0
// What the parts of the verifier share: the list of broken rules and the parts themselves, in the
// order in which they may run (each assumes that those before it found nothing). Used by the
// verifier only.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/verifier.h"
#include "stria/stripe/walk.h"

namespace stria::stripe {

class Findings {
 public:
  // "path: message"; dropped once the list is full.
  void add(const Place& place, const std::string& message);
  // "path: statement 2 `$x = load(A)`: message".
  void add(const Place& place, size_t statement, const std::string& message);
  // "path: refinement `in A[x] i8(1:1)`: message".
  void add(const Place& place, const Refinement& ref, const std::string& message);
  bool empty() const { return messages_.empty(); }
  bool full() const;
  Status status() const;

 private:
  std::vector<std::string> messages_;
};

// Names, scopes, types, ranks, directions, aggregations, numbers: everything but integer sets.
void check_structure(const Program& program, const VerifyOptions& options, Findings& findings);

// What depends on ranges and order: units inside their counts, dependencies sufficient in #deps
// blocks, arenas of a #placed program disjoint.
void check_order(const Program& program, const VerifyOptions& options, Findings& findings);

// Executed loads and stores inside their allocations; no race between points of parallel indices.
void check_accesses(const Program& program, Findings& findings, VerifyReport& report);

}  // namespace stria::stripe
