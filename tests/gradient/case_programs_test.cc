// SPDX-License-Identifier: Apache-2.0
// The gradient of every program of tests/end_to_end/programs whose inputs may be fp64, by each of
// its real results. Its sizes are those of the program's case, its numbers are not: those are small
// whole numbers, of which many are equal. What has no derivative is refused, which is counted and
// must be rare.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "program_case.h"
#include "proof.h"

namespace stria::gradient_proof {
namespace {

using end_to_end::ProgramCase;

std::vector<Numbers> inputs_of(const ProgramCase& c, const Program& program) {
  end_to_end::Case filled(DataType::fp64, 1);
  c.fill(filled);
  std::vector<Numbers> out;
  for (const ProgramInput& input : program.inputs()) {
    const end_to_end::Grid& grid = filled.inputs().at(input.name);
    out.push_back(grid.type == DataType::fp64 ? distinct_numbers(grid.sizes, out.size() + 1)
                                              : Numbers{{grid.type, grid.sizes}, grid.values});
  }
  return out;
}

// Beside the largest programs the proof moves some elements of each input only.
constexpr int kElements = 12;

TEST(CasePrograms, GradientsAreThoseOfDifferences) {
  Result<Device> device = open_device("reference");
  ASSERT_TRUE(device.ok()) << device.status().message();
  int programs = 0, results = 0, refused = 0;
  Proof all;
  for (const ProgramCase& c : end_to_end::all_program_cases()) {
    SCOPED_TRACE(c.program);
    // Its derivative is not that of its values, on purpose: records_test.cc.
    if (c.program == std::string("reverse_grad")) continue;
    if (std::find(c.types->begin(), c.types->end(), DataType::fp64) == c.types->end()) continue;
    ++programs;
    Result<Program> program = Program::read(STRIA_SOURCE_DIR "/tests/end_to_end/programs/" +
                                            std::string(c.program) + ".tile");
    ASSERT_TRUE(program.ok()) << program.status().message();
    const std::vector<Numbers> inputs = inputs_of(c, *program);
    end_to_end::Case filled(DataType::fp64, 1);
    c.fill(filled);
    for (const auto& [name, grid] : filled.outputs()) {
      if (grid.type != DataType::fp64) continue;
      SCOPED_TRACE(name);
      ++results;
      Result<Proof> proof = prove(*device, *program, inputs, {.of = name, .elements = kElements});
      if (!proof.ok() && proof.status().message().find("no derivative") != std::string::npos) {
        ++refused;
        std::printf("%s, %s: %s\n", c.program, name.c_str(), proof.status().message().c_str());
        continue;
      }
      ASSERT_TRUE(proof.ok()) << proof.status().message();
      EXPECT_EQ(proof->wrong, 0) << proof->first_wrong;
      if (proof->irregular > 0)
        std::printf("%s, %s: %d of %d elements at kinks\n", c.program, name.c_str(),
                    proof->irregular, proof->irregular + proof->regular);
      all += *proof;
    }
  }
  std::printf(
      "%d programs, %d real results, %d without derivative; %d elements compared, %d at kinks\n",
      programs, results, refused, all.regular, all.irregular);
  EXPECT_GE(programs, 100);
  EXPECT_LE(refused, 5);
  EXPECT_LE(all.irregular_share(), 0.05);
}

}  // namespace
}  // namespace stria::gradient_proof
