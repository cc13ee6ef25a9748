// SPDX-License-Identifier: Apache-2.0
// Arenas of generated sets of lifetimes against the bound that nothing can beat: the most bytes
// alive at once.
#include "stria/base/arena.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

namespace stria {
namespace {

using Pieces = std::vector<ArenaPiece>;
constexpr uint64_t kAlignment = 256;

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  // 0 … n-1.
  size_t operator()(size_t n) { return random_() % n; }
  // Many small ones, few large ones.
  uint64_t bytes(size_t most_log2) {
    return (1u << (*this)(most_log2)) * (kAlignment + (*this)(200));
  }

 private:
  std::mt19937 random_;
};

void add(Pieces& pieces, uint64_t bytes, size_t first, size_t last) {
  pieces.push_back({bytes, first, last, 0});
}

struct Family {
  const char* name;
  std::function<Pieces(Random&)> make;
};

const Family kFamilies[] = {
    {"AnyLifetimes",
     [](Random& random) {
       Pieces pieces;
       const size_t count = 5 + random(120);
       for (size_t i = 0; i < count; ++i) {
         const size_t first = random(count);
         add(pieces, kAlignment * (1 + random(64)), first, first + random(1 + random(count)));
       }
       return pieces;
     }},
    {"ShortLifetimes",
     [](Random& random) {
       Pieces pieces;
       const size_t count = 5 + random(120);
       for (size_t i = 0; i < count; ++i) {
         const size_t first = random(count);
         add(pieces, random.bytes(10), first, first + random(6));
       }
       return pieces;
     }},
    {"ShortAndAFewLongLifetimes",
     [](Random& random) {
       Pieces pieces;
       const size_t count = 5 + random(120);
       for (size_t i = 0; i < count; ++i) {
         const size_t first = random(count);
         add(pieces, random.bytes(12), first, first + (random(8) > 0 ? random(4) : random(count)));
       }
       return pieces;
     }},
    {"ChainsWithSideResults",
     [](Random& random) {
       Pieces pieces;
       const size_t count = 5 + random(120);
       for (size_t i = 0; i < count; ++i) add(pieces, random.bytes(6), i, i + 1 + random(3));
       return pieces;
     }},
    {"ManyAliveAtFewTimes",
     [](Random& random) {
       Pieces pieces;
       const size_t count = 5 + random(120);
       for (size_t i = 0; i < count; ++i) {
         const size_t first = random(10);
         add(pieces, kAlignment * (1 + random(16)), first, first + random(10 - first));
       }
       return pieces;
     }},
    // Each piece ends just after the next one begins: what is freed is always a little too small.
    {"Staircases",
     [](Random& random) {
       Pieces pieces;
       const size_t count = 4 + random(40), a = 2 + random(5), b = 2 + random(7);
       for (size_t i = 0; i < count; ++i) {
         add(pieces, kAlignment * (1 + i % a), i, i + 2 + i % 3);
         add(pieces, kAlignment * (1 + (count - i) % b), i, i + 1);
       }
       return pieces;
     }},
    // Each layer of a block reads all layers before it.
    {"DenseBlocks",
     [](Random& random) {
       Pieces pieces;
       size_t time = 0;
       for (size_t blocks = 1 + random(4); blocks > 0; --blocks) {
         const size_t end = time + 3 + random(8);
         for (; time < end; ++time) add(pieces, kAlignment * (1 + random(40)), time, end);
         add(pieces, kAlignment * (1 + random(200)), end, end + 1);
         time = end + 1;
       }
       return pieces;
     }},
    {"AttentionLayers",
     [](Random& random) {
       Pieces pieces;
       const uint64_t bytes = 64 * 1024;
       size_t time = 0;
       for (size_t layers = 1 + random(6); layers > 0; --layers, time += 12) {
         add(pieces, bytes, time, time + 12);
         for (size_t head = 1; head <= 3; ++head) add(pieces, bytes, time + head, time + 5);
         add(pieces, bytes * 4 * (1 + random(3)), time + 5, time + 7);  // scores
         add(pieces, bytes * 4, time + 6, time + 8);
         add(pieces, bytes, time + 8, time + 9);
         add(pieces, bytes, time + 9, time + 13);
         add(pieces, bytes * 4, time + 10, time + 11);
         add(pieces, bytes * 4, time + 11, time + 12);
       }
       return pieces;
     }},
};

// Asserts that pieces alive together lie apart and inside the arena.
void check(const Pieces& pieces, uint64_t arena) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    ASSERT_EQ(pieces[i].offset % kAlignment, 0u);
    if (pieces[i].bytes > 0) {
      ASSERT_LE(pieces[i].offset + pieces[i].bytes, arena);
    }
    for (size_t j = 0; j < i; ++j) {
      const ArenaPiece &a = pieces[i], &b = pieces[j];
      if (a.last_use < b.first_use || b.last_use < a.first_use) continue;
      ASSERT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)
          << "pieces " << j << " and " << i;
    }
  }
}

class ArenaFamily : public testing::TestWithParam<Family> {};

TEST_P(ArenaFamily, TakesAtMostATenthMoreThanIsAliveAtOnce) {
  double worst = 1;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Pieces pieces = GetParam().make(random);
    const uint64_t least = peak_live_bytes(pieces, kAlignment);
    const uint64_t arena = place_pieces(pieces, kAlignment);
    check(pieces, arena);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    EXPECT_LE(static_cast<double>(arena), 1.1 * static_cast<double>(least)) << "seed " << seed;
    worst = std::max(worst, static_cast<double>(arena) / static_cast<double>(least));
  }
  std::printf("largest arena over bytes alive at once: %.3f\n", worst);
}

INSTANTIATE_TEST_SUITE_P(Families, ArenaFamily, testing::ValuesIn(kFamilies),
                         [](const auto& info) { return std::string(info.param.name); });

// Bottlenecks as in ResNet-50 at batch 1 of fp32: two narrow convolutions, a wide one, the sum with
// what came in.
TEST(Arena, AResidualNetworkNeedsNothingBeyondItsBound) {
  Pieces pieces;
  uint64_t wide = 56 * 56 * 256 * 4, all = 0;
  size_t time = 0, input = 0;
  auto step = [&](uint64_t bytes) {
    add(pieces, bytes, time, time + 1);
    ++time;
  };
  step(112 * 112 * 64 * 4);
  step(wide / 4);
  for (size_t blocks : {3, 4, 6, 3}) {
    for (size_t block = 0; block < blocks; ++block) {
      input = pieces.size() - 1;
      step(wide / 4);
      step(wide / 4);
      step(wide);
      pieces[input].last_use = time;  // the sum reads it too
      step(wide);
    }
    wide /= 2;
  }
  for (const ArenaPiece& piece : pieces) all += piece.bytes;
  const uint64_t arena = place_pieces(pieces, kAlignment);
  check(pieces, arena);
  EXPECT_EQ(arena, peak_live_bytes(pieces, kAlignment));
  EXPECT_LT(arena * 5, all);  // memory is used again and again
}

// What comes down on the left side of the U is alive until its level comes up on the right.
TEST(Arena, AUNetNeedsNothingBeyondItsBound) {
  for (size_t depth = 2; depth <= 6; ++depth) {
    Pieces pieces;
    std::vector<size_t> skips;
    size_t time = 0;
    uint64_t bytes = 512 * 512 * 64 * 4;
    for (size_t level = 0; level < depth; ++level, bytes /= 2) {
      for (int conv = 0; conv < 2; ++conv, ++time) add(pieces, bytes, time, time + 1);
      skips.push_back(pieces.size() - 1);
      add(pieces, bytes / 4, time, time + 1);  // pooled
      ++time;
    }
    while (!skips.empty()) {
      const size_t skip = skips.back();
      skips.pop_back();
      const uint64_t level_bytes = pieces[skip].bytes;
      add(pieces, level_bytes, time, time + 1);  // up
      ++time;
      add(pieces, 2 * level_bytes, time, time + 1);  // both sides
      pieces[skip].last_use = time++;
      for (int conv = 0; conv < 2; ++conv, ++time) add(pieces, level_bytes, time, time + 1);
    }
    const uint64_t arena = place_pieces(pieces, kAlignment);
    check(pieces, arena);
    EXPECT_EQ(arena, peak_live_bytes(pieces, kAlignment)) << "depth " << depth;
  }
}

TEST(Arena, PiecesAliveTogetherDoNotOverlap) {
  Pieces pieces = {{100, 0, 1, 0}, {100, 1, 2, 0}, {100, 2, 3, 0}, {0, 0, 9, 0}};
  EXPECT_EQ(place_pieces(pieces, 64), 256u);
  EXPECT_EQ(pieces[0].offset, pieces[2].offset);
  EXPECT_NE(pieces[0].offset, pieces[1].offset);
  EXPECT_EQ(peak_live_bytes(pieces, 64), 256u);
}

TEST(Arena, OfNothingIsEmpty) {
  Pieces none, empty = {{0, 0, 1, 7}};
  EXPECT_EQ(place_pieces(none, 64), 0u);
  EXPECT_EQ(peak_live_bytes(none, 64), 0u);
  EXPECT_EQ(place_pieces(empty, 64), 0u);
  EXPECT_EQ(empty[0].offset, 0u);
}

// a lives with b and c, which do not live with each other; d stays where it is.
TEST(Arena, PairsSayWhoIsAliveTogether) {
  Pieces pieces = {{64, 0, 2, 0}, {128, 0, 0, 0}, {32, 2, 2, 0}, {16, 0, 2, 64}};
  ArenaConflicts conflicts(pieces.size());
  conflicts.add(0, 1);
  conflicts.add(0, 2);
  conflicts.add(0, 3);
  conflicts.add(1, 3);
  EXPECT_TRUE(conflicts.between(3, 1));
  EXPECT_FALSE(conflicts.between(2, 3));
  const uint64_t least = peak_live_bytes(pieces, 16, conflicts);
  EXPECT_EQ(least, 64u + 128 + 16);
  EXPECT_EQ(place_pieces(pieces, 16, conflicts, {false, false, false, true}, least), least);
  EXPECT_EQ(pieces[3].offset, 64u);
  EXPECT_EQ(pieces[0].offset, 0u);
  EXPECT_EQ(pieces[1].offset, 80u);
}

TEST(Arena, IsTheSameEveryTime) {
  Random random(3);
  Pieces first = kFamilies[0].make(random), second = first;
  EXPECT_EQ(place_pieces(first, kAlignment), place_pieces(second, kAlignment));
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].offset, second[i].offset);
}

}  // namespace
}  // namespace stria
