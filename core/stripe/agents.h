// SPDX-License-Identifier: Apache-2.0
// What completes later, and who waits for it (docs/semantics.md, S16 to S19): barriers with phases,
// asynchronous blocks, roles.
#pragma once

#include "stria/stripe/block.h"

namespace stria::stripe {

// Text of programs with agents begins with "stripe 1.1": who reads 1.0 alone would take their tags
// for marks, and compute something else. Other text stays 1.0.
inline constexpr int kTextMinorOfAgents = 1;

bool is_wait(const Statement& stmt);    // `special wait(b)`
bool is_arrive(const Statement& stmt);  // `special arrive(; b)`
bool is_async(const Statement& stmt);   // a block tagged #async

// Is it an allocation of barriers with phases?
bool holds_phases(const Refinement& ref);

// Does the block begin agents, wait or arrive, or does a block in it?
bool has_agents(const Block& block);

}  // namespace stria::stripe
