// SPDX-License-Identifier: Apache-2.0
// What lowered contractions compute, against direct enumeration of the valid index sets: every
// assignment of integers from a window that is larger than any valid set, tested by rule M1 itself.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

// numerator / divisor, an index expression at one assignment.
struct Quotient {
  int64_t numerator = 0;
  int64_t divisor = 1;
  Quotient(int64_t n, int64_t d = 1) : numerator(n), divisor(d) {}  // NOLINT: a number is one
};
// All expressions of a contraction at one assignment.
struct Expressions {
  std::vector<Quotient> out;
  std::vector<std::vector<Quotient>> operands;
  std::vector<std::pair<int64_t, int64_t>> constraints;  // 0 <= first < second
};
using Evaluate = std::function<Expressions(const std::vector<int64_t>&)>;

struct Tensor {
  std::vector<int64_t> sizes;
  std::vector<float> data;
};

Tensor random_tensor(std::vector<int64_t> sizes, std::mt19937& engine) {
  Tensor out{std::move(sizes), {}};
  int64_t count = 1;
  for (int64_t size : out.sizes) count *= size;
  for (int64_t i = 0; i < count; ++i)
    out.data.push_back(static_cast<float>(static_cast<int>(engine() % 17) - 8));
  return out;
}

// Row-major position, or -1 if an expression is no integer in range.
int64_t position(const std::vector<Quotient>& expressions, const std::vector<int64_t>& sizes) {
  int64_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Quotient& q = expressions[d];
    if (q.numerator % q.divisor != 0) return -1;
    int64_t value = q.numerator / q.divisor;
    if (value < 0 || value >= sizes[d]) return -1;
    at = at * sizes[d] + value;
  }
  return at;
}

// *near_edge: a valid set comes so close to the window's edge that others may lie outside.
// `sign` one of + * > < =, `combine` over the operands' elements; -window <= each index <= window.
Tensor enumerate(const std::vector<Tensor>& inputs, const std::vector<int64_t>& out_sizes,
                 char sign, size_t indices, int64_t window, const Evaluate& evaluate,
                 const std::function<float(const std::vector<float>&)>& combine,
                 bool* near_edge = nullptr) {
  Tensor out{out_sizes, {}};
  int64_t count = 1;
  for (int64_t size : out_sizes) count *= size;
  out.data.assign(static_cast<size_t>(count), 0);
  std::vector<bool> written(static_cast<size_t>(count));
  std::vector<int64_t> at(indices, -window);
  while (true) {
    Expressions e = evaluate(at);
    int64_t target = position(e.out, out_sizes);
    bool valid = target >= 0;
    std::vector<float> values;
    for (size_t k = 0; valid && k < e.operands.size(); ++k) {
      int64_t from = position(e.operands[k], inputs[k].sizes);
      valid = from >= 0;
      if (valid) values.push_back(inputs[k].data[static_cast<size_t>(from)]);
    }
    for (const auto& [form, bound] : e.constraints) valid = valid && form >= 0 && form < bound;
    if (valid) {
      for (int64_t index : at)
        if (near_edge && std::abs(index) > window * 3 / 4) *near_edge = true;
      float value = combine(values);
      size_t t = static_cast<size_t>(target);
      float& slot = out.data[t];
      if (!written[t]) {
        slot = value;
      } else {
        slot = sign == '+'   ? slot + value
               : sign == '*' ? slot * value
               : sign == '>' ? std::max(slot, value)
                             : std::min(slot, value);
      }
      written[t] = true;
    }
    size_t i = 0;
    while (i < indices && ++at[i] > window) at[i++] = -window;
    if (i == indices) break;
  }
  return out;
}

// The outputs of `text` on fp32 inputs, or the failure of bind.
Result<std::map<std::string, Tensor>> run(const std::string& text,
                                          const std::map<std::string, Tensor>& inputs,
                                          std::string* printed = nullptr) {
  STRIA_ASSIGN(tile::Program parsed, tile::parse({"test.tile", text}));
  std::map<std::string, tile::TensorType> types;
  for (const auto& [name, tensor] : inputs) types[name] = {DataType::fp32, tensor.sizes};
  STRIA_ASSIGN(tile::BoundProgram bound, tile::bind_program(parsed, "", types));
  auto program = lower(bound);
  EXPECT_TRUE(program.ok()) << program.status().message() << "\n" << text;
  if (!program.ok()) return program.status();
  if (printed) *printed = stripe::print(*program);
  Status verified = stripe::verify(*program);
  EXPECT_TRUE(verified.ok()) << verified.message() << stripe::print(*program);
  std::map<std::string, Tensor> all = inputs;
  std::vector<interp::TensorArg> args;
  for (tile::TensorId id : bound.outputs) {
    const tile::BoundTensor& tensor = bound.tensors[static_cast<size_t>(id)];
    EXPECT_EQ(tensor.type, DataType::fp32);
    TensorShape shape = dense_shape(tensor.type, tensor.sizes);
    all[tensor.name] = {tensor.sizes,
                        std::vector<float>(static_cast<size_t>(shape.element_count()))};
  }
  for (auto& [name, tensor] : all)
    args.push_back({name, tensor.data.data(), dense_shape(DataType::fp32, tensor.sizes)});
  Status status = interp::interpret(*program, args);
  EXPECT_TRUE(status.ok()) << status.message() << "\n" << stripe::print(*program);
  return all;
}

float first(const std::vector<float>& values) { return values[0]; }
float product(const std::vector<float>& values) { return values[0] * values[1]; }

struct Case {
  std::string name;
  std::string text;  // inputs A, then B; output O
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> out;
  char sign;
  size_t indices;
  Evaluate evaluate;
};

std::vector<Case> cases() {
  using V = const std::vector<int64_t>&;
  std::vector<Case> out;
  auto add = [&](Case c) { out.push_back(std::move(c)); };
  add({"sum_over_axis",
       "function (A[M, N]) -> (O) { O[n: N] = +(A[m, n]); }",
       {{4, 5}},
       {5},
       '+',
       2,
       [](V v) -> Expressions { return {{v[1]}, {{v[0], v[1]}}, {}}; }});
  add({"matmul",
       "function (A[M, L], B[L, N]) -> (O) { O[i, j: M, N] = +(A[i, k] * B[k, j]); }",
       {{3, 4}, {4, 2}},
       {3, 2},
       '+',
       3,
       [](V v) -> Expressions { return {{v[0], v[1]}, {{v[0], v[2]}, {v[2], v[1]}}, {}}; }});
  add({"max",
       "function (A[M, N]) -> (O) { O[m: M] = >(A[m, n]); }",
       {{4, 5}},
       {4},
       '>',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0], v[1]}}, {}}; }});
  add({"global_min",
       "function (A[M, N]) -> (O) { O[] = <(A[m, n]); }",
       {{4, 5}},
       {},
       '<',
       2,
       [](V v) -> Expressions { return {{}, {{v[0], v[1]}}, {}}; }});
  add({"rank_zero",
       "function (A[]) -> (O) { O[] = +(A[]); }",
       {{}},
       {},
       '+',
       0,
       [](V) -> Expressions { return {{}, {{}}, {}}; }});
  add({"product",
       "function (A[N]) -> (O) { O[] = *(A[i]); }",
       {{5}},
       {},
       '*',
       1,
       [](V v) -> Expressions { return {{}, {{v[0]}}, {}}; }});
  add({"pool_down",
       "function (A[N]) -> (O) { O[i: N / 2] = >(A[2 * i + j]), j < 2; }",
       {{7}},
       {3},
       '>',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{2 * v[0] + v[1]}}, {{v[1], 2}}}; }});
  add({"pool_up",
       "function (A[N]) -> (O) { O[i: (N + 1) / 2] = >(A[2 * i + j]), j < 2; }",
       {{7}},
       {4},
       '>',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{2 * v[0] + v[1]}}, {{v[1], 2}}}; }});
  add({"pool_unconstrained",
       "function (A[N]) -> (O) { O[i: N / 2] = >(A[2 * i + j]); }",
       {{7}},
       {3},
       '>',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{2 * v[0] + v[1]}}, {}}; }});
  add({"skipping",
       "function (A[N, M]) -> (O) { O[2 * i: N] = +(A[2 * i, j]); }",
       {{7, 3}},
       {7},
       '+',
       2,
       [](V v) -> Expressions { return {{2 * v[0]}, {{2 * v[0], v[1]}}, {}}; }});
  add({"cumulative",
       "function (A[N]) -> (O) { O[i: N] = +(A[k]), i - k < N; }",
       {{8}},
       {8},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[1]}}, {{v[0] - v[1], 8}}}; }});
  add({"cumulative_by_difference",
       "function (A[N]) -> (O) { O[i: N] = +(A[i - j]), j < N; }",
       {{8}},
       {8},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0] - v[1]}}, {{v[1], 8}}}; }});
  add({"padded",
       "function (A[N], B[K]) -> (O) { O[x: N] = +(A[x + k - 1] * B[k]); }",
       {{8}, {3}},
       {8},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0] + v[1] - 1}, {v[1]}}, {}}; }});
  add({"padded_beyond",
       "function (A[N], B[K]) -> (O) { O[x: N + 9] = >(A[x + k - 5] * B[k]); }",
       {{4}, {3}},
       {13},
       '>',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0] + v[1] - 5}, {v[1]}}, {}}; }});
  add({"dilated",
       "function (A[N], B[K]) -> (O) { O[x: N - 2 * (K - 1)] = +(A[x + 2 * k] * B[k]); }",
       {{9}, {3}},
       {5},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0] + 2 * v[1]}, {v[1]}}, {}}; }});
  add({"strided",
       "function (A[N], B[K]) -> (O) { O[x: (N + 1) / 2] = +(A[2 * x + k - 1] * B[k]); }",
       {{9}, {3}},
       {5},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{2 * v[0] + v[1] - 1}, {v[1]}}, {}}; }});
  add({"transposed",
       "function (A[N], B[K]) -> (O) { O[2 * x + k: 2 * N + 3] = +(A[x] * B[k]); }",
       {{4}, {2}},
       {11},
       '+',
       2,
       [](V v) -> Expressions { return {{2 * v[0] + v[1]}, {{v[0]}, {v[1]}}, {}}; }});
  add({"transposed_sparse",
       "function (A[N], B[K]) -> (O) { O[5 * x + k: 5 * N] = >(A[x] * B[k]); }",
       {{4}, {2}},
       {20},
       '>',
       2,
       [](V v) -> Expressions { return {{5 * v[0] + v[1]}, {{v[0]}, {v[1]}}, {}}; }});
  add({"reversed",
       "function (A[N]) -> (O) { O[-1 - i + N: N] = =(A[i]); }",
       {{6}},
       {6},
       '=',
       1,
       [](V v) -> Expressions { return {{5 - v[0]}, {{v[0]}}, {}}; }});
  add({"negative_range",
       "function (A[N]) -> (O) { O[i: N] = +(A[i - j]), j + 2 < 3; }",
       {{6}},
       {6},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0] - v[1]}}, {{v[1] + 2, 3}}}; }});
  add({"halves",
       "function (A[N]) -> (O) { O[i: 2 * N] = +(A[i / 2]); }",
       {{5}},
       {10},
       '+',
       1,
       [](V v) -> Expressions { return {{v[0]}, {{{v[0], 2}}}, {}}; }});
  add({"halves_out",
       "function (A[N]) -> (O) { O[i / 2: N] = >(A[i]); }",
       {{7}},
       {7},
       '>',
       1,
       [](V v) -> Expressions { return {{{v[0], 2}}, {{v[0]}}, {}}; }});
  add({"thirds_of_a_sum",
       "function (A[N], B[K]) -> (O) { O[x: 3 * N] = +(A[(x + k) / 3] * B[k]); }",
       {{4}, {2}},
       {12},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{{v[0] + v[1], 3}}, {v[1]}}, {}}; }});
  add({"two_divisions",
       "function (A[N]) -> (O) { O[i / 2 + j / 3: 9] = +(A[i + j]), j < 7; }",
       {{8}},
       {9},
       '+',
       2,
       [](V v) -> Expressions {
         return {{{3 * v[0] + 2 * v[1], 6}}, {{v[0] + v[1]}}, {{v[1], 7}}};
       }});
  add({"repeat",
       "function (A[N]) -> (O) { O[3 * i + k: 3 * N] = =(A[i]), k < 3; }",
       {{4}},
       {12},
       '=',
       2,
       [](V v) -> Expressions { return {{3 * v[0] + v[1]}, {{v[0]}}, {{v[1], 3}}}; }});
  add({"diagonal",
       "function (A[N, N]) -> (O) { O[i: N] = +(A[i, i]); }",
       {{5, 5}},
       {5},
       '+',
       1,
       [](V v) -> Expressions { return {{v[0]}, {{v[0], v[0]}}, {}}; }});
  add({"diagonal_by_constraint",
       "function (A[N, N]) -> (O) { O[i: N] = +(A[i, j]), j - i < 1; }",
       {{5, 5}},
       {5},
       '+',
       2,
       [](V v) -> Expressions { return {{v[0]}, {{v[0], v[1]}}, {{v[1] - v[0], 1}}}; }});
  add({"to_diagonal",
       "function (A[N]) -> (O) { O[i, i: N, N] = >(A[i]); }",
       {{5}},
       {5, 5},
       '>',
       1,
       [](V v) -> Expressions { return {{v[0], v[0]}, {{v[0]}}, {}}; }});
  add({"frame",
       "function (A[N, M]) -> (O) { O[i + 1, j + 2: N + 2, M + 3] = <(A[i, j]); }",
       {{3, 2}},
       {5, 5},
       '<',
       2,
       [](V v) -> Expressions { return {{v[0] + 1, v[1] + 2}, {{v[0], v[1]}}, {}}; }});
  add({"infeasible",
       "function (A[N]) -> (O) { O[i: N] = >(A[i]), i - 100 < 5; }",
       {{5}},
       {5},
       '>',
       1,
       [](V v) -> Expressions { return {{v[0]}, {{v[0]}}, {{v[0] - 100, 5}}}; }});
  add({"triangle_band",
       "function (A[N, N]) -> (O) { O[i, j: N, N] = =(A[i, j]), i + 2 * j - 3 < 4; }",
       {{5, 5}},
       {5, 5},
       '=',
       2,
       [](V v) -> Expressions {
         return {{v[0], v[1]}, {{v[0], v[1]}}, {{v[0] + 2 * v[1] - 3, 4}}};
       }});
  // Two of three are left out along i, which takes indices "i" and "i_0"; j's own name is i_0.
  add({"names_of_the_rest",
       "function (A[N, M]) -> (O) { O[3 * i, 2 * i_0: 3 * N, 2 * M] = +(A[i, i_0]); }",
       {{3, 2}},
       {9, 4},
       '+',
       2,
       [](V v) -> Expressions { return {{3 * v[0], 2 * v[1]}, {{v[0], v[1]}}, {}}; }});
  add({"constant_coordinate",
       "function (A[N]) -> (O) { O[2, i: 4, N] = +(A[i]); }",
       {{3}},
       {4, 3},
       '+',
       1,
       [](V v) -> Expressions { return {{2, v[0]}, {{v[0]}}, {}}; }});
  return out;
}

TEST(LowerValue, ContractionsAgreeWithEnumeration) {
  std::mt19937 engine(1);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    std::vector<Tensor> inputs;
    std::map<std::string, Tensor> named;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      inputs.push_back(random_tensor(c.inputs[i], engine));
      named[i == 0 ? "A" : "B"] = inputs.back();
    }
    auto got = run(c.text, named);
    ASSERT_TRUE(got.ok()) << got.status().message();
    Tensor expected = enumerate(inputs, c.out, c.sign, c.indices, 24, c.evaluate,
                                inputs.size() == 1 ? first : product);
    EXPECT_EQ(got->at("O").sizes, expected.sizes);
    EXPECT_EQ(got->at("O").data, expected.data);
  }
}

TEST(LowerValue, RandomContractionsAgreeWithEnumeration) {
  std::mt19937 engine(23);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  const char* names[] = {"i", "j", "k"};
  const char signs[] = "+*><";
  const int64_t windows[] = {0, 60, 40, 22};
  int ran = 0, divided = 0;
  for (int round = 0; round < 400; ++round) {
    size_t indices = static_cast<size_t>(pick(1, 3));
    struct Form {
      std::vector<int64_t> coefficients;
      int64_t constant, divisor;
    };
    auto form = [&](bool may_divide) {
      Form f{{}, pick(0, 2) == 0 ? pick(-3, 4) : 0, may_divide && pick(0, 4) == 0 ? pick(2, 3) : 1};
      bool dense = pick(0, 1) == 0;
      size_t one = static_cast<size_t>(pick(0, static_cast<int64_t>(indices) - 1));
      for (size_t i = 0; i < indices; ++i)
        f.coefficients.push_back(i == one ? (pick(0, 3)   ? 1
                                             : pick(0, 1) ? -1
                                                          : pick(2, 3))
                                 : dense  ? pick(-1, 2)
                                          : 0);
      return f;
    };
    auto text_of = [&](const Form& f) {
      std::string text = std::to_string(f.constant);
      for (size_t i = 0; i < indices; ++i)
        if (f.coefficients[i] != 0)
          text += " + " + std::to_string(f.coefficients[i]) + " * " + names[i];
      return f.divisor == 1 ? text : "(" + text + ") / " + std::to_string(f.divisor);
    };
    auto list = [&](const std::vector<Form>& forms) {
      std::string text;
      for (const Form& f : forms) text += (text.empty() ? "" : ", ") + text_of(f);
      return text;
    };
    auto value = [&](const Form& f, const std::vector<int64_t>& v) {
      int64_t sum = f.constant;
      for (size_t i = 0; i < indices; ++i) sum += f.coefficients[i] * v[i];
      return Quotient(sum, f.divisor);
    };
    std::vector<Form> out_forms, constraint_forms;
    std::vector<std::vector<Form>> operand_forms;
    std::vector<int64_t> out_sizes, bounds;
    for (int64_t r = pick(0, 2); r > 0; --r) {
      out_forms.push_back(form(true));
      out_sizes.push_back(pick(1, 6));
    }
    std::vector<Tensor> inputs;
    std::map<std::string, Tensor> named;
    for (int64_t k = pick(1, 2); k > 0; --k) {
      std::vector<int64_t> sizes;
      operand_forms.emplace_back();
      for (int64_t r = pick(1, 2); r > 0; --r) {
        operand_forms.back().push_back(form(true));
        sizes.push_back(pick(1, 6));
      }
      inputs.push_back(random_tensor(sizes, engine));
      named[inputs.size() == 1 ? "A" : "B"] = inputs.back();
    }
    for (int64_t k = pick(0, 2); k > 0; --k) {
      constraint_forms.push_back(form(false));
      bounds.push_back(pick(1, 6));
    }
    char sign = signs[pick(0, 3)];
    std::string sizes_text;
    for (int64_t size : out_sizes)
      sizes_text += (sizes_text.empty() ? "" : ", ") + std::to_string(size);
    std::string text = "function (A";
    if (inputs.size() == 2) text += ", B";
    text += ") -> (O) { O[" + list(out_forms) + (out_sizes.empty() ? "" : " : " + sizes_text) +
            "] = " + sign + "(A[" + list(operand_forms[0]) + "]";
    if (inputs.size() == 2) text += " * B[" + list(operand_forms[1]) + "]";
    text += ")";
    for (size_t i = 0; i < bounds.size(); ++i)
      text += ", " + text_of(constraint_forms[i]) + " < " + std::to_string(bounds[i]);
    text += "; }";
    SCOPED_TRACE(text);

    std::string printed;
    auto got = run(text, named, &printed);
    if (!got.ok()) continue;  // an unbounded index, or one that no access has
    bool all_used = true;     // an index that the program does not name is none of its
    for (size_t i = 0; i < indices; ++i)
      all_used = all_used && text.find(fmt::format("* {}", names[i])) != std::string::npos;
    if (!all_used) continue;
    auto evaluate = [&](const std::vector<int64_t>& v) {
      Expressions e;
      for (const Form& f : out_forms) e.out.push_back(value(f, v));
      for (const auto& forms : operand_forms) {
        e.operands.emplace_back();
        for (const Form& f : forms) e.operands.back().push_back(value(f, v));
      }
      for (size_t i = 0; i < bounds.size(); ++i)
        e.constraints.emplace_back(value(constraint_forms[i], v).numerator, bounds[i]);
      return e;
    };
    bool near_edge = false;
    Tensor expected = enumerate(inputs, out_sizes, sign, indices, windows[indices], evaluate,
                                inputs.size() == 1 ? first : product, &near_edge);
    if (near_edge) continue;
    bool exact = std::all_of(expected.data.begin(), expected.data.end(),
                             [](float f) { return std::abs(f) < 16777216.0f; });
    if (!exact) continue;
    EXPECT_EQ(got->at("O").data, expected.data) << printed;
    ++ran;
    divided += text.find('/') != std::string::npos;
  }
  EXPECT_GT(ran, 150);
  EXPECT_GT(divided, 30);
  RecordProperty("ran", ran);
}

TEST(LowerValue, DefaultKeepsItsElementsWhereNothingIsWritten) {
  std::mt19937 engine(2);
  Tensor a = random_tensor({4}, engine), d = random_tensor({9}, engine);
  auto got = run("function (A[N], D[M]) -> (O) { O[2 * i + 1: M] = >(A[i]) default D; }",
                 {{"A", a}, {"D", d}});
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(got->at("O").data[i], i % 2 ? a.data[i / 2] : d.data[i]);
}

TEST(LowerValue, ElementwiseBroadcastsAndSeveralOutputs) {
  std::mt19937 engine(3);
  Tensor a = random_tensor({3, 4}, engine), b = random_tensor({4}, engine),
         c = random_tensor({3, 1}, engine);
  auto got =
      run("function (A[N, M], B[M], C[N, L]) -> (R, S, T) { R = A * B + C; S = R > 0 ? R : -A; T = "
          "A; }",
          {{"A", a}, {"B", b}, {"C", c}});
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 4; ++j) {
      float r = a.data[4 * i + j] * b.data[j] + c.data[i];
      EXPECT_EQ(got->at("R").data[4 * i + j], r);
      EXPECT_EQ(got->at("S").data[4 * i + j], r > 0 ? r : -a.data[4 * i + j]);
      EXPECT_EQ(got->at("T").data[4 * i + j], a.data[4 * i + j]);
    }
}

TEST(LowerValue, ReshapeKeepsRowMajorOrder) {
  std::mt19937 engine(5);
  using Sizes = std::vector<int64_t>;
  for (const auto& [from, to] : std::vector<std::pair<Sizes, Sizes>>{{{6}, {2, 3}},
                                                                     {{2, 3}, {6}},
                                                                     {{4, 6}, {6, 4}},
                                                                     {{4, 1, 5}, {1, 2, 2, 5}},
                                                                     {{1, 1}, {}},
                                                                     {{2, 3, 4}, {4, 3, 2}}}) {
    Tensor a = random_tensor(from, engine);
    auto got =
        run(fmt::format("function (A) -> (R) {{ R = reshape(A, {}); }}", fmt::join(to, ", ")),
            {{"A", a}});
    if (to.empty()) got = run("function (A) -> (R) { R = reshape(A); }", {{"A", a}});
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->at("R").sizes, to);
    EXPECT_EQ(got->at("R").data, a.data);
  }
}

TEST(LowerValue, ThreeOperandsSelectWhereTheFirstTwoAreEqual) {
  std::mt19937 engine(4);
  Tensor a{{4}, {1, 2, 2, 3}}, b{{3}, {2, 1, 7}}, c = random_tensor({4, 3}, engine);
  auto got = run("function (A[N], B[M], C[N, M]) -> (O) { O[j: M] = +(A[i] == B[j] ? C[i, j]); }",
                 {{"A", a}, {"B", b}, {"C", c}});
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (size_t j = 0; j < 3; ++j) {
    float sum = 0;
    for (size_t i = 0; i < 4; ++i) sum += a.data[i] == b.data[j] ? c.data[3 * i + j] : 0;
    EXPECT_EQ(got->at("O").data[j], sum);
  }
}

}  // namespace
}  // namespace stria
