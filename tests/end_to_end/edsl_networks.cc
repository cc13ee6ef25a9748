// SPDX-License-Identifier: Apache-2.0
// Layers of networks from C++: elementwise expressions beside contractions, functions that are
// called.
#include "edsl_program.h"
#include "stria/edsl.h"

namespace stria::end_to_end {
namespace {

using namespace stria::edsl;
using edsl::Tensor;
using stria::Program;

Result<Program> softmax() {
  Dim M, N;
  Index i, j;
  Tensor X = input("X", M, N);
  Tensor Top("Top", M, 1), Sum("Sum", M, 1);
  Top(i, 0) >= X(i, j);
  Tensor E = named("E", exp(X - Top));
  Sum(i, 0) += E(i, j);
  return program("", {X}, {named("O", E / Sum)});
}

Result<Program> attention() {
  auto [M, D, N, Width] = dims("M", "D", "N", "E");
  auto [i, j, d, e] = indices("i", "j", "d", "e");
  Tensor Q = input("Q", M, D), K = input("K", N, D), V = input("V", N, Width);
  Tensor L("L", M, N), Top("Top", M, 1), Sum("Sum", M, 1), O("O", M, Width);
  L(i, j) += Q(i, d) * K(j, d);
  Tensor A = named("A", L / sqrt(as_float(D, 32)));
  Top(i, 0) >= A(i, j);
  Tensor X = named("X", exp(A - Top));
  Sum(i, 0) += X(i, j);
  Tensor P = named("P", X / Sum);
  O(i, e) += P(i, j) * V(j, e);
  return program("", {Q, K, V}, {O});
}

Result<Program> layer_norm() {
  Dim M, N;
  Index i, j;
  Tensor X = input("X", M, N), G = input("G", N), B = input("B", N);
  Tensor S("S", M, 1), V("V", M, 1);
  S(i, 0) += X(i, j);
  Tensor D = named("D", X - S / N);
  Tensor Squares = named("Squares", D * D);
  V(i, 0) += Squares(i, j);
  return program("", {X, G, B}, {named("O", D / sqrt(V / N + 1e-5) * G + B)});
}

Result<Program> batch_norm() {
  Dim N("N"), H("H"), W("W"), C("C");
  Tensor X = input("X", N, H, W, C), Mean = input("Mean", C), Var = input("Var", C);
  Tensor G = input("G", C), B = input("B", C);
  return program("", {X, Mean, Var, G, B}, {named("O", (X - Mean) / sqrt(Var + 0.001) * G + B)});
}

Result<Program> multilayer_perceptron() {
  auto [N, I, H, O] = dims("N", "I", "H", "O");
  auto [n, i, h, o] = indices("n", "i", "h", "o");
  Tensor X = input("X", N, I), W = input("W", I, H), A = input("A", H), V = input("V", H, O),
         B = input("B", O);
  Tensor XW("XW", N, H), HV("HV", N, O);
  XW(n, h) += X(n, i) * W(i, h);
  Tensor Hidden = named("Hidden", relu(XW + A));
  HV(n, o) += Hidden(n, h) * V(h, o);
  return program("", {X, W, A, V, B}, {named("R", HV + B)});
}

Result<Program> gru_gate() {
  auto [N, I, U] = dims("N", "I", "U");
  auto [n, i, u, v] = indices("n", "i", "u", "v");
  Tensor X = input("X", N, I), H = input("H", N, U), W = input("W", I, U), R = input("R", U, U);
  Tensor XW("XW", N, U), HR("HR", N, U);
  XW(n, u) += X(n, i) * W(i, u);
  HR(n, u) += H(n, v) * R(v, u);
  Tensor Z = named("Z", sigmoid(XW + HR));
  return program("", {X, H, W, R}, {named("O", Z * H + (1 - Z) * tanh(XW))});
}

Function lstm_gate() {
  auto [N, I, U, G, First] = dims("N", "I", "U", "G", "First");
  auto [n, i, u, v] = indices("n", "i", "u", "v");
  Tensor X = input("X", N, I), H = input("H", N, U), W = input("W", I, G), R = input("R", U, G),
         B = input("B", G);
  Tensor XW("XW", N, U), HR("HR", N, U), Bias("Bias", U);
  XW(n, u) += X(n, i) * W(i, u + First);
  HR(n, u) += H(n, v) * R(v, u + First);
  Bias(u) = B(u + First);
  return function("gate", {X, H, W, R, B, First}, {named("Z", XW + HR + Bias)});
}

Result<Program> lstm_cell() {
  auto [N, I, U, G] = dims("N", "I", "U", "G");
  Tensor X = input("X", N, I), H = input("H", N, U), C = input("C", N, U), W = input("W", I, G),
         R = input("R", U, G), B = input("B", G);
  Function gate = lstm_gate();
  Tensor In = named("In", sigmoid(gate(X, H, W, R, B, 0)));
  Tensor Forget = named("Forget", sigmoid(gate(X, H, W, R, B, U)));
  Tensor Cell = named("Cell", tanh(gate(X, H, W, R, B, 2 * U)));
  Tensor Out = named("Out", sigmoid(gate(X, H, W, R, B, 3 * U)));
  Tensor CNext = named("CNext", Forget * C + In * Cell);
  Tensor HNext = named("HNext", Out * tanh(CNext));
  return program("", {X, H, C, W, R, B}, {HNext, CNext});
}

Result<Program> cross_entropy() {
  auto [N, K] = dims("N", "K");
  auto [n, k] = indices("n", "k");
  Tensor X = input("X", N, K), Y = input("Y", N), One = input("One", N),
         Classes = input("Classes", K);
  Tensor L = named("L", builtin_logsoftmax(X, N, K));
  Tensor Hit("Hit", N, K), S("S");
  Hit(n, k) += cond(Y(n) == Classes(k), L(n, k));
  S() += Hit(n, k);
  return program("", {X, Y, One, Classes}, {named("O", -S / N)});
}

Result<Program> argmax() {
  Dim M, N;
  Index i, j;
  Tensor I = input("I", M, N);
  Tensor Top("Top", M), O("O", M);
  Top(i) >= I(i, j);
  Tensor Where = named("Where", index(I, 1));
  O(i) >= cond(I(i, j) == Top(i), Where(i, j));
  return program("", {I}, {O});
}

Result<Program> winograd() {
  auto [X, Y, KX, KY, T, TI, TK, TJ, R, TO] =
      dims("X", "Y", "KX", "KY", "T", "TI", "TK", "TJ", "R", "TO");
  auto [i, j, p, q, u, v, r, s] = indices("i", "j", "p", "q", "u", "v", "r", "s");
  Tensor I = input("I", X, Y), K = input("K", KX, KY), BT = input("BT", T, TI),
         G = input("G", TK, TJ), AT = input("AT", R, TO);
  const Dim PX = (X - 2) / 2, PY = (Y - 2) / 2;  // written where they are used
  Tensor GK("GK", TK, KY), UU("U", TK, TK), BD("BD", PX, PY, T, TI), V("V", PX, PY, T, T);
  Tensor AM("AM", PX, PY, R, T), O("O", X - 2, Y - 2);
  GK(u, j) += G(u, i) * K(i, j);
  UU(u, v) += GK(u, j) * G(v, j);
  BD(p, q, u, j) += BT(u, i) * I(2 * p + i, 2 * q + j), j < 4;
  V(p, q, u, v) += BD(p, q, u, j) * BT(v, j);
  Tensor M = named("M", UU * V);
  AM(p, q, r, v) += AT(r, u) * M(p, q, u, v);
  O(2 * p + r, 2 * q + s) += AM(p, q, r, v) * AT(s, v), r < 2, s < 2;
  return program("", {I, K, BT, G, AT}, {O});
}

}  // namespace

std::vector<EdslProgram> edsl_networks() {
  return {
      {"softmax", softmax},
      {"attention", attention},
      {"layer_norm", layer_norm},
      {"batch_norm", batch_norm},
      {"multilayer_perceptron", multilayer_perceptron},
      {"gru_gate", gru_gate},
      {"lstm_cell", lstm_cell},
      {"cross_entropy", cross_entropy},
      {"argmax", argmax},
      {"winograd_2x2_3x3", winograd},
  };
}

}  // namespace stria::end_to_end
