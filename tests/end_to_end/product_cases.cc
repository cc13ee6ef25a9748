// SPDX-License-Identifier: Apache-2.0
// Matrix, vector and batched products.
#include "program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stria::end_to_end {

using enum DataType;

namespace {

void matmul_transposed_a(Case& c) {
  Grid &A = c.in("A", {7, 5}), &B = c.in("B", {7, 6}), &C = c.out_of("C", c.wide(), {5, 6});
  each({5, 6, 7}, [&](int i, int j, int k) { C(i, j) += A(k, i) * B(k, j); });
}

void matmul_transposed_b(Case& c) {
  Grid &A = c.in("A", {5, 9}), &B = c.in("B", {4, 9}), &C = c.out_of("C", c.wide(), {5, 4});
  each({5, 4, 9}, [&](int i, int j, int k) { C(i, j) += A(i, k) * B(j, k); });
}

void matmul_transposed_c(Case& c) {
  Grid &A = c.in("A", {5, 3}), &B = c.in("B", {3, 4}), &C = c.out_of("C", c.wide(), {4, 5});
  each({5, 4, 3}, [&](int i, int j, int k) { C(j, i) += A(i, k) * B(k, j); });
}

void matrix_vector(Case& c) {
  Grid &A = c.in("A", {6, 17}), &X = c.in("X", {17}), &Y = c.out_of("Y", c.wide(), {6});
  each({6, 17}, [&](int i, int j) { Y(i) += A(i, j) * X(j); });
}

void vector_matrix(Case& c) {
  Grid &A = c.in("A", {6, 17}), &X = c.in("X", {6}), &Y = c.out_of("Y", c.wide(), {17});
  each({6, 17}, [&](int i, int j) { Y(j) += X(i) * A(i, j); });
}

void dot(Case& c) {
  Grid &X = c.in("X", {19}), &Y = c.in("Y", {19}), &R = c.out_of("R", c.wide(), {});
  each({19}, [&](int i) { R() += X(i) * Y(i); });
}

void outer(Case& c) {
  Grid &X = c.in("X", {5}), &Y = c.in("Y", {8}), &R = c.out_of("R", c.wide(), {5, 8});
  each({5, 8}, [&](int i, int j) { R(i, j) = X(i) * Y(j); });
}

void outer_sum(Case& c) {
  Grid &X = c.in("X", {5}), &Y = c.in("Y", {8}), &R = c.out_of("R", c.wide(), {5, 8});
  each({5, 8}, [&](int i, int j) { R(i, j) = X(i) + Y(j); });
}

void batched_matmul(Case& c) {
  Grid &A = c.in("A", {3, 4, 5}), &D = c.in("D", {3, 5, 6}),
       &C = c.out_of("C", c.wide(), {3, 4, 6});
  each({3, 4, 6, 5}, [&](int b, int i, int j, int k) { C(b, i, j) += A(b, i, k) * D(b, k, j); });
}

void batched_matmul_shared(Case& c) {
  Grid &A = c.in("A", {3, 4, 5}), &D = c.in("D", {5, 6}), &C = c.out_of("C", c.wide(), {3, 4, 6});
  each({3, 4, 6, 5}, [&](int b, int i, int j, int k) { C(b, i, j) += A(b, i, k) * D(k, j); });
}

void batched_matmul_grouped(Case& c) {
  Grid &A = c.in("A", {2, 9, 4, 8}), &D = c.in("D", {2, 3, 6, 8}),
       &C = c.out_of("C", c.wide(), {2, 9, 4, 6});
  each({2, 9, 4, 6, 8}, [&](int b, int h, int i, int j, int k) {
    C(b, h, i, j) += A(b, h, i, k) * D(b, h / 3, j, k);
  });
}

void batched_dot(Case& c) {
  Grid &A = c.in("A", {6, 11}), &B = c.in("B", {6, 11}), &R = c.out_of("R", c.wide(), {6});
  each({6, 11}, [&](int i, int j) { R(i) += A(i, j) * B(i, j); });
}

void batched_of_two_dims(Case& c) {
  Grid &A = c.in("A", {2, 3, 4, 5}), &D = c.in("D", {2, 3, 5, 3}),
       &C = c.out_of("C", c.wide(), {2, 3, 4, 3});
  each({2, 3, 4, 3, 5},
       [&](int b, int h, int i, int j, int k) { C(b, h, i, j) += A(b, h, i, k) * D(b, h, k, j); });
}

void gram(Case& c) {
  Grid &A = c.in("A", {7, 5}), &R = c.out_of("R", c.wide(), {5, 5});
  each({5, 5, 7}, [&](int i, int j, int k) { R(i, j) += A(k, i) * A(k, j); });
}

void matrix_square(Case& c) {
  Grid &A = c.in("A", {6, 6}), &R = c.out_of("R", c.wide(), {6, 6});
  each({6, 6, 6}, [&](int i, int j, int k) { R(i, j) += A(i, k) * A(k, j); });
}

void trace(Case& c) {
  Grid &A = c.in("A", {6, 9}), &R = c.out_of("R", c.wide(), {});
  each({6}, [&](int i) { R() += A(i, i); });
}

void trace_of_product(Case& c) {
  Grid &A = c.in("A", {6, 9}), &B = c.in("B", {9, 6}), &R = c.out_of("R", c.wide(), {});
  each({6, 9}, [&](int i, int j) { R() += A(i, j) * B(j, i); });
}

void lower_triangular_product(Case& c) {
  Grid &A = c.in("A", {7, 7}), &B = c.in("B", {7, 3}), &R = c.out_of("R", c.wide(), {7, 3});
  each({7, 3, 7}, [&](int i, int j, int k) {
    if (k <= i) R(i, j) += A(i, k) * B(k, j);
  });
}

void banded_matrix_vector(Case& c) {
  Grid &D = c.in("D", {9, 3}), &X = c.in("X", {9}), &Y = c.out_of("Y", c.wide(), {9});
  each({9, 3}, [&](int i, int w) { Y(i) += D(i, w) * X.get(i + w - 1); });
}

void tensor_contraction(Case& c) {
  Grid &A = c.in("A", {2, 3, 4, 3}), &B = c.in("B", {4, 2, 3, 5}),
       &C = c.out_of("C", c.wide(), {2, 2, 3, 5});
  each({2, 2, 3, 5, 3, 4}, [&](int i, int m, int l, int n, int j, int k) {
    C(i, m, l, n) += A(i, j, k, l) * B(k, m, j, n);
  });
}

void matmul_padded_output(Case& c) {
  Grid &A = c.in("A", {3, 4}), &B = c.in("B", {4, 5}), &C = c.out_of("C", c.wide(), {5, 6});
  each({3, 5, 4}, [&](int i, int j, int k) { C(i, j) += A(i, k) * B(k, j); });
}

void matmul_chain(Case& c) {
  Grid &A = c.in("A", {3, 4}, -1, 1), &B = c.in("B", {4, 5}, -1, 1);
  Grid &C = c.in("C", {5, 2}, -1, 1), &Bias = c.in("Bias", {2}), &R = c.out("R", {3, 2});
  each({3, 2}, [&](int i, int l) { R(i, l) = Bias(l); });
  each({3, 2, 5, 4}, [&](int i, int l, int j, int k) { R(i, l) += A(i, k) * B(k, j) * C(j, l); });
}

void kronecker(Case& c) {
  Grid &A = c.in("A", {2, 3}), &B = c.in("B", {3, 2}), &R = c.out_of("R", c.wide(), {6, 6});
  each({2, 3, 3, 2},
       [&](int i, int j, int p, int q) { R(3 * i + p, 2 * j + q) = A(i, j) * B(p, q); });
}

void polynomial_product(Case& c) {
  Grid &A = c.in("A", {6}), &B = c.in("B", {4}), &R = c.out_of("R", c.wide(), {9});
  each({6, 4}, [&](int i, int j) { R(i + j) += A(i) * B(j); });
}

void max_plus_product(Case& c) {
  Grid &A = c.in("A", {4, 5}, -4, -1), &B = c.in("B", {5, 6}, -4, -1),
       &C = c.out_of("C", c.wide(), {4, 6}, -99);
  each({4, 6, 5}, [&](int i, int j, int k) { C(i, j) = std::max(C(i, j), A(i, k) + B(k, j)); });
}

void min_plus_product(Case& c) {
  Grid &A = c.in("A", {4, 5}, 1, 9), &B = c.in("B", {5, 6}, 1, 9),
       &C = c.out_of("C", c.wide(), {4, 6}, 99);
  each({4, 6, 5}, [&](int i, int j, int k) { C(i, j) = std::min(C(i, j), A(i, k) + B(k, j)); });
}

}  // namespace

std::vector<ProgramCase> product_cases() {
  return {
      {"matmul_transposed_a", &kNumbers, matmul_transposed_a},
      {"matmul_transposed_b", &kNumbers, matmul_transposed_b},
      {"matmul_transposed_c", &kNumbers, matmul_transposed_c},
      {"matrix_vector", &kNumbers, matrix_vector},
      {"vector_matrix", &kNumbers, vector_matrix},
      {"dot", &kNumbers, dot},
      {"outer", &kNumbers, outer},
      {"outer_sum", &kNumbers, outer_sum},
      {"batched_matmul", &kNumbers, batched_matmul},
      {"batched_matmul_shared", &kNumbers, batched_matmul_shared},
      {"batched_matmul_grouped", &kNumbers, batched_matmul_grouped},
      {"batched_dot", &kNumbers, batched_dot},
      {"batched_of_two_dims", &kNumbers, batched_of_two_dims},
      {"gram", &kNumbers, gram},
      {"matrix_square", &kNumbers, matrix_square},
      {"trace", &kNumbers, trace},
      {"trace_of_product", &kNumbers, trace_of_product},
      {"lower_triangular_product", &kNumbers, lower_triangular_product},
      {"banded_matrix_vector", &kNumbers, banded_matrix_vector},
      {"tensor_contraction", &kNumbers, tensor_contraction},
      {"matmul_padded_output", &kNumbers, matmul_padded_output},
      {"matmul_chain", &kReal, matmul_chain},
      {"kronecker", &kNumbers, kronecker},
      {"polynomial_product", &kNumbers, polynomial_product},
      {"max_plus_product", &kSigned, max_plus_product},
      {"min_plus_product", &kSigned, min_plus_product},
  };
}

}  // namespace stria::end_to_end
