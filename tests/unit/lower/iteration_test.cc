// SPDX-License-Identifier: Apache-2.0
// The loops of a contraction against the valid index sets of rule M1, tuple by tuple: what each
// point reads and writes. Rule M17: other loop indices change none of it.
#include "stria/lower/iteration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "stria/lower/coordinates.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::lower_detail {
namespace {

using testing::ElementsAre;
using Tuple = std::vector<int64_t>;  // coordinates of the output, then of the operands
using Inputs = std::map<std::string, std::vector<int64_t>>;

std::optional<tile::BoundContraction> bound(const std::string& text, const Inputs& inputs) {
  auto parsed = tile::parse({"test.tile", text});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return std::nullopt;
  std::map<std::string, tile::TensorType> types;
  for (const auto& [name, sizes] : inputs) types[name] = {DataType::fp32, sizes};
  auto program = tile::bind_program(*parsed, "", types);
  if (!program.ok()) return std::nullopt;
  for (const tile::BoundStatement& statement : program->statements)
    if (auto* contraction = std::get_if<tile::BoundContraction>(&statement.form))
      return *contraction;
  return std::nullopt;
}

void each_point(const std::vector<std::pair<std::string, Interval>>& box,
                const std::function<void(const std::map<std::string, int64_t>&)>& visit) {
  std::map<std::string, int64_t> at;
  for (const auto& [name, range] : box) {
    if (range.empty()) return;
    at[name] = range.lower;
  }
  while (true) {
    visit(at);
    size_t i = 0;
    for (; i < box.size(); ++i) {
      if (++at[box[i].first] <= box[i].second.upper) break;
      at[box[i].first] = box[i].second.lower;
    }
    if (i == box.size()) return;
  }
}

// By rule M1, from the bound contraction's own indices.
std::multiset<Tuple> valid_tuples(const tile::BoundContraction& contraction) {
  std::multiset<Tuple> out;
  if (contraction.empty) return out;
  std::vector<std::pair<std::string, Interval>> box;
  for (const tile::BoundIndex& index : contraction.indices)
    box.emplace_back(index.name, index.range);
  each_point(box, [&](const std::map<std::string, int64_t>& at) {
    for (const Affine& form : contraction.constraints)
      if (form.evaluate(at) < 0) return;
    Tuple tuple;
    bool whole = true;
    auto add = [&](const std::vector<tile::DimAccess>& access) {
      for (const tile::DimAccess& form : access) {
        const int64_t numerator = form.numerator.evaluate(at);
        whole = whole && numerator % form.divisor == 0;
        tuple.push_back(numerator / form.divisor);
      }
    };
    add(contraction.out_access);
    for (const tile::BoundOperand& operand : contraction.operands) add(operand.access);
    if (whole) out.insert(std::move(tuple));
  });
  return out;
}

std::multiset<Tuple> tuples_of(const Iteration& iteration) {
  std::multiset<Tuple> out;
  std::vector<std::pair<std::string, Interval>> box;
  for (const Iteration::Index& index : iteration.indices)
    box.emplace_back(index.name, Interval{0, index.range - 1});
  each_point(box, [&](const std::map<std::string, int64_t>& at) {
    for (const Affine& form : iteration.constraints)
      if (form.evaluate(at) < 0) return;
    Tuple tuple;
    for (const Affine& form : iteration.out_access) tuple.push_back(form.evaluate(at));
    for (const auto& access : iteration.operand_access)
      for (const Affine& form : access) tuple.push_back(form.evaluate(at));
    out.insert(std::move(tuple));
  });
  return out;
}

// Every valid set once, in `whole` and in the kernels together; no two kernels write one element.
void check(const tile::BoundContraction& contraction, const Iterations& iterations) {
  const std::multiset<Tuple> expected = valid_tuples(contraction);
  EXPECT_EQ(iterations.whole.empty, expected.empty());
  if (expected.empty()) {
    EXPECT_TRUE(iterations.kernels.empty());
    return;
  }
  EXPECT_EQ(tuples_of(iterations.whole), expected);
  std::multiset<Tuple> together;
  std::map<Tuple, size_t> writer;
  const auto rank = static_cast<std::ptrdiff_t>(contraction.out_access.size());
  for (size_t k = 0; k < iterations.kernels.size(); ++k) {
    for (const Iteration::Index& index : iterations.kernels[k].indices) EXPECT_GT(index.range, 1);
    for (const Tuple& tuple : tuples_of(iterations.kernels[k])) {
      together.insert(tuple);
      auto [at, added] = writer.emplace(Tuple(tuple.begin(), tuple.begin() + rank), k);
      EXPECT_EQ(at->second, k) << "two kernels write one element";
    }
  }
  EXPECT_EQ(together, expected);
}

// Indices of the output's access that may meet others there.
size_t overlapping(const Iteration& iteration) {
  std::set<std::string> occurs;
  for (const Affine& form : iteration.out_access)
    for (const auto& term : form.terms()) occurs.insert(term.first);
  return occurs.size() - apart_indices(iteration).size();
}

struct Shown {
  std::vector<std::string> out;      // output accesses of each kernel
  std::vector<std::string> indices;  // and its indices
  size_t overlapping = 0;
};

Shown shown(const std::string& text, const Inputs& inputs) {
  auto contraction = bound(text, inputs);
  EXPECT_TRUE(contraction.has_value()) << text;
  Shown out;
  if (!contraction) return out;
  SetWork work;
  auto iterations = make_iterations(*contraction, work);
  EXPECT_TRUE(iterations.ok()) << iterations.status().message();
  if (!iterations.ok()) return out;
  check(*contraction, *iterations);
  for (const Iteration& kernel : iterations->kernels) {
    std::string forms, indices;
    for (const Affine& form : kernel.out_access)
      forms += (forms.empty() ? "" : ", ") + form.to_string();
    for (const Iteration::Index& index : kernel.indices)
      indices += (indices.empty() ? "" : ", ") + index.name + ":" + std::to_string(index.range);
    out.out.push_back(forms);
    out.indices.push_back(indices);
    out.overlapping += overlapping(kernel);
  }
  return out;
}

TEST(Iteration, ATransposedConvolutionBecomesOneKernelForEachResidue) {
  Shown got = shown("function (I[N], K[M]) -> (O) { O[2 * x + k : 2 * N + 1] = +(I[x] * K[k]); }",
                    {{"I", {10}}, {"K", {3}}});
  EXPECT_THAT(got.out, ElementsAre("2*x", "1 + 2*x"));
  EXPECT_THAT(got.indices, ElementsAre("x:11, k:2", "x:10"));
  EXPECT_EQ(got.overlapping, 0u);
}

TEST(Iteration, ADilatedTransposedConvolutionIsOneKernel) {
  Shown got = shown("function (I[N], K[M]) -> (O) { O[x + 2 * k : N + 4] = +(I[x] * K[k]); }",
                    {{"I", {10}}, {"K", {3}}});
  EXPECT_THAT(got.out, ElementsAre("x"));
  EXPECT_THAT(got.indices, ElementsAre("x:14, k:3"));
}

// The program's own indices stay where each output element has one writer, or on demand.
TEST(Iteration, OwnIndicesStayWhereTheyAreApart) {
  EXPECT_THAT(shown("function (I[N], K[M]) -> (O) { O[3 * x + k : 3 * N] = +(I[x] * K[k]); }",
                    {{"I", {10}}, {"K", {2}}})
                  .out,
              ElementsAre("k + 3*x"));
  EXPECT_THAT(shown("function (I[N], K[M]) -> (O) { O[x : N - 4] = +(I[x + 2 * k] * K[k]); }",
                    {{"I", {10}}, {"K", {3}}})
                  .indices,
              ElementsAre("k:3, x:6"));
  Shown kept = shown(
      "function (I[N], K[M]) -> (O) { O[2 * x + k : 2 * N + 1] = +(I[x] * K[k]) no_defract; }",
      {{"I", {10}}, {"K", {3}}});
  EXPECT_THAT(kept.out, ElementsAre("k + 2*x"));
  EXPECT_THAT(kept.indices, ElementsAre("k:3, x:10"));
}

// Residues that only the sum has do not cut it: kernels beside each other would start it again
// (S6).
TEST(Iteration, ResiduesOfASumStayInOneKernel) {
  Shown got = shown("function (A[N], B[N]) -> (O) { O[] = +(A[(i + j) / 2] * B[(i - j) / 3]); }",
                    {{"A", {9}}, {"B", {9}}});
  EXPECT_EQ(got.out.size(), 1u);
  got = shown("function (A[N]) -> (O) { O[m : 2] = +(A[(i + 2 * j) / 5]), i < 7, j < 6, m < 2; }",
              {{"A", {9}}});
  EXPECT_EQ(got.out.size(), 1u);
}

TEST(Iteration, ManyResiduesStayInOneKernel) {
  Shown got = shown("function (I[N], K[M]) -> (O) { O[20 * x + k : 20 * N] = +(I[x] * K[k]); }",
                    {{"I", {5}}, {"K", {33}}});
  EXPECT_THAT(got.out, ElementsAre("20*x + x_0"));
  EXPECT_EQ(got.overlapping, 0u);
}

// Two dimensions mixed by a matrix of determinant 2; a skewed one; one that repeats another.
TEST(Iteration, DimensionsThatMixIndicesAreApart) {
  EXPECT_EQ(shown("function (A[N, N, L]) -> (O) { O[i + j, i - j : 9, 9] = +(A[i, j, k]); }",
                  {{"A", {5, 5, 3}}})
                .overlapping,
            0u);
  EXPECT_EQ(shown("function (A[N, M]) -> (O) { O[i + j, j : 9, 9] = =(A[i, j]); }", {{"A", {5, 4}}})
                .overlapping,
            0u);
  EXPECT_EQ(
      shown("function (A[N, M]) -> (O) { O[i + j, i + j : 9, 9] = +(A[i, j]); }", {{"A", {5, 4}}})
          .overlapping,
      0u);
}

TEST(Iteration, NumbersBeyond64BitsAreRefusedByName) {
  // The two quotients together need steps of (2^62 - 1) * (2^62 - 57).
  tile::BoundContraction contraction;
  const int64_t a = (int64_t{1} << 62) - 1, b = (int64_t{1} << 62) - 57;
  contraction.indices = {{"i", {0, (int64_t{1} << 62)}}, {"j", {0, 3}}};
  contraction.out_access = {{Affine::of("i") + Affine::of("j"), a}};
  contraction.operands = {{1, {{Affine::of("i") - Affine::of("j", 2), b}}}};
  SetWork work;
  auto iterations = make_iterations(contraction, work);
  ASSERT_FALSE(iterations.ok());
  EXPECT_EQ(iterations.status().code(), StatusCode::out_of_range);
  EXPECT_THAT(iterations.status().message(), testing::HasSubstr("64 bits"));
}

TEST(Iteration, RandomContractionsMeetEachValidSetOnce) {
  std::mt19937 engine(17);
  auto pick = [&](int low, int high) {
    return low + static_cast<int>(engine() % static_cast<unsigned>(high - low + 1));
  };
  const char* names[] = {"i", "j", "k"};
  int checked = 0, several = 0, rewritten = 0, apart = 0;
  for (int round = 0; round < 1200; ++round) {
    const int indices = pick(1, 3);
    auto form = [&] {
      std::string text;
      for (int i = 0; i < indices; ++i)
        if (int c = pick(0, 2) ? pick(-1, 4) : 0)
          text += fmt::format("{}{} * {}", text.empty() ? "" : " + ", c, names[i]);
      if (text.empty()) text = names[pick(0, indices - 1)];
      if (pick(0, 3) == 0) text += fmt::format(" + {}", pick(-3, 3) + 4);
      return pick(0, 7) == 0 ? fmt::format("({}) / {}", text, pick(2, 4)) : text;
    };
    std::string out, sizes, operand, constraint;
    const int rank = pick(1, 2);
    for (int d = 0; d < rank; ++d) {
      out += (d ? ", " : "") + form();
      sizes += fmt::format("{}{}", d ? ", " : "", pick(4, 12));
    }
    std::vector<int64_t> shape;
    for (int i = 0; i < indices; ++i) {
      operand += fmt::format("{}{}", i ? ", " : "", pick(0, 4) ? std::string(names[i]) : form());
      shape.push_back(pick(2, 6));
    }
    if (pick(0, 2) == 0)
      constraint = fmt::format(", {} - {} < {}", names[0], names[indices - 1], pick(1, 4));
    const std::string text =
        fmt::format("function (A) -> (O) {{ O[{} : {}] = +(A[{}]){}{}; }}", out, sizes, operand,
                    constraint, pick(0, 9) ? "" : " no_defract");
    SCOPED_TRACE(text);
    auto contraction = bound(text, {{"A", shape}});
    if (!contraction) continue;  // an unbounded index, or one that no access has
    SetWork work;
    auto iterations = make_iterations(*contraction, work);
    ASSERT_TRUE(iterations.ok()) << iterations.status().message();
    check(*contraction, *iterations);
    if (HasFailure()) return;
    ++checked;
    several += iterations->kernels.size() > 1;
    if (iterations->whole.empty) continue;
    // The other coordinates, whether they were chosen or not.
    auto other = other_coordinates(*contraction);
    ASSERT_TRUE(other.ok()) << other.status().message();
    ASSERT_TRUE(other->has_value());
    EXPECT_EQ(tuples_of(**other), valid_tuples(*contraction));
    auto classes = residue_classes(**other, 16);
    ASSERT_TRUE(classes.ok()) << classes.status().message();
    if (!classes->empty()) check(*contraction, {**other, *classes});
    if (HasFailure()) return;
    ++rewritten;
    apart += !contraction->no_defract && overlapping(**other) == 0;
  }
  EXPECT_GT(checked, 500);
  EXPECT_GT(rewritten, 500);
  EXPECT_GT(several, 20);
  EXPECT_GT(apart, rewritten * 3 / 4);
}

}  // namespace
}  // namespace stria::lower_detail
