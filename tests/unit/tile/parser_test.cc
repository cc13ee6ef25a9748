// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "programs.h"
#include "stria/tile/syntax/print.h"

namespace stria::tile {
namespace {

using ::testing::HasSubstr;

// The expression with all its parentheses: add(A, mul(B, C)).
std::string tree(const Function& f, ExprId id) {
  const Expr& e = f.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::integer) return std::to_string(e.integer);
  if (e.kind == ExprKind::floating) return fmt::format("{}", e.floating);
  if (e.kind != ExprKind::call) return e.text;
  std::string out = e.text + "(";
  for (size_t i = 0; i < e.args.size(); ++i) out += (i > 0 ? ", " : "") + tree(f, e.args[i]);
  return out + ")";
}

std::string tree_of(const std::string& expression) {
  Result<Program> program = parse({"t", "function (A) -> (R) { R = " + expression + "; }"});
  if (!program.ok()) return program.status().message();
  const Function& f = program->functions[0];
  return tree(f, std::get<Assignment>(f.statements[0].form).value);
}

std::string form_of(const std::string& form) {
  Result<Program> program = parse({"t", "function (A) -> (R) { R[] = +(A[" + form + "]); }"});
  if (!program.ok()) return program.status().message();
  const Function& f = program->functions[0];
  return tree(f, std::get<Contraction>(f.statements[0].form).operands[0].indices[0]);
}

std::string parse_failure(const std::string& text) {
  Result<Program> program = parse({"t.tile", text});
  EXPECT_FALSE(program.ok()) << text;
  return program.ok() ? "" : program.status().message();
}

TEST(Parser, PrecedenceFromLoosestToTightest) {
  EXPECT_EQ(tree_of("A ? B : C"), "cond(A, B, C)");
  EXPECT_EQ(tree_of("A || B ? C : D"), "cond(logical_or(A, B), C, D)");
  EXPECT_EQ(tree_of("A || B && C"), "logical_or(A, logical_and(B, C))");
  EXPECT_EQ(tree_of("A && B ^ C"), "logical_and(A, bit_xor(B, C))");
  // Unlike in C, ^ is looser than |.
  EXPECT_EQ(tree_of("A ^ B | C"), "bit_xor(A, bit_or(B, C))");
  EXPECT_EQ(tree_of("A | B & C"), "bit_or(A, bit_and(B, C))");
  EXPECT_EQ(tree_of("A & B == C"), "bit_and(A, cmp_eq(B, C))");
  EXPECT_EQ(tree_of("A == B < C"), "cmp_eq(A, cmp_lt(B, C))");
  EXPECT_EQ(tree_of("A != B >= C"), "cmp_ne(A, cmp_ge(B, C))");
  EXPECT_EQ(tree_of("A > B << C"), "cmp_gt(A, bit_left(B, C))");
  EXPECT_EQ(tree_of("A <= B >> C"), "cmp_le(A, bit_right(B, C))");
  EXPECT_EQ(tree_of("A << B + C"), "bit_left(A, add(B, C))");
  EXPECT_EQ(tree_of("A + B * C"), "add(A, mul(B, C))");
  EXPECT_EQ(tree_of("A - B % C"), "sub(A, mod(B, C))");
  EXPECT_EQ(tree_of("A * -B"), "mul(A, neg(B))");
  EXPECT_EQ(tree_of("-A * B"), "mul(neg(A), B)");
  EXPECT_EQ(tree_of("!A && B"), "logical_and(logical_not(A), B)");
  EXPECT_EQ(tree_of("!A == B"), "cmp_eq(logical_not(A), B)");
  EXPECT_EQ(tree_of("~-A"), "bit_not(neg(A))");
}

TEST(Parser, ChainsGroupToTheLeftAndTernaryToTheRight) {
  EXPECT_EQ(tree_of("A - B - C"), "sub(sub(A, B), C)");
  EXPECT_EQ(tree_of("A / B * C % D"), "mod(mul(div(A, B), C), D)");
  EXPECT_EQ(tree_of("A << B >> C"), "bit_right(bit_left(A, B), C)");
  EXPECT_EQ(tree_of("A ? B : C ? D : E"), "cond(A, B, cond(C, D, E))");
  EXPECT_EQ(tree_of("A ? B ? C : D : E"), "cond(A, cond(B, C, D), E)");
  EXPECT_EQ(tree_of("(A - B) * C"), "mul(sub(A, B), C)");
}

TEST(Parser, ComparisonsDoNotChain) {
  EXPECT_THAT(tree_of("A < B < C"), HasSubstr("'<' does not chain with '<'"));
  EXPECT_THAT(tree_of("A == B != C"), HasSubstr("'!=' does not chain with '=='"));
  EXPECT_EQ(tree_of("(A < B) < C"), "cmp_lt(cmp_lt(A, B), C)");
}

TEST(Parser, IndexForms) {
  EXPECT_EQ(form_of("2 i + 3"), "add(mul(2, i), 3)");
  EXPECT_EQ(form_of("2i - 3 j"), "sub(mul(2, i), mul(3, j))");
  EXPECT_EQ(form_of("2 e"), "mul(2, e)");
  EXPECT_EQ(form_of("-i / 2 * N"), "mul(div(neg(i), 2), N)");
  EXPECT_EQ(form_of("-(i + 1)"), "neg(add(i, 1))");
  EXPECT_THAT(form_of("i % 2"), HasSubstr("an index form has only + - * and /"));
  EXPECT_THAT(form_of("1.5"), HasSubstr("index forms are made of integers"));
  EXPECT_THAT(form_of("max(i, 2)"), HasSubstr("an index form has no function calls"));
}

TEST(Parser, NumbersAndNames) {
  EXPECT_EQ(tree_of("9223372036854775807"), "9223372036854775807");
  EXPECT_THAT(tree_of("9223372036854775808"), HasSubstr("beyond 9223372036854775807"));
  EXPECT_EQ(tree_of("1.5e-3"), "0.0015");
  EXPECT_EQ(tree_of("2e3"), "2000");
  EXPECT_THAT(tree_of("1."), HasSubstr("write '1.0'"));
  EXPECT_THAT(tree_of(".5"), HasSubstr("write '0.5'"));
  EXPECT_THAT(tree_of("1e999"), HasSubstr("beyond the range of fp64"));
  EXPECT_EQ(tree_of("A'"), "A'");
  EXPECT_EQ(tree_of("Abc_1 + B2"), "add(Abc_1, B2)");
}

TEST(Parser, ReportsSeveralErrorsInOneRun) {
  std::string message = parse_failure(
      "function (A) -> (R) {\n"
      "  R = A + ;\n"
      "  S = = A;\n"
      "  T[i : 3] = (A[i]);\n"
      "}\n");
  EXPECT_THAT(message, HasSubstr("t.tile:2:11: error: expected an expression, found ';'"));
  EXPECT_THAT(message, HasSubstr("t.tile:3:7: error: expected an expression, found '='"));
  EXPECT_THAT(message, HasSubstr("t.tile:4:14: error: expected an aggregation"));
}

TEST(Parser, MissingSemicolonCostsOnlyItsLine) {
  std::string message = parse_failure("function (A) -> (R) {\n  S = A\n  T = $;\n  R = A\n}\n");
  EXPECT_THAT(message, HasSubstr("t.tile:2:8: error: expected ';' at the end of the statement"));
  EXPECT_THAT(message, HasSubstr("t.tile:3:7: error: '$' does not belong to Tile"));
  EXPECT_THAT(message, HasSubstr("t.tile:4:8: error: expected ';' at the end of the statement"));
}

TEST(Parser, StopsAfterTwentyMessages) {
  std::string text = "function (A) -> (R) {\n";
  for (int i = 0; i < 1000; ++i) text += "  R = ;\n";
  std::string message = parse_failure(text + "}\n");
  size_t count = 0;
  for (size_t at = message.find("error:"); at != std::string::npos;
       at = message.find("error:", at + 1))
    ++count;
  EXPECT_EQ(count, 20u);
}

TEST(Parser, HostileNestingIsAnErrorNotACrash) {
  for (const char* open : {"(", "-", "!", "f(", "A ? ", "A ? B : "}) {
    std::string text = "function (A) -> (R) { R = ";
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_THAT(parse_failure(text + "A; }"), HasSubstr("open here")) << open;
  }
  std::string chain = "function (A) -> (R) { R = A";
  for (int i = 0; i < 100000; ++i) chain += " + A";
  EXPECT_THAT(parse_failure(chain + "; }"), HasSubstr("operations deep"));
  std::string form = "function (A) -> (R) { R[] = +(A[";
  for (int i = 0; i < 100000; ++i) form += "(";
  EXPECT_THAT(parse_failure(form + "i]); }"), HasSubstr("open here"));
}

TEST(Parser, LongButLegalExpressions) {
  std::string chain = "function (A) -> (R) { R = A";
  for (int i = 0; i < kMaxExprDepth - 1; ++i) chain += " + A";
  EXPECT_TRUE(parse({"t", chain + "; }"}).ok());
  std::string nest = "function (A) -> (R) { R = ";
  for (int i = 0; i < 200; ++i) nest += "(";
  nest += "A";
  for (int i = 0; i < 200; ++i) nest += ")";
  EXPECT_TRUE(parse({"t", nest + "; }"}).ok());
}

TEST(Parser, EmptyFileAndForeignBytes) {
  EXPECT_THAT(parse_failure(""), HasSubstr("t.tile:1:1: error: there is no function"));
  EXPECT_THAT(parse_failure("# only a comment\n"), HasSubstr("there is no function"));
  EXPECT_THAT(parse_failure(std::string("function (A) -> (R) { R = A\0; }", 31)),
              HasSubstr("not a text file"));
  EXPECT_THAT(parse_failure("function (A) \xE2\x88\x92> (R) { R = A; }"),
              HasSubstr("typographic minus"));
  EXPECT_THAT(parse_failure("function (A) -> (R) { R = A; "),
              HasSubstr("the file ends inside a function"));
}

TEST(Parser, ManyStatementsAreFast) {
  std::string text = "function (A) -> (R) {\n";
  for (int i = 0; i < 100000; ++i) text += fmt::format("  T{} = A * {} + 1.5;\n", i, i);
  Result<Program> program = parse({"t", text + "  R = T1;\n}\n"});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->functions[0].statements.size(), 100001u);
}

}  // namespace
}  // namespace stria::tile
