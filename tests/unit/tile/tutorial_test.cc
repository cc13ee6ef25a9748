// SPDX-License-Identifier: Apache-2.0
// Every function of the tutorial binds; sizes, types and domains of the results are spelled out
// here.
#include "programs.h"
#include "stria/type/tensor_shape.h"

namespace stria::tile {
namespace {

struct Case {
  const char* file;
  Inputs inputs;
  const char* output;               // "O fp32[4]"
  std::vector<const char*> text;    // of the statements
  std::vector<std::string> domain;  // of the contractions
};

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

std::vector<Case> cases() {
  return {
      {"sum_axis0",
       {{"I", fp32({3, 4})}},
       "O fp32[4]",
       {"O[n : N] = +(I[m, n])"},
       {"m:0..2 n:0..3"}},
      {"sum_axis0_padded",
       {{"I", fp32({3, 4})}},
       "O fp32[5]",
       {"O[n : N + 1] = +(I[m, n])"},
       {"m:0..2 n:0..3"}},
      {"sum_axis0_truncated",
       {{"I", fp32({3, 4})}},
       "O fp32[3]",
       {"O[n : N - 1] = +(I[m, n])"},
       {"m:0..2 n:0..2"}},
      {"matmul",
       {{"A", fp32({2, 3})}, {"B", fp32({3, 5})}},
       "C fp32[2, 5]",
       {"C[i, j : M, N] = +(A[i, k] * B[k, j])"},
       {"i:0..1 j:0..4 k:0..2"}},
      {"max_axis0",
       {{"I", {DataType::i8, {3, 4}}}},
       "O i8[4]",
       {"O[n : N] = >(I[m, n])"},
       {"m:0..2 n:0..3"}},
      {"min_axis0",
       {{"I", {DataType::i8, {3, 4}}}},
       "O i8[4]",
       {"O[n : N] = <(I[m, n])"},
       {"m:0..2 n:0..3"}},
      {"product_axis0",
       {{"I", {DataType::i8, {3, 4}}}},
       "O i32[4]",
       {"O[n : N] = *(I[m, n])"},
       {"m:0..2 n:0..3"}},
      {"global_min",
       {{"I", fp32({2, 3, 4})}},
       "O fp32[]",
       {"Neg = -I", "O_Neg[] = >(Neg[i, j, k])", "O = -O_Neg"},
       {"i:0..1 j:0..2 k:0..3"}},
      {"mean_axis0",
       {{"I", fp32({3, 4})}},
       "O fp32[4]",
       {"Sum[y : Y] = +(I[x, y])", "O = Sum / X"},
       {"x:0..2 y:0..3"}},
      {"mean_global_staged",
       {{"I", fp32({3, 4})}},
       "O fp32[]",
       {"Sum[] = +(I[x, y])", "PartialMean = Sum / X", "O = PartialMean / Y"},
       {"x:0..2 y:0..3"}},
      {"mean_global",
       {{"I", fp32({3, 4})}},
       "O fp32[]",
       {"Sum[] = +(I[x, y])", "O = Sum / (X * Y)"},
       {"x:0..2 y:0..3"}},
      {"all_max",
       {{"I", fp32({5})}},
       "O fp32[2]",
       {"O[i : N / 2] = >(I[2*i + j])"},
       {"i:0..1 j:-2..4 | 2*i + j | 4 - 2*i - j"}},
      {"maxpool1d",
       {{"I", fp32({5})}},
       "O fp32[2]",
       {"O[i : N / 2] = >(I[2*i + j]), j < 2"},
       {"i:0..1 j:0..1"}},
      {"maxpool1d_odd",
       {{"I", fp32({5})}},
       "O fp32[3]",
       {"O[i : (N + 1) / 2] = >(I[2*i + j]), j < 2"},
       {"i:0..2 j:0..1 | 4 - 2*i - j"}},
      {"skipping",
       {{"I", fp32({5, 3})}},
       "O fp32[5]",
       {"O[2*i : N] = +(I[2*i, j])"},
       {"i:0..2 j:0..2"}},
      {"cumsum_constraint",
       {{"I", fp32({6})}},
       "O fp32[6]",
       {"O[i : N] = +(I[k]), i - k < N"},
       {"i:0..5 k:0..5 | i - k"}},
      {"cumsum_offset",
       {{"I", fp32({6})}},
       "O fp32[6]",
       {"O[i : N] = +(I[i - j]), j < N"},
       {"i:0..5 j:0..5 | i - j"}},
      {"conv1d",
       {{"I", fp32({4, 100, 8})}, {"K", fp32({3, 8, 16})}},
       "O fp32[4, 98, 16]",
       {"O[n, x, co : N, L - LK + 1, CO] = +(I[n, k + x, ci] * K[k, ci, co])"},
       {"ci:0..7 co:0..15 k:0..2 n:0..3 x:0..97"}},
      {"conv2d_dilated",
       {{"I", fp32({1, 9, 10, 2})}, {"K", fp32({3, 2, 2, 4})}},
       "O fp32[1, 5, 7, 4]",
       {"O[n, x, y, co : N, Lx - 2 * (LKx - 1), Ly - 3 * (LKy - 1), CO] = "
        "+(I[n, 2*kx + x, 3*ky + y, ci] * K[kx, ky, ci, co])"},
       {"ci:0..1 co:0..3 kx:0..2 ky:0..1 n:0..0 x:0..4 y:0..6"}},
      {"conv_relu",
       {{"D", fp32({1, 224, 224, 64})}, {"K", fp32({3, 3, 64, 64})}},
       "R fp32[1, 224, 224, 64]",
       {"O[n, x, y, co : N, X, Y, CO] = +(D[n, -1 + i + x, -1 + j + y, ci] * K[i, j, co, ci])",
        "R = O > 0 ? O : 0"},
       {"ci:0..63 co:0..63 i:0..2 j:0..2 n:0..0 x:0..223 y:0..223 | -1 + i + x | 224 - i - x | -1 "
        "+ j + y | 224 - j - y"}},
  };
}

TEST(Tutorial, EveryFunctionBinds) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.file);
    auto path = std::filesystem::path(STRIA_SOURCE_DIR) / "tests/end_to_end/tutorial" /
                (std::string(c.file) + ".tile");
    Result<std::string> text = read_file(path);
    ASSERT_TRUE(text.ok()) << text.status().to_string();
    Result<BoundProgram> bound = bind_text(*text, c.inputs);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    ASSERT_EQ(bound->outputs.size(), 1u);
    const BoundTensor& out = bound->tensors[static_cast<size_t>(bound->outputs[0])];
    EXPECT_EQ(out.name + " " + to_string(out.type, out.sizes), c.output);
    EXPECT_TRUE(out.is_output);
    ASSERT_EQ(bound->statements.size(), c.text.size());
    size_t contractions = 0;
    for (size_t i = 0; i < c.text.size(); ++i) {
      EXPECT_EQ(bound->statements[i].text, c.text[i]);
      if (!std::holds_alternative<BoundContraction>(bound->statements[i].form)) continue;
      ASSERT_LT(contractions, c.domain.size());
      EXPECT_EQ(domain_text(contraction_of(*bound, i)), c.domain[contractions++]);
    }
    EXPECT_EQ(contractions, c.domain.size());
  }
}

TEST(Tutorial, ElementwiseOperations) {
  auto path =
      std::filesystem::path(STRIA_SOURCE_DIR) / "tests/end_to_end/tutorial/elementwise.tile";
  Result<std::string> text = read_file(path);
  ASSERT_TRUE(text.ok());
  Result<BoundProgram> bound = bind_text(*text, {{"A", fp32({2, 1, 3})}, {"B", fp32({4, 1})}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(tensor_of(*bound, "Sum").sizes, (std::vector<int64_t>{2, 4, 3}));
  EXPECT_EQ(tensor_of(*bound, "Equal").type, DataType::boolean);
  EXPECT_EQ(tensor_of(*bound, "Root").sizes, (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(tensor_of(*bound, "Choice").type, DataType::fp32);
}

}  // namespace
}  // namespace stria::tile
