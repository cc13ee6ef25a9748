// SPDX-License-Identifier: Apache-2.0
#include "numbers/constant_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

using D = DataType;

constexpr std::string_view kPrologue = "reads constants only; run once per binding";

std::vector<Form> forms() {
  return {
      {"product", "A 9,33; W! 33,17", "A[M, K], W[K, N] -> R",
       "  R[i, j : M, N] = +(A[i, k] * W[k, j]);\n"},
      {"product_of_a_transpose", "A 9,33; W! 17,33", "A[M, K], W[N, K] -> R",
       "  R[i, j : M, N] = +(A[i, k] * W[j, k]);\n"},
      {"folded", "A 5,19; W! 19; V! 19 positive", "A, W, V -> R",
       "  S = W / sqrt(V + 0.5);\n  R = A * S;\n"},
      {"all", "W! 7,11; V! 11", "W[M, N], V[N] -> R", "  X = W * V;\n  R[i : M] = +(X[i, j]);\n"},
      {"two_steps", "A 6,14; W! 14,14", "A[M, K], W[K, N] -> R",
       "  X[i, j : K, N] = +(W[i, k] * W[k, j]);\n  Y = X * 0.25 + W;\n"
       "  R[i, j : M, N] = +(A[i, k] * Y[k, j]);\n"},
      {"read_twice", "A 6,14; W! 14", "A, W -> R, S",
       "  X = W * W + 1;\n  R = A * X;\n  S = A + W;\n"},
      {"two_prologue_results", "A 8,12; W! 12; V! 12", "A, W, V -> R",
       "  X = abs(W);\n  Y = max(V, W);\n  R = A * X + Y;\n"},
      {"table", "I:i32 15 index 9; W! 9,6", "I[K], W[M, N] -> R",
       "  X = W + 1;\n  R = gather(X, I);\n"},
      {"sum_of_a_constant", "A 5,9; W! 9,31", "A[M, N], W[N, K] -> R",
       "  S[i : N] = +(W[i, k]);\n  R = A + S;\n"},
      {"convolution", "I 1,9,8,3; W! 3,3,3,6; B! 6", "I[N, X, Y, C], W[P, Q, C, E], B[E] -> O",
       "  Z[n, x, y, e : N, X, Y, E] = +(I[n, x + i - 1, y + j - 1, c] * W[i, j, c, e]);\n"
       "  O = Z + B;\n"},
      {"of_one_element", "A 21; W! -", "A, W -> R", "  X = W * 2 + 1;\n  R = A * X;\n"},
      {"only_a_constant_is_written_out", "A 21; W! 17", "A, W -> R, S",
       "  R = A + 1;\n  S = W * 3;\n"},
  };
}

// Numbers of a program's text, which no type but the widest holds as they are written.
void add_literals(CaseMaker& maker) {
  const Form form{"literals", "A 37 positive", "A -> P, Q, S, T",
                  "  P = A * 2.1;\n  Q = A + 0.123456789012345678;\n  S = A / 3.0000000001;\n"
                  "  T = max(A, 1.7) - 1e-9;\n"};
  for (const D type : {D::fp32, D::fp64, D::fp16, D::bf16})
    add_form_cases(maker, {kWithinBound},
                   type == D::fp32 || type == D::fp64 ? Level::right : Level::robust, "constant",
                   {form}, {type});
}

}  // namespace

void add_constant_cases(CaseMaker& maker) {
  add_literals(maker);
  for (const Form& form : forms()) {
    const bool of_level_2 =
        form.name == "product" || form.name == "two_steps" || form.name == "read_twice";
    const ProgramRule rule{kPrologue, "stria/plugin.h"};
    add_form_cases(maker, rule, of_level_2 ? Level::right : Level::robust, "constant", {form},
                   {D::fp32});
    add_form_cases(maker, rule, Level::robust, "constant", {form}, {D::fp16, D::bf16, D::fp64});
  }
}

}  // namespace stria::conformance
