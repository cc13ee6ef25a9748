// SPDX-License-Identifier: Apache-2.0
#include "numbers/product_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

using D = DataType;

constexpr std::string_view kSum = "For a sum of n terms it is γ(n+1)·Σ|terms|";
constexpr std::string_view kStorage =
    "Contractions of 8- and 16-bit integers accumulate in 32 bits. The result is rounded once, "
    "when "
    "it is stored.";
constexpr std::string_view kAllocations =
    "**S5. Allocations** (`none`) live for one point of their block. Their content is undefined "
    "(poison) until it is written.";

struct Sizes {
  int64_t rows, columns, depth;
};
// Rows, columns and depths of one element, below, at and beyond vectors, tiles and banks.
constexpr Sizes kSizes[] = {
    {1, 1, 1},    {1, 1, 200},   {1, 96, 64},   {96, 1, 64},   {8, 8, 8},      {16, 16, 16},
    {17, 17, 17}, {5, 64, 300},  {64, 5, 33},   {31, 33, 1},   {32, 32, 32},   {33, 31, 65},
    {64, 64, 64}, {65, 63, 129}, {100, 7, 100}, {128, 16, 48}, {127, 129, 31}, {12, 200, 256},
};

std::string name_of(const Sizes& sizes) {
  return fmt::format("{}x{}x{}", sizes.rows, sizes.columns, sizes.depth);
}

Form product(const Sizes& sizes, const char* of_a, const char* of_b, const char* name) {
  const auto sizes_of = [&](const std::string& indices) {
    std::string out;
    for (const char c : indices)
      out += fmt::format("{}{}", out.empty() ? "" : ",",
                         c == 'i'   ? sizes.rows
                         : c == 'j' ? sizes.columns
                                    : sizes.depth);
    return out;
  };
  const auto names_of = [](const std::string& indices) {
    std::string out;
    for (const char c : indices)
      out += fmt::format("{}{}", out.empty() ? "" : ", ", c == 'i' ? "M" : c == 'j' ? "N" : "K");
    return out;
  };
  const auto spread = [](const std::string& indices) {
    return fmt::format("{}, {}", indices[0], indices[1]);
  };
  return {fmt::format("{}.{}", name, name_of(sizes)),
          fmt::format("A {}; B {}", sizes_of(of_a), sizes_of(of_b)),
          fmt::format("A[{}], B[{}] -> C", names_of(of_a), names_of(of_b)),
          fmt::format("  C[i, j : M, N] = +(A[{}] * B[{}]);\n", spread(of_a), spread(of_b))};
}

void add_products(CaseMaker& maker) {
  for (const Sizes& sizes : kSizes) {
    // Of what matrix units take, and of what they do not.
    const bool is_whole = sizes.rows % 8 == 0 && sizes.columns % 8 == 0 && sizes.depth % 8 == 0;
    const Level level = is_whole || sizes.rows == 33 ? Level::right : Level::robust;
    add_form_cases(maker, {kSum}, level, "product", {product(sizes, "ik", "kj", "rows_by_columns")},
                   {D::fp32});
    add_form_cases(maker, {kStorage}, level, "product",
                   {product(sizes, "ik", "kj", "rows_by_columns")}, {D::i8});
    add_form_cases(maker, {kStorage}, Level::robust, "product",
                   {product(sizes, "ik", "kj", "rows_by_columns")},
                   {D::fp16, D::bf16, D::i32, D::u8});
    add_form_cases(maker, {kSum}, Level::robust, "product",
                   {product(sizes, "ki", "kj", "first_transposed"),
                    product(sizes, "ik", "jk", "second_transposed")},
                   {D::fp32, D::i8});
  }
  // What a sum in the storage type would lose.
  const Form long_sums{"long_sums", "A 3,3000 positive; B 3000,4 positive",
                       "A[M, K], B[K, N] -> C, S, T",
                       "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n  S[i : M] = +(A[i, k]);\n"
                       "  T[] = +(B[k, j]);\n"};
  add_form_cases(
      maker, {kStorage}, Level::robust, "product", {long_sums},
      {D::fp16, D::bf16, D::fp32, D::fp64, D::i8, D::u8, D::i16, D::u16, D::i32, D::i64});
  const Form widest{"integers_of_all_bits", "A 9,40 wide; B 40,11 wide", "A[M, K], B[K, N] -> C",
                    "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n"};
  add_form_cases(maker, {kStorage}, Level::robust, "product", {widest},
                 {D::i8, D::u8, D::i16, D::u16, D::i32, D::u32, D::i64, D::u64});
  add_form_cases(
      maker, {kSum}, Level::robust, "product",
      {{"batched", "A 5,17,19; B 5,19,13", "A[E, M, K], B[E, K, N] -> C",
        "  C[e, i, j : E, M, N] = +(A[e, i, k] * B[e, k, j]);\n"},
       {"shared", "A 5,17,19; B 19,13", "A[E, M, K], B[K, N] -> C",
        "  C[e, i, j : E, M, N] = +(A[e, i, k] * B[k, j]);\n"},
       {"vector", "A 65,257; X 257", "A[M, N], X[N] -> Y", "  Y[i : M] = +(A[i, j] * X[j]);\n"},
       {"vector_from_the_left", "A 257,65; X 257", "A[N, M], X[N] -> Y",
        "  Y[i : M] = +(A[j, i] * X[j]);\n"},
       {"square", "A 43,43", "A[N, M] -> R", "  R[i, j : N, N] = +(A[i, k] * A[k, j]);\n"},
       {"gram", "A 37,23", "A[M, N] -> R", "  R[i, j : N, N] = +(A[k, i] * A[k, j]);\n"},
       {"chain", "A 9,21; B 21,33; C 33,7; V 7", "A[M, K], B[K, N], C[N, L], V[L] -> R",
        "  X[i, j : M, N] = +(A[i, k] * B[k, j]);\n"
        "  Y[i, l : M, L] = +(X[i, j] * C[j, l]);\n  R = Y + V;\n"},
       {"max_plus", "A 19,23; B 23,17", "A[M, K], B[K, N] -> C",
        "  C[i, j : M, N] = >(A[i, k] + B[k, j]);\n"},
       {"three_dimensions_summed", "A 7,3,5,11; B 3,5,11,9", "A[M, P, Q, R], B[P, Q, R, N] -> C",
        "  C[i, j : M, N] = +(A[i, p, q, r] * B[p, q, r, j]);\n"}},
      {D::fp32, D::i8, D::fp16});
}

std::vector<Form> networks() {
  return {
      {"dense", "X 9,33; W! 33,17; B! 17", "X[M, K], W[K, N], B[N] -> R",
       "  Y[i, j : M, N] = +(X[i, k] * W[k, j]);\n  R = relu(Y + B);\n"},
      {"perceptron", "X 5,20; W! 20,31; A! 31; V! 31,7; B! 7",
       "X[N, I], W[I, H], A[H], V[H, O], B[O] -> R",
       "  P[n, h : N, H] = +(X[n, i] * W[i, h]);\n  Q = relu(P + A);\n"
       "  S[n, o : N, O] = +(Q[n, h] * V[h, o]);\n  R = S + B;\n"},
      {"softmax", "A 7,129", "A[M, N] -> R",
       "  X[m, 0 : M, 1] = >(A[m, n]);\n  E = exp(A - X);\n  S[m, 0 : M, 1] = +(E[m, n]);\n"
       "  R = E / S;\n"},
      {"softmax_of_columns", "A 65,9", "A[M, N] -> R",
       "  X[0, n : 1, N] = >(A[m, n]);\n  E = exp(A - X);\n  S[0, n : 1, N] = +(E[m, n]);\n"
       "  R = E / S;\n"},
      {"layer_norm", "X 11,67; G 67; B 67", "X[M, N], G[N], B[N] -> O",
       "  S[i, 0 : M, 1] = +(X[i, j]);\n  D = X - S / N;\n"
       "  V[i, 0 : M, 1] = +(D[i, j] * D[i, j]);\n  O = D / sqrt(V / N + 0.01) * G + B;\n"},
      {"batch_norm", "X 2,5,7,9; Mean! 9; Var! 9 positive; G! 9; B! 9",
       "X[N, H, W, C], Mean[C], Var[C], G[C], B[C] -> O",
       "  O = (X - Mean) / sqrt(Var + 0.001) * G + B;\n"},
      {"attention", "Q 13,8; K 19,8; V 19,6", "Q[M, E], K[N, E], V[N, F] -> O",
       "  L[i, j : M, N] = +(Q[i, d] * K[j, d]);\n  T[i, 0 : M, 1] = >(L[i, j]);\n"
       "  X = exp(L - T);\n  S[i, 0 : M, 1] = +(X[i, j]);\n  P = X / S;\n"
       "  O[i, e : M, F] = +(P[i, j] * V[j, e]);\n"},
      {"causal_attention", "Q 2,11,5; K 2,11,5; V 2,11,5",
       "Q[H, N, E], K[H, N, E], V[H, N, E] -> O",
       "  A[h, i, j : H, N, N] = +(Q[h, i, d] * K[h, j, d]);\n"
       "  T[h, i, 0 : H, N, 1] = >(A[h, i, j]), i - j < N;\n  X = exp(A - T);\n"
       "  S[h, i, 0 : H, N, 1] = +(X[h, i, j]), i - j < N;\n  P = X / S;\n"
       "  O[h, i, d : H, N, E] = +(P[h, i, j] * V[h, j, d]), i - j < N;\n"},
      {"convolution_and_pool", "I 1,14,13,3; K! 3,3,3,8; B! 8",
       "I[N, X, Y, C], K[P, Q, C, E], B[E] -> O",
       "  Z[n, x, y, e : N, X, Y, E] = +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c, e]);\n"
       "  R = relu(Z + B);\n"
       "  O[n, x, y, e : N, X / 2, Y / 2, E] = >(R[n, 2 * x + i, 2 * y + j, e]), i < 2, j < 2;\n"},
      {"gru", "X 5,9; H 5,12; W! 9,12; U! 12,12", "X[N, I], H[N, M], W[I, M], U[M, L] -> O",
       "  A[n, u : N, M] = +(X[n, i] * W[i, u]);\n  B[n, u : N, M] = +(H[n, v] * U[v, u]);\n"
       "  Z = sigmoid(A + B);\n  O = Z * H + (1 - Z) * tanh(A);\n"},
      {"normalised_rows_and_sums", "X 33,47", "X[M, N] -> R, S, T",
       "  S[i : M] = +(X[i, j]);\n  T[j : N] = >(X[i, j]);\n  Q[i, 0 : M, 1] = +(X[i, j] * X[i, "
       "j]);\n"
       "  R = X / sqrt(Q + 1);\n"},
      {"many_outputs", "A 6,15; B 6,15", "A[M, N], B[M, N] -> P, Q, R, S, T",
       "  P = A + B;\n  Q = A * P;\n  R[i : M] = +(Q[i, j]);\n  S[j : N] = >(P[i, j]);\n"
       "  T = Q - S;\n"},
      {"long_chain", "A 7,19", "A -> R",
       "  B = A * 0.5 + 1;\n  C = B * B - A;\n  E = max(C, B) * 0.25;\n  F = E - C * 0.125;\n"
       "  G = F * F + E;\n  H = abs(G) - F;\n  R = min(H, G) + B;\n"},
  };
}

}  // namespace

void add_product_cases(CaseMaker& maker) {
  add_products(maker);
  for (const Form& form : networks()) {
    const bool of_level_2 = form.name == "dense" || form.name == "softmax";
    add_form_cases(maker, {kAllocations}, of_level_2 ? Level::right : Level::robust, "network",
                   {form}, {D::fp32});
    add_form_cases(maker, {kAllocations}, Level::robust, "network", {form}, {D::fp16, D::fp64});
  }
}

}  // namespace stria::conformance
