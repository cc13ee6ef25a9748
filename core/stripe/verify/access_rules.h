// SPDX-License-Identifier: Apache-2.0
// The verifier's rules about executed loads and stores, one function each; access_check.cc walks
// the program and calls them. Used by the verifier only.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/verify/access_paths.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {

// What the rules know, and where they report.
struct Verdicts {
  const VerifyOptions& options;
  Findings& findings;
  VerifyReport& report;

  // A counted warning: "path: undecided whether `question` (why)".
  void undecided(const Place& place, const std::string& question, const Status& why);
  // "path: refinement `…`: undecided whether `question` (why)".
  void undecided(const Place& place, const Refinement& ref, const std::string& question,
                 const Status& why);
};

// The status of a question with numbers that are too large to compute with.
Status too_large();

// In all of these, `inside` has the accesses of the block and of those below it, and `level` is the
// block's.

// Points of parallel indices, lanes of a vector, and points that are under way at once in a
// pipeline do not touch one element (S2, S8, S13).
void check_races(const Place& place, const Level& level, const std::vector<Access>& inside,
                 Verdicts& verdicts);

// May points of a block at `depth` that differ in one of the variables combine into one element?
bool combines_across(const std::vector<Access>& inside, const std::vector<std::string>& variables,
                     int depth);

// In a located block that holds lane blocks: what one lane stores, another sees only after a
// barrier (S11).
void check_barriers(const Place& place, const Level& level, const std::vector<Access>& inside,
                    Verdicts& verdicts);
// In such a block, may lanes of one lane block combine into one element? True if that cannot be
// decided.
bool lanes_combine(const Level& level, const std::vector<Access>& inside);

// Poison that copies leave in the block's allocations is read nowhere (S10).
void check_poison(const Place& place, const Level& level, const std::vector<Access>& inside,
                  Verdicts& verdicts);
// Checks the accesses of the block's own statements: only a copy loads poison.
void check_clamped_loads(const Place& place, const std::vector<Access>& own, Verdicts& verdicts);

// A distributed allocation's map to owners and slots is injective (S12).
void check_owner_map(const Place& place, const Refinement& allocation, Verdicts& verdicts);
// At every point, the access is to an element that the executing lane owns (S12).
void check_owner(const Place& place, const Access& access, Verdicts& verdicts);
bool is_distributed(const Refinement& allocation);

// A #stencil block is the model's stencil of that name (S14), and a #micro_kernel block gives its
// function what that takes (S21).
void check_stencil(const Place& place, const std::vector<Access>& inside, Verdicts& verdicts);

// An operand of a stencil, as the block has it.
struct UsedOperand {
  const StencilOperand* operand = nullptr;
  const Refinement* ref = nullptr;
  const Access* access = nullptr;
  std::vector<std::string> variables;  // one for each of the operand's dims
};
// The steps and alignments of a #micro_kernel block's operands are those that its function takes
// (S21).
void check_micro_kernel_operand(const Place& place, const Stencil& stencil, const UsedOperand& used,
                                Findings& findings);

}  // namespace stria::stripe
