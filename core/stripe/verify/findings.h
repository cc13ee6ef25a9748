// SPDX-License-Identifier: Apache-2.0
// What the parts of the verifier share: the list of broken rules, and the parts themselves in the
// order in which they run. Each assumes that those before it found nothing. For the verifier only.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/verify/verifier.h"
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

// Barriers with phases, asynchronous blocks, roles: what they are made of and where they stand.
void check_agents(const Program& program, Findings& findings);

// Dependencies sufficient in #deps blocks; units, pipelines and stencils as the model has them.
void check_order(const Program& program, const VerifyOptions& options, Findings& findings);

// What a #micro_kernel block is made of, and where it stands (S21).
void check_micro_kernel(const Place& place, const VerifyOptions& options, Findings& findings);

// Arenas of a #placed program disjoint and inside their memories.
void check_arenas(const Program& program, const VerifyOptions& options, Findings& findings);

// Where barriers stand, and what stands beside lane blocks.
void check_standing(const Program& program, Findings& findings);

// Executed loads and stores: inside their allocations, by the owner, without races, in the order of
// barriers, of no poison; stencils as the model has them.
void check_accesses(const Program& program, const VerifyOptions& options, Findings& findings,
                    VerifyReport& report);

}  // namespace stria::stripe
