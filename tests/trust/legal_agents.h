// SPDX-License-Identifier: Apache-2.0
// Makes programs of agents from a seed (S16 to S19): rows go through a chain of roles, from one
// ring of buffers to the next, some of them by asynchronous blocks. Legal by construction.
#pragma once

#include <cstdint>
#include <string>

namespace stria::trust {

struct AgentsProgram {
  std::string text;
  int64_t roles = 0, stages = 0, turns = 0;  // a ring has `stages` rows and is filled `turns` times
};
AgentsProgram agents_program(uint64_t seed);

}  // namespace stria::trust
