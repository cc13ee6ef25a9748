// SPDX-License-Identifier: Apache-2.0
// Cases that share programs: each looks at one output. A program is compiled and run once in a
// process, for drivers may need half a second to compile one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/all_cases.h"
#include "suite/program_run.h"

namespace stria::conformance {

// Called in the process that runs the case: a program's inputs may be large.
using MakeProgram = std::function<TestProgram()>;

struct ProgramCase {
  std::string name;    // of the case, without the group's letter
  std::string output;  // of the program
};

struct ProgramRule {
  std::string_view sentence;
  std::string_view source = "docs/semantics.md";
};

// Of group K. `key` names the program in this process.
void add_program_cases(CaseMaker& maker, const ProgramRule& rule, Level level,
                       const std::string& key, const std::vector<ProgramCase>& cases,
                       const MakeProgram& make);
// One case that looks at all outputs.
void add_program_case(CaseMaker& maker, const ProgramRule& rule, Level level,
                      const std::string& name, const MakeProgram& make);

// Rules of docs/semantics.md that many cases are about.
inline constexpr std::string_view kWithinBound =
    "A result of a device may differ from the fp64 value by at most the bound, and so may the "
    "interpreter's own typed value.";
inline constexpr std::string_view kEqual =
    "Integers and `bool` have no bound: they must be equal to the typed value.";
inline constexpr std::string_view kAggregation =
    "**M3. Aggregation.** An aggregation combines the values that go to one output element. `+` "
    "sums them, `*` multiplies them, `>` takes the largest and `<` the smallest.";
inline constexpr std::string_view kIdentity =
    "An identity (0, 1, lowest, highest) never shows in a result.";
// The one of the two that holds for results of this type.
constexpr ProgramRule rule_of(DataType result) {
  return {result == DataType::fp16 || result == DataType::bf16 || result == DataType::fp32 ||
                  result == DataType::fp64
              ? kWithinBound
              : kEqual};
}

// Every type that programs compute with.
std::vector<DataType> all_types();

}  // namespace stria::conformance
