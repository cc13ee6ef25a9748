// SPDX-License-Identifier: Apache-2.0
#include "numbers/generated_cases.h"

#include "numbers/program_cases.h"
#include "numbers/program_generator.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kPrograms = 650;  // each aggregation of each combination in each type, twice
// Of every so many one is of level 2.
constexpr uint64_t kOneOf = 59;

}  // namespace

void add_generated_cases(CaseMaker& maker) {
  for (const Level level : {Level::right, Level::robust})
    for (uint64_t seed = 0; seed < kPrograms; ++seed)
      if ((seed % kOneOf == 0) == (level == Level::right))
        add_program_case(maker, {kWithinBound}, level, fmt::format("generated.seed_{}", seed),
                         [seed] { return generate_program(seed); });
}

}  // namespace stria::conformance
