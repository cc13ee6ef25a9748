// SPDX-License-Identifier: Apache-2.0
// Products, convolutions, pooling, reductions and index arithmetic from C++.
#include "edsl_program.h"
#include "stria/edsl.h"

namespace stria::end_to_end {
namespace {

using edsl::cond, edsl::default_to, edsl::Dim, edsl::dims, edsl::Index, edsl::indices, edsl::input,
    edsl::named, edsl::no_defract, edsl::program, edsl::Tensor;

Result<Program> batched_matmul() {
  auto [B, M, K, N] = dims("B", "M", "K", "N");
  auto [b, i, j, k] = indices("b", "i", "j", "k");
  Tensor A = input("A", B, M, K), D = input("D", B, K, N);
  Tensor C("C", B, M, N);
  C(b, i, j) += A(b, i, k) * D(b, k, j);
  return program("", {A, D}, {C});
}

Result<Program> matmul_chain() {
  Dim M("M"), K("K"), N("N"), L("L");
  Index i("i"), j("j"), k("k"), l("l");
  Tensor A = input("A", M, K), B = input("B", K, N), C = input("C", N, L), Bias = input("Bias", L);
  Tensor AB("AB", M, N), ABC("ABC", M, L);
  AB(i, j) += A(i, k) * B(k, j);
  ABC(i, l) += AB(i, j) * C(j, l);
  return program("", {A, B, C, Bias}, {named("R", ABC + Bias)});
}

Result<Program> matmul_padded_output() {
  Dim M("M"), K("K"), N("N");
  Index i("i"), j("j"), k("k");
  Tensor A = input("A", M, K), B = input("B", K, N);
  Tensor Zero = named("Zero", 0);
  Tensor C("C", M + 2, N + 1);
  C(i, j) += A(i, k) * B(k, j), default_to(Zero);
  return program("", {A, B}, {C});
}

// Names of dimensions and indices are found by printing.
Result<Program> matmul_transposed_b() {
  Dim M("M"), K("K"), N("N");
  Index i, j, k;
  Tensor A = input("A", M, K), B = input("B", N, K);
  Tensor C("C", M, N);
  C(i, j) += A(i, k) * B(j, k);
  return program("", {A, B}, {C});
}

Result<Program> outer() {
  Dim M, N;
  Index i, j;
  Tensor X = input("X", M), Y = input("Y", N);
  Tensor R("R", M, N);
  R(i, j) += X(i) * Y(j);
  return program("", {X, Y}, {R});
}

Result<Program> kronecker() {
  Dim M("M"), N("N"), P("P"), Q("Q");
  Index i("i"), j("j"), p("p"), q("q");
  Tensor A = input("A", M, N), B = input("B", P, Q);
  Tensor R("R", M * P, N * Q);
  R(P * i + p, Q * j + q) += A(i, j) * B(p, q);
  return program("", {A, B}, {R});
}

Result<Program> max_plus_product() {
  Dim M("M"), K("K"), N("N");
  Index i, j, k;
  Tensor A = input("A", M, K), B = input("B", K, N);
  Tensor C("C", M, N);
  C(i, j) >= A(i, k) + B(k, j);
  return program("", {A, B}, {C});
}

Result<Program> min_plus_product() {
  Dim M("M"), K("K"), N("N");
  Index i, j, k;
  Tensor A = input("A", M, K), B = input("B", K, N);
  Tensor C("C", M, N);
  C(i, j) <= A(i, k) + B(k, j);
  return program("", {A, B}, {C});
}

Result<Program> match_count() {
  Dim M("M"), K("K"), N("N");
  Index i, j, k;
  Tensor A = input("A", M, K), B = input("B", K, N);
  Tensor O("O", M, N);
  O(i, j) >= (A(i, k) == B(k, j));
  return program("", {A, B}, {O});
}

Result<Program> three_operands() {
  Dim M, N;
  Index i, j;
  Tensor A = input("A", M), B = input("B", N), C = input("C", N);
  Tensor O("O", M), P("P", M, N);
  O(i) += cond(A(i) == B(j), C(j));
  P(i, j) = cond(A(i) == B(j), C(j));
  return program("", {A, B, C}, {O, P});
}

Result<Program> trace_of_product() {
  Dim M, N;
  Index i, j;
  Tensor A = input("A", M, N), B = input("B", N, M);
  Tensor R("R");
  R() += A(i, j) * B(j, i);
  return program("", {A, B}, {R});
}

Result<Program> conv1d_stride_dilation() {
  Dim X("X"), CI("CI"), KX("KX"), CO("CO");
  Index x("x"), k("k"), ci("ci"), co("co");
  Tensor I = input("I", X, CI), K = input("K", KX, CI, CO);
  Tensor O("O", (X - 3 * (KX - 1) - 1) / 2 + 1, CO);
  O(x, co) += I(2 * x + 3 * k, ci) * K(k, ci, co);
  return program("", {I, K}, {O});
}

Result<Program> conv1d_transposed_gather() {
  Dim X("X"), CI("CI"), KX("KX"), CO("CO");
  Index x("x"), k("k"), ci("ci"), co("co");
  Tensor I = input("I", X, CI), K = input("K", KX, CI, CO);
  Tensor O("O", 2 * (X - 1) + KX, CO);
  O(x, co) += I((x - k) / 2, ci) * K(k, ci, co);
  return program("", {I, K}, {O});
}

Result<Program> conv2d_same() {
  auto [N, X, Y, CI, KX, KY, CO] = dims("N", "X", "Y", "CI", "KX", "KY", "CO");
  auto [n, x, y, i, j, ci, co] = indices("n", "x", "y", "i", "j", "ci", "co");
  Tensor I = input("I", N, X, Y, CI), K = input("K", KX, KY, CI, CO);
  Tensor O("O", N, X, Y, CO);
  O(n, x, y, co) += I(n, x + i - 1, y + j - 1, ci) * K(i, j, ci, co);
  return program("", {I, K}, {O});
}

Result<Program> conv2d_grouped_flat() {
  auto [N, X, CI, KX, CIG, CO] = dims("N", "X", "CI", "KX", "CIG", "CO");
  auto [n, x, g, i, ci, co] = indices("n", "x", "g", "i", "ci", "co");
  Tensor I = input("I", N, X, CI), K = input("K", KX, CIG, CO);
  Tensor O("O", N, X - KX + 1, CO);
  O(n, x, 2 * g + co) += I(n, x + i, 3 * g + ci) * K(i, ci, 2 * g + co), co < 2, ci < 3;
  return program("", {I, K}, {O});
}

Result<Program> conv2d_grad_input_no_defract() {
  auto [X, Y, KX, KY, XI, YI] = dims("X", "Y", "KX", "KY", "XI", "YI");
  auto [x, y, i, j] = indices("x", "y", "i", "j");
  Tensor DO = input("DO", X, Y), K = input("K", KX, KY), I = input("I", XI, YI);
  Tensor O("O", XI, YI);
  O(2 * x + i, 3 * y + j) += DO(x, y) * K(i, j), no_defract;
  return program("", {DO, K, I}, {O});
}

Result<Program> pool_max_ceil() {
  Dim N("N");
  Index i, j;
  Tensor I = input("I", N);
  Tensor O("O", (N + 1) / 2);
  O(i) >= I(2 * i + j), j < 2;
  return program("", {I}, {O});
}

Result<Program> pool_min2d() {
  auto [X, Y] = dims("X", "Y");
  auto [x, y, i, j] = indices("x", "y", "i", "j");
  Tensor I = input("I", X, Y);
  Tensor O("O", X / 2, Y / 2);
  O(x, y) <= I(2 * x + i, 2 * y + j), i < 2, j < 2;
  return program("", {I}, {O});
}

Result<Program> pool_max_gradient() {
  Dim N("N"), M("M");
  Index i, j;
  Tensor I = input("I", N), D = input("D", M);
  Tensor O("O", N / 2), Hit("Hit", N);
  O(i) >= I(2 * i + j), j < 2;
  Index p("i"), q("j");  // named: they stand in the other order in Hit
  Hit(2 * p + q) += cond(I(2 * p + q) == O(p), D(p)), q < 2;
  return program("", {I, D}, {Hit});
}

Result<Program> product_axis1() {
  Dim M, N;
  Index i, j;
  Tensor I = input("I", M, N);
  Tensor O("O", M);
  O(i) *= I(i, j);
  return program("", {I}, {O});
}

Result<Program> cumulative_sum() {
  Dim N("N");
  Index i("i"), k("k");
  Tensor I = input("I", N);
  Tensor O("O", N);
  O(i) += I(k), i - k < N;
  return program("", {I}, {O});
}

Result<Program> integral_image() {
  Dim M, N;
  Index x("x"), y("y"), i, j;
  Tensor I = input("I", M, N);
  Tensor O("O", M, N);
  O(x, y) += I(i, j), x - i < M, y - j < N;
  return program("", {I}, {O});
}

Result<Program> interleave() {
  Dim N("N");
  Index i;
  Tensor A = input("A", N), B = input("B", N);
  Tensor X("X", 2 * N), O("O", 2 * N);
  X(2 * i) = A(i);
  O(2 * i + 1) = B(i), default_to(X);
  return program("", {A, B}, {O});
}

Result<Program> negative_indices() {
  Dim N("N");
  Index j("j");
  Tensor I = input("I", N);
  Tensor O("O", 8);
  O(j + 3) += I(-j);
  return program("", {I}, {O});
}

Result<Program> three_divided_sums() {
  Dim N("N");
  Index i("i"), j("j"), k("k");
  Tensor A = input("A", N);
  Tensor R("R", 2);
  R((3 * i + 3 * k - 1) / 2) += A((4 - 2 * j - 3 * k) / 5), i < 5, j + 4 < 7, k + 3 < 5,
      2 * i + j + 2 < 100;
  return program("", {A}, {R});
}

Result<Program> no_defract_of_three() {
  Dim N("N");
  Index i, j;
  Tensor A = input("A", N);
  Tensor O("O", N + 2), P("P", N / 2), Q("Q", N);
  O(i + j) += A(i), j < 3, no_defract;
  P(i / 2) >= A(i), no_defract;
  Q(i - j) >= A(i + j), j < 2, no_defract;
  return program("", {A}, {O, P, Q});
}

Result<Program> roll() {
  Dim N("N");
  Index i("i"), w("w");
  Tensor I = input("I", N);
  Tensor O("O", N);
  O(i + 3 - N * w) = I(i), w < 2;
  return program("", {I}, {O});
}

Result<Program> infeasible() {
  Dim M;
  Index i;
  Tensor I = input("I", M);
  Tensor S("S", M), P("P", M), T("T", M), B("B", M), A("A", M);
  S(i) += I(i), i - 99 < 5;
  P(i) *= I(i), i - 99 < 5;
  T(i) >= I(i), i - 99 < 5;
  B(i) <= I(i), i - 99 < 5;
  A(i) = I(i), i - 99 < 5;
  return program("", {I}, {S, P, T, B, A});
}

}  // namespace

std::vector<EdslProgram> edsl_contractions() {
  return {
      {"batched_matmul", batched_matmul},
      {"matmul_chain", matmul_chain},
      {"matmul_padded_output", matmul_padded_output},
      {"matmul_transposed_b", matmul_transposed_b},
      {"outer", outer},
      {"kronecker", kronecker},
      {"max_plus_product", max_plus_product},
      {"min_plus_product", min_plus_product},
      {"match_count", match_count},
      {"three_operands", three_operands},
      {"trace_of_product", trace_of_product},
      {"conv1d_stride_dilation", conv1d_stride_dilation},
      {"conv1d_transposed_gather", conv1d_transposed_gather},
      {"conv2d_same", conv2d_same},
      {"conv2d_grouped_flat", conv2d_grouped_flat},
      {"conv2d_grad_input_no_defract", conv2d_grad_input_no_defract},
      {"pool_max_ceil", pool_max_ceil},
      {"pool_min2d", pool_min2d},
      {"pool_max_gradient", pool_max_gradient},
      {"product_axis1", product_axis1},
      {"cumulative_sum", cumulative_sum},
      {"integral_image", integral_image},
      {"interleave", interleave},
      {"negative_indices", negative_indices},
      {"three_divided_sums", three_divided_sums},
      {"no_defract", no_defract_of_three},
      {"roll", roll},
      {"infeasible", infeasible},
  };
}

}  // namespace stria::end_to_end
