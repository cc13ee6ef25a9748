// SPDX-License-Identifier: Apache-2.0
// What the language has beside contractions, from C++: operators, literals, functions of
// dimensions, calls, casts, attributes.
#include "edsl_program.h"
#include "stria/edsl.h"

namespace stria::end_to_end {
namespace {

using namespace stria::edsl;
using edsl::Tensor;
using stria::Program;

Result<Program> activations() {
  Tensor X = input("X");
  return program(
      "", {X},
      {named("Leaky", cond(X > 0, X, 0.125 * X)), named("Elu", cond(X > 0, X, exp(X) - 1)),
       named("Swish", X * sigmoid(X)), named("Hard", max(min(X / 4 + 0.5, 1), 0)),
       named("Plus", log(1 + exp(X))), named("Relu", relu(X))});
}

Result<Program> attributes() {
  Dim M, N;
  Index i, j;
  Tensor A = input("A", M, N);
  Tensor S("S", M);
  S(i) += A(i, j);
  S.attribute("pid", {"row_sums"});
  return program("", {A}, {named("O", S + S).attribute("pid", {"twice"})});
}

Result<Program> bit_operations() {
  Tensor A = input("A"), B = input("B"), P = input("P"), Q = input("Q");
  return program("", {A, B, P, Q}, {named("X", (A & B) | 1), named("Y", A ^ B), named("Z", P ^ Q)});
}

Result<Program> broadcasting() {
  Dim M("M"), N("N"), L("L"), W("W");
  Tensor A = input("A", M, N), B = input("B", N), C = input("C", L, W, N), D = input("D", {});
  return program("", {A, B, C, D}, {named("O", A + B * C + D)});
}

Result<Program> casts() {
  Tensor F = input("F"), I = input("I");
  return program("", {F, I},
                 {named("A", as_int(F, 8)), named("B", as_uint(F, 8)), named("C", as_float(I, 16)),
                  named("D", as_bool(I)), named("E", as_uint(I, 8)),
                  named("G", as_float(1, 64) / 4), named("H", as_int(F, 32))});
}

Result<Program> conditional() {
  auto [M, N] = dims("M", "N");
  Tensor A = input("A", M, N), P = input("P", N);
  return program("", {A, P},
                 {named("O", cond(A > 1, A, 0)), named("Q", cond(P, A, 1)),
                  named("R", cond(M > N, A, A + 1))});
}

Result<Program> dimension_arithmetic() {
  auto [N, M] = dims("N", "M");
  Index i, j;
  Tensor A = input("A", N, M);
  Dim Half = named("Half", (N + M) / 2);
  Dim Last = named("Last", max(N, M) - min(N, 3) % 2);
  Tensor O("O", cond(N > M, Half, N));
  O(i) += A(i, j);
  Tensor P = named("P", A * Last);
  Tensor Q("Q", 2 * Half - M);
  Q(i) >= A(i + Last - N, j);
  return program("", {A}, {O, P, Q});
}

Result<Program> functions_and_calls() {
  Dim N("N");
  Index i;
  Tensor V = input("X", N), S("S");
  S() += V(i);
  Function centred = function("centred", {V}, {named("R", V - S / N)});

  Tensor Y = input("X"), K = input("K");
  Function both = function("both", {Y, K}, {named("A", Y * K), named("B", Y + K)});

  Tensor Z = input("X");
  Function twice = function("twice", {Z}, {named("Y", Z * 2)});

  Dim L("N");
  Tensor X = input("X", L);
  auto [A, B] = both.results<2>(centred(X), 2);
  Tensor P = named("P", A), Q = named("Q", B);
  Tensor R = named("R", P + centred(Q) * 2);
  return program("main", {X}, {R, named("T", twice(twice(X)) - 1)});
}

Result<Program> functions_of_dimensions() {
  auto [N, K, M, L] = dims("N", "K", "M", "L");
  auto [i, j, k] = indices("i", "j", "k");
  Tensor A = input("A", N, K), B = input("B", M, L);
  Dim Rows = named("Rows", broadcast(N, M)), Terms = named("Terms", match(K, L));
  Tensor O("O", N, M);
  O(i, j) += A(i, k) * B(j, k);
  Tensor Rowwise = named("Rowwise", A * B);
  Tensor P("P", Rows);
  P(i) >= Rowwise(i, k), k < Terms;
  return program("", {A, B}, {O, P});
}

Result<Program> literals() {
  Tensor F = input("F"), I = input("I"), B = input("B"), H = input("H");
  return program(
      "", {F, I, B, H},
      {named("F2", F * 2 + 0.5), named("I2", I * 3 - 1), named("IF", I + 0.5), named("B2", B + 1),
       named("H2", H * 2), named("K", 7), named("L", 0.25), named("Q", I / 2)});
}

Result<Program> operators_as_functions() {
  Tensor A = input("A"), B = input("B");
  return program(
      "", {A, B},
      {named("O1", add(A, mul(B, sub(A, B)))), named("O2", cond(cmp_lt(A, B), neg(A), ident(B))),
       named("O3", logical_and(cmp_ge(A, B), cmp_ne(A, B))),
       named("O4", logical_or(cmp_eq(A, B), logical_not(cmp_gt(A, B)))),
       named("O5", cmp_le(max(A, B), min(A, B)))});
}

// C++ binds as Tile does, but for & ^ | and comparisons, which need the parentheses here.
Result<Program> precedence() {
  Tensor A = input("A"), B = input("B");
  Tensor R1 = named("R1", A ^ (B | (A & (B == A)))), S1 = named("S1", A ^ (B | (A & (B == A))));
  Tensor R2 = named("R2", cond(A << 1 + Dim(2) > B, A % 3, -B * ~A));
  Tensor S2 = named("S2", cond((A << (1 + Dim(2))) > B, A % 3, (-B) * (~A)));
  Tensor R3 = named("R3", !(A > 1) || (A != B && B <= 2));
  Tensor S3 = named("S3", (!(A > 1)) || ((A != B) && (B <= 2)));
  Tensor R4 = named("R4", A >> (1 - 3 * B / 2)), S4 = named("S4", A >> (1 - ((3 * B) / 2)));
  Tensor R5 = named("R5", (A - B - 1 < B) == (A > 2));
  Tensor S5 = named("S5", (((A - B) - 1) < B) == (A > 2));
  return program("", {A, B},
                 {named("R", R1 == S1 && R2 == S2 && R3 == S3 && R4 == S4 && R5 == S5)});
}

Result<Program> rank_zero() {
  Dim N("N");
  Index i;
  Tensor A = input("A"), B = input("B", {}), X = input("X", N);
  Tensor C = named("C", A + B);
  Tensor D("D"), E("E", 3), F("F");
  D() += B();
  E(i) += B() * X(i), i < 3;
  F() >= X(i);
  return program("", {A, B, X}, {C, D, E, F, named("G", X * D)});
}

Result<Program> softmax_family() {
  Dim M, N;
  Tensor X = input("X", M, N), T = input("T", M, N);
  Tensor S = named("S", builtin_softmax(X, M, N));
  Tensor L = named("L", builtin_logsoftmax(X, M, N));
  return program("", {X, T}, {S, L, named("C", builtin_binary_crossentropy(S, T, 2.0))});
}

Result<Program> reverse_gradient() {
  Dim N("N"), M("M");
  Index i, j;
  Tensor X = input("X", N, M), W = input("W", M);
  Tensor Features = named("Features", X * 2);
  Tensor Turned = named("Turned", reverse_grad(Features, 0.5));
  Tensor O("O", N);
  O(i) += Turned(i, j) * W(j);
  return program("", {X, W}, {O});
}

Result<Program> count_truth() {
  Dim M, N;
  Index i, j;
  Tensor I = input("I", M, N);
  Tensor P = named("P", I == 2);
  Tensor O("O", M);
  O(i) += P(i, j);
  return program("", {I}, {O});
}

}  // namespace

std::vector<EdslProgram> edsl_language() {
  return {
      {"activations", activations},
      {"attributes", attributes},
      {"bit_operations", bit_operations},
      {"broadcasting", broadcasting},
      {"casts", casts},
      {"conditional", conditional},
      {"dimension_arithmetic", dimension_arithmetic},
      {"functions_and_calls", functions_and_calls},
      {"functions_of_dimensions", functions_of_dimensions},
      {"literals", literals},
      {"operators_as_functions", operators_as_functions},
      {"precedence", precedence},
      {"rank_zero", rank_zero},
      {"softmax_family", softmax_family},
      {"reverse_grad", reverse_gradient},
      {"count_truth", count_truth},
  };
}

}  // namespace stria::end_to_end
