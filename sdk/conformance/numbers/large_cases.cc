// SPDX-License-Identifier: Apache-2.0
#include "numbers/large_cases.h"

#include "numbers/form.h"

namespace stria::conformance {
namespace {

using D = DataType;

// The interpreter computes so many elements of each output.
constexpr int64_t kSample = 200;

struct Large {
  Form form;
  DataType type;
};

std::vector<Large> large() {
  return {
      {{"elementwise", "A 16777259; B 16777259", "A, B -> R", "  R = A - B;\n"}, D::i8},
      {{"elementwise", "A 4194319; B 4194319", "A, B -> R", "  R = A * B + A;\n"}, D::fp32},
      {{"elementwise", "A 70001,67; B 67", "A, B -> R", "  R = A + B;\n"}, D::fp32},
      {{"transpose", "A 1031,2053", "A[M, N] -> R", "  R[j, i : N, M] = =(A[i, j]);\n"}, D::fp32},
      {{"transpose", "A 2053,4099", "A[M, N] -> R", "  R[j, i : N, M] = =(A[i, j]);\n"}, D::u8},
      {{"rows", "A 70001,33", "A[M, N] -> R", "  R[i : M] = +(A[i, j]);\n"}, D::fp32},
      {{"columns", "A 70001,33", "A[M, N] -> R", "  R[j : N] = >(A[i, j]);\n"}, D::i16},
      {{"total", "A 3000017 few", "A[N] -> R", "  R[] = +(A[i]);\n"}, D::i8},
      {{"maximum", "A 3000017", "A[N] -> R", "  R[] = >(A[i]);\n"}, D::fp32},
      {{"convolution", "I 1,259,261,3; K 3,3,3,8", "I[N, X, Y, C], K[P, Q, C, E] -> O",
        "  O[n, x, y, e : N, X, Y, E] = +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c, e]);\n"},
       D::fp32},
      {{"product", "A 517,300; B 300,259", "A[M, K], B[K, N] -> C",
        "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n"},
       D::fp32},
      {{"product", "A 517,300; B 300,259", "A[M, K], B[K, N] -> C",
        "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n"},
       D::i8},
      {{"gather", "T 70001,13; I:i32 90001 index 70001", "T[M, N], I[K] -> R",
        "  R = gather(T, I);\n"},
       D::fp32},
      {{"many_rows", "A 300007,3", "A[M, N] -> R",
        "  X[i, 0 : M, 1] = >(A[i, j]);\n  R = A - X;\n"},
       D::fp32},
      {{"long_rows", "A 3,300007", "A[M, N] -> R",
        "  X[i, 0 : M, 1] = >(A[i, j]);\n  R = A - X;\n"},
       D::fp32},
  };
}

}  // namespace

void add_large_cases(CaseMaker& maker) {
  // Each index in turn beyond 16 bits, which is what some grids count to.
  for (const char* sizes : {"70001,3", "3,70001", "2,70001,2", "2,2,70001", "70001,2,2"}) {
    const Form form{"index", fmt::format("A {}; B {}", sizes, sizes), "A, B -> R",
                    "  R = A - B;\n"};
    std::string name = sizes;
    for (char& c : name) c = c == ',' ? 'x' : c;
    add_program_case(maker, {kWithinBound}, Level::right, "large.index.i32." + name,
                     [form] { return program_of(form, D::i32); });
  }
  for (const Large& one : large()) {
    std::string sizes = one.form.inputs.substr(one.form.inputs.find(' ') + 1);
    sizes = sizes.substr(0, sizes.find_first_of("; "));
    for (char& c : sizes) c = c == ',' ? 'x' : c;
    add_program_case(maker, {kWithinBound}, Level::robust,
                     fmt::format("large.{}.{}.{}", one.form.name, stria::name_of(one.type), sizes),
                     [one] {
                       TestProgram program = program_of(one.form, one.type);
                       program.sample = kSample;
                       return program;
                     });
  }
}

}  // namespace stria::conformance
