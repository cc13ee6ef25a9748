// SPDX-License-Identifier: Apache-2.0
#include "numbers/layout_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

using D = DataType;

constexpr std::string_view kView =
    "A refinement's element at coordinates c lies at the parent view's base + Σ "
    "stride·(access + c). Strides count elements of the allocation.";
constexpr std::string_view kElementwise =
    "**M6. Elementwise operations** broadcast. Shapes are aligned at the last dimension. A "
    "dimension of size 1 repeats, and so does a missing one.";

// Elements around those of vectors, lines and groups of lanes.
constexpr int64_t kLengths[] = {1,  2,  3,  4,  5,   7,   8,   9,   15,  16,  17,  31,   32,  33,
                                63, 64, 65, 96, 100, 127, 128, 129, 255, 256, 257, 1000, 4099};

void add_lengths(CaseMaker& maker) {
  for (const int64_t n : kLengths) {
    const Form form{fmt::format("length_{}", n), fmt::format("A {0}; B {0}; C 1", n),
                    "A[N], B[N], C[L] -> Sum, Total, Top",
                    "  Sum = A + B * C;\n  Total[] = +(A[i] * B[i]);\n  Top[] = >(A[i]);\n"};
    for (const D type : {D::fp32, D::i32, D::i8, D::fp16}) {
      const Level level = type == D::fp32 && (n == 17 || n == 257) ? Level::right : Level::robust;
      const std::string suffix = fmt::format(".{}.{}", form.name, stria::name_of(type));
      add_program_cases(maker, {kElementwise}, level, "layout" + suffix,
                        {{"layout.elementwise" + suffix, "Sum"},
                         {"layout.total" + suffix, "Total"},
                         {"layout.maximum" + suffix, "Top"}},
                        [form, type] { return program_of(form, type); });
    }
  }
}

std::vector<Form> steps() {
  return {
      {"transpose", "I 37,29", "I[M, N] -> O", "  O[j, i : N, M] = =(I[i, j]);\n"},
      {"transpose_of_a_row", "I 1,71", "I[M, N] -> O", "  O[j, i : N, M] = =(I[i, j]);\n"},
      {"permute", "I 2,7,5,9", "I[N, H, W, C] -> O",
       "  O[n, c, h, w : N, C, H, W] = =(I[n, h, w, c]);\n"},
      {"permute_all", "I 3,4,5,6", "I[A, B, C, E] -> O",
       "  O[e, c, b, a : E, C, B, A] = =(I[a, b, c, e]);\n"},
      {"reverse", "I 41", "I[N] -> O", "  O[N - 1 - i : N] = =(I[i]);\n"},
      {"reverse_rows", "I 9,23", "I[M, N] -> O",
       "  O[M - 1 - i, N - 1 - j : M, N] = =(I[i, j]);\n"},
      {"every_third", "I 101", "I[N] -> O", "  O[i : (N + 1) / 3] = =(I[3 * i + 1]);\n"},
      {"every_other_column", "I 13,38", "I[M, N] -> O", "  O[i, j : M, N / 2] = =(I[i, 2 * j]);\n"},
      {"diagonal", "I 31,31", "I[M, N] -> O", "  O[i : M] = =(I[i, i]);\n"},
      {"diagonal_matrix", "I 19", "I[N] -> O", "  O[i, i : N, N] = =(I[i]);\n"},
      {"toeplitz", "I 33", "I[N] -> O", "  O[i, j : 17, 17] = =(I[i - j + 16]);\n"},
      {"window_of_a_matrix", "I 29,31", "I[M, N] -> O",
       "  O[i, j : M - 9, N - 11] = =(I[i + 4, j + 5]);\n"},
      {"repeat", "I 23", "I[N] -> O", "  O[N * r + i : 3 * N] = =(I[i]), r < 3;\n"},
      {"spread", "I 21", "I[N] -> O", "  O[3 * i + 1 : 3 * N] = =(I[i]);\n"},
      {"roll", "I 27", "I[N] -> O", "  O[i + 3 - N * w : N] = =(I[i]), w < 2;\n"},
      {"space_to_depth", "I 6,10,5", "I[X, Y, C] -> O",
       "  O[x, y, C * (2 * i + j) + c : X / 2, Y / 2, 4 * C] = =(I[2 * x + i, 2 * y + j, c]), "
       "i < 2, j < 2;\n"},
      {"concatenate", "A 14; B 19", "A[M], B[N] -> O",
       "  X[i : M + N] = =(A[i]);\n  O[i + M : M + N] = =(B[i]) default X;\n"},
      {"concatenate_columns", "A 5,7; B 5,9", "A[K, M], B[K, N] -> O",
       "  X[k, i : K, M + N] = =(A[k, i]);\n  O[k, i + M : K, M + N] = =(B[k, i]) default X;\n"},
      {"interleave", "A 15; B 15", "A[N], B[N] -> O",
       "  X[2 * i : 2 * N] = =(A[i]);\n  O[2 * i + 1 : 2 * N] = =(B[i]) default X;\n"},
      {"reshape", "I 6,35", "I[M, N] -> O", "  O = reshape(I, 14, 15);\n"},
      {"reshape_of_a_transpose", "I 12,35", "I[M, N] -> O",
       "  T[j, i : N, M] = =(I[i, j]);\n  O = reshape(T, 20, 21);\n"},
      {"sum_of_rows", "I 21,67", "I[M, N] -> O", "  O[i : M] = +(I[i, j]);\n"},
      {"sum_of_columns", "I 67,21", "I[M, N] -> O", "  O[j : N] = +(I[i, j]);\n"},
      {"sum_of_the_middle", "I 5,37,7", "I[A, B, C] -> O", "  O[a, c : A, C] = +(I[a, b, c]);\n"},
      {"sum_of_both_ends", "I 5,37,7", "I[A, B, C] -> O", "  O[b : B] = +(I[a, b, c]);\n"},
      {"sum_of_antidiagonals", "I 14,15", "I[M, N] -> O", "  O[i + j : M + N - 1] = +(I[i, j]);\n"},
      {"sum_of_four_dimensions", "I 3,5,7,11", "I[A, B, C, E] -> O", "  O[] = +(I[a, b, c, e]);\n"},
      {"maximum_of_columns", "I 43,19", "I[M, N] -> O", "  O[j : N] = >(I[i, j]);\n"},
      {"outer", "X 31; Y 37", "X[M], Y[N] -> R", "  R[i, j : M, N] = =(X[i] * Y[j]);\n"},
      {"copy", "I 7,3,11", "I -> O", "  O = ident(I);\n"},
      {"two_readers", "I 9,33", "I[M, N] -> O, P",
       "  O = I + 1;\n  P[j, i : N, M] = =(I[i, j]);\n"},
      {"broadcast_of_a_column", "A 13,1; B 1,29", "A, B -> O", "  O = A - B;\n"},
      {"broadcast_of_four_dimensions", "A 3,1,5,1; B 4,1,7", "A, B -> O", "  O = A * B;\n"},
      {"broadcast_of_a_number", "A 5,17; B -", "A, B -> O", "  O = max(A, B);\n"},
      {"number", "A -; B -", "A, B -> O, P", "  O = A + B;\n  P[] = =(A[]);\n"},
      {"one_of_each", "A 1,1,1,1; B 1", "A, B -> O", "  O = A - B;\n"},
      {"kronecker", "A 3,5; B 4,7", "A[M, N], B[P, Q] -> R",
       "  R[P * i + p, Q * j + q : M * P, N * Q] = =(A[i, j] * B[p, q]);\n"},
  };
}

// Tensors whose names differ in their last character alone.
Form of_long_names(size_t length) {
  const std::string rest(length - 1, 'N');
  const std::string a = rest + "a", b = rest + "b", sum = rest + "s", difference = rest + "d";
  return {fmt::format("names_of_{}", length), fmt::format("{} 37,5; {} 37,5", a, b),
          fmt::format("{}, {} -> {}, {}", a, b, sum, difference),
          fmt::format("  {0} = {2} + 2 * {3};\n  {1} = {2} - {3};\n", sum, difference, a, b)};
}

}  // namespace

void add_layout_cases(CaseMaker& maker) {
  add_lengths(maker);
  for (const size_t length : {8, 16, 32, 64, 256})
    add_form_cases(maker, {kElementwise}, Level::right, "layout", {of_long_names(length)},
                   {D::fp32});
  for (const Form& form : steps()) {
    const bool of_level_2 = form.name == "transpose" || form.name == "reverse_rows" ||
                            form.name == "concatenate" || form.name == "sum_of_columns" ||
                            form.name == "sum_of_four_dimensions" || form.name == "number";
    add_form_cases(maker, {kView}, of_level_2 ? Level::right : Level::robust, "layout", {form},
                   {D::fp32});
    add_form_cases(maker, {kView}, Level::robust, "layout", {form},
                   {D::i8, D::i64, D::bf16, D::fp64});
  }
  // Rule M23 says so of every device; also of the bits of zeros.
  for (const D type : {D::fp32, D::fp64, D::fp16, D::bf16})
    add_form_cases(maker, {"Loads, stores and copies change nothing."},
                   type == D::fp32 ? Level::right : Level::robust, "layout",
                   {{"copy_of_special_values", "I 5,27 special", "I[M, N] -> O, P",
                     "  O = ident(I);\n  P[j, i : N, M] = =(I[i, j]);\n"}},
                   {type});
}

}  // namespace stria::conformance
