// SPDX-License-Identifier: Apache-2.0
// What derivatives compute, in fp64: against differences of what the functions compute, and, where
// these have no meaning (ties, zeros, edges), against values worked out by hand.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "stria/base/text.h"
#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/gradient/gradient.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria::tile {
namespace {

struct Tensor {
  std::vector<int64_t> sizes;
  std::vector<double> data;
  DataType type =
      DataType::fp64;  // of the input; data is converted (floats and integers of 32 bits)
};
using Tensors = std::map<std::string, Tensor>;

int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

// What the function gives; every type comes back as double.
Result<Tensors> run(const Program& program, const Tensors& inputs) {
  std::map<std::string, TensorType> types;
  for (const auto& [name, tensor] : inputs) types[name] = {tensor.type, tensor.sizes};
  STRIA_ASSIGN(BoundProgram bound, bind_program(program, "", types));
  STRIA_ASSIGN(stripe::Program lowered, lower(bound));
  std::map<std::string, std::vector<char>> memory;
  std::vector<interp::TensorArg> args;
  auto argument = [&](TensorId id) {
    const BoundTensor& tensor = bound.tensors[static_cast<size_t>(id)];
    std::vector<char>& bytes = memory[tensor.name];
    bytes.resize(static_cast<size_t>(count_of(tensor.sizes)) * 8 + 8);
    args.push_back({tensor.name, bytes.data(), dense_shape(tensor.type, tensor.sizes)});
    return &tensor;
  };
  for (TensorId id : bound.inputs) {
    const BoundTensor& tensor = *argument(id);
    const std::vector<double>& data = inputs.at(tensor.name).data;
    for (size_t i = 0; i < data.size(); ++i)
      store_scalar(tensor.type, memory[tensor.name].data(), static_cast<int64_t>(i),
                   Scalar::of_float(DataType::fp64, data[i]));
  }
  for (TensorId id : bound.outputs) argument(id);
  STRIA_RETURN_IF_ERROR(interp::interpret(lowered, args));
  Tensors out;
  for (TensorId id : bound.outputs) {
    const BoundTensor& tensor = bound.tensors[static_cast<size_t>(id)];
    Tensor& result = out[tensor.name];
    result.sizes = tensor.sizes;
    result.type = tensor.type;
    for (int64_t i = 0; i < count_of(tensor.sizes); ++i)
      result.data.push_back(
          convert(load_scalar(tensor.type, memory[tensor.name].data(), i), DataType::fp64).f);
  }
  return out;
}

Program parsed(const std::string& text) {
  Result<Program> program = parse({"test.tile", text});
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(program).value();
}

Tensor random_tensor(std::vector<int64_t> sizes, std::mt19937& engine, double low = 0.3,
                     double high = 1.7) {
  Tensor out{std::move(sizes), {}};
  std::uniform_real_distribution<double> values(low, high);
  for (int64_t i = 0; i < count_of(out.sizes); ++i) out.data.push_back(values(engine));
  return out;
}

double dot(const Tensor& a, const Tensor& b) {
  double out = 0;
  for (size_t i = 0; i < a.data.size(); ++i) out += a.data[i] * b.data[i];
  return out;
}

// Is the parameter the derivative by that result? The name has a number if it was taken.
bool is_derivative_by(const std::string& parameter, const std::string& result) {
  return parameter.starts_with("D" + result) &&
         parameter.find_first_not_of("_0123456789", result.size() + 1) == std::string::npos;
}

// Compares every derivative with central differences of sum(R * DR) over all results R, for random
// DR.
void check(const std::string& text, Tensors inputs, const GradientOptions& options = {}) {
  SCOPED_TRACE(text);
  const Program program = parsed(text);
  Result<Program> made = gradient(program, options);
  ASSERT_TRUE(made.ok()) << made.status().message();
  SCOPED_TRACE(print(*made));
  Result<Tensors> results = run(program, inputs);
  ASSERT_TRUE(results.ok()) << results.status().message();
  std::mt19937 engine(7);
  Tensors weights, all = inputs;
  const Function& forward = program.functions.back();
  const Function& backward = made->functions.back();
  // The derivatives by the results. None is asked for of rank 0, which counts 1, and of what
  // nothing flows back from.
  size_t next = forward.parameters.size();
  for (const Name& name : forward.results) {
    if (!options.of.empty() && options.of != name.text) continue;
    Tensor weight = random_tensor(results->at(name.text).sizes, engine);
    const bool given = next < backward.parameters.size() &&
                       is_derivative_by(backward.parameters[next].name.text, name.text);
    if (!given) weight.data.assign(weight.data.size(), weight.sizes.empty() ? 1 : 0);
    weights[name.text] = weight;
    if (given) all[backward.parameters[next++].name.text] = weight;
  }
  Result<Tensors> derivatives = run(*made, all);
  ASSERT_TRUE(derivatives.ok()) << derivatives.status().message();
  auto value = [&](const Tensors& at) {
    Result<Tensors> out = run(program, at);
    EXPECT_TRUE(out.ok()) << out.status().message();
    double sum = 0;
    for (const auto& [name, weight] : weights) sum += dot(out->at(name), weight);
    return sum;
  };
  const size_t skip = options.keep_results ? forward.results.size() : 0;
  for (size_t p = 0, r = skip; r < backward.results.size(); ++p) {
    const std::string& input = forward.parameters[p].name.text;
    if (!options.wrt.empty() &&
        std::find(options.wrt.begin(), options.wrt.end(), input) == options.wrt.end())
      continue;
    const Tensor& derivative = derivatives->at(backward.results[r++].text);
    ASSERT_EQ(derivative.sizes, inputs.at(input).sizes) << input;
    if (inputs.at(input).type != DataType::fp64) continue;
    for (size_t i = 0; i < derivative.data.size(); ++i) {
      Tensors at = inputs;
      const double h = 1e-5;
      at[input].data[i] += h;
      const double up = value(at);
      at[input].data[i] -= 2 * h;
      const double down = value(at);
      const double expected = (up - down) / (2 * h);
      EXPECT_NEAR(derivative.data[i], expected, 1e-7 * (1 + std::fabs(expected)))
          << input << " " << i;
    }
  }
}

// The derivatives of derivatives, too: of every one, by every input.
void check_twice(const std::string& text, const Tensors& inputs,
                 const GradientOptions& options = {}) {
  check(text, inputs, options);
  const Program program = parsed(text);
  Result<Program> made = gradient(program, options);
  ASSERT_TRUE(made.ok()) << made.status().message();
  Tensors all = inputs;
  std::mt19937 engine(11);
  Result<Tensors> results = run(program, inputs);
  ASSERT_TRUE(results.ok());
  for (const Parameter& parameter : made->functions.back().parameters)
    if (all.count(parameter.name.text) == 0)
      all[parameter.name.text] =
          random_tensor(results->at(parameter.name.text.substr(1)).sizes, engine);
  check(print(*made), all);
}

Tensor values(std::vector<int64_t> sizes, uint32_t seed) {
  std::mt19937 engine(seed);
  return random_tensor(std::move(sizes), engine);
}

// Rule M22.
TEST(Gradient, SumsAndAssignments) {
  check_twice("function (A[N, M], B[M, K]) -> (R) { R[i, j : N, K] = +(A[i, k] * B[k, j]); }",
              {{"A", values({3, 4}, 1)}, {"B", values({4, 2}, 2)}});
  check("function (A[N]) -> (L) { S[] = +(A[i] * A[i]); L = sqrt(S) / 3; }",
        {{"A", values({5}, 1)}});
  check(
      "function (A[N], B[M]) -> (R, S) { R[i : N] = +(A[i] + B[i + 1]); S[i : N] = +(A[i] + B[j]); "
      "}",
      {{"A", values({5}, 1)}, {"B", values({4}, 2)}});
  check("function (A[N], B[M]) -> (R) { R[i : N + M] = +(A[i / 2] + B[j / 3]), i - j < 4; }",
        {{"A", values({5}, 1)}, {"B", values({4}, 2)}});
  check("function (A[N, M]) -> (R) { R[2 * j, i : 2 * M + 1, N] = =(A[i, j]); }",
        {{"A", values({3, 2}, 1)}});
  check(
      "function (I[N, H, W, C], K[A, B, C, D]) -> (O) {\n"
      "  O[n, y, x, d : N, H / 3, W / 3, D] = +(I[n, 3 * y + 2 * j, 3 * x + 2 * i, c] * K[j, i, c, "
      "d]);\n}",
      {{"I", values({1, 7, 8, 2}, 1)}, {"K", values({2, 3, 2, 2}, 2)}});
  check("function (I[N], K[M]) -> (O) { O[x : N] = +(I[x + k - 1] * K[k]) no_defract; }",
        {{"I", values({6}, 1)}, {"K", values({3}, 2)}});
}

TEST(Gradient, ChosenElements) {
  Tensor a{{4}, {0, 1, 2, 1}}, b{{3}, {1, 2, 1}};
  a.type = b.type = DataType::i32;
  check("function (A[N], B[M], C[M, K]) -> (R) { R[i, k : N, K] = +(A[i] == B[j] ? C[j, k]); }",
        {{"A", a}, {"B", b}, {"C", values({3, 2}, 1)}});
}

TEST(Gradient, LargestAndSmallest) {
  check_twice("function (I[N, C]) -> (O) { O[i, c : N / 2, C] = >(I[2 * i + j, c]), j < 2; }",
              {{"I", values({5, 3}, 1)}});
  check("function (A[N, M]) -> (R) { R[i : N] = <(A[i, j]); }", {{"A", values({3, 4}, 1)}});
  check("function (A[N, K], B[K, M]) -> (R) { R[i, j : N, M] = >(A[i, k] + B[k, j]); }",
        {{"A", values({3, 4}, 1)}, {"B", values({4, 2}, 2)}});
  check("function (A[N, K], B[K, M]) -> (R) { R[i, j : N, M] = <(A[i, k] * B[k, j]); }",
        {{"A", values({3, 4}, 1)}, {"B", values({4, 2}, 2)}});
  check("function (I[N], K[M]) -> (R) { R[x : N] = >(I[2 * x + k - 1] + K[k]); }",
        {{"I", values({7}, 1)}, {"K", values({3}, 2)}});
  check("function (A[N], B[M]) -> (R) { R[i : N] = >(A[i / 2] + B[i + j]), j < 2; }",
        {{"A", values({3}, 1)}, {"B", values({5}, 2)}});
  Tensor a{{4}, {0, 1, 2, 1}}, b{{3}, {1, 2, 1}};
  a.type = b.type = DataType::i32;
  check("function (A[N], B[M], C[M]) -> (R) { R[i : N] = >(A[i] == B[j] ? C[j]); }",
        {{"A", a}, {"B", b}, {"C", values({3}, 1)}});
}

// Rule M21.
TEST(Gradient, TiesShare) {
  Result<Program> made = gradient(
      parsed("function (A[N, M]) -> (R, S) { R[i : N] = >(A[i, j]); S[i : N] = <(A[i, j]); }"), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Result<Tensors> out = run(
      *made, {{"A", {{2, 3}, {5, 5, 1, 2, 2, 2}}}, {"DR", {{2}, {6, 6}}}, {"DS", {{2}, {10, 30}}}});
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(out->at("DA").data, (std::vector<double>{3, 3, 10, 12, 12, 12}));
}

TEST(Gradient, Products) {
  check_twice("function (A[N, M]) -> (P) { P[i : N] = *(A[i, j]); }", {{"A", values({2, 4}, 1)}});
  // One zero, two, three: row by row.
  check_twice("function (A[N, M]) -> (P) { P[i : N] = *(A[i, j]); }",
              {{"A", {{4, 3}, {2, 0, 3, 0, 5, 0, 0, 0, 0, 1, 2, 3}}}});
  check("function (A[N]) -> (P) { P[i : N] = *(A[k]), i - k < N; }",
        {{"A", {{5}, {2, 3, 0, 4, 5}}}});
  check("function (A[N, M], B[M]) -> (P) { P[i : N] = *(A[i, j] + B[j]); }",
        {{"A", {{2, 3}, {1, 2, 3, 4, -6, 6}}}, {"B", {{3}, {5, 6, 7}}}});
  check("function (A[N, M], B[M]) -> (P) { P[i : N] = *(A[i, j] * B[j]); }",
        {{"A", {{2, 3}, {1, 2, 3, 4, 0, 6}}}, {"B", {{3}, {5, 6, 7}}}});
}

TEST(Gradient, Defaults) {
  check("function (A[N], D[M]) -> (R) { R[2 * i : M] = =(A[i]) default D; }",
        {{"A", values({2}, 1)}, {"D", values({6}, 2)}});
  check(
      "function (A[N], B[N], D[M]) -> (R) { R[i + 1 : M] = +(A[i] * B[j]), i - j < 2 default D; }",
      {{"A", values({3}, 1)}, {"B", values({3}, 3)}, {"D", values({6}, 2)}});
  check(
      "function (A[N], B[N], C[N], D[M]) -> (R) { R[i + 1 : M] = >(A[i] == B[j] ? C[j]) default D; "
      "}",
      {{"A", {{3}, {1, 2, 3}}},
       {"B", {{3}, {1, 2, 2.5}}},
       {"C", values({3}, 3)},
       {"D", values({6}, 2)}},
      {"", {"C", "D"}, "", false, ""});
}

TEST(Gradient, Elementwise) {
  check_twice(
      "function (A[N], B[N]) -> (R) {\n  S = sigmoid(A * B);\n"
      "  R = exp(S) * sin(A) + pow(S, 2) * tanh(A * B + S / 3 - A * 0.5);\n}",
      {{"A", values({3}, 1)}, {"B", values({3}, 2)}});
  check(
      "function (A[N], B[N]) -> (R) { R = max(A, B) / min(A, 1.0) - abs(A - B) + (A > B ? A * A : "
      "pow(A, B)); }",
      {{"A", values({4}, 1)}, {"B", values({4}, 2)}});
  for (const char* f : {"sqrt", "exp", "log", "sin", "cos", "atan", "sinh", "cosh", "tanh", "asinh",
                        "sigmoid", "relu", "recip", "abs", "ident"})
    check_twice(fmt::format("function (A[N]) -> (R) {{ R = {}(A); }}", f), {{"A", values({3}, 1)}});
  std::mt19937 engine(3);
  const Tensor small = random_tensor({3}, engine, 0.1, 0.8),
               large = random_tensor({3}, engine, 1.2, 3);
  for (const char* f : {"asin", "acos", "atanh", "tan"})
    check_twice(fmt::format("function (A[N]) -> (R) {{ R = {}(A); }}", f), {{"A", small}});
  check_twice("function (A[N]) -> (R) { R = acosh(A); }", {{"A", large}});
  check_twice("function (A[N], B[N]) -> (R) { R = pow(A, B) + A % B; }",
              {{"A", large}, {"B", small}});
  check("function (A[N]) -> (R) { R = as_float(A, 64) * mad(A, A, 2.0); }", {{"A", small}});
}

// Rule M20.
TEST(Gradient, Broadcasting) {
  check_twice(
      "function (A[N, M], B[M], C[K]) -> (R, T) {\n  S[i, 0 : N, 1] = +(A[i, j]);\n  R = A * B + "
      "S;\n"
      "  T = S - C * C;\n}",
      {{"A", values({2, 3}, 1)}, {"B", values({3}, 2)}, {"C", values({1}, 3)}});
  check_twice("function (A, B, C) -> (R) { R = A * B + C; }",
              {{"A", values({2, 3}, 1)}, {"B", values({4, 1, 3}, 2)}, {"C", values({}, 3)}});
  check("function (A, B) -> (R) { T = A * B; R[i : 4] = +(T[i, j]); }",
        {{"A", values({4, 1}, 1)}, {"B", values({3}, 2)}});
  check("function (A[N, M], B[K, L]) -> (R) { T = exp(A) * B; R[i : N] = +(T[i, j]); }",
        {{"A", values({3, 1}, 1)}, {"B", values({3, 4}, 2)}});
}

TEST(Gradient, Specials) {
  Tensor index{{4}, {0, 2, 7, 2}};
  index.type = DataType::i32;
  check_twice("function (D[N, M], I[K]) -> (R) { G = gather(D, I); R = reshape(G * G, M, K); }",
              {{"D", values({3, 2}, 1)}, {"I", index}});
  check_twice(
      "function (E[K, M], I[K], V[N]) -> (R) { R = exp(scatter(E * 2.0, I, V)) * index(E, 0); }",
      {{"E", values({4, 2}, 1)}, {"I", index}, {"V", values({4}, 2)}});
  check("function (A) -> (R) { R = reshape(A * A, 3, 2); }", {{"A", values({2, 3}, 1)}});
  check_twice("function (A, B) -> (R) { R = sum_like(A * A, B) * B; }",
              {{"A", values({2, 3}, 1)}, {"B", values({1}, 2)}});
}

// What flows back where functions are not smooth.
TEST(Gradient, Edges) {
  auto at = [](const char* f, std::vector<double> x, std::vector<double> flows) {
    Result<Program> made =
        gradient(parsed(fmt::format("function (A[N]) -> (R) {{ R = {}; }}", f)), {});
    EXPECT_TRUE(made.ok()) << made.status().message();
    const auto count = static_cast<int64_t>(x.size());
    Result<Tensors> out =
        run(*made, {{"A", {{count}, std::move(x)}}, {"DR", {{count}, std::move(flows)}}});
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out->at("DA").data;
  };
  using Values = std::vector<double>;
  const double inf = INFINITY;
  EXPECT_EQ(at("abs(A)", {-2, 0, 3}, {1, 1, 1}), (Values{-1, 0, 1}));
  EXPECT_EQ(at("relu(A)", {-2, 0, 3}, {1, 1, 1}), (Values{0, 0, 1}));
  EXPECT_EQ(at("max(A, 1.0)", {0, 1, 2}, {4, 4, 4}), (Values{0, 2, 4}));
  EXPECT_EQ(at("min(A, 1.0)", {0, 1, 2}, {4, 4, 4}), (Values{4, 2, 0}));
  EXPECT_EQ(at("max(A, A)", {0, 1}, {4, 4}), (Values{4, 4}));
  EXPECT_EQ(at("sqrt(A)", {0, 0, 4}, {0, 1, 1}), (Values{0, inf, 0.25}));
  EXPECT_EQ(at("A > 0 ? sqrt(A) : 0", {0, 4}, {1, 1}), (Values{0, 0.25}));
  EXPECT_EQ(at("pow(A, 0.0)", {0, 4}, {1, 1}), (Values{0, 0}));
  EXPECT_EQ(at("pow(A, 2)", {0, 4}, {1, 1}), (Values{0, 8}));
  EXPECT_EQ(at("pow(A, 1)", {0, 4}, {1, 1}), (Values{1, 1}));
  EXPECT_EQ(at("pow(0.0 * A, A)", {1, 2}, {1, 1}), (Values{0, 0}));
  EXPECT_EQ(at("asin(A)", {1, -1, 0}, {0, 0, 1}), (Values{0, 0, 1}));
  EXPECT_EQ(at("acos(A)", {1, -1, 0}, {0, 0, 1}), (Values{0, 0, -1}));
  EXPECT_EQ(at("acosh(A)", {1, 1}, {0, 1}), (Values{0, inf}));
  EXPECT_EQ(at("reverse_grad(A, 0.5)", {1, 2}, {1, 4}), (Values{-0.5, -2}));
}

std::string failure_of(const std::string& text, const GradientOptions& options = {}) {
  Result<Program> made = gradient(parsed(text), options);
  EXPECT_FALSE(made.ok()) << print(*made);
  return made.status().message();
}

TEST(Gradient, SaysWhatHasNone) {
  EXPECT_EQ(failure_of("function (A[N]) -> (R) { R = A * floor(A); }"),
            "test.tile:1:34: error: 'floor' has no derivative: piecewise constant: zero almost "
            "everywhere. Write "
            "[[no_grad]] before the statement that makes it to take it as a constant\n"
            "  function (A[N]) -> (R) { R = A * floor(A); }\n"
            "                                   ^~~~~");
  EXPECT_NE(failure_of("function (A[N]) -> (R) { R = as_int(A, 32) * 2.0; }")
                .find("'as_int' has no derivative: the "
                      "result is no real number"),
            std::string::npos);
  EXPECT_NE(failure_of("function (A[N], B[N]) -> (R) { R[] = +(A[i] == B[i]); }")
                .find("1:38: error: a contraction of '==' has no derivative: piecewise constant"),
            std::string::npos);
  EXPECT_EQ(failure_of("function loss(Weights[N]) -> (Loss) { Loss = Weights; }",
                       {"", {"Weight"}, "", false, ""}),
            "test.tile: function 'loss' has no parameter 'Weight' to differentiate by, did you "
            "mean 'Weights'? (its "
            "parameters: Weights)");
  EXPECT_EQ(failure_of("function (A[N]) -> (Loss) { Loss = A; }", {"", {}, "Los", false, ""}),
            "test.tile: the function has no result 'Los' to differentiate, did you mean 'Loss'? "
            "(its results: Loss)");
  EXPECT_EQ(failure_of("function () -> (R) { R = 2; }"),
            "test.tile: the function has no parameter to differentiate by");
  EXPECT_NE(
      failure_of("function (A[N]) -> (R) { R = B; }").find("there is no tensor or dimension 'B'"),
      std::string::npos);
  EXPECT_NE(
      failure_of(
          "function f(A) -> (B) { B = A; }\nfunction (A[N]) -> (R) { [[grad(f)]] R = floor(A); }")
          .find("2:28: error: the derivative 'f' of this statement takes 3 arguments (its 1 "
                "operand, its results "
                "and their derivatives) and gives 1 result, but the function has 1 and 1"),
      std::string::npos);
}

TEST(Gradient, ByIntegersIsAnErrorOfTheProgramMade) {
  Result<Program> made = gradient(parsed("function (A[N]) -> (R) { R = A & 0 ? A * 3 : A; }"), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(bind_program(*made, "", {{"A", {DataType::i32, {3}}}, {"DR", {DataType::fp32, {3}}}})
                .status()
                .message(),
            "test.gradient.tile:2:16: error: the derivative by 'A', which is i32[3]: only tensors "
            "of floats can be "
            "differentiated by\n"
            "    [[derivative(A)]] DA = (A & 0 ? DR : 0) * 3 + (A & 0 ? 0 : DR);\n"
            "                 ^");
}

TEST(Gradient, NotesWhatDoesNotDepend) {
  std::vector<Diagnostic> notes;
  const Program program = parsed("function (A[N], B[N]) -> (R) { R = A * index(B, 0); }");
  ASSERT_TRUE(gradient(program, {}, &notes).ok());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(
      render(program.source, notes[0]),
      "test.tile:1:17: note: no differentiated result depends on 'B': its derivative is zero\n"
      "  function (A[N], B[N]) -> (R) { R = A * index(B, 0); }\n"
      "                  ^\n");
}

TEST(Gradient, AsksForNoDerivativeOfWhatNothingFlowsBackFrom) {
  const auto parameters = [](const std::string& text, const GradientOptions& options) {
    Result<Program> made = gradient(parsed(text), options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    std::vector<std::string> out;
    for (const Parameter& parameter : made->functions.back().parameters)
      out.push_back(parameter.name.text);
    return out;
  };
  const char* text =
      "function (A[N], B[N]) -> (P, R, S) { P = index(A, 0); R = A * 2.0; [[no_grad]] S = B; }";
  using testing::ElementsAre;
  EXPECT_THAT(parameters(text, {}), ElementsAre("A", "B", "DR"));
  EXPECT_THAT(parameters(text, {.wrt = {"A"}}), ElementsAre("A", "B", "DR"));
  EXPECT_THAT(parameters(text, {.wrt = {"B"}}), ElementsAre("A", "B"));
  EXPECT_THAT(parameters(text, {.of = "P"}), ElementsAre("A", "B", "DP"));
  check(text, {{"A", values({3}, 1)}, {"B", values({3}, 2)}}, {.wrt = {"A"}});
}

TEST(Gradient, CustomDerivatives) {
  const char* text =
      "function scale(X, K) -> (R) { R = floor(X) * K; }\n"
      "function scale_back(X, K, R, DR) -> (DX, DK) { DX = DR * K; DK = sum_like(DR * X, K); }\n"
      "function (A[N], B) -> (R) { [[grad(scale_back)]] S = scale(A * 2.0, B); [[no_grad]] T = "
      "floor(A); R = S * T; }";
  Result<Program> made = gradient(parsed(text), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Result<Tensors> out =
      run(*made, {{"A", {{2}, {1.25, 2.5}}}, {"B", {{}, {3}}}, {"DR", {{2}, {1, 10}}}});
  ASSERT_TRUE(out.ok()) << out.status().message() << print(*made);
  // DS = DR * floor(A) = 1, 20; the function takes A * 2 as if it were not rounded.
  EXPECT_EQ(out->at("DA").data, (std::vector<double>{6, 120}));
  EXPECT_EQ(out->at("DB").data, (std::vector<double>{2.5 + 100}));
  Result<Program> again = gradient(*made, {"", {"B"}, "DA", false, ""});
  ASSERT_TRUE(again.ok()) << again.status().message();
}

TEST(Gradient, CustomDerivativesTakeWhatStandsInTheStatement) {
  // A call within it would hide A behind a name of the flattened function.
  const std::string square = "function square(X) -> (Y) { Y = X * X; }\n";
  const std::string back = "function back(X, Y, DY) -> (DX) { DX = 4.0 * X * DY; }\n";
  const std::string hidden = "a statement with [[grad(…)]] is one operation, one call, or an";
  for (const char* value : {"square(A) * 2.0", "gather(A * 2.0, I)", "gather(A, I) * 2.0"})
    EXPECT_NE(failure_of(square + back +
                         "function (A[N], I[N]) -> (R) { [[grad(back)]] R = " + value + "; }")
                  .find(hidden),
              std::string::npos)
        << value;
  // A function of the library is called as one operation.
  Result<Program> made =
      gradient(parsed("function back(X, Y, DY) -> (DX) { DX = 3.0 * DY; }\n"
                      "function (A[N, M]) -> (R) { [[grad(back)]] R = builtin_softmax(A, N, M); }"),
               {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Result<Tensors> out = run(*made, {{"A", {{1, 2}, {5, 6}}}, {"DR", {{1, 2}, {1, 10}}}});
  ASSERT_TRUE(out.ok()) << out.status().message() << print(*made);
  EXPECT_EQ(out->at("DA").data, (std::vector<double>{3, 30}));
}

TEST(Gradient, CustomDerivativesHaveTheOperandsSizes) {
  // The sum on the way is no derivative of A, and of other sizes.
  const std::string text =
      "function back(X, Y, DY) -> (DX) { S[] = +(DY[i] * X[i]); DX = DY * X * S; }\n"
      "function wrong(X, Y, DY) -> (DX) { DX[] = +(DY[i]); }\n"
      "function (A[N]) -> (R) { [[grad(back)]] R = A * A; }";
  const Tensors inputs = {{"A", {{2}, {1, 2}}}, {"DR", {{2}, {3, 4}}}};
  Result<Program> made = gradient(parsed(text), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Result<Tensors> out = run(*made, inputs);
  ASSERT_TRUE(out.ok()) << out.status().message() << print(*made);
  EXPECT_EQ(out->at("DA").data, (std::vector<double>{33, 88}));
  Result<Program> second = gradient(*made, {"", {"A"}, "DA", false, ""});
  ASSERT_TRUE(second.ok()) << second.status().message();
  Tensors more = inputs;
  more["DDA"] = {{2}, {1, 10}};
  out = run(*second, more);
  ASSERT_TRUE(out.ok()) << out.status().message() << print(*second);
  // DA = DR A s with s = DR·A = 11; so DDA DR s + DR (DDA·(DR A)), where the last is 83.
  EXPECT_EQ(out->at(second->functions.back().results[0].text).data,
            (std::vector<double>{282, 772}));

  made =
      gradient(parsed(text.substr(0, text.find("grad(back)")) + "grad(wrong)]] R = A * A; }"), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_NE(run(*made, inputs)
                .status()
                .message()
                .find("the derivative 'DA' is fp64[], but 'A', by which it is one, is fp64[2]"),
            std::string::npos);
}

TEST(Gradient, NameOfTheFunction) {
  const std::string twice =
      "function f_gradient(A[N]) -> (R) { R = A; }\n"
      "function f(A[N]) -> (R) { R = f_gradient(A) * A; }";
  Result<Program> made = gradient(parsed(twice), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->functions.back().name.text, "f_gradient_1");
  EXPECT_EQ(failure_of(twice, {"", {}, "", false, "f"}),
            "'f' cannot name the derivative: test.tile has a function of that name");
  EXPECT_EQ(failure_of(twice, {"", {}, "", false, "exp"}),
            "'exp' cannot name the derivative: it is a builtin function");
  for (const char* name : {"2f", "f g", "default", "g (A) -> (B) { B = A; } function h"})
    EXPECT_EQ(failure_of(twice, {"", {}, "", false, name}),
              fmt::format("'{}' cannot name the derivative: a function's name is a letter, then "
                          "letters, digits and '_', and no word of Tile",
                          name));
}

// A sum of more terms than an expression may be deep.
TEST(Gradient, ManyUses) {
  std::string text = "function (A[N]) -> (R) {\n  T0 = A * A;\n";
  for (int i = 1; i < 1500; ++i) text += fmt::format("  T{} = T{} * 0.5 + A;\n", i, i - 1);
  check(text + "  R = T1499 * A;\n}\n", {{"A", values({1}, 1)}});
}

TEST(Gradient, SameOperandNames) {
  // Names that the derivative would take are there already.
  check("function (A[N], DA[N]) -> (R) { DR = A * DA; Zero = DR * 2.0; R = Zero * A; }",
        {{"A", values({3}, 1)}, {"DA", values({3}, 2)}});
}

// Half and single precision stay what they are.
TEST(Gradient, KeepsTheType) {
  Result<Program> made = gradient(
      parsed("function (A[N], B[N]) -> (L) { S[] = +(A[i] * B[i]); L = S / 3 + max(S, 0); }"), {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  for (DataType type : {DataType::fp16, DataType::bf16, DataType::fp32, DataType::fp64}) {
    Result<BoundProgram> bound = bind_program(*made, "", {{"A", {type, {3}}}, {"B", {type, {3}}}});
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    for (TensorId id : bound->outputs)
      EXPECT_EQ(bound->tensors[static_cast<size_t>(id)].type, type);
  }
}

TEST(Gradient, FunctionsOfTheLibrary) {
  check_twice("function (X[N, M]) -> (R) { R = builtin_softmax(X, N, M); }",
              {{"X", values({2, 3}, 1)}});
  check_twice("function (X[N, M]) -> (R) { R = builtin_logsoftmax(X * 2.0, N, M); }",
              {{"X", values({2, 3}, 1)}});
  std::mt19937 engine(3);
  check("function (P[N], T[N]) -> (R) { R = builtin_binary_crossentropy(P, T, 0.5); }",
        {{"P", random_tensor({3}, engine, 0.2, 0.8)}, {"T", random_tensor({3}, engine, 0.2, 0.8)}});
}

TEST(Gradient, Functions) {
  check_twice(
      "function norm(X[N, M]) -> (Y, S) { S[j : M] = +(X[i, j] * X[i, j]); Y = X / S; }\n"
      "function (A[N, M], B[M]) -> (R, L) {\n  (P, Q) = norm(A);\n  (U, V) = norm(P * B);\n"
      "  R = U + Q;\n  L[] = +(V[j]);\n}",
      {{"A", values({2, 3}, 1)}, {"B", values({3}, 2)}}, {"", {}, "", true, ""});
}

}  // namespace
}  // namespace stria::tile
