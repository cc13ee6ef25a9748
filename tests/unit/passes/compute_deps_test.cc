// SPDX-License-Identifier: Apache-2.0
// The dependencies that compute_deps finds are enough, any order that they leave gives the same
// values, and none of them can be spared.
#include <gtest/gtest.h>

#include <random>

#include "stria/passes/all_passes.h"
#include "stria/passes/statement_list.h"
#include "stria/stripe/printer.h"
#include "stria/stripe/verifier.h"
#include "tile_case.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

using stripe::Block;

// An order of the block's statements that its dependencies allow.
std::vector<size_t> any_order(const Block& block, std::mt19937_64& random) {
  std::vector<size_t> order;
  std::vector<bool> done(block.stmts.size());
  while (order.size() < done.size()) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < done.size(); ++i) {
      bool free = !done[i];
      for (int64_t dep : block.stmts[i].deps) free = free && done[static_cast<size_t>(dep)];
      if (free) ready.push_back(i);
    }
    order.push_back(ready[random() % ready.size()]);
    done[order.back()] = true;
  }
  return order;
}

// Statements that now stand elsewhere.
int64_t shuffle(Block& block, std::mt19937_64& random) {
  int64_t moved = 0;
  if (block.tags.has("deps")) {
    const std::vector<size_t> order = any_order(block, random);
    for (size_t i = 0; i < order.size(); ++i) moved += order[i] != i;
    reorder_statements(block, order);
  }
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) moved += shuffle(*inner, random);
  return moved;
}

// Calls visit(block) for #deps blocks.
void each_ordered(Block& block, const std::function<void(Block&)>& visit) {
  if (block.tags.has("deps")) visit(block);
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) each_ordered(*inner, visit);
}

struct Totals {
  int64_t dependencies = 0, moved = 0;
};

// `steps` come before compute_deps.
void check(const std::string& steps, TileProgram& original, std::mt19937_64& random,
           Totals& totals) {
  const HardwareModel model = small_model(16, 8);
  auto pipeline =
      parse_pipeline({"pipeline", "[" + steps + R"({"compute_deps": {"inside": true}}])"}, {},
                     model, all_passes());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().to_string();
  stripe::Program ordered = original.generic;
  auto reports = run_pipeline(ordered, *pipeline, model, {.verify_each = true});
  ASSERT_TRUE(reports.ok()) << reports.status().to_string() << "\n" << stripe::print(ordered);
  ASSERT_EQ(reports->back().counters.count("undecided"), 0u);
  for (int round = 0; round < 3; ++round) {
    stripe::Program shuffled = ordered;
    totals.moved += shuffle(shuffled.entry, random);
    ASSERT_TRUE(stripe::verify(shuffled).ok()) << stripe::verify(shuffled).to_string() << "\n"
                                               << stripe::print(shuffled);
    ASSERT_EQ(wrong_values(shuffled, original), "") << stripe::print(shuffled);
  }
  each_ordered(ordered.entry, [&](Block& block) {
    for (stripe::Statement& stmt : block.stmts)
      for (size_t d = 0; d < stmt.deps.size(); ++d) {
        const std::vector<int64_t> all = stmt.deps;
        stmt.deps.erase(stmt.deps.begin() + static_cast<ptrdiff_t>(d));
        ++totals.dependencies;
        EXPECT_FALSE(stripe::verify(ordered).ok())
            << "dependency on " << all[d] << " is not needed\n"
            << stripe::print(ordered);
        stmt.deps = all;
      }
  });
}

TEST(ComputeDeps, EnoughAndNoneTooMany) {
  std::mt19937_64 random(11);
  Totals totals;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    differential::GeneratedProgram generated = differential::generate(seed);
    std::map<std::string, tile::TensorType> inputs;
    std::map<std::string, std::vector<Scalar>> values;
    for (size_t i = 0; i < generated.inputs.size(); ++i) {
      inputs[generated.inputs[i].name] = {generated.inputs[i].type, generated.inputs[i].sizes};
      values[generated.inputs[i].name] = generated.input_values[i];
    }
    auto program = make_program(generated.tile_text(), inputs, values);
    if (!program.ok()) continue;
    for (const char* steps :
         {"", R"({"vectorize": {"min_range": 2}}, {"agg_init": {}}, )",
          R"({"autotile": {"scalar": {"output": [2], "reduction": 1}}}, {"split_interior":
              {"dear": []}}, )"}) {
      check(steps, *program, random, totals);
      ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure())
          << "seed " << seed << ", steps " << steps << "\n"
          << generated.tile_text();
    }
  }
  std::cout << totals.dependencies << " dependencies, " << totals.moved << " statements moved\n";
  EXPECT_GT(totals.dependencies, 1000);
  EXPECT_GT(totals.moved, 500);
}

}  // namespace
}  // namespace stria::passes
