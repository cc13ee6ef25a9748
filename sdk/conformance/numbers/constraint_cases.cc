// SPDX-License-Identifier: Apache-2.0
#include "numbers/constraint_cases.h"

#include <set>

#include "numbers/form.h"

namespace stria::conformance {
namespace {

using D = DataType;

constexpr std::string_view kValid =
    "The contraction aggregates over every valid index set. Nothing else limits an index.";
constexpr std::string_view kUnwritten =
    "An output element that no valid index set writes is 0, for every aggregation.";
constexpr std::string_view kExecuted =
    "Every load or store that is executed, under all enclosing constraints, lies inside the "
    "allocation.";

std::vector<Form> constrained() {
  return {
      {"triangle", "I 23,23", "I[N, M] -> O", "  O[i, j : N, M] = =(I[i, j]), j - i < M;\n"},
      {"triangular_product", "A 21,21; B 21,13", "A[N, K], B[K, M] -> R",
       "  R[i, j : N, M] = +(A[i, k] * B[k, j]), i - k < N;\n"},
      {"cumulative_sum", "I 67", "I[N] -> O", "  O[i : N] = +(I[k]), i - k < N;\n"},
      {"cumulative_maximum", "I 67", "I[N] -> O", "  O[i : N] = >(I[k]), i - k < N;\n"},
      {"cumulative_rows", "I 7,39", "I[M, N] -> O", "  O[m, i : M, N] = +(I[m, k]), i - k < N;\n"},
      {"cumulative_reversed", "I 51", "I[N] -> O", "  O[i : N] = +(I[k]), k - i < N;\n"},
      {"band", "I 19; K 5", "I[M], K[W] -> O", "  O[x, x + k : M, M + W] = =(I[x] * K[k]);\n"},
      {"two_constraints", "I 15,17", "I[M, N] -> O",
       "  O[i : M] = +(I[i, j]), i + j < 11, j - i + 3 < 9;\n"},
      {"moving_sum", "I 83", "I[N] -> O", "  O[i : N] = +(I[i - j]), j < 7;\n"},
      {"integral_image", "I 11,13", "I[M, N] -> O",
       "  O[x, y : M, N] = +(I[i, j]), x - i < M, y - j < N;\n"},
      {"fractional", "I 14; K 14", "I[N], K[N] -> O", "  O[i : N] = +(I[i / 2] * K[i / 3]);\n"},
      {"divided_sum", "I 9,11", "I[M, N] -> O", "  O[(i + j) / 2 : (M + N) / 2] = +(I[i, j]);\n"},
      {"coprime_steps", "I 9,7", "I[M, N] -> O",
       "  O[2 * i + 3 * j : 2 * M + 3 * N] = +(I[i, j]);\n"},
      {"no_defract", "A 25", "A[N] -> O", "  O[i + j : N + 2] = +(A[i]), j < 3 no_defract;\n"},
      {"negative_indices", "I 17", "I[N] -> O", "  O[j + 3 : 28] = +(I[-j]);\n"},
      {"maximum_where", "I 9,31 few", "I[M, N] -> O",
       "  Top[i : M] = >(I[i, j]);\n  Where = index(I, 1);\n"
       "  O[i : M] = >(I[i, j] == Top[i] ? Where[i, j]);\n"},
  };
}

std::vector<Form> overhanging() {
  return {
      {"conv1_same", "I 2,33,3; K 3,3,5", "I[N, X, C], K[W, C, E] -> O",
       "  O[n, x, e : N, X, E] = +(I[n, x + k - 1, c] * K[k, c, e]);\n"},
      {"conv1_stride_3", "I 47,3; K 5,3,4", "I[X, C], K[W, C, E] -> O",
       "  O[x, e : (X + 2) / 3, E] = +(I[3 * x + k - 2, c] * K[k, c, e]);\n"},
      {"conv1_dilated", "I 40,2; K 3,2,7", "I[X, C], K[W, C, E] -> O",
       "  O[x, e : X - 3 * (W - 1), E] = +(I[x + 3 * k, c] * K[k, c, e]);\n"},
      {"conv1_causal", "I 37,2; K 4,2,3", "I[X, C], K[W, C, E] -> O",
       "  O[x, e : X, E] = +(I[x - 2 * k, c] * K[k, c, e]);\n"},
      {"conv1_transposed", "I 17,3; K 4,3,5", "I[X, C], K[W, C, E] -> O",
       "  O[2 * x + k, e : 2 * (X - 1) + W, E] = +(I[x, c] * K[k, c, e]);\n"},
      {"conv1_flipped", "I 29; K 6", "I[X], K[W] -> O",
       "  O[x : X + W - 1] = +(I[x - k] * K[k]);\n"},
      {"conv2_same", "I 1,9,11,3; K 3,3,3,5", "I[N, X, Y, C], K[P, Q, C, E] -> O",
       "  O[n, x, y, e : N, X, Y, E] = +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c, e]);\n"},
      {"conv2_valid", "I 1,11,10,4; K 3,3,4,8", "I[N, X, Y, C], K[P, Q, C, E] -> O",
       "  O[n, x, y, e : N, X - P + 1, Y - Q + 1, E] = "
       "+(I[n, x + i, y + j, c] * K[i, j, c, e]);\n"},
      {"conv2_stride_2", "I 2,13,11,3; K 3,3,3,4", "I[N, X, Y, C], K[P, Q, C, E] -> O",
       "  O[n, x, y, e : N, (X + 1) / 2, (Y + 1) / 2, E] = "
       "+(I[n, 2 * x + i - 1, 2 * y + j - 1, c] * K[i, j, c, e]);\n"},
      {"conv2_channels_first", "I 2,3,9,8; K 5,3,3,3", "I[N, C, X, Y], K[E, C, P, Q] -> O",
       "  O[n, e, x, y : N, E, X - P + 1, Y - Q + 1] = "
       "+(I[n, c, x + i, y + j] * K[e, c, i, j]);\n"},
      {"conv2_depthwise", "I 1,9,10,7; K 3,3,7", "I[N, X, Y, C], K[P, Q, C] -> O",
       "  O[n, x, y, c : N, X, Y, C] = +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c]);\n"},
      {"conv2_grouped", "I 1,8,7,2,3; K 3,3,2,3,4", "I[N, X, Y, G, C], K[P, Q, G, C, E] -> O",
       "  O[n, x, y, g, e : N, X - P + 1, Y - Q + 1, G, E] = "
       "+(I[n, x + i, y + j, g, c] * K[i, j, g, c, e]);\n"},
      {"conv2_transposed", "I 1,6,5,3; K 3,3,3,4", "I[N, X, Y, C], K[P, Q, C, E] -> O",
       "  O[n, 2 * x + i - 1, 2 * y + j - 1, e : N, 2 * X, 2 * Y, E] = "
       "+(I[n, x, y, c] * K[i, j, c, e]);\n"},
      {"conv3", "I 7,6,8,2; K 2,3,3,2,3", "I[X, Y, Z, C], K[P, Q, R, C, E] -> O",
       "  O[x, y, z, e : X - P + 1, Y - Q + 1, Z - R + 1, E] = "
       "+(I[x + i, y + j, z + k, c] * K[i, j, k, c, e]);\n"},
      {"pool_maximum", "I 1,11,13,5", "I[N, X, Y, C] -> O",
       "  O[n, x, y, c : N, X / 2, Y / 2, C] = >(I[n, 2 * x + i, 2 * y + j, c]), i < 3, j < 3;\n"},
      {"pool_maximum_padded", "I 45", "I[X] -> O", "  O[x : X] = >(I[x + i - 1]), i < 3;\n"},
      {"pool_sum_ceil", "I 46", "I[N] -> O", "  O[i : (N + 3) / 4] = +(I[4 * i + j]), j < 4;\n"},
      {"pool_minimum", "I 12,14", "I[X, Y] -> O",
       "  O[x, y : X / 2, Y / 2] = <(I[2 * x + i, 2 * y + j]), i < 2, j < 2;\n"},
      {"weight_gradient", "D 2,14,5; I 2,30,3", "D[N, X, E], I[N, Y, C] -> O",
       "  O[k, c, e : 3, C, E] = +(D[n, x, e] * I[n, 2 * x + k, c]);\n"},
      {"banded_product", "A 26,3; X 26", "A[N, W], X[N] -> Y",
       "  Y[i : N] = +(A[i, w] * X[i + w - 1]), w < 3;\n"},
  };
}

std::vector<Form> unwritten() {
  return {
      {"skipped_sum", "I 11,7", "I[M, N] -> O", "  O[2 * i : 2 * M] = +(I[i, j]);\n"},
      {"skipped_product", "I 11,3 near_one", "I[M, N] -> O", "  O[2 * i : 2 * M] = *(I[i, j]);\n"},
      {"skipped_maximum", "I 11,7", "I[M, N] -> O", "  O[2 * i : 2 * M] = >(I[i, j]);\n"},
      {"skipped_minimum", "I 11,7", "I[M, N] -> O", "  O[2 * i : 2 * M] = <(I[i, j]);\n"},
      {"skipped_assign", "I 23", "I[M] -> O", "  O[3 * i + 1 : 3 * M] = =(I[i]);\n"},
      {"infeasible", "I 13", "I[M] -> S, P, T, B",
       "  S[i : M] = +(I[i]), i - 99 < 5;\n  P[i : M] = *(I[i]), i - 99 < 5;\n"
       "  T[i : M] = >(I[i]), i - 99 < 5;\n  B[i : M] = <(I[i]), i - 99 < 5;\n"},
      {"default_sum", "I 9,4; X 21", "I[M, N], X[L] -> O",
       "  Y[l : L] = +(X[l]);\n  O[2 * i + 1 : L] = +(I[i, j]) default Y;\n"},
      {"default_maximum", "I 9,4; X 21", "I[M, N], X[L] -> O",
       "  O[2 * i + 1 : L] = >(I[i, j]) default X;\n"},
      {"default_assign", "I 14; X 19", "I[M], X[L] -> O", "  O[i + 2 : L] = =(I[i]) default X;\n"},
      {"default_overlaps", "A 9; B 7; X 17", "A[M], B[N], X[L] -> O",
       "  Y[i + 1 : L] = =(A[i]) default X;\n  O[i + 6 : L] = =(B[i]) default Y;\n"},
      {"padded_product", "A 9,11; B 11,7", "A[M, K], B[K, N] -> C",
       "  Zero = 0;\n  C[i, j : M + 2, N + 1] = +(A[i, k] * B[k, j]) default Zero;\n"},
      {"negative_extremes", "I 7,19", "I[M, N] -> T, B",
       "  X = I - 100;\n  Y = I + 100;\n  T[i + 1 : M + 2] = >(X[i, j]);\n"
       "  B[i + 1 : M + 2] = <(Y[i, j]);\n"},
  };
}

void add(CaseMaker& maker, std::string_view sentence, std::string_view prefix,
         const std::vector<Form>& forms, const std::set<std::string>& of_level_2) {
  for (const Form& form : forms) {
    const Level level = of_level_2.count(form.name) ? Level::right : Level::robust;
    add_form_cases(maker, {sentence}, level, prefix, {form}, {D::fp32});
    add_form_cases(maker, {sentence}, Level::robust, prefix, {form}, {D::i32, D::i8});
    // What is equal once it is rounded to fp16, nobody can say.
    if (form.name != "maximum_where")
      add_form_cases(maker, {sentence}, Level::robust, prefix, {form}, {D::fp16});
  }
}

}  // namespace

void add_constraint_cases(CaseMaker& maker) {
  add(maker, kValid, "constraint", constrained(),
      {"triangle", "cumulative_sum", "two_constraints", "fractional"});
  add(maker, kExecuted, "overhang", overhanging(),
      {"conv1_same", "conv2_same", "conv2_stride_2", "conv1_transposed", "pool_maximum_padded"});
  add(maker, kUnwritten, "unwritten", unwritten(),
      {"skipped_sum", "skipped_maximum", "infeasible", "default_sum", "negative_extremes"});
}

}  // namespace stria::conformance
