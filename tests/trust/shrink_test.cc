// SPDX-License-Identifier: Apache-2.0
// Planted mistakes of a pass in large generated programs shrink to a few lines that show them.
#include "stria/pass/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "known_intrinsics.h"
#include "legal_program.h"
#include "stria/interp/program_values.h"
#include "stria/pass/shrink_edits.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/stripe/walk.h"

namespace stria::trust {
namespace {

using stripe::Block;
using stripe::Place;
using stripe::Program;

using Mistake = std::function<void(Block&)>;

Program with(const Program& program, const Mistake& mistake) {
  Program out = program;
  stripe::visit_blocks(out.entry, [&](Block& block, const Place&) { mistake(block); });
  return out;
}

bool is_legal(const Program& program) {
  stripe::VerifyOptions options;
  options.intrinsics = &known_intrinsics();
  return stripe::verify(program, options).ok();
}

// Legal before and after, and the values differ.
bool changes_values(const Program& program, const Mistake& mistake) {
  if (!is_legal(program)) return false;
  const Program after = with(program, mistake);
  if (!is_legal(after)) return false;
  auto values = interp::run_on_random(program, 1);
  if (!values.ok()) return false;
  return static_cast<bool>(interp::difference(after, *values, interp::Same::within_bounds));
}

int64_t lines(const Program& program) {
  const std::string text = stripe::print(program);
  return std::count(text.begin(), text.end(), '\n');
}

// Lines of a program in which one block hands a value of one point on to the next under a second
// name, which some mistakes need to show: two blocks in a loop behind one that sets the start.
constexpr int64_t kHandsOn = 38;

// The first `count` programs that show the mistake become at most `mean` lines each in the mean,
// and no one more than kHandsOn.
void expect_small(const Mistake& mistake, int count, int64_t mean) {
  int64_t before = 0, after = 0;
  const int64_t limit = mean * count;
  for (uint64_t seed = 1; count > 0 && seed < 1000; ++seed) {
    const Program program = legal_program(seed);
    if (!changes_values(program, mistake)) continue;
    --count;
    ShrinkReport report;
    const Program small =
        shrink(program, [&](const Program& p) { return changes_values(p, mistake); }, {}, &report);
    EXPECT_TRUE(report.complete);
    EXPECT_TRUE(changes_values(small, mistake)) << "seed " << seed;
    EXPECT_LE(lines(small), kHandsOn) << "seed " << seed << "\n" << stripe::print(small);
    auto read = stripe::parse({"small", stripe::print(small)});
    EXPECT_TRUE(read.ok() && *read == small) << stripe::print(small);
    before += lines(program);
    after += lines(small);
  }
  EXPECT_EQ(count, 0) << "too few programs show the mistake";
  EXPECT_LE(after, limit);
  std::cout << before << " lines became " << after << "\n";
}

TEST(Shrink, ForgottenConstraints) {
  expect_small([](Block& block) { block.constraints.clear(); }, 5, 28);
}

TEST(Shrink, OtherAggregation) {
  expect_small(
      [](Block& block) {
        for (stripe::Refinement& ref : block.refs)
          if (ref.agg && ref.agg->op == stripe::AggOp::max) ref.agg->op = stripe::AggOp::add;
      },
      5, 28);
}

TEST(Shrink, SwappedOperands) {
  expect_small(
      [](Block& block) {
        for (stripe::Statement& stmt : block.stmts)
          if (auto* s = std::get_if<stripe::Intrinsic>(&stmt.op); s && s->name == "sub")
            std::reverse(s->inputs.begin(), s->inputs.end());
      },
      5, 28);
}

TEST(Shrink, TheSameAnswersGiveTheSameProgram) {
  auto has_zero = [](const Program& program) {
    return stripe::print(program).find("special zero") != std::string::npos && is_legal(program);
  };
  uint64_t seed = 1;
  while (!has_zero(legal_program(seed))) ++seed;
  const Program small = shrink(legal_program(seed), has_zero);
  EXPECT_EQ(stripe::print(shrink(legal_program(seed), has_zero)), stripe::print(small));
  EXPECT_EQ(stripe::print(shrink(small, has_zero)), stripe::print(small)) << "not the end";
  EXPECT_LE(lines(small), 12) << stripe::print(small);
}

TEST(Shrink, EndsWhenItIsTold) {
  const Program program = legal_program(1);
  ShrinkReport report;
  shrink(program, [](const Program&) { return false; }, {.max_tries = 3}, &report);
  EXPECT_EQ(report.tried, 3);
  EXPECT_FALSE(report.complete);
  shrink(program, [](const Program&) { return true; }, {.stop = [] { return true; }}, &report);
  EXPECT_EQ(report.tried, 0);
  EXPECT_EQ(shrink(program, [](const Program&) { return false; }), program);
}

// No step leaves a name that stands for nothing, so that most candidates are worth a try.
TEST(Shrink, EveryStepLeavesAWellFormedProgram) {
  int64_t steps = 0, legal = 0;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const Program program = legal_program(seed);
    for (const EditKind& kind : all_edit_kinds())
      for (const Edit& edit : kind(program)) {
        Program candidate = program;
        if (!edit(candidate)) continue;
        drop_dangling(candidate);
        ++steps;
        legal += is_legal(candidate);
        auto read = stripe::parse({"step", stripe::print(candidate)});
        ASSERT_TRUE(read.ok()) << read.status().to_string();
      }
  }
  std::cout << steps << " steps, " << legal << " to legal programs\n";
  EXPECT_GT(legal * 2, steps);
}

}  // namespace
}  // namespace stria::trust
