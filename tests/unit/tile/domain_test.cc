// SPDX-License-Identifier: Apache-2.0
// Exact index ranges, against enumeration.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "programs.h"
#include "stria/tile/bind/index_domain.h"

namespace stria::tile {
namespace {

using ::testing::HasSubstr;

// Binds one statement over I[N], I2[M, L] and prints its domain.
std::string domain_of(const std::string& statement, int64_t n = 10, int64_t m = 6, int64_t l = 5) {
  auto bound = bind_text("function (I[N], J[M, L]) -> (O) { " + statement + "; }",
                         {{"I", {DataType::fp32, {n}}}, {"J", {DataType::fp32, {m, l}}}});
  return bound.ok() ? domain_text(contraction_of(*bound)) : bound.status().message();
}

TEST(Domain, Boxes) {
  EXPECT_EQ(domain_of("O[] = +(I[i])"), "i:0..9");
  EXPECT_EQ(domain_of("O[] = +(I[i - 3])"), "i:3..12");
  EXPECT_EQ(domain_of("O[] = +(I[-i])"), "i:-9..0");
  EXPECT_EQ(domain_of("O[i : N] = +(I[i + 2])"), "i:0..7");
  EXPECT_EQ(domain_of("O[3 * i : N] = +(I[2 * i + 1])"), "i:0..3");
  EXPECT_EQ(domain_of("O[i : 3] = +(J[j, i])"), "i:0..2 j:0..5");
  EXPECT_EQ(domain_of("O[i, k : N, 4] = +(I[i])"), "i:0..9 k:0..3");
  EXPECT_EQ(domain_of("O[] = +(I[3])"), "");
}

TEST(Domain, CoupledRules) {
  EXPECT_EQ(domain_of("O[i : N / 2] = >(I[2 * i + j]), j < 2"), "i:0..4 j:0..1");
  EXPECT_EQ(domain_of("O[i : N / 2] = >(I[2 * i + j])"), "i:0..4 j:-8..9 | 2*i + j | 9 - 2*i - j");
  EXPECT_EQ(domain_of("O[i : (N + 1) / 2] = >(I[2 * i + j]), j < 2", 5),
            "i:0..2 j:0..1 | 4 - 2*i - j");
  EXPECT_EQ(domain_of("O[i : N] = +(I[k]), i - k < N"), "i:0..9 k:0..9 | i - k");
  EXPECT_EQ(domain_of("O[i : N] = +(I[i - j]), j < N"), "i:0..9 j:0..9 | i - j");
  EXPECT_EQ(domain_of("O[x : N] = +(I[x + i - 1]), i < 3"),
            "i:0..2 x:0..9 | -1 + i + x | 10 - i - x");
  // The ends of i and j are not reached together, yet each is.
  EXPECT_EQ(domain_of("O[] = +(J[i + j, i - j])"),
            "i:0..4 j:-2..2 | i + j | 5 - i - j | i - j | 4 - i + j");
}

TEST(Domain, Fractions) {
  EXPECT_EQ(domain_of("O[i : N] = +(I[i / 2])"), "i:0..8");
  EXPECT_EQ(domain_of("O[i : N] = +(I[(i + 1) / 3])"), "i:2..8");
  EXPECT_EQ(domain_of("O[i / 2 : N] = +(I[i / 3])"), "i:0..18");
  EXPECT_EQ(domain_of("O[i : N] = +(I[(2 * i) / 2])"), "i:0..9");
  EXPECT_EQ(domain_of("O[] = +(I[(2 * i + 1) / 2])"), "empty");
  // A form without an index truncates like a size.
  EXPECT_EQ(domain_of("O[i : 3] = +(I[i + M / 4])"), "i:0..2");
  EXPECT_EQ(domain_of("O[i : N] = +(I[i]), i / 2 < 2"), "i:0..3");
}

TEST(Domain, AFormWhoseIndicesCancelKeepsItsDivisor) {
  // (i + 1) / 2 - i / 2 is one half.
  EXPECT_EQ(domain_of("O[i : N] = +(I[i + ((i + 1) / 2 - i / 2) * 4])"), "i:0..7");
  EXPECT_EQ(domain_of("O[] = +(I[i * ((i + 1) / 2 - i / 2)])"), "i:0..18");
  EXPECT_EQ(domain_of("O[] = +(I[i / ((i + 1) / 2 - i / 2)])"), "i:0..4");
  EXPECT_EQ(domain_of("O[] = +(I[(i + 1 - i) / 2]), i < 3"), "empty");
  EXPECT_THAT(domain_of("O[] = +(I[j / (i - i)]), i < 3"),
              HasSubstr("division of an index form by zero"));
}

TEST(Domain, M2AnIndexThatCancelsOutCounts) {
  EXPECT_EQ(domain_of("O[j : N] = +(I[j + i - i]), i < 3"), "i:0..2 j:0..9");
  EXPECT_EQ(domain_of("O[j : N] = +(I[j + 0 * i]), i < 3"), "i:0..2 j:0..9");
  EXPECT_THAT(domain_of("O[j : N] = +(I[j + 0 * i])"),
              HasSubstr("nothing bounds index 'i': it cancels out of every index form; add a "
                        "constraint such as"));
  EXPECT_THAT(domain_of("O[j : N] = =(I[j + i - i]), i < 3"),
              HasSubstr("index 'i' runs from 0 to 2"));
}

TEST(Domain, EmptyIsNoError) {
  EXPECT_EQ(domain_of("O[i : N] = +(I[i]), i - 20 < 3"), "empty");
  EXPECT_EQ(domain_of("O[i : 0] = +(I[i])"), "empty");
  EXPECT_EQ(domain_of("O[i : N] = +(I[i])", 0), "empty");
  EXPECT_EQ(domain_of("O[i : N] = +(I[i]), i < 0"), "empty");
  EXPECT_EQ(domain_of("O[] = +(I[17])"), "empty");
  // Nothing bounds j, but nothing is valid either.
  EXPECT_EQ(domain_of("O[i : N] = +(I[i + j]), i - 20 < 3"), "empty");
}

TEST(Domain, HugeSizes) {
  EXPECT_EQ(domain_of("O[] = +(I[i + j]), j < 2", int64_t{1} << 60),
            "i:-1..1152921504606846975 j:0..1 | i + j | 1152921504606846975 - i - j");
  EXPECT_THAT(domain_of("O[] = +(I[9223372036854775807 * i + 9223372036854775807 * j])"),
              ::testing::AnyOf(HasSubstr("error"), HasSubstr("nothing bounds")));
  EXPECT_THAT(domain_of("O[] = +(I[4611686018427387904 * 4 * i])"),
              HasSubstr("beyond the range of i64"));
}

TEST(Domain, UnboundedNamesTheIndexAndTheCure) {
  EXPECT_THAT(domain_of("O[] = +(I[i + j])"),
              HasSubstr("nothing bounds index 'i' (nor 'j'): I[i + j] limits it"));
  EXPECT_THAT(domain_of("O[i : N] = +(I[i]), i - k < N"),
              HasSubstr("index 'k' occurs only in a constraint"));
}

TEST(Domain, AssignNeedsOneWriterPerElement) {
  EXPECT_EQ(domain_of("O[j, i : L, M] = =(J[i, j])"), "i:0..5 j:0..4");
  EXPECT_EQ(domain_of("O[5 * i + j : 30] = =(J[i, j])"), "i:0..5 j:0..4");
  EXPECT_THAT(domain_of("O[4 * i + j : 30] = =(J[i, j])"),
              HasSubstr("writes an element of 'O' more than once"));
  EXPECT_THAT(domain_of("O[i : M] = =(J[i, j])"),
              HasSubstr("index 'j' runs from 0 to 4 and does not occur"));
  EXPECT_EQ(domain_of("O[i : M] = =(J[i, j])", 10, 6, 1), "i:0..5 j:0..0");
  // The constraint leaves one j for each i.
  EXPECT_EQ(domain_of("O[i : M] = =(J[i, j]), i - j < 1"), "i:0..4 j:0..4 | i - j | -i + j");
  EXPECT_EQ(domain_of("O[i / 2 : N] = =(I[i])"), "i:0..8");
}

// Random rules over three indices in a small window, against enumeration.
TEST(Domain, AgainstEnumeration) {
  std::mt19937 random(20240501);
  auto in = [&](int lower, int upper) {
    return static_cast<int64_t>(
        lower + static_cast<int>(random() % static_cast<unsigned>(upper - lower + 1)));
  };
  int empty = 0, checked = 0;
  for (int round = 0; round < 400; ++round) {
    DomainRules rules;
    rules.indices = {"a", "b", "c"};
    auto form = [&] {
      Affine out(in(-4, 4));
      for (const std::string& name : rules.indices) out.add_term(name, in(-2, 2));
      return out;
    };
    // A window, so that enumeration is complete.
    for (const std::string& name : rules.indices) {
      rules.at_least_zero.push_back(Affine::of(name) + Affine(5));
      rules.at_least_zero.push_back(Affine(5) - Affine::of(name));
    }
    for (int64_t i = in(0, 3); i > 0; --i) {
      Affine f = form();
      rules.at_least_zero.push_back(f);
      rules.at_least_zero.push_back(Affine(in(0, 5)) - f);
    }
    if (in(0, 2) == 0) rules.whole.push_back({form(), in(2, 3)});
    IndexDomain expected;
    expected.empty = true;
    std::vector<std::vector<int64_t>> points;
    for (int64_t a = -5; a <= 5; ++a)
      for (int64_t b = -5; b <= 5; ++b)
        for (int64_t c = -5; c <= 5; ++c) {
          std::map<std::string, int64_t> at = {{"a", a}, {"b", b}, {"c", c}};
          bool valid = true;
          for (const Affine& f : rules.at_least_zero) valid &= f.evaluate(at) >= 0;
          for (const Form& f : rules.whole) valid &= f.numerator.evaluate(at) % f.divisor == 0;
          if (!valid) continue;
          std::vector<int64_t> point = {a, b, c};
          if (expected.empty) {
            for (int64_t v : point) expected.ranges.push_back({v, v});
            expected.empty = false;
          }
          for (size_t i = 0; i < 3; ++i) {
            expected.ranges[i].lower = std::min(expected.ranges[i].lower, point[i]);
            expected.ranges[i].upper = std::max(expected.ranges[i].upper, point[i]);
          }
          points.push_back(std::move(point));
        }
    Result<IndexDomain> found = find_domain(rules);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    ASSERT_EQ(found->empty, expected.empty) << round;
    if (expected.empty) {
      ++empty;
      continue;
    }
    ++checked;
    ASSERT_EQ(found->ranges, expected.ranges) << round;
    // Ranges, constraints and exact divisions together are the set.
    size_t count = 0;
    for (int64_t a = found->ranges[0].lower; a <= found->ranges[0].upper; ++a)
      for (int64_t b = found->ranges[1].lower; b <= found->ranges[1].upper; ++b)
        for (int64_t c = found->ranges[2].lower; c <= found->ranges[2].upper; ++c) {
          std::map<std::string, int64_t> at = {{"a", a}, {"b", b}, {"c", c}};
          bool valid = true;
          for (const Affine& f : found->constraints) valid &= f.evaluate(at) >= 0;
          for (const Form& f : rules.whole) valid &= f.numerator.evaluate(at) % f.divisor == 0;
          count += valid ? 1 : 0;
        }
    ASSERT_EQ(count, points.size()) << round;
    std::vector<Affine> map = {form(), form()};
    std::set<std::pair<int64_t, int64_t>> values;
    for (const auto& p : points) {
      std::map<std::string, int64_t> at = {{"a", p[0]}, {"b", p[1]}, {"c", p[2]}};
      values.emplace(map[0].evaluate(at), map[1].evaluate(at));
    }
    Result<bool> once = writes_each_once(rules, *found, map);
    ASSERT_TRUE(once.ok()) << once.status().to_string();
    ASSERT_EQ(*once, values.size() == points.size()) << round;
  }
  EXPECT_GT(empty, 10);
  EXPECT_GT(checked, 200);
}

}  // namespace
}  // namespace stria::tile
