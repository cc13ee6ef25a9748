// SPDX-License-Identifier: Apache-2.0
// The matching of stencils against plain enumeration: every order of inputs that may change places,
// every assignment of indices.
#include "stria/passes/tile/stencil_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stria/stripe/text/printer.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;

int64_t padded(int64_t range, int64_t size) {
  return size == kWholeRange ? range : ceil_div(range, size) * size;
}

// A product or a difference of two views into a third, over `n` indices.
Block random_block(std::mt19937& random, int64_t n, bool commutes) {
  auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  Block block;
  block.name = "kernel";
  for (int64_t i = 0; i < n; ++i)
    block.idxs.push_back({"i" + std::to_string(i), 1 + below(9), std::nullopt, {}});
  for (const char* name : {"A", "B", "C"}) {
    stripe::Refinement ref;
    ref.dir = name == std::string("C") ? RefDir::out : RefDir::in;
    ref.from = ref.into = name;
    Affine access;
    for (const stripe::Index& index : block.idxs) access.add_term(index.name, below(3));
    ref.access = {access};
    ref.shape = dense_shape(DataType::fp32, {1});
    if (ref.dir == RefDir::out) ref.agg = stripe::Aggregation{};
    block.refs.push_back(std::move(ref));
  }
  block.stmts.emplace_back(stripe::Load{"A", "a"});
  block.stmts.emplace_back(stripe::Load{"B", "b"});
  block.stmts.emplace_back(
      stripe::Intrinsic{commutes ? "mul" : "sub", DataType::fp32, {"c"}, {"a", "b"}});
  block.stmts.emplace_back(stripe::Store{"c", "C"});
  return block;
}

StencilRules random_rules(std::mt19937& random, int64_t k) {
  StencilRules rules;
  rules.ins = 2;
  rules.startup_cost = static_cast<int64_t>(random() % 3) * 5;
  auto stride = [&] { return static_cast<int64_t>(random() % 5 < 3 ? kAnyStride : random() % 3); };
  for (int64_t i = 0; i < k; ++i) {
    const int64_t size = random() % 3 == 0 ? kWholeRange : 1 + static_cast<int64_t>(random() % 5);
    rules.idxs.push_back({"s" + std::to_string(i), size, {stride()}, {stride(), stride()}});
  }
  return rules;
}

// The least (cost, tiles) of all matches.
std::optional<std::pair<int64_t, int64_t>> enumerate(const Block& block, const StencilRules& rules,
                                                     bool commutes, bool even) {
  std::optional<std::pair<int64_t, int64_t>> best;
  const size_t n = block.idxs.size(), k = rules.idxs.size();
  std::vector<size_t> order(std::max(n, k));  // positions from n on are virtual
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    for (int swapped = 0; swapped <= (commutes ? 1 : 0); ++swapped) {
      int64_t points = 1, tiles = 1;
      bool fits = true;
      std::vector<bool> taken(n, false);
      for (size_t s = 0; s < k && fits; ++s) {
        const StencilRules::Index& wanted = rules.idxs[s];
        const bool is_virtual = order[s] >= n;
        const int64_t range = is_virtual ? 1 : block.idxs[order[s]].range;
        const int64_t wants[] = {wanted.ins[0], wanted.ins[1], wanted.outs[0]};
        for (size_t r = 0; r < 3; ++r) {
          const size_t ref = r < 2 && swapped ? 1 - r : r;
          const int64_t have =
              is_virtual ? 0 : block.refs[ref].flat_access().coefficient(block.idxs[order[s]].name);
          fits = fits && (wants[r] == kAnyStride || wants[r] == have);
        }
        fits = fits && (!even || padded(range, wanted.size) == range);
        points *= padded(range, wanted.size);
        tiles *= wanted.size == kWholeRange ? 1 : ceil_div(range, wanted.size);
        if (!is_virtual) taken[order[s]] = true;
      }
      for (size_t i = 0; i < n; ++i)
        if (!taken[i]) {
          points *= block.idxs[i].range;
          tiles *= block.idxs[i].range;
        }
      const std::pair<int64_t, int64_t> cost(points + rules.startup_cost * tiles, tiles);
      if (fits && (!best || cost < *best)) best = cost;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(StencilMatch, FindsTheCheapestOfAll) {
  std::mt19937 random(7);
  int matches = 0, none = 0, with_virtual = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool commutes = random() % 2 == 0, even = random() % 4 == 0;
    const Block block = random_block(random, 1 + random() % 5, commutes);
    const StencilRules rules = random_rules(random, 1 + random() % 5);
    const auto wanted = enumerate(block, rules, commutes, even);
    const auto match = match_stencil(block, rules, even);
    ASSERT_EQ(match.has_value(), wanted.has_value()) << "round " << round;
    if (!match) {
      ++none;
      EXPECT_FALSE(why_no_match(block, rules, even).empty());
      continue;
    }
    ++matches;
    with_virtual += std::count(match->idxs.begin(), match->idxs.end(), std::nullopt) > 0;
    EXPECT_EQ(match->cost, wanted->first) << "round " << round;
    EXPECT_EQ(match->tiles, wanted->second) << "round " << round;
  }
  EXPECT_GT(matches, 500);
  EXPECT_GT(none, 500);
  EXPECT_GT(with_virtual, 100);
}

// Products of ranges beyond 64 bits: the numbers stop at the largest, the match is still found.
TEST(StencilMatch, HugeRanges) {
  std::mt19937 random(1);
  Block block = random_block(random, 3, true);
  for (stripe::Index& index : block.idxs) index.range = int64_t{1} << 40;
  StencilRules rules;
  rules.ins = 2;
  rules.startup_cost = 3;
  rules.idxs.push_back({"s", 4, {kAnyStride}, {kAnyStride, kAnyStride}});
  const auto match = match_stencil(block, rules, false);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->cost, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace stria::passes
