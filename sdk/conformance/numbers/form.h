// SPDX-License-Identifier: Apache-2.0
// Programs as rows of tables: a name, the inputs in short, the Tile text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "numbers/program_cases.h"

namespace stria::conformance {

struct Form {
  // Of the case: "transpose.square".
  std::string name;
  // Items with ';' between: NAME[!][:TYPE] SIZES [VALUES [LIMIT]]. '!' marks a constant; without a
  // type it is that of the case. Sizes have ',' between, '-' stands for rank 0.
  //   "A 37,53; W! 53,29 near_one; I:i32 14 index 23"
  std::string inputs;
  std::string head;  // "A[M, K], B[K, N] -> R, S"
  std::string body;  // statements
};

// The program for elements of this type. `seed` sets the values.
TestProgram program_of(const Form& form, DataType type, uint32_t seed = 1);

// One case for each form and type: "PREFIX.NAME.TYPE".
void add_form_cases(CaseMaker& maker, const ProgramRule& rule, Level level, std::string_view prefix,
                    const std::vector<Form>& forms, const std::vector<DataType>& types);

// The text with each {NAME} replaced.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace stria::conformance
