// SPDX-License-Identifier: Apache-2.0
// Kernels whose code is the same: a source text has it once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source_languages.h"
#include "stria/semtree/c/program_source.h"
#include "stria/stripe/text/parser.h"

namespace stria::semtree {
namespace {

// Kernels that copy a row of A each to a row of R, as steps of a recurrence do.
Result<ProgramSource> copies(const std::vector<std::pair<int, int>>& rows, bool offsets,
                             const Dialect& dialect, SourceOptions options) {
  constexpr const char* kHead = R"(
      in A[0, 0] fp32(8:64, 64:1)
      out R[0, 0] fp32(8:64, 64:1)
)";
  std::string text =
      "0: #program block [] (\n  none new@0x0 A[0, 0] fp32(8:64, 64:1)\n"
      "  none new@0x0 R[0, 0] fp32(8:64, 64:1)\n) {\n  0: #main block [] (" +
      std::string(kHead) + "  ) {\n";
  for (size_t k = 0; k < rows.size(); ++k)
    text += fmt::format(R"(
    {0}: #kernel #parallel block [i{0}:64] ( // step_{0}
        in B{0} = A[{1}, i{0}] fp32(1:64, 1:1)
        out S{0} = R[{2}, i{0}] fp32(1:64, 1:1)
    ) {{
      0: $v{0} = load(B{0})
      1: S{0} = store($v{0})
    }}
)",
                        k, rows[k].first, rows[k].second);
  STRIA_ASSIGN(const stripe::Program program, stripe::parse({"test", text + "  }\n}\n"}));
  options.build.argument_offsets = offsets;
  return print_program(program, dialect, options);
}

size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

TEST(SharedKernels, DifferInNamesAndWhereTheirViewsBegin) {
  for (const SourceLanguage& language : source_languages()) {
    auto made = copies({{0, 1}, {2, 5}, {7, 0}}, true, language.dialect, language.options);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    ASSERT_EQ(made->kernels.size(), 3u);
    for (const SourceKernel& kernel : made->kernels) {
      EXPECT_EQ(kernel.code, 0u);
      EXPECT_EQ(kernel.symbol, "k0_step_0");
      EXPECT_EQ(kernel.text, made->kernels[0].text);
    }
    EXPECT_EQ(count(made->text, "k0_step_0"), 1u);
    EXPECT_EQ(made->text.find("step_1"), std::string::npos);
    EXPECT_EQ(made->kernels[1].name, "step_1");
    EXPECT_EQ(made->kernels[1].arguments[0].offset_bytes, 5 * 64 * 4);
    EXPECT_EQ(made->kernels[1].arguments[1].offset_bytes, 2 * 64 * 4);
    EXPECT_EQ(made->kernels[1].arguments[1].bytes, 8 * 64 * 4);

    // Without offsets, what begins at one place is one.
    auto apart = copies({{0, 1}, {2, 5}, {0, 1}}, false, language.dialect, language.options);
    ASSERT_TRUE(apart.ok()) << apart.status().to_string();
    EXPECT_EQ(apart->kernels[1].code, 1u);
    EXPECT_EQ(apart->kernels[2].code, 0u);
    EXPECT_EQ(apart->kernels[1].symbol, "k1_step_1");
    EXPECT_EQ(apart->kernels[1].arguments[0].offset_bytes, 0);
    EXPECT_NE(apart->kernels[0].text, apart->kernels[1].text);
  }
}

}  // namespace
}  // namespace stria::semtree
