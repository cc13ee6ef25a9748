// SPDX-License-Identifier: Apache-2.0
// Arithmetic at its edges: overflow, division, shifts, NaN.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

// Five values of `type` at the edges and in the middle: what leaves the range comes in at the other
// end.
void overflow(Case& c, DataType type, double lowest, double highest) {
  auto wrapped = [=](double x) {
    const double count = highest - lowest + 1;
    return x - std::floor((x - lowest) / count) * count;
  };
  Grid& A = c.given("A", type, {5}, {lowest, lowest + 1, 0, highest - 1, highest});
  Grid &Up = c.out_of("Up", type, {5}), &Down = c.out_of("Down", type, {5});
  Grid &Twice = c.out_of("Twice", type, {5}), &Minus = c.out_of("Minus", type, {5});
  each({5}, [&](int i) {
    Up(i) = wrapped(A(i) + 1), Down(i) = wrapped(A(i) - 1);
    Twice(i) = wrapped(A(i) * 2), Minus(i) = wrapped(-A(i));
  });
}

void overflow_of_sums(Case& c) {
  c.given("A", i32, {3}, {2147483647, 2, 5}), c.given("B", u32, {3}, {4294967295.0, 2, 5});
  c.out_of("S", i32, {}, -2147483642.0), c.out_of("P", i32, {}, -10), c.out_of("T", u32, {}, 6);
}

void division_of_integers(Case& c) {
  Grid &A = c.in("A", {60}, -9, 9), &B = c.in("B", {60}, -3, 3), &Q = c.out("Q", {60}),
       &R = c.out("R", {60});
  each({60}, [&](int i) {
    if (B(i) == 0) return;
    Q(i) = std::trunc(A(i) / B(i));
    R(i) = A(i) - Q(i) * B(i);
  });
}

void division_of_lowest(Case& c) {
  c.given("A", i32, {2}, {-2147483648.0, 7}), c.given("B", i32, {2}, {-1, -1});
  c.out_of("Q", i32, {2}).values = {-2147483648.0, -7};
  c.out_of("R", i32, {2});
}

void shifts(Case& c) {
  c.given("A", i32, {5}, {-8, 5, -1, 1, 3}),
      c.given("U", u32, {5}, {4294967288.0, 5, 4294967295.0, 1, 3});
  c.given("K", i32, {5}, {1, 2, 31, 32, 33});
  c.out_of("L", i32, {5}).values = {-16, 20, -2147483648.0, 1, 6};
  c.out_of("R", i32, {5}).values = {-4, 1, -1, 1, 1};
  c.out_of("V", u32, {5}).values = {2147483644.0, 1, 1, 1, 1};
}

void bit_operations(Case& c) {
  Grid &A = c.in("A", {20}, 0, 15), &B = c.in("B", {20}, 0, 15), &X = c.out("X", {20}),
       &Y = c.out("Y", {20});
  Grid &P = c.in_of("P", boolean, {20}), &Q = c.in_of("Q", boolean, {20}),
       &Z = c.out_of("Z", boolean, {20});
  each({20}, [&](int i) {
    const int a = static_cast<int>(A(i)), b = static_cast<int>(B(i));
    X(i) = (a & b) | 1, Y(i) = a ^ b, Z(i) = P(i) != Q(i);
  });
}

void nan_in_maximum(Case& c) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Grid& X = c.given("X", c.type, {3, 3}, {1, nan, 3, -1, -2, -3, nan, 1, 2});
  c.out("Top", {3}).values = {nan, -1, nan}, c.out("Low", {3}).values = {nan, -3, nan};
  Grid &E = c.out("E", {3, 3}), &F = c.out("F", {3, 3});
  each({3, 3}, [&](int i, int j) {
    const double x = X(i, j);
    E(i, j) = std::isnan(x) ? x : std::max(x, 0.0), F(i, j) = std::isnan(x) ? x : std::min(x, 0.0);
  });
}

void nan_in_comparisons(Case& c) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  c.given("X", c.type, {3}, {nan, 0, 5});
  c.out_of("Lt", boolean, {3}).values = {0, 1, 0}, c.out_of("Eq", boolean, {3}).values = {0, 1, 1};
  c.out_of("Ne", boolean, {3}).values = {1, 0, 0}, c.out_of("C", fp32, {3}).values = {1, 2, 1};
}

void nan_in_sums(Case& c) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  c.given("X", c.type, {4, 2}, {1, nan, inf, 1, inf, -inf, 0, inf});
  c.out("S", {4}).values = {nan, inf, nan, inf}, c.out("P", {4}).values = {nan, inf, -inf, nan};
}

void negative_maximum(Case& c) {
  Grid &X = c.in("X", {7, 9}, -9, -2), &Top = c.out("Top", {}, -99), &Low = c.out("Low", {});
  for (double x : X.values) Top() = std::max(Top(), x);
  Low() = -Top();
}

void infinite_maximum(Case& c) {
  const double inf = std::numeric_limits<double>::infinity();
  c.given("X", c.type, {2}, {-inf, -inf});
  c.out("Top", {}, -inf), c.out("Low", {}, -inf);
}

void rounding(Case& c) {
  Grid& X = c.given("X", c.type, {7}, {-2.75, -1.25, -0.25, 0.25, 0.75, 1.25, 2.75});
  Grid &F = c.out("F", {7}), &C = c.out("C", {7}), &R = c.out("R", {7});
  each({7}, [&](int i) {
    F(i) = std::floor(X(i)), C(i) = std::ceil(X(i)), R(i) = std::floor(X(i) + 0.5);
  });
}

void conditional(Case& c) {
  Grid &A = c.in("A", {3, 4}), &P = c.in("P", {4}, 0, 1);
  Grid &O = c.out("O", {3, 4}), &Q = c.out("Q", {3, 4}), &R = c.out("R", {3, 4});
  each({3, 4}, [&](int i, int j) {
    O(i, j) = A(i, j) > 1 ? A(i, j) : 0, Q(i, j) = P(j) != 0 ? A(i, j) : 1, R(i, j) = A(i, j) + 1;
  });
}

}  // namespace

std::vector<ProgramCase> arithmetic_cases() {
  return {
      {"overflow_i8", &kFp32, [](Case& c) { overflow(c, i8, -128, 127); }},
      {"overflow_u8", &kFp32, [](Case& c) { overflow(c, u8, 0, 255); }},
      {"overflow_i16", &kFp32, [](Case& c) { overflow(c, i16, -32768, 32767); }},
      {"overflow_u16", &kFp32, [](Case& c) { overflow(c, u16, 0, 65535); }},
      {"overflow_i32", &kFp32, [](Case& c) { overflow(c, i32, -2147483648.0, 2147483647.0); }},
      {"overflow_u32", &kFp32, [](Case& c) { overflow(c, u32, 0, 4294967295.0); }},
      {"overflow_of_sums", &kFp32, overflow_of_sums},
      {"division_of_integers", &kInteger, division_of_integers},
      {"division_of_lowest", &kFp32, division_of_lowest},
      {"shifts", &kFp32, shifts},
      {"bit_operations", &kInteger, bit_operations},
      {"nan_in_maximum", &kFloat, nan_in_maximum},
      {"nan_in_comparisons", &kFloat, nan_in_comparisons},
      {"nan_in_sums", &kReal, nan_in_sums},
      {"negative_maximum", &kReal, negative_maximum},
      {"infinite_maximum", &kFloat, infinite_maximum},
      {"rounding", &kFloat, rounding},
      {"conditional", &kNumbers, conditional},
  };
}

}  // namespace stria::end_to_end
