// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/syntax/print.h"

#include "programs.h"

namespace stria::tile {
namespace {

std::string printed(const std::string& text) {
  Result<Program> program = parse({"t", text});
  return program.ok() ? print(*program) : program.status().message();
}

void expect_round_trip(const std::string& where, const std::string& text) {
  Result<Program> first = parse({where, text});
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  std::string once = print(*first);
  Result<Program> second = parse({where, once});
  ASSERT_TRUE(second.ok()) << once << second.status().to_string();
  EXPECT_TRUE(*first == *second) << text << "\n" << once;
  EXPECT_EQ(print(*second), once);
}

TEST(Print, RoundTripOfEveryProduction) {
  for (const std::string& text : grammar_programs()) expect_round_trip("t", text);
}

TEST(Print, RoundTripOfThePrograms) {
  auto programs = house_programs();
  EXPECT_GE(programs.size(), 20u);
  for (const auto& [path, text] : programs) expect_round_trip(path, text);
}

TEST(Print, DifferentProgramsAreDifferent) {
  Result<Program> a = parse({"t", "function (A) -> (R) { R = A + 1; }"});
  Result<Program> b = parse({"t", "function (A) -> (R) { R = A + 2; }"});
  Result<Program> c = parse({"u", "function  (A) -> (R) {\n R = (A + 1); }"});
  EXPECT_FALSE(*a == *b);
  EXPECT_TRUE(*a == *c);
}

TEST(Print, Canonical) {
  EXPECT_EQ(printed("function f(A[M,L],B[L,N])->(C){C[i,j:M,N]=+(A[i,k]*B[k,j]),i-k<N;}"),
            "function f(A[M, L], B[L, N]) -> (C) {\n"
            "  C[i, j : M, N] = +(A[i, k] * B[k, j]), i - k < N;\n"
            "}\n");
  EXPECT_EQ(printed("function(A)->(R){R=(((A)))+((A*(2)));S=(A+A)*A;}"),
            "function (A) -> (R) {\n  R = A + A * 2;\n  S = (A + A) * A;\n}\n");
  EXPECT_EQ(printed("function (A) -> (R) { R[:] = +(A[2 i]) default D no_defract; }"),
            "function (A) -> (R) {\n  R[] = +(A[2 * i]) no_defract default D;\n}\n");
}

TEST(Print, KeepsComments) {
  EXPECT_EQ(printed("# head\nfunction (A) -> (R) {\n\n# one\nS = A; // behind\n\n\nR = A * # "
                    "why\n2; # x\n//last\n}\n#end"),
            "# head\nfunction (A) -> (R) {\n  # one\n  S = A;  # behind\n\n  # why\n  R = A * 2;  "
            "# x\n  # last\n}\n# end\n");
}

TEST(Print, KeepsEmptyLinesBetweenComments) {
  const std::string text =
      "# license\n\n# what it is\n\nfunction (A) -> (R) {\n  # one\n\n  # two\n  S = A;  # "
      "behind\n\n  # three\n\n  R = S;\n\n  # last\n}\n";
  std::string once = printed(text);
  EXPECT_EQ(once,
            "# license\n\n# what it is\n\nfunction (A) -> (R) {\n  # one\n\n  # two\n  S = A;  # "
            "behind\n\n  # three\n\n"
            "  R = S;\n  # last\n}\n");
  EXPECT_EQ(printed(once), once);
}

TEST(Print, BreaksLongLines) {
  const std::string text =
      "function (Input[N, X, Y, CI], Kernel[KX, KY, CI, CO]) -> (Output) {\n"
      "  Output[n, x, y, co : N, X - 2 * (KX - 1), Y - 3 * (KY - 1), CO] = +(Input[n, x + 2 * kx, "
      "y + 3 * ky, ci] "
      "* Kernel[kx, ky, ci, co]), kx < 3 default Input;\n}\n";
  std::string once = printed(text);
  EXPECT_EQ(once,
            "function (Input[N, X, Y, CI], Kernel[KX, KY, CI, CO]) -> (Output) {\n"
            "  Output[n, x, y, co : N, X - 2 * (KX - 1), Y - 3 * (KY - 1), CO] =\n"
            "      +(Input[n, x + 2 * kx, y + 3 * ky, ci] * Kernel[kx, ky, ci, co]), kx < 3 "
            "default Input;\n}\n");
  EXPECT_EQ(printed(once), once);
  expect_round_trip("t", text);
}

TEST(Print, OneStatement) {
  Result<Program> program = parse({"t", "function (A) -> (R) { [[pid(x)]] # c\n R = A ? A:1; }"});
  ASSERT_TRUE(program.ok());
  const Function& f = program->functions[0];
  EXPECT_EQ(print(f, f.statements[0]), "R = A ? A : 1");
}

}  // namespace
}  // namespace stria::tile
