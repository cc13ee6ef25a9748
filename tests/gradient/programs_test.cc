// SPDX-License-Identifier: Apache-2.0
// The gradient of every function of the tutorial, and of programs that between them use every rule
// of differentiation, against central differences; and the gradients of gradients. A program is a
// file of the tutorial or a text below, with the sizes of its inputs.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "proof.h"

namespace stria::gradient_proof {
namespace {

namespace fs = std::filesystem;
const fs::path kTutorial = STRIA_SOURCE_DIR "/tests/end_to_end/tutorial";

// An input: fp64 numbers, all different; or above 0; or integers that are given.
struct Input {
  std::vector<int64_t> sizes;
  enum { any, positive, chosen } kind = any;
  std::vector<double> integers = {};

  Numbers numbers(uint64_t seed) const {
    if (kind == chosen) return {{DataType::i32, sizes}, integers};
    Numbers out = distinct_numbers(sizes, seed);
    if (kind == positive)
      for (double& value : out.values) value = 0.25 + (value + 2) / 2;
    return out;
  }
};

struct ProofCase {
  const char* name;  // of the tutorial's file, or of the text
  std::vector<Input> inputs;
  const char* text = nullptr;
  std::vector<std::string> of = {""};  // differentiated one after the other; "" is all together
  double most_irregular = 0;           // share of the elements
};

std::vector<ProofCase> tutorial_cases() {
  std::vector<ProofCase> cases = {
      {"all_max", {{{7}}}},
      {"conv1d", {{{2, 7, 3}}, {{3, 3, 2}}}},
      {"conv2d_dilated", {{{1, 6, 7, 2}}, {{3, 2, 2, 3}}}},
      {"conv_relu", {{{1, 4, 5, 2}}, {{3, 3, 3, 2}}}},
      {"cumsum_constraint", {{{6}}}},
      {"cumsum_offset", {{{6}}}},
      {"elementwise", {{{3, 4}, Input::positive}, {{3, 4}}}},
      {"global_min", {{{2, 3, 2}}}},
      {"matmul", {{{4, 5}}, {{5, 3}}}},
      {"max_axis0", {{{4, 3}}}},
      {"maxpool1d", {{{7}}}},
      {"maxpool1d_odd", {{{7}}}},
      {"mean_axis0", {{{4, 3}}}},
      {"mean_global", {{{4, 3}}}},
      {"mean_global_staged", {{{4, 3}}}},
      {"min_axis0", {{{4, 3}}}},
      {"product_axis0", {{{4, 3}}}},
      {"skipping", {{{5, 3}}}},
      {"sum_axis0", {{{4, 3}}}},
      {"sum_axis0_padded", {{{4, 3}}}},
      {"sum_axis0_truncated", {{{4, 3}}}},
  };
  for (ProofCase& c : cases)
    if (c.name == std::string("elementwise"))
      c.of = {"Sum",   "Difference", "Product", "Quotient",  "Root",     "Exponential",
              "Power", "Sine",       "Tangent", "Logarithm", "Logistic", "Choice"};
  return cases;
}

std::vector<ProofCase> written_cases() {
  const Input rows{{5}, Input::chosen, {2, 0, 2, 3, 0}};
  return {
      // Functions of the library.
      {"mad", {{{4}}, {{4}}, {{4}}}, "function (X, Y, Z) -> (R) { R = mad(X, Y, Z); }"},
      {"softmax", {{{3, 5}}}, "function (X[N, M]) -> (R) { R = builtin_softmax(X, N, M); }"},
      {"logsoftmax", {{{3, 5}}}, "function (X[N, M]) -> (R) { R = builtin_logsoftmax(X, N, M); }"},
      {"binary_crossentropy",
       {{{6}}, {{6}}},
       "function (X, T) -> (R) { P = sigmoid(X); R = builtin_binary_crossentropy(P, T, 0.75); }"},
      {"gather", {{{4, 3}}, rows}, "function (D, I) -> (R) { R = gather(D, I); }"},
      {"gather_of_vector", {{{4}}, rows}, "function (D, I) -> (R) { R = gather(D * D, I); }"},
      {"scatter",
       {{{5, 2}}, rows, {{4}}},
       "function (E, I, V) -> (R) { R = scatter(E * E, I, V) * 2; }"},
      {"reshape",
       {{{3, 4}}},
       "function (A[N, M]) -> (R) { F = reshape(A * A, N * M); R = reshape(F, M, N) + 1; }"},
      {"reshape_of_bare",
       {{{3, 4}}, {{12}}},
       "function (A, B[N]) -> (R) { R = reshape(A * A, N) * B; }"},
      // Operands that others share, and results that are used twice.
      {"used_twice",
       {{{3, 3}}},
       "function (A[N, N]) -> (R) { S[i, j : N, N] = +(A[i, k] * A[k, j]); R = S * A + S; }"},
      {"two_results",
       {{{3, 4}}},
       "function (A[N, M]) -> (R, S) { R[i : N] = +(A[i, j]); T = R * R; S = exp(T) + R; }"},
      {"result_that_is_read", {{{4}}}, "function (A[N]) -> (R, S) { R = A * A; S[] = +(R[i]); }"},
      // Broadcasting: smaller ranks, sizes of 1, numbers.
      {"row_and_matrix", {{{3}}, {{2, 3}}}, "function (A, B) -> (R) { R = A * B + A; }"},
      {"both_stretch", {{{3, 1}}, {{1, 4}}}, "function (A, B) -> (R) { R = A * B; }"},
      {"one_of_many",
       {{{3, 1, 2}}, {{4, 2}}},
       "function (A[X, Y, Z], B[U, V]) -> (R) { R = A / (B * B + 1); }"},
      {"scalar_operand", {{{}}, {{2, 2}}}, "function (S[], A) -> (R) { R = S * A + S; }"},
      {"dims_as_numbers", {{{3, 4}}}, "function (A[N, M]) -> (R) { R = A * N + A / M; }"},
      // Every combination, with every aggregation.
      {"sum_of_sums",
       {{{3}}, {{4}}},
       "function (A[N], B[M]) -> (R) { R[i : N] = +(A[i] + B[j]); }"},
      {"max_of_products",
       {{{3, 4}}, {{4}}},
       "function (A[N, M], B[M]) -> (R) { R[i : N] = >(A[i, j] * B[j]); }"},
      {"min_of_sums",
       {{{3, 4}}, {{4}}},
       "function (A[N, M], B[M]) -> (R) { R[i : N] = <(A[i, j] + B[j]); }"},
      {"product_of_products",
       {{{3, 4}}, {{4}}},
       "function (A[N, M], B[M]) -> (R) { R[i : N] = *(A[i, j] * B[j]); }"},
      {"product_of_sums",
       {{{3, 4}}, {{4}}},
       "function (A[N, M], B[M]) -> (R) { R[i : N] = *(A[i, j] + B[j]); }"},
      {"assign_of_product",
       {{{3}}, {{4}}},
       "function (A[N], B[M]) -> (R) { R[i, j : N, M] = =(A[i] * B[j]); }"},
      {"sum_of_chosen",
       {rows, {{4}}, {{5, 2}}},
       "function (I[N], T[M], A[N, P]) -> (R) { Row = index(T, 0);\n"
       "  R[m, p : M, P] = +(I[n] == Row[m] ? A[n, p]); }"},
      {"max_of_chosen",
       {rows, {{4}}, {{5, 2}}},
       "function (I[N], T[M], A[N, P]) -> (R) { Row = index(T, 0);\n"
       "  R[m, p : M, P] = >(I[n] == Row[m] ? A[n, p]); }"},
      {"product_of_chosen",
       {rows, {{4}}, {{5, 2}}},
       "function (I[N], T[M], A[N, P]) -> (R) { Row = index(T, 0);\n"
       "  R[m, p : M, P] = *(I[n] == Row[m] ? A[n, p]); }"},
      // Products with zeros in them: one, several, none.
      {"product_with_zeros",
       {{{4, 3}}, {{4, 3}, Input::chosen, {1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1}}},
       "function (A[M, N], Keep[M, N]) -> (R) { B = A * Keep; R[n : N] = *(B[m, n]); }"},
      {"product_of_products_with_zeros",
       {{{4, 3}}, {{4, 3}, Input::chosen, {1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1}}, {{4}}},
       "function (A[M, N], Keep[M, N], C[M]) -> (R) { B = A * Keep; R[n : N] = *(B[m, n] * C[m]); "
       "}"},
      // One element in many index sets of one output: ties with itself.
      {"max_over_diagonals",
       {{{6}}},
       "function (A[N]) -> (R) { R[r : 3] = >(A[r + i + j]), i < 2, j < 3; }"},
      {"max_that_ignores_an_index",
       {{{4}}, {{3}, Input::chosen, {1, 1, 1}}},
       "function (A[N], B[M]) -> (R) { R[] = >(A[i] * B[j]); }"},
      {"power_by_product",
       {{{4}}, {{3}, Input::chosen, {0, 0, 0}}},
       "function (A[N], B[M]) -> (R) { R[i : N] = *(A[i] + B[j]); }"},
      // Elements that no valid index set writes.
      {"default_of_a_tensor",
       {{{3, 4}}, {{7}}},
       "function (A[N, M], D[P]) -> (R) { R[2 * i : P] = +(A[i, j]) default D; }"},
      {"default_beside_assign",
       {{{3}}, {{5}}},
       "function (A[N], D[P]) -> (R) { E = D * D; R[i + 1 : P] = =(A[i]) default E; }"},
      {"default_is_the_operand",
       {{{5}}},
       "function (A[P]) -> (R) { R[2 * i : P] = >(A[i + j]), j < 2 default A; }"},
      {"default_number",
       {{{3}}},
       "function (A[N]) -> (R) { D = 2; R[i + 1 : 5] = *(A[i]) default D; }"},
      {"nothing_is_valid",
       {{{3}}, {{4}}},
       "function (A[N], D[M]) -> (R) { R[i : M] = +(A[i]), 0 - 1 < 0 default D; }"},
      // Strides, divisions, offsets, constraints.
      {"strided_dilated",
       {{{1, 9, 2}}, {{3, 2, 2}}},
       "function (I[N, H, CI], K[KH, CI, CO]) -> (O) {\n"
       "  O[n, y, co : N, H / 3, CO] = +(I[n, 3 * y + 2 * j, ci] * K[j, ci, co]); }"},
      {"padded",
       {{{5}}, {{3}}},
       "function (I[N], K[M]) -> (O) { O[x : N] = +(I[x + k - 1] * K[k]); }"},
      {"transposed",
       {{{4}}, {{3}}},
       "function (I[N], K[M]) -> (O) { O[2 * x + k : 2 * N + 1] = +(I[x] * K[k]); }"},
      {"divided", {{{4}}}, "function (I[N]) -> (O) { O[x : 2 * N] = +(I[x / 2]); }"},
      {"divided_output", {{{7}}}, "function (I[N]) -> (O) { O[x / 3 : 3] = +(I[x]) no_defract; }"},
      {"reversed", {{{5}}}, "function (I[N]) -> (O) { O[x : N] = +(I[N - 1 - x - k]), k < 2; }"},
      {"banded",
       {{{4, 4}}, {{4}}},
       "function (A[N, N], X[N]) -> (R) { R[i : N] = +(A[i, j] * X[j]), i - j + 1 < 3; }"},
      {"diagonal", {{{4, 4}}}, "function (A[N, N]) -> (R) { R[] = +(A[i, i]); }"},
      {"constant_place", {{{3, 4}}}, "function (A[N, M]) -> (R) { R[i : N] = +(A[i, 2]); }"},
      {"window_maximum",
       {{{1, 5, 6, 2}}},
       "function (I[N, H, W, C]) -> (O) {\n"
       "  O[n, y, x, c : N, H / 2, W / 2, C] = >(I[n, 2 * y + j, 2 * x + i, c]), j < 3, i < 3; }"},
      // Several functions.
      {"calls",
       {{{3, 4}}, {{4, 2}}},
       "function dense(X[N, M], W[M, P]) -> (R) { S[n, p : N, P] = +(X[n, m] * W[m, p]); R = "
       "tanh(S); }\n"
       "function norm(X[N, M]) -> (R, S) { S[] = +(X[n, m] * X[n, m]); R = X / sqrt(S + 1); }\n"
       "function (X[N, M], W[M, P]) -> (R, S) { (Y, S) = norm(dense(X, W)); R = Y * Y + dense(X, "
       "W); }"},
      {"functions_of_every_rank",
       {{{3}}, {{2, 3}}},
       "function gelu(X) -> (R) { R = X * sigmoid(1.702 * X); }\n"
       "function (A, B) -> (R) { R = gelu(A) + gelu(B); }"},
      {"casts",
       {{{4}}},
       "function (A) -> (R) { R = as_float(A, 64) * ident(A) + as_float(1, 64) * A; }"},
      {"custom_derivative",
       {{{4}}},
       "function square_back(X, Y, DY) -> (DX) { DX = 2 * X * DY; }\n"
       "function (A) -> (R) { B = sin(A); [[grad(square_back)]] S = B * B; R = S * A; }"},
      // What has no derivative beside what has one.
      {"piecewise_constants",
       {{{6}}},
       "function (A) -> (R) { [[no_grad]] B = floor(3 * A) + as_int(A, 32);\n"
       "  R = A * B + (A > 0.001 ? A : 2 * A); }"},
      {"attention",
       {{{4, 3}}, {{5, 3}}, {{5, 2}}},
       "function (Q[N, D], K[M, D], V[M, P]) -> (R) {\n"
       "  S[n, m : N, M] = +(Q[n, d] * K[m, d]);\n"
       "  A = builtin_softmax(S, N, M);\n"
       "  R[n, p : N, P] = +(A[n, m] * V[m, p]); }"},
      {"layer_norm",
       {{{3, 4}}, {{4}}, {{4}}},
       "function (X[N, M], G[M], B[M]) -> (R) {\n"
       "  S[n, 0 : N, 1] = +(X[n, m]);\n"
       "  Y = X - S / M;\n"
       "  Q[n, 0 : N, 1] = +(Y[n, m] * Y[n, m]);\n"
       "  R = Y / sqrt(Q / M + 0.001) * G + B; }"},
      {"convnet",
       {{{2, 4, 4, 1}}, {{3, 3, 1, 2}}, {{2}}, {{2, 3}}, {{2, 3}}},
       "function (X[N, H, W, CI], K[I, J, CI, CO], B[CO], D[CO, C], Y[N, C]) -> (L) {\n"
       "  O[n, y, x, co : N, H, W, CO] = +(X[n, y + j - 1, x + i - 1, ci] * K[j, i, ci, co]);\n"
       "  R = relu(O + B);\n"
       "  P[n, y, x, c : N, H / 2, W / 2, CO] = >(R[n, 2 * y + j, 2 * x + i, c]), j < 2, i < 2;\n"
       "  S[n, c : N, CO] = +(P[n, y, x, c]);\n"
       "  Z[n, c : N, C] = +(S[n, d] * D[d, c]);\n"
       "  Log = builtin_logsoftmax(Z, N, C);\n"
       "  Sum[] = +(Log[n, c] * Y[n, c]);\n"
       "  L = -Sum / N; }"},
  };
}

Result<Program> program_of(const ProofCase& c) {
  if (c.text) return Program::from_tile({c.name, c.text});
  return Program::read(kTutorial / (std::string(c.name) + ".tile"));
}

std::vector<Numbers> inputs_of(const ProofCase& c) {
  std::vector<Numbers> out;
  for (const Input& input : c.inputs) out.push_back(input.numbers(out.size() + 1));
  return out;
}

class Programs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<Device> device = open_device(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  void expect_right(const ProofCase& c) {
    Result<Program> program = program_of(c);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const std::string& of : c.of) {
      SCOPED_TRACE(std::string(c.name) + (of.empty() ? "" : ", of " + of));
      Result<Proof> proof = prove(device_, *program, inputs_of(c), {.of = of});
      ASSERT_TRUE(proof.ok()) << proof.status().message();
      EXPECT_EQ(proof->wrong, 0) << proof->first_wrong;
      EXPECT_LE(proof->irregular_share(), c.most_irregular);
      EXPECT_GT(proof->regular, 0);
    }
  }
  Device device_;
};

TEST_P(Programs, OfTheTutorial) {
  std::set<std::string> tried;
  for (const ProofCase& c : tutorial_cases()) {
    tried.insert(c.name);
    expect_right(c);
  }
  for (const auto& file : fs::directory_iterator(kTutorial))
    EXPECT_TRUE(tried.count(file.path().stem())) << file.path() << " has no case here";
}

TEST_P(Programs, OfEveryRule) {
  for (const ProofCase& c : written_cases()) expect_right(c);
}

// The gradient's program is a program: its own gradient is proved the same way.
TEST_P(Programs, SecondDerivatives) {
  if (device_.info().plugin != "reference")
    GTEST_SKIP() << "programs of many kernels, long to compile";
  std::vector<ProofCase> cases = tutorial_cases();
  for (ProofCase& c : written_cases()) cases.push_back(std::move(c));
  for (const ProofCase& c : cases) {
    SCOPED_TRACE(c.name);
    if (c.of.size() > 1) continue;  // not all of its results are real numbers
    Result<Program> program = program_of(c);
    ASSERT_TRUE(program.ok()) << program.status().message();
    GradientOptions options;
    std::vector<Numbers> inputs = inputs_of(c);
    for (size_t n = 0; n < inputs.size(); ++n)
      if (inputs[n].type.type == DataType::fp64) options.wrt.push_back(program->inputs()[n].name);
    Result<Program> gradient = program->gradient(options);
    ASSERT_TRUE(gradient.ok()) << gradient.status().message();
    Result<NumericFunction> forward = [&] {
      std::vector<TensorType> types;
      for (const Numbers& input : inputs) types.push_back(input.type);
      return NumericFunction::compile(device_, *program, types);
    }();
    ASSERT_TRUE(forward.ok()) << forward.status().message();
    for (const TensorInfo& output : given_outputs(*gradient, inputs.size(), forward->outputs()))
      inputs.push_back(distinct_numbers(output.sizes, 99));
    Result<Proof> proof = prove(device_, *gradient, inputs);
    ASSERT_TRUE(proof.ok()) << proof.status().message();
    EXPECT_EQ(proof->wrong, 0) << proof->first_wrong;
    EXPECT_LE(proof->irregular_share(), c.most_irregular);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Programs, testing::Values("reference", "llvm_cpu", "sim"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stria::gradient_proof
