// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/text/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/stripe/text/printer.h"

namespace stria::stripe {
namespace {

using testing::HasSubstr;

std::string golden(const std::string& name) {
  return read_file(std::string(STRIA_SOURCE_DIR) + "/tests/golden/stripe/" + name).value();
}

// A program around one block with the given head (indices onward) and statements.
std::string around(const std::string& head, const std::string& body) {
  return "stripe 1.0\n0: #program block [] (\n) {\n  0: #main block [] (\n  ) {\n    0: block " +
         head + " {\n" + body + "    }\n  }\n}\n";
}

std::string message_of(const std::string& text) {
  Result<Program> program = parse({"t.stripe", text});
  return program.ok() ? "it parsed" : program.status().message();
}

size_t error_count(const std::string& message) {
  size_t count = 0;
  for (size_t at = 0; (at = message.find(": error: ", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Parser, StripeTopRoundTripsByteForByte) {
  std::string text = golden("stripe_top.stripe");
  Result<Program> program = parse({"stripe_top.stripe", text});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(print(*program), text);
}

TEST(Parser, TheLooserSpellingOfStripeTopIsTheSameProgram) {
  Result<Program> program = parse({"slides", golden("stripe_top_slides.stripe")});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(print(*program), golden("stripe_top.stripe"));
  EXPECT_TRUE(*program == *parse({"", golden("stripe_top.stripe")}));
}

TEST(Parser, ReadsEveryFieldOfARefinement) {
  std::string line =
      "#lanes #n=-3 none const new@0x00000040<SM[0]/REG[1, 2 + x](lane = 4*d0[0+:3] - d1[1+:2], "
      "slot = 7)> "
      "A[0, 0] fp16(32:33, 32:1) swizzle(3, 3, 6)";
  Result<Program> program = parse({"", around("[x:4] (\n" + line + "\n)", "")});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Block& block = *program->main()->stmts[0].block();
  const Refinement& ref = block.refs.at(0);
  EXPECT_EQ(print_line(ref), line);
  EXPECT_EQ(ref.offset_bytes, 64);
  EXPECT_TRUE(ref.is_const);
  EXPECT_EQ(ref.tags.integer("n"), -3);
  ASSERT_EQ(ref.location.path.size(), 2u);
  const LocationUnit& unit = ref.location.path[1];
  EXPECT_EQ(unit.units[1], Affine::of("x") + 2);
  EXPECT_EQ(unit.owners[0].second.fields[1], (BitField{1, 1, 2, -1}));
  EXPECT_EQ(unit.owners[1].second.constant, 7);
  EXPECT_EQ(ref.swizzle, (Swizzle{3, 3, 6}));
}

TEST(Parser, NamesMayBeKeywords) {
  std::string text = around(
      "[in:4, block:2, none:1 = 3] (\n        in - 1 >= 0\n        none >= 0\n"
      "        in const[in] i8(1:1)\n        out<DRAM[0]> new = const[block] i8(1:1)\n)",
      "      0: $load = load(const)\n      1: $store = max.i8($load, $load)\n      2: new = "
      "store($store)\n");
  Result<Program> program = parse({"", text});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->main()->stmts[0].block()->constraints.size(), 2u);
  EXPECT_TRUE(*parse({"", print(*program)}) == *program);
}

TEST(Parser, NamesMayHoldAQuote) {
  std::string text =
      around("[x':4] (\n          in A'[x'] fp32(1:1)\n    )", "      0: $A'_0 = load(A')\n");
  Result<Program> program = parse({"", text});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->main()->stmts[0].block()->refs.at(0).into, "A'");
  EXPECT_TRUE(*parse({"", print(*program)}) == *program);
}

TEST(Parser, TruncatedTextIsOneError) {
  std::string whole = around("[x:4] (\n    in A[x] fp32(1:1)\n)", "0: $a = load(A)\n");
  for (size_t size = 0; size < whole.size(); ++size) {
    Result<Program> program = parse({"t.stripe", whole.substr(0, size)});
    if (program.ok()) continue;  // only blanks are missing
    const std::string message(program.status().message());
    EXPECT_EQ(message.find("error:"), message.rfind("error:")) << message;
  }
}

TEST(Parser, SkipsAByteOrderMarkAndNamesBinaryFiles) {
  std::string whole = around("[x:4] (\n)", "");
  EXPECT_TRUE(parse({"t", "\xEF\xBB\xBF" + whole}).ok());
  std::string message(parse({"t", whole + std::string(2, '\0')}).status().message());
  EXPECT_THAT(message, HasSubstr("error: not a text file"));
  EXPECT_EQ(message.find("error:"), message.rfind("error:")) << message;
  EXPECT_THAT(message_of("\x1b[31m"), HasSubstr("'\\x1b' means nothing in Stripe"));
}

TEST(Parser, ErrorsPointAtThePlace) {
  std::string message = message_of(around("[x:4] (\n    inn A[x] i8(1:1)\n)", ""));
  EXPECT_THAT(
      message,
      HasSubstr("t.stripe:7:5: error: expected none, in, out or inout, did you mean 'in'?"));
  EXPECT_THAT(message, HasSubstr("\n      inn A[x] i8(1:1)\n      ^~~"));
  EXPECT_THAT(message_of(around("[x:4] (\n    in A[x] fp23(1:1)\n)", "")),
              HasSubstr("did you mean 'fp32'?"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: $a = laod(A)\n")),
              HasSubstr("did you mean 'load'?"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: blok [] (\n) {\n}\n")),
              HasSubstr("did you mean 'block'?"));
  EXPECT_THAT(message_of(around("[x:4] (\n in A[x]:ad.i8 i8(1:1))", "")),
              HasSubstr("did you mean 'add'?"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: A = stor($a)\n")),
              HasSubstr("did you mean 'store'?"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "1: $a = (i8)1\n")),
              HasSubstr("number 0 of its block, not 1"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: $a = (i8)128\n")),
              HasSubstr("i8 cannot hold 128"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: $a = (fp16)70000.0\n")),
              HasSubstr("fp16 cannot hold"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: $a = (i32)1.5\n")), HasSubstr("a whole number"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: $a = add($b)\n")),
              HasSubstr("write add.TYPE(…)"));
  EXPECT_THAT(message_of(around("[x:4] (\n none A[0] i8(1:1))", "")), HasSubstr("new@0x00000000"));
  EXPECT_THAT(message_of(around("[x:4] (\n in new@0x0 A[0] i8(1:1))", "")),
              HasSubstr("direction is none, not in"));
  EXPECT_THAT(message_of(around("[x:4] (\n x >= 1\n)", "")), HasSubstr("expected 0, found '1'"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: #a #a $x = (i8)1\n")),
              HasSubstr("'#a' stands here twice"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: #a=\"x\\q\" $x = (i8)1\n")),
              HasSubstr("may stand in a string"));
  EXPECT_THAT(message_of(around("[x:4] (\n)", "0: #a=\"x\n")),
              HasSubstr("does not end on its line"));
  EXPECT_THAT(message_of("0: $x = (i8)1\n"), HasSubstr("a program is one block"));
  EXPECT_THAT(message_of(""), HasSubstr("t.stripe:1:1: error: expected the statement's number"));
  EXPECT_THAT(message_of(around("[] ()", "") + "}"),
              HasSubstr("expected nothing after the program's block"));
  EXPECT_THAT(message_of("0: #program block [] (\n) {\n"),
              HasSubstr("expected '}' at the end of block"));
}

TEST(Parser, ReportsSeveralMistakesAndNotTheirEchoes) {
  std::string message = message_of(
      around("[x:4] (\n    inn A[x] i8(1:1)\n    out B[x i8(1:1)\n    out C[x] i9(1:1)\n)",
             "0: $a = load(A\n1: $b = (i8)300\n2: C = store($b)\n"));
  EXPECT_EQ(error_count(message), 5u) << message;
  std::string many;
  for (int i = 0; i < 100; ++i) many += fmt::format("{}: $a = \n", i);
  // Of 20 as many as one message has room for.
  message = message_of(around("[] ()", many));
  EXPECT_EQ(error_count(message), 14u) << message;
  EXPECT_THAT(message, HasSubstr("t.stripe: and 6 errors more"));
  EXPECT_LE(message.size(), kMaxMessageBytes);
}

TEST(Parser, RefusesOtherVersions) {
  Result<Program> program = parse({"t.stripe", "stripe 2.0\n0: #program block [] ( ) { }\n"});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), StatusCode::incompatible);
  EXPECT_THAT(program.status().message(),
              HasSubstr("the text is Stripe 2.0, this build reads Stripe 1.1"));
  EXPECT_THAT(message_of("stripe 1.2\n"), HasSubstr("Stripe 1.2"));
  EXPECT_THAT(message_of("stripe x\n"), HasSubstr("expected the version"));
  EXPECT_THAT(message_of("stripe 99999999999.1\n"), HasSubstr("expected the version"));
}

TEST(Parser, RefusesNumbersBeyondTheirLimits) {
  for (const char* head : {"[x:9223372036854775808] ()", "[x:4] (\n 9223372036854775808*x >= 0\n)",
                           "[x:4] (\n 9223372036854775807*x + x >= 0\n)",
                           "[x:4] (\n in A[x] i8(99999999999999999999:1)\n)",
                           "[x:4] (\n none new@0xffffffffffffffff A[0] i8(1:1)\n)"})
    EXPECT_THAT(message_of(around(head, "")), HasSubstr("beyond")) << head;
  Result<Program> program =
      parse({"", around("[x:4] (\n -9223372036854775808*x - 9223372036854775808 >= 0\n)", "")});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_TRUE(*parse({"", print(*program)}) == *program);
}

TEST(Parser, RefusesEndlessNesting) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "0: block [] ( ) {\n";
  EXPECT_THAT(message_of(text), HasSubstr("nested deeper than the limit of 128"));
}

TEST(Parser, HugeTextsTakeLinearTime) {
  std::string form, body;
  for (int i = 0; i < 50000; ++i) form += fmt::format("{}x{}", i ? " + " : "", i);
  for (int i = 0; i < 20000; ++i) body += fmt::format("{}: $s{} = (i32){}\n", i, i, i);
  Result<Program> program = parse({"", around("[] (\n" + form + " >= 0\n)", body)});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->main()->stmts[0].block()->stmts.size(), 20000u);
}

}  // namespace
}  // namespace stria::stripe
