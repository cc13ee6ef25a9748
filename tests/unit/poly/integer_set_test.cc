// SPDX-License-Identifier: Apache-2.0
// Integer sets against enumeration: random small sets, and the shapes that lowering asks about.
#include "stria/poly/integer_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace stria {
namespace {

using Point = std::vector<int64_t>;
using Points = std::set<Point>;

std::map<std::string, int64_t> named(const std::vector<std::string>& dims, const Point& point) {
  std::map<std::string, int64_t> out;
  for (size_t d = 0; d < dims.size(); ++d) out[dims[d]] = point[d];
  return out;
}

// All points of [low, high]^rank.
Points cube(size_t rank, int64_t low, int64_t high) {
  Points out{{}};
  for (size_t d = 0; d < rank; ++d) {
    Points next;
    for (const Point& p : out)
      for (int64_t v = low; v <= high; ++v) {
        next.insert(p);
        Point q = p;
        q.push_back(v);
        next.erase(p);
        next.insert(std::move(q));
      }
    out = std::move(next);
  }
  return out;
}

// What pieces() enumerates; fails the test if a point comes twice or an index is useless.
Points enumerate(const IntegerSet& set) {
  auto pieces = set.pieces();
  Points out;
  EXPECT_TRUE(pieces.ok()) << pieces.status().to_string();
  if (!pieces.ok()) return out;
  for (const SetPiece& piece : *pieces) {
    std::vector<std::string> names;
    Points at{{}};
    for (const auto& index : piece.indices) {
      EXPECT_GT(index.range, 1);
      names.push_back(index.name);
      Points next;
      for (Point p : at) {
        p.push_back(0);
        for (p.back() = 0; p.back() < index.range; ++p.back()) next.insert(p);
      }
      at = std::move(next);
    }
    for (const Point& p : at) {
      auto values = named(names, p);
      if (std::any_of(piece.constraints.begin(), piece.constraints.end(),
                      [&](const Affine& form) { return form.evaluate(values) < 0; }))
        continue;
      Point member;
      for (const Affine& form : piece.point) member.push_back(form.evaluate(values));
      EXPECT_TRUE(out.insert(member).second) << "a point twice, in " << set.to_string();
    }
  }
  return out;
}

struct Random {
  std::mt19937 engine;
  int64_t in(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
};

const std::vector<std::string> kNames = {"x", "y", "z"};

Affine random_form(Random& random, size_t rank, int64_t largest) {
  Affine form(random.in(-5, 6));
  for (size_t d = 0; d < rank; ++d) form.add_term(kNames[d], random.in(-largest, largest));
  return form;
}

// A random set inside [-4, 4]^rank and its points.
std::pair<IntegerSet, Points> random_set(Random& random, size_t rank) {
  std::vector<std::string> dims(kNames.begin(), kNames.begin() + static_cast<long>(rank));
  IntegerSet set = IntegerSet::empty(dims);
  Points points;
  for (int64_t part = random.in(1, 2); part > 0; --part) {
    std::vector<std::pair<std::string, Interval>> box;
    for (const std::string& name : dims) {
      int64_t low = random.in(-4, 2);
      box.emplace_back(name, Interval{low, std::min<int64_t>(4, low + random.in(0, 7))});
    }
    IntegerSet piece = IntegerSet::box(box);
    std::vector<Affine> ge, eq;
    for (int64_t i = random.in(0, 3); i > 0; --i) ge.push_back(random_form(random, rank, 3));
    if (random.in(0, 4) == 0) eq.push_back(random_form(random, rank, 3));
    for (const Affine& form : ge) piece.add_ge(form);
    for (const Affine& form : eq) piece.add_eq(form);
    for (const Point& p : cube(rank, -4, 4)) {
      auto values = named(dims, p);
      bool inside = true;
      for (size_t d = 0; d < rank; ++d)
        inside = inside && box[d].second.lower <= p[d] && p[d] <= box[d].second.upper;
      for (const Affine& form : ge) inside = inside && form.evaluate(values) >= 0;
      for (const Affine& form : eq) inside = inside && form.evaluate(values) == 0;
      if (inside) points.insert(p);
    }
    auto joined = set.unite(piece);
    set = *joined;
  }
  return {set, points};
}

TEST(IntegerSet, AgreesWithEnumeration) {
  Random random{std::mt19937(7)};
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    size_t rank = static_cast<size_t>(random.in(0, 3));
    auto [set, points] = random_set(random, rank);
    auto [other, others] = random_set(random, rank);
    SCOPED_TRACE(set.to_string());
    const auto& dims = set.dims();
    auto empty = set.is_empty();
    ASSERT_TRUE(empty.ok()) << empty.status().to_string();
    EXPECT_EQ(*empty, points.empty());

    Affine form = random_form(random, rank, 3);
    auto bounds = set.bounds(form);
    if (points.empty()) {
      EXPECT_EQ(bounds.status().code(), StatusCode::failed_precondition);
    } else {
      int64_t low = INT64_MAX, high = INT64_MIN;
      for (const Point& p : points) {
        low = std::min(low, form.evaluate(named(dims, p)));
        high = std::max(high, form.evaluate(named(dims, p)));
      }
      ASSERT_TRUE(bounds.ok()) << bounds.status().to_string();
      EXPECT_EQ(*bounds, (Bounds{low, high})) << form.to_string();
      EXPECT_EQ(*set.implies(form), low >= 0) << form.to_string();
      EXPECT_TRUE(*set.implies(form - Affine(low)));
      EXPECT_FALSE(*set.implies(form - Affine(low + 1)));
    }

    EXPECT_EQ(enumerate(set), points);
    EXPECT_EQ(*set.count_points(10000), static_cast<int64_t>(points.size()));
    if (points.size() > 1) {
      EXPECT_EQ(set.count_points(static_cast<int64_t>(points.size()) - 1).status().code(),
                StatusCode::out_of_range);
    }

    Points rest, both;
    std::set_difference(points.begin(), points.end(), others.begin(), others.end(),
                        std::inserter(rest, rest.end()));
    std::set_intersection(points.begin(), points.end(), others.begin(), others.end(),
                          std::inserter(both, both.end()));
    EXPECT_EQ(enumerate(*set.subtract(other)), rest);
    EXPECT_EQ(enumerate(*set.intersect(other)), both);
    EXPECT_EQ(*set.is_subset_of(other), rest.empty());
    EXPECT_EQ(*set.equals(other), points == others);

    for (const Point& p : cube(rank, -1, 1)) EXPECT_EQ(*set.contains(p), points.count(p) == 1);
  }
}

// Strips 0 <= f <= c in a box: pieces() takes them for coordinates, one after the other.
void expect_enumerated(const std::vector<Affine>& strips, const Interval& x, const Interval& y) {
  IntegerSet set({"x", "y"});
  for (const Affine& form : strips) set.add_ge(form);
  for (const auto& [name, range] : {std::pair{"x", x}, std::pair{"y", y}}) {
    set.add_ge(Affine::of(name) - range.lower);
    set.add_ge(Affine(range.upper) - Affine::of(name));
  }
  Points expected;
  for (int64_t i = x.lower; i <= x.upper; ++i)
    for (int64_t j = y.lower; j <= y.upper; ++j)
      if (std::all_of(strips.begin(), strips.end(),
                      [&](const Affine& form) { return form.evaluate({{"x", i}, {"y", j}}) >= 0; }))
        expected.insert({i, j});
  EXPECT_EQ(enumerate(set), expected) << set.to_string();
}

Affine form_of(int64_t constant, int64_t x, int64_t y) {
  return Affine(constant) + Affine::of("x", x) + Affine::of("y", y);
}

TEST(IntegerSet, ABoxIsKeptWhileStripsBecomeCoordinates) {
  expect_enumerated(
      {form_of(-6, 4, 1), form_of(18, -4, -1), form_of(-1, 3, -3), form_of(11, -3, 3)}, {2, 4},
      {-1, 2});
  expect_enumerated(
      {form_of(-4, 4, 1), form_of(17, -4, -1), form_of(-2, -4, 4), form_of(13, 4, -4)}, {1, 3},
      {2, 5});
  expect_enumerated({form_of(6, 3, -6), form_of(1, -3, 6), form_of(5, 3, 1), form_of(7, -3, -1)},
                    {-1, 2}, {0, 1});
}

TEST(IntegerSet, StripsInABoxAgreeWithEnumeration) {
  Random random{std::mt19937(3)};
  int enumerated = 0;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    std::vector<Affine> strips;
    IntegerSet set({"x", "y"});
    for (int64_t count = random.in(2, 3); count > 0; --count) {
      Affine form = form_of(random.in(-6, 6), random.in(-6, 6), random.in(-6, 6));
      if (form.terms().empty()) continue;
      strips.push_back(form);
      strips.push_back(Affine(random.in(4, 14)) - form);
    }
    for (const Affine& form : strips) set.add_ge(form);
    auto x = set.bounds(Affine::of("x")), y = set.bounds(Affine::of("y"));
    if (!x.ok() || !y.ok() || !x->lower || !x->upper || !y->lower || !y->upper) continue;
    expect_enumerated(strips, {*x->lower, *x->upper}, {*y->lower, *y->upper});
    ++enumerated;
  }
  EXPECT_GT(enumerated, 1000);
}

TEST(IntegerSet, ImagesProjectionsAndInjectivityAgreeWithEnumeration) {
  Random random{std::mt19937(11)};
  int injective_count = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    size_t rank = static_cast<size_t>(random.in(0, 3));
    auto [set, points] = random_set(random, rank);
    SCOPED_TRACE(set.to_string());
    std::vector<Affine> map;
    std::vector<std::string> names;
    for (int64_t i = random.in(0, 2); i >= 0; --i) {
      map.push_back(random_form(random, rank, 3));
      names.push_back(fmt::format("o{}", i));
    }
    Points image;
    for (const Point& p : points) {
      Point q;
      for (const Affine& form : map) q.push_back(form.evaluate(named(set.dims(), p)));
      image.insert(q);
    }
    auto mapped = set.image(names, map);
    ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
    EXPECT_EQ(enumerate(*mapped), image) << mapped->to_string();
    auto injective = set.is_injective(map);
    ASSERT_TRUE(injective.ok());
    EXPECT_EQ(*injective, image.size() == points.size());
    injective_count += *injective;
    // The rest of a box of the strided image: what a contraction leaves unwritten.
    std::vector<std::pair<std::string, Interval>> whole;
    for (const std::string& name : names) whole.emplace_back(name, Interval{0, 5});
    auto unwritten = IntegerSet::box(whole).subtract(*mapped);
    ASSERT_TRUE(unwritten.ok()) << unwritten.status().to_string();
    Points expected = cube(names.size(), 0, 5);
    for (const Point& p : image) expected.erase(p);
    EXPECT_EQ(enumerate(*unwritten), expected) << unwritten->to_string();
    // Those of the image that come from the cube [-1, 1]^rank.
    auto back = mapped->preimage(set.dims(), map);
    ASSERT_TRUE(back.ok());
    for (const Point& p : cube(rank, -1, 1)) {
      Point q;
      for (const Affine& form : map) q.push_back(form.evaluate(named(set.dims(), p)));
      EXPECT_EQ(*back->contains(p), image.count(q) == 1);
    }
    if (rank > 1) {
      Points shadow;
      for (const Point& p : points) shadow.insert({p[rank - 1], p[0]});
      auto projected = set.project_onto({kNames[rank - 1], kNames[0]});
      ASSERT_TRUE(projected.ok());
      EXPECT_EQ(enumerate(*projected), shadow);
    }
  }
  EXPECT_GT(injective_count, 20);
  EXPECT_LT(injective_count, 280);
}

TEST(IntegerSet, NeededConstraintsKeepTheSameAndNoneFollows) {
  Random random{std::mt19937(3)};
  for (int round = 0; round < 200; ++round) {
    IntegerSet box = IntegerSet::box({{"x", {0, 5}}, {"y", {0, 4}}});
    std::vector<Affine> constraints;
    for (int64_t i = random.in(0, 5); i > 0; --i) constraints.push_back(random_form(random, 2, 2));
    auto needed = box.needed(constraints);
    auto inside = [&](const std::vector<Affine>& forms) {
      Points out;
      for (const Point& p : cube(2, 0, 5))
        if (p[1] <= 4 && std::all_of(forms.begin(), forms.end(), [&](const Affine& form) {
              return form.evaluate(named({"x", "y"}, p)) >= 0;
            }))
          out.insert(p);
      return out;
    };
    EXPECT_EQ(inside(needed), inside(constraints));
    for (size_t i = 0; i < needed.size(); ++i) {
      auto fewer = needed;
      fewer.erase(fewer.begin() + static_cast<long>(i));
      EXPECT_NE(inside(fewer), inside(needed));
    }
  }
}

TEST(IntegerSet, ABoxIsOnePieceWithoutConstraints) {
  auto pieces = IntegerSet::box({{"i", {0, 9}}, {"j", {-2, 5}}, {"k", {3, 3}}}).pieces();
  ASSERT_TRUE(pieces.ok());
  ASSERT_EQ(pieces->size(), 1u);
  const SetPiece& piece = (*pieces)[0];
  EXPECT_EQ(piece.indices, (std::vector<SetPiece::Index>{{"i", 10}, {"j", 8}}));
  EXPECT_TRUE(piece.constraints.empty());
  EXPECT_EQ(piece.point, (std::vector<Affine>{Affine::of("i"), Affine::of("j") + -2, Affine(3)}));
}

// Multiples and a run of numbers: what the solver's library joins, 0, 1, 4 to 0, 1, 4, 5, is kept
// apart.
TEST(IntegerSet, PartsWithFloorsAreNotJoinedToMore) {
  for (int64_t step = 2; step <= 6; ++step)
    for (int64_t last = 0; last <= 3; ++last)
      for (int64_t run = 0; run <= 2 * step; ++run) {
        const auto multiples =
            IntegerSet::box({{"e", {0, last}}}).image({"x"}, {Affine::of("e", step)});
        ASSERT_TRUE(multiples.ok());
        const auto both = multiples->unite(IntegerSet::box({{"x", {0, run}}}));
        ASSERT_TRUE(both.ok());
        Points expected;
        for (int64_t e = 0; e <= last; ++e) expected.insert({e * step});
        for (int64_t x = 0; x <= run; ++x) expected.insert({x});
        EXPECT_EQ(enumerate(*both), expected) << step << " " << last << " " << run;
      }
}

TEST(IntegerSet, StridedSetsNeedNoConstraints) {
  IntegerSet all = IntegerSet::box({{"i", {0, 10}}});
  auto even = IntegerSet::box({{"e", {0, 5}}}).image({"i"}, {Affine::of("e", 2)});
  ASSERT_TRUE(even.ok());
  auto even_pieces = even->pieces();
  ASSERT_TRUE(even_pieces.ok());
  ASSERT_EQ(even_pieces->size(), 1u);
  EXPECT_EQ((*even_pieces)[0].indices, (std::vector<SetPiece::Index>{{"i", 6}}));
  EXPECT_TRUE((*even_pieces)[0].constraints.empty());
  EXPECT_EQ((*even_pieces)[0].point[0], Affine::of("i", 2));
  auto odd_pieces = all.subtract(*even)->pieces();
  ASSERT_TRUE(odd_pieces.ok());
  ASSERT_EQ(odd_pieces->size(), 1u);
  EXPECT_EQ((*odd_pieces)[0].indices, (std::vector<SetPiece::Index>{{"i", 5}}));
  EXPECT_TRUE((*odd_pieces)[0].constraints.empty());
  EXPECT_EQ((*odd_pieces)[0].point[0], Affine::of("i", 2) + 1);
}

TEST(IntegerSet, TwoOfThreeIsEnumeratedByBlocksOfThree) {
  IntegerSet all = IntegerSet::box({{"i", {0, 2999}}});
  auto third = IntegerSet::box({{"e", {0, 999}}}).image({"i"}, {Affine::of("e", 3)});
  auto pieces = all.subtract(*third)->pieces();
  ASSERT_TRUE(pieces.ok());
  int64_t volume = 0;
  for (const SetPiece& piece : *pieces) {
    int64_t box = 1;
    for (const auto& index : piece.indices) box *= index.range;
    volume += box;
    EXPECT_TRUE(piece.constraints.empty());
  }
  EXPECT_EQ(volume, 2000);
}

// The pairs of coordinates of one flat position in two shapes of the same size.
IntegerSet same_position(const std::vector<int64_t>& left, const std::vector<int64_t>& right) {
  std::vector<std::pair<std::string, Interval>> box;
  Affine difference;
  for (const auto* sizes : {&left, &right}) {
    int64_t stride = sizes == &left ? 1 : -1;
    for (size_t d = sizes->size(); d-- > 0; stride *= (*sizes)[d]) {
      box.emplace_back(fmt::format("{}{}", sizes == &left ? "a" : "b", d),
                       Interval{0, (*sizes)[d] - 1});
      difference.add_term(box.back().first, stride);
    }
  }
  IntegerSet set = IntegerSet::box(box);
  set.add_eq(difference);
  return set;
}

TEST(IntegerSet, NestedDivisionsNeedNoConstraints) {
  using Sizes = std::vector<int64_t>;
  for (const auto& [left, right] :
       std::vector<std::pair<Sizes, Sizes>>{{{6}, {2, 3}},
                                            {{2, 3}, {6}},
                                            {{2, 6}, {4, 3}},
                                            {{4, 6}, {2, 2, 3, 2}},
                                            {{2, 3, 4}, {6, 4}},
                                            {{24}, {2, 3, 4}},
                                            {{100, 60}, {10, 200, 3}}}) {
    auto pieces = same_position(left, right).pieces();
    ASSERT_TRUE(pieces.ok()) << pieces.status().to_string();
    ASSERT_EQ(pieces->size(), 1u);
    EXPECT_TRUE((*pieces)[0].constraints.empty())
        << testing::PrintToString(left) << testing::PrintToString(right);
    int64_t volume = 1, count = 1;
    for (const auto& index : (*pieces)[0].indices) volume *= index.range;
    for (int64_t size : left) count *= size;
    EXPECT_EQ(volume, count);
    if (count < 100) {
      EXPECT_EQ(enumerate(same_position(left, right)).size(), static_cast<size_t>(count));
    }
  }
  EXPECT_EQ(enumerate(same_position({4, 6}, {6, 4})).size(), 24u);
}

TEST(IntegerSet, FrameAroundABoxIsFourBoxes) {
  IntegerSet all = IntegerSet::box({{"x", {0, 99}}, {"y", {0, 99}}});
  IntegerSet inner = IntegerSet::box({{"x", {1, 98}}, {"y", {1, 98}}});
  auto pieces = all.subtract(inner)->pieces();
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(pieces->size(), 4u);
  for (const SetPiece& piece : *pieces) EXPECT_TRUE(piece.constraints.empty());
  EXPECT_EQ(*all.subtract(inner)->count_points(1000), 396);
}

TEST(IntegerSet, RankZeroUniverseAndEmpty) {
  IntegerSet point;
  EXPECT_FALSE(*point.is_empty());
  EXPECT_EQ(*point.count_points(1), 1);
  ASSERT_EQ(point.pieces()->size(), 1u);
  point.add_ge(Affine(-1));
  EXPECT_TRUE(*point.is_empty());
  EXPECT_TRUE(point.pieces()->empty());
  IntegerSet all({"x", "y"});
  EXPECT_FALSE(*all.is_empty());
  EXPECT_EQ(*all.bounds(Affine::of("x")), Bounds{});
  EXPECT_EQ(all.pieces().status().code(), StatusCode::out_of_range);
  EXPECT_EQ(all.count_points(10).status().code(), StatusCode::out_of_range);
  EXPECT_TRUE(*IntegerSet::empty({"x"}).is_empty());
  EXPECT_TRUE(*IntegerSet::box({{"x", {3, 2}}}).is_empty());
  EXPECT_TRUE(*IntegerSet::empty({"x"}).implies(Affine(-1)));
}

TEST(IntegerSet, HalfOpenAndCoupledBounds) {
  IntegerSet set({"x", "y"});
  set.add_ge(Affine::of("x") - 3);
  EXPECT_EQ(*set.bounds(Affine::of("x")), (Bounds{3, std::nullopt}));
  set.add_ge(Affine(10) - Affine::of("x") - Affine::of("y", 2));
  set.add_ge(Affine::of("y") - Affine::of("x"));
  EXPECT_EQ(*set.bounds(Affine::of("y")), (Bounds{3, 3}));
  EXPECT_EQ(*set.bounds(Affine::of("x")), (Bounds{3, 3}));
}

TEST(IntegerSet, NumbersBeyond64BitsAreErrorsNotAnswers) {
  IntegerSet set = IntegerSet::box({{"x", {0, INT64_MAX / 2}}, {"y", {0, INT64_MAX / 2}}});
  EXPECT_EQ(set.bounds(Affine::of("x", 4) + Affine::of("y")).status().code(),
            StatusCode::out_of_range);
  EXPECT_TRUE(*set.implies(Affine::of("x", 4) + Affine::of("y")));
  set.add_ge(Affine::of("x") + Affine::of("y") - 5);
  EXPECT_EQ(set.bounds(Affine::of("x", 4) + Affine::of("y")).status().code(),
            StatusCode::out_of_range);
}

TEST(IntegerSet, PiecesRefuseTheSmallestNumberOf64Bits) {
  IntegerSet point({"x"});
  point.add_eq(Affine(INT64_MIN) - Affine::of("x"));
  EXPECT_EQ(point.pieces().status().code(), StatusCode::out_of_range);
  IntegerSet slope = IntegerSet::box({{"x", {0, 9}}});
  slope.add_ge(Affine(5) + Affine::of("x", INT64_MIN));
  EXPECT_EQ(slope.pieces().status().code(), StatusCode::out_of_range);
}

TEST(IntegerSet, AHardQuestionEndsWithUnknown) {
  // A market split problem: equalities over 0/1 variables whose halves have to balance.
  Random random{std::mt19937(5)};
  std::vector<std::pair<std::string, Interval>> box;
  for (int i = 0; i < 40; ++i) box.emplace_back(fmt::format("k{}", i), Interval{0, 1});
  IntegerSet set = IntegerSet::box(box);
  for (int row = 0; row < 5; ++row) {
    Affine sum;
    int64_t total = 0;
    for (const auto& [name, interval] : box) {
      int64_t weight = random.in(0, 99);
      total += weight;
      sum.add_term(name, weight);
    }
    set.add_eq(sum - total / 2);
  }
  auto answer = set.is_empty();
  EXPECT_EQ(answer.status().code(), StatusCode::unknown);
  EXPECT_THAT(answer.status().message(), testing::HasSubstr("operations"));
}

TEST(IntegerSet, ValuesTravelBetweenThreads) {
  IntegerSet set = IntegerSet::box({{"x", {0, 9}}, {"y", {0, 9}}});
  set.add_ge(Affine::of("x") - Affine::of("y"));
  std::vector<std::thread> threads;
  std::vector<int64_t> counts(4);
  for (size_t i = 0; i < counts.size(); ++i)
    threads.emplace_back([&, i] {
      IntegerSet mine = set;
      mine.add_ge(Affine::of("x") * 2 - Affine::of("y") * 3 - static_cast<int64_t>(i));
      counts[i] = *mine.count_points(100);
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 1; i < counts.size(); ++i) EXPECT_LT(counts[i], counts[i - 1]);
}

}  // namespace
}  // namespace stria
