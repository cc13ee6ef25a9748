// SPDX-License-Identifier: Apache-2.0
#include "numbers/gather_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

using D = DataType;

constexpr std::string_view kGather =
    "An integer below 0 takes row 0. One above the last row takes the last row. "
    "`gather_or_zero(D, I)` gives zeros in both cases.";
constexpr std::string_view kScatter =
    "R[r, d…] is the sum of E[i…, d…] over all i… with I[i…] = r, and 0 if there is none.";
constexpr std::string_view kCoordinates =
    "`index(T, axis)` is the coordinate along an axis, of type `i32`.";
constexpr std::string_view kRandom =
    "The number is exact in `fp32`, below 1, and the same on every device.";

// Rows that integers of every type choose, in and out of range.
void add_rows(CaseMaker& maker, D of_index) {
  const bool is_main = of_index == D::i32;
  const bool of_level_2 = is_main || of_index == D::u32 || of_index == D::i64;
  const std::string index(stria::name_of(of_index));
  const auto add = [&](std::string_view sentence, const char* name, const std::string& inputs,
                       const char* head, const char* body) {
    const Form form{fmt::format("{}_by_{}", name, index), inputs, head, body};
    add_form_cases(maker, {sentence}, of_level_2 ? Level::right : Level::robust, "gather", {form},
                   {D::fp32});
    add_form_cases(maker, {sentence}, Level::robust, "gather", {form}, {D::i8});
    if (is_main)
      add_form_cases(
          maker, {sentence}, Level::robust, "gather", {form},
          {D::i16, D::i32, D::i64, D::u8, D::u16, D::u32, D::u64, D::fp16, D::bf16, D::fp64});
  };
  const std::string choice = fmt::format("D 13,9; I:{} 21 index 13", index);
  add(kGather, "rows", choice, "D[M, N], I[K] -> R", "  R = gather(D, I);\n");
  add(kGather, "rows_or_zero", choice, "D[M, N], I[K] -> R", "  R = gather_or_zero(D, I);\n");
  add(kScatter, "sum_into_rows", fmt::format("E 23,5; I:{} 23 index 11; V 11,5", index),
      "E[K, N], I[K], V[M, N] -> R", "  R = scatter(E, I, V);\n");
}

std::vector<Form> forms() {
  return {
      {"numbers", "D 37; I:i32 19 index 37", "D[M], I[K] -> R", "  R = gather(D, I);\n"},
      {"by_a_matrix", "D 11,3; I:i32 5,7 index 11", "D[M, N], I[K, L] -> R",
       "  R = gather(D, I);\n"},
      {"of_three_dimensions", "D 9,2,5; I:i32 8 index 9", "D[M, N, P], I[K] -> R",
       "  R = gather(D, I);\n"},
      {"of_one_row", "D 1,7; I:i32 9 index 1", "D[M, N], I[K] -> R", "  R = gather(D, I);\n"},
      {"of_a_sum", "D 11,6; B 6; I:i32 15 index 11", "D[M, N], B[N], I[K] -> R",
       "  X = D + B;\n  Y = gather(X, I);\n  R = Y * 2;\n"},
      {"by_computed_integers", "D 11,6; I:i32 15 index 11", "D[M, N], I[K] -> R",
       "  J = 10 - I;\n  R = gather(D, J);\n"},
      {"scatter_of_numbers", "E 29; I:i32 29 index 8; V 8", "E[K], I[K], V[M] -> R",
       "  R = scatter(E, I, V);\n"},
      {"scatter_to_one_row", "E 33,3; I:i32 33 unit; V 4,3", "E[K, N], I[K], V[M, N] -> R",
       "  R = scatter(E, I, V);\n"},
      {"scatter_and_gather", "E 17,4; I:i32 17 index 9; V 9,4", "E[K, N], I[K], V[M, N] -> R",
       "  X = scatter(E, I, V);\n  R = gather(X, I);\n"},
      {"sum_like", "E 5,7,3; V 7,1", "E, V -> R", "  R = sum_like(E, V);\n"},
      {"reshape_like", "I 6,35; V 10,21", "I, V -> R", "  R = reshape_like(I, V);\n"},
  };
}

}  // namespace

void add_gather_cases(CaseMaker& maker) {
  for (const D type : {D::i32, D::i8, D::i16, D::i64, D::u8, D::u16, D::u32, D::u64})
    add_rows(maker, type);
  add_form_cases(maker, {kGather}, Level::robust, "gather", forms(), {D::fp32, D::i32});

  const Form coordinates{"coordinates", "A 5,7,9", "A[L, M, N] -> I, J, K, S",
                         "  I = index(A, 0);\n  J = index(A, 1) * 2;\n"
                         "  K = index(A, 2) + index(A, 0);\n  S = shape(A);\n"};
  add_form_cases(maker, {kCoordinates}, Level::right, "gather", {coordinates}, {D::fp32});
  add_form_cases(maker, {kCoordinates}, Level::robust, "gather", {coordinates}, {D::i8, D::u32});
  const Form far{"far_coordinates", "A 70001; B 3,70001", "A[N], B[M, N] -> I, J",
                 "  I = index(A, 0);\n  J = index(B, 1) + index(B, 0);\n"};
  add_form_cases(maker, {kCoordinates}, Level::right, "gather", {far}, {D::i8});

  for (const auto& [name, sizes, level] : {std::tuple{"few", "37", Level::right},
                                           std::tuple{"of_two_dimensions", "41, 67", Level::robust},
                                           std::tuple{"several_steps", "5000", Level::robust}})
    add_form_cases(maker, {kRandom}, level, "random",
                   {{name, "S:u32 3,2048 state", "S -> V, T",
                     fmt::format("  X = prng_step(S, {});\n  V = prng_value(X);\n"
                                 "  T = prng_state(X);\n",
                                 sizes)}},
                   {D::u32});
  add_form_cases(
      maker, {kRandom}, Level::robust, "random",
      {{"two_in_a_row", "S:u32 3,2048 state", "S -> V, W, T",
        "  X = prng_step(S, 29);\n  V = prng_value(X);\n  Y = prng_step(prng_state(X), 31);\n"
        "  W = prng_value(Y);\n  T = prng_state(Y);\n"},
       {"from_zero_words", "S:u32 3,2048 positive", "S -> V, T",
        "  X = prng_step(S, 100);\n  V = prng_value(X);\n  T = prng_state(X);\n"}},
      {D::u32});
}

}  // namespace stria::conformance
