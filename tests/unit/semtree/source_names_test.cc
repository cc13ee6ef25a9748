// SPDX-License-Identifier: Apache-2.0
// Names in emitted sources: whose each one is shows in how it begins, whatever a program is called.
#include "stria/semtree/c/source_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cuda/emit/dialect.h"
#include "emit/dialect.h"
#include "hostile_names.h"
#include "source_languages.h"
#include "stria/semtree/c/c_printer.h"
#include "stria/semtree/c/program_source.h"
#include "stria/stripe/text/parser.h"

namespace stria::semtree {
namespace {

using testing::HasSubstr;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<std::string> identifiers(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at && !std::isdigit(static_cast<unsigned char>(text[at])))
      out.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return out;
}

TEST(SourceNames, AreShortPlainAndApart) {
  SourceNames names;
  std::set<std::string> seen;
  std::vector<std::string> all = kernels::hostile_names();
  for (const char* name :
       {"", "'", "_", "__", "1", "v_", "v__", "_A", "A", "A", "A", "a b", "*/", "a\\"})
    all.push_back(name);
  for (const std::string& name : all) {
    const std::string made = names.of_program(name);
    for (const std::string& one :
         {made, own_name("base", made), own_name("at", made), names.of_temporary()}) {
      EXPECT_TRUE(seen.insert(one).second) << one;
      EXPECT_LE(one.size(), kLongestIdentifier) << one;
      EXPECT_EQ(one.find("__"), std::string::npos) << one;
      EXPECT_TRUE(std::all_of(one.begin(), one.end(), is_word)) << one;
    }
    EXPECT_TRUE(made.starts_with("v_"));
  }
  EXPECT_EQ(SourceNames().of_program("x"), "v_x");
  EXPECT_EQ(kernel_symbol(3, "conv"), "k3_conv");
  EXPECT_EQ(kernel_symbol(3, "a+__b'"), "k3_a_b_");
  EXPECT_EQ(kernel_symbol(3, ""), "k3");
  EXPECT_EQ(kernel_symbol(12, std::string(500, 'n')).size(), kLongestIdentifier);
}

TEST(SourceNames, TenThousandAlikeTakeNoTime) {
  SourceNames names;
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) {
    const std::string made = names.of_program(std::string(500, 'n') + std::to_string(i));
    EXPECT_TRUE(seen.insert(made).second);
    EXPECT_LE(own_name("base", made).size(), kLongestIdentifier);
  }
}

TEST(SourceNames, ADialectKeepsToItsOwn) {
  for (const Dialect& good :
       {opencl::dialect({}),
        opencl::dialect({.fp64 = true, .mma = true, .fp16 = true, .fast_math = true}),
        cuda::dialect()}) {
    EXPECT_EQ(check_names(good).message(), "");
    for (const char* text : {"int v_x(int a)", "#define v_ 1", "f(v_1)", "k0_f(1)", "k12",
                             "stria_base_x", "stria_at_x", "stria_values_0"}) {
      Dialect bad = good;
      bad.preamble += text;
      EXPECT_THAT(check_names(bad).message(), HasSubstr("which a program may use")) << text;
      bad = good;
      bad.helpers["more"] = {text, {}};
      EXPECT_FALSE(check_names(bad).ok()) << text;
      EXPECT_FALSE(CPrinter(bad).add(Function(), "k0", 1).ok());
      bad = good;
      bad.spellings["exp"] = {text, {}};
      EXPECT_FALSE(check_names(bad).ok()) << text;
    }
  }
}

TEST(SourceNames, CommentsEndWithTheirLine) {
  EXPECT_EQ(comment_text("O1 is on the stack: (x + 1) * 2"), "O1 is on the stack: (x + 1) * 2");
  EXPECT_EQ(comment_text("a\\"), "a.");
  EXPECT_EQ(comment_text("a\\ \nint b;\r?\?/\x1b\xff"), "a. .int b;.../..");
}

// Tensors, an array on the stack, an index, values and the kernel are called so.
stripe::Program program_of(const std::vector<std::string>& n) {
  auto program =
      stripe::parse({"t", fmt::format(R"(stripe 1.0
0: #program block [] (
    none new@0x0 {0}[0, 0] i32(16:16, 16:1)
    none new@0x0 {1}[0, 0] fp32(16:16, 16:1)
    none new@0x0 {2}[0, 0] fp32(16:16, 16:1)
) {{
  0: #main block [] (
      in {0}[0, 0] i32(16:16, 16:1)
      inout {1}[0, 0] fp32(16:16, 16:1)
      out {2}[0, 0] fp32(16:16, 16:1)
  ) {{
    0: #kernel #parallel block [{3}:16] ( // {4}
        in {0}[{3}, 0] i32(1:16, 16:1)
        inout {1}[{3}, 0] fp32(1:16, 16:1)
        out {2}[{3}, 0] fp32(1:16, 16:1)
        none new@0x0 {5}[0] fp32(16:1)
    ) {{
      0: block [{6}:16, {3}:1 = {3}] (
          in {0}[0, {6}] i32(1:16, 1:1)
          in {1}[0, {6}] fp32(1:16, 1:1)
          out {5}[{6}] fp32(1:1)
      ) {{
        0: ${0} = load({0})
        1: ${1} = load({1})
        2: ${7} = load_index.i32({6} - {3})
        3: ${8} = add.i32(${0}, ${7})
        4: ${9} = mul.fp32(${8}, ${1})
        5: {5} = store(${9})
      }}
      1: block [{6}:16] (
          in {5}[15 - {6}] fp32(1:1)
          out {2}[0, {6}] fp32(1:16, 1:1)
          inout {1}[0, {6}] fp32(1:16, 1:1)
      ) {{
        0: ${5} = load({5})
        1: ${7} = max.fp32(${5}, ${5})
        2: {2} = store(${7})
        3: {1} = store(${7})
      }}
    }}
  }}
}}
)",
                                      n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9])});
  if (!program.ok()) ADD_FAILURE() << program.status().to_string();
  return program.ok() ? std::move(program).value() : stripe::Program();
}

// `text` is `plain` with other names of the program, each one the same throughout.
void expect_renamed(const std::string& plain, const std::string& text) {
  const std::vector<std::string> before = identifiers(plain), after = identifiers(text);
  ASSERT_EQ(before.size(), after.size()) << plain << text;
  std::map<std::string, std::string> there, back;
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(there.emplace(before[i], after[i]).first->second, after[i]) << plain << text;
    EXPECT_EQ(back.emplace(after[i], before[i]).first->second, before[i]) << plain << text;
    const bool own = before[i].starts_with("v_") || before[i].starts_with("k0_") ||
                     before[i].starts_with("stria_base_") || before[i].starts_with("stria_at_");
    if (!own) {
      EXPECT_EQ(before[i], after[i]) << plain << text;
    }
  }
}

TEST(SourceNames, AProgramsNamesChangeNothingElse) {
  const std::vector<std::string> plain = {"A1", "B1", "C1", "d1", "e1",
                                          "F1", "g1", "h1", "i1", "j1"};
  std::vector<std::string> all = kernels::hostile_names();
  while (all.size() % plain.size()) all.push_back(fmt::format("z{}", all.size()));
  for (const SourceLanguage& language : source_languages()) {
    auto expected = print_program(program_of(plain), language.dialect, language.options);
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    for (size_t first = 0; first < all.size(); first += plain.size()) {
      const std::vector<std::string> names(
          all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(first + plain.size()));
      auto got = print_program(program_of(names), language.dialect, language.options);
      ASSERT_TRUE(got.ok()) << got.status().to_string();
      EXPECT_EQ(got->common, expected->common);
      expect_renamed(expected->kernels[0].text, got->kernels[0].text);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stria::semtree
