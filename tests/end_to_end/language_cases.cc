// SPDX-License-Identifier: Apache-2.0
// The words of the language: operators, functions, calls, literals, types.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

void precedence(Case& c) {
  c.in_of("A", i32, {40}, -9, 9), c.in_of("B", i32, {40}, -9, 9);
  c.out_of("R", boolean, {40}, 1);
}

void operators_as_functions(Case& c) {
  Grid &A = c.in("A", {40}, -3, 3), &B = c.in("B", {40}, -3, 3);
  Grid &O1 = c.out("O1", {40}), &O2 = c.out("O2", {40}), &O3 = c.out_of("O3", boolean, {40});
  Grid &O4 = c.out_of("O4", boolean, {40}), &O5 = c.out_of("O5", boolean, {40});
  each({40}, [&](int i) {
    const double a = A(i), b = B(i);
    O1(i) = a + b * (a - b);
    O2(i) = a < b ? -a : b;
    O3(i) = a > b;
    O4(i) = a <= b;
    O5(i) = a == b;
  });
}

void broadcasting(Case& c) {
  Grid &A = c.in("A", {3, 4}), &B = c.in("B", {4}, 0, 2), &C = c.in("C", {2, 1, 4}),
       &D = c.in("D", {});
  Grid& O = c.out("O", {2, 3, 4});
  each({2, 3, 4}, [&](int l, int i, int j) { O(l, i, j) = A(i, j) + B(j) * C(l, 0, j) + D(); });
}

void rank_zero(Case& c) {
  Grid &A = c.in("A", {}), &B = c.in("B", {}), &X = c.in("X", {4});
  c.out("C", {}, A() + B()), c.out_of("D", c.wide(), {}, B());
  Grid& F = c.out("F", {}, -99);
  Grid& G = c.out_of("G", c.wide(), {4});
  each({4}, [&](int i) { F() = std::max(F(), X(i)), G(i) = X(i) * B(); });
  Grid& E = c.out_of("E", c.wide(), {3});
  each({3}, [&](int i) { E(i) = B() * X(i); });
}

void dimension_arithmetic(Case& c) {
  Grid& A = c.in("A", {5, 4});
  Grid &O = c.out_of("O", c.wide(), {4}), &P = c.out("P", {5, 4}), &Q = c.out("Q", {4}, -99);
  each({4, 4}, [&](int i, int j) {
    O(i) += A(i, j), Q(i) = std::max(Q(i), i + 4 - 5 < 0 ? -99 : A(i - 1, j));
  });
  Q(0) = 0;
  each({5, 4}, [&](int i, int j) { P(i, j) = A(i, j) * 4; });
}

void functions_of_dimensions(Case& c) {
  Grid &A = c.in("A", {1, 5}, -3, 3), &B = c.in("B", {4, 5}, -3, 3);
  Grid &O = c.out_of("O", c.wide(), {1, 4}), &P = c.out("P", {4}, -99);
  each({4, 5}, [&](int j, int k) {
    O(0, j) += A(0, k) * B(j, k), P(j) = std::max(P(j), A(0, k) * B(j, k));
  });
}

void reverse_grad(Case& c) {
  Grid &X = c.in("X", {3, 4}), &W = c.in("W", {4}), &O = c.out("O", {3});
  each({3, 4}, [&](int i, int j) { O(i) += 2 * X(i, j) * W(j); });
}

void functions_and_calls(Case& c) {
  Grid &X = c.in("X", {4}), &R = c.out("R", {4}), &T = c.out("T", {4});
  double mean = 0;
  for (double x : X.values) mean += x / 4;
  each({4}, [&](int i) { R(i) = 2 * (X(i) - mean) + 2 * (X(i) - mean), T(i) = 4 * X(i) - 1; });
}

void entry_of_several(Case& c) {
  Grid &X = c.in("X", {4}), &Y = c.out("Y", {4});
  each({4}, [&](int i) { Y(i) = X(i) + 1; });
}

void attributes(Case& c) {
  Grid &A = c.in("A", {3, 4}), &O = c.out_of("O", c.wide(), {3});
  each({3, 4}, [&](int i, int j) { O(i) += 2 * A(i, j); });
}

void three_operands(Case& c) {
  Grid &A = c.in("A", {6}), &B = c.in("B", {7}), &C = c.in("C", {7});
  Grid &O = c.out_of("O", c.wide(), {6}), &P = c.out("P", {6, 7});
  each({6, 7}, [&](int i, int j) {
    if (A(i) == B(j)) O(i) += C(j), P(i, j) = C(j);
  });
}

void no_defract(Case& c) {
  Grid &A = c.in("A", {6}, 1, 9), &O = c.out_of("O", c.wide(), {8}), &P = c.out("P", {3}),
       &Q = c.out("Q", {6});
  each({6, 3}, [&](int i, int j) { O(i + j) += A(i); });
  each({3}, [&](int i) { P(i) = A(2 * i); });
  each({6, 2}, [&](int k, int j) {
    if (k - 2 * j >= 0) Q(k - 2 * j) = std::max(Q(k - 2 * j), A(k));
  });
}

void comments(Case& c) {
  Grid &A = c.in("A", {4}), &B = c.in("B", {4}), &O = c.out("O", {4});
  each({4}, [&](int i) { O(i) = A(i) + B(i); });
}

void literals(Case& c) {
  Grid &F = c.in("F", {4}), &I = c.in_of("I", i32, {4}), &B = c.in_of("B", boolean, {4}),
       &H = c.in_of("H", fp16, {4});
  Grid &F2 = c.out("F2", {4}), &I2 = c.out_of("I2", i32, {4}), &IF = c.out("IF", {4});
  Grid &B2 = c.out_of("B2", i32, {4}), &H2 = c.out_of("H2", fp16, {4}),
       &Q = c.out_of("Q", i32, {4});
  c.out_of("K", i32, {}, 7), c.out("L", {}, 0.25);
  each({4}, [&](int i) {
    F2(i) = F(i) * 2 + 0.5, I2(i) = I(i) * 3 - 1, IF(i) = I(i) + 0.5, B2(i) = B(i) + 1,
    H2(i) = H(i) * 2;
    Q(i) = std::trunc(I(i) / 2);
  });
}

void casts(Case& c) {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  c.given("F", fp32, {8}, {1.75, -1.75, 300, -300, inf, -inf, nan, 0.5});
  c.given("I", i32, {5}, {0, 3, -1, 300, 2049});
  c.out_of("A", i8, {8}).values = {1, -1, 127, -128, 127, -128, 0, 0};
  c.out_of("B", u8, {8}).values = {1, 0, 255, 0, 255, 0, 0, 0};
  c.out_of("C", fp16, {5}).values = {0, 3, -1, 300, 2048};
  c.out_of("D", boolean, {5}).values = {0, 1, 1, 1, 1};
  c.out_of("E", u8, {5}).values = {0, 3, 255, 44, 1};
  c.out_of("G", fp64, {}, 0.25);
  c.out_of("H", i32, {8}).values = {1, -1, 300, -300, 2147483647, -2147483648.0, 0, 0};
}

void accumulate_in_fp32(Case& c) {
  // 4096 ones and 8 more: beyond the integers that fp16 (2048) and bf16 (256) count one by
  // one.
  Grid &H = c.given("H", fp16, {4104}, std::vector<double>(4104, 1)),
       &B = c.given("B", bf16, {4104}, H.values);
  (void)B;
  c.out_of("SH", fp16, {}, 4104), c.out_of("SB", bf16, {}, 4096), c.out_of("PH", fp16, {}, 4104);
  c.out_of("OH", fp16, {}, 8), c.out_of("OB", bf16, {}, 0);
}

void narrow_integers(Case& c) {
  c.given("A", i8, {4}, {127, -128, 127, -128}), c.given("B", i8, {4}, {127, -128, -128, 127});
  c.given("U", u8, {4}, {255, 255, 1, 0}), c.given("V", u8, {4}, {255, 2, 3, 9});
  c.out_of("S", i32, {}, 127 * 127 + 128 * 128 - 2 * 127 * 128);
  c.out_of("T", u32, {}, 255 * 255 + 255 * 2 + 3);
  c.out_of("P", i32, {}, 254 * -256), c.out_of("M", u32, {}, 255 * 255);
}

void mixed_types(Case& c) {
  Grid &A = c.in_of("A", i8, {4}), &B = c.in_of("B", u16, {4}, 4, 9), &C = c.in_of("C", fp16, {4}),
       &D = c.in_of("D", bf16, {4});
  Grid &AB = c.out_of("AB", u16, {4}), &BC = c.out_of("BC", fp16, {4}),
       &CD = c.out_of("CD", fp32, {4}), &DA = c.out_of("DA", bf16, {4});
  each({4}, [&](int i) {
    AB(i) = A(i) + B(i), BC(i) = B(i) + C(i), CD(i) = C(i) * D(i), DA(i) = D(i) - A(i);
  });
}

void composed_mad(Case& c) {
  Grid &X = c.in("X", {5}), &Y = c.in("Y", {5}), &Z = c.in("Z", {5}), &O = c.out("O", {5});
  each({5}, [&](int i) { O(i) = X(i) * Y(i) + Z(i) + 2 * X(i) + 1; });
}

void inverse_hyperbolic(Case& c) {
  c.ulps = 8;
  Grid &X = c.in("X", {7}, 1, 7), &A = c.out("A", {7}), &B = c.out("B", {7}), &T = c.out("T", {7});
  each({7}, [&](int i) {
    A(i) = std::asinh(X(i)), B(i) = std::acosh(X(i)), T(i) = std::atanh(X(i) / 8);
  });
}

}  // namespace

std::vector<ProgramCase> language_cases() {
  return {
      {"precedence", &kFp32, precedence},
      {"operators_as_functions", &kSigned, operators_as_functions},
      {"broadcasting", &kNumbers, broadcasting},
      {"rank_zero", &kNumbers, rank_zero},
      {"dimension_arithmetic", &kNumbers, dimension_arithmetic},
      {"functions_of_dimensions", &kNumbers, functions_of_dimensions},
      {"reverse_grad", &kReal, reverse_grad},
      {"functions_and_calls", &kReal, functions_and_calls},
      {"entry_of_several", &kNumbers, entry_of_several},
      {"attributes", &kNumbers, attributes},
      {"three_operands", &kNumbers, three_operands},
      {"no_defract", &kNumbers, no_defract},
      {"comments", &kNumbers, comments},
      {"literals", &kFp32, literals},
      {"casts", &kFp32, casts},
      {"accumulate_in_fp32", &kFp32, accumulate_in_fp32},
      {"narrow_integers", &kFp32, narrow_integers},
      {"mixed_types", &kFp32, mixed_types},
      {"composed_mad", &kReal, composed_mad},
      {"inverse_hyperbolic", &kFloat, inverse_hyperbolic},
  };
}

}  // namespace stria::end_to_end
