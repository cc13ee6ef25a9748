// SPDX-License-Identifier: Apache-2.0
// The dependencies that compute_deps finds are enough, any order that they leave gives the same
// values, and none of them can be spared.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "stria/passes/all_passes.h"
#include "stria/rewrite/shared_bytes.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
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
                     model, pass_registry());
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
          R"({"tile": {"scalar": {"output": [2], "reduction": 1}}}, {"split_interior":
              {"expensive": []}}, )"}) {
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

// Allocations at random places of a few memories, each alive for some statements in a row.
std::string placed_program(std::mt19937_64& random) {
  static const char* const kPlaces[] = {"", "<SRAM[0]>", "<SRAM[1]>", "<SRAM>"};
  std::string allocations, statements;
  const size_t count = 2 + random() % 12;
  for (size_t n = 0; n < count; ++n)
    allocations += fmt::format("    none new@0x{:x}{} T{}[0] fp32({}:1)\n", 4 * (random() % 12),
                               kPlaces[random() % 4], n, 1 + random() % 8);
  for (size_t n = 0; n < 30; ++n) {
    const size_t first = random() % count, second = random() % count;
    statements += fmt::format("  {}: block [] (\n    in T{}[0] fp32(1:1)\n", n, first);
    if (second != first) statements += fmt::format("    in T{}[0] fp32(1:1)\n", second);
    statements += fmt::format("  ) {{\n 0: $t = load(T{})\n }}\n", first);
  }
  return "stripe 1.0\n0: #program #placed block [] (\n) {\n0: #main block [] (\n" + allocations +
         ") {\n" + statements + "}\n}\n";
}

using Closure = std::vector<std::set<size_t>>;

Closure closure(const std::vector<std::vector<size_t>>& waits) {
  Closure out(waits.size());
  for (size_t b = 0; b < waits.size(); ++b)
    for (const size_t a : waits[b]) {
      EXPECT_LT(a, b);
      out[b].insert(a);
      out[b].insert(out[a].begin(), out[a].end());
    }
  return out;
}

// The last users of bytes are enough: in the end each waits for those for which it would if it
// waited for all of them.
TEST(SharedBytes, LastUsersAreEnough) {
  std::mt19937_64 random(7);
  size_t pairs = 0, found = 0;
  for (int n = 0; n < 500; ++n) {
    const std::string text = placed_program(random);
    auto program = stripe::parse({"placed.stripe", text});
    ASSERT_TRUE(program.ok()) << program.status().to_string() << text;
    const Block& main = *program->main();
    const stripe::AllocationLives lives(program->entry);
    std::vector<std::vector<size_t>> all(main.stmts.size());
    const auto share = [&](size_t x, size_t y) {
      const stripe::LiveAllocation &a = lives.all()[x], &b = lives.all()[y];
      return x != y && a.ref->offset_bytes < b.ref->offset_bytes + b.bytes &&
             b.ref->offset_bytes < a.ref->offset_bytes + a.bytes && lives.may_be_one_memory(x, y);
    };
    const auto meet = [&](size_t a, size_t b) {
      for (const stripe::Refinement& left : main.stmts[a].block()->refs)
        for (const stripe::Refinement& right : main.stmts[b].block()->refs)
          if (share(std::stoul(left.from.substr(1)), std::stoul(right.from.substr(1)))) return true;
      return false;
    };
    for (size_t b = 0; b < all.size(); ++b)
      for (size_t a = 0; a < b; ++a)
        if (meet(a, b)) all[b].push_back(a);
    const auto last = SharedBytes(program->entry).of(main);
    EXPECT_EQ(closure(last), closure(all)) << text;
    for (const auto& waits : all) pairs += waits.size();
    for (const auto& waits : last) found += waits.size();
  }
  EXPECT_LT(found, pairs);
}

// In turn in two places: each waits for one.
TEST(SharedBytes, GrowWithTheProgram) {
  std::string allocations, statements;
  for (size_t n = 0; n < 3000; ++n) {
    allocations += fmt::format("    none new@0x{:x} T{}[0] fp32(8:1)\n", n % 2 * 32, n);
    statements += fmt::format(
        "  {0}: block [] (\n    in T{0}[0] fp32(1:1)\n  ) {{\n 0: $t = load(T{0})\n }}\n", n);
  }
  auto program = stripe::parse(
      {"placed.stripe", "stripe 1.0\n0: #program #placed block [] (\n) {\n0: #main block [] (\n" +
                            allocations + ") {\n" + statements + "}\n}\n"});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const auto last = SharedBytes(program->entry).of(*program->main());
  for (size_t n = 2; n < last.size(); ++n) EXPECT_EQ(last[n], std::vector<size_t>{n - 2});
}

}  // namespace
}  // namespace stria::passes
