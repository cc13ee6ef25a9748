// SPDX-License-Identifier: Apache-2.0
// The verifier's rules about executed loads and stores, one function each; access_check.cc walks
// the program and calls them. Used by the verifier only.
#pragma once

#include <string>
#include <vector>

#include "stria/stripe/verify/access_paths.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {

// What the rules know and where they report.
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

// A number that is too large to compute with.
Status too_large();

// In all of these `inside` has the accesses of the block and of those below it, `level` is the
// block's.

// Points of parallel indices, lanes of a vector, and points that are under way at once in a
// pipeline do not touch one element (S2, S8, S13).
void check_races(const Place& place, const Level& level, const std::vector<Access>& inside,
                 Verdicts& verdicts);

// Whether points of a block at `depth` that differ in one of the variables may combine into one
// element.
bool combines_across(const std::vector<Access>& inside, const std::vector<std::string>& variables,
                     int depth);

// In a located block that holds lane blocks: what one lane stores, another sees only after a
// barrier (S11).
void check_barriers(const Place& place, const Level& level, const std::vector<Access>& inside,
                    Verdicts& verdicts);
// Whether in such a block lanes of one lane block may combine into one element. True where it
// cannot be decided.
bool lanes_combine(const Level& level, const std::vector<Access>& inside);
// Whether the block has a location and below it, with blocks between that number no units, there is
// one that does.
bool holds_lane_blocks(const Block& block);

// Poison that copies leave in the block's allocations is read nowhere (S10).
void check_poison(const Place& place, const Level& level, const std::vector<Access>& inside,
                  Verdicts& verdicts);
// Of the accesses of the block's own statements: only a copy loads poison.
void check_clamped_loads(const Place& place, const std::vector<Access>& own, Verdicts& verdicts);

// A distributed allocation's map to owners and slots is injective (S12).
void check_owner_map(const Place& place, const Refinement& allocation, Verdicts& verdicts);
// The access, at every point, is of an element of the lane that executes it (S12).
void check_owner(const Place& place, const Access& access, Verdicts& verdicts);
bool is_distributed(const Refinement& allocation);

// A #stencil block is the model's stencil of that name (S14).
void check_stencil(const Place& place, const std::vector<Access>& inside, Verdicts& verdicts);

}  // namespace stria::stripe
