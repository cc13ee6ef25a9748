// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/kernel_memo.h"

#include <gtest/gtest.h>

#include <string>

#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"

namespace stria::passes {
namespace {

using stripe::Block;

// C = A * B over 8 elements, by the names of its tensors, scalars and block.
Block product(const std::string& a, const std::string& b, const std::string& c,
              const std::string& scalar, const std::string& name, int stride = 1) {
  const std::string text = fmt::format(R"(
0: #kernel block [x:8] ( // {4}
    // a comment of {4}
    in {0}[x] fp32(1:{5})
    in {1}_near = {1}[x] fp32(1:1)
    out {2}[x] fp32(1:1)
) {{
  0: ${3} = load({0})
  1: ${3}_b = load({1}_near)
  2: ${3}_c = mul.fp32(${3}, ${3}_b)
  3: {2} = store(${3}_c)
}}
)",
                                       a, b, c, scalar, name, stride);
  auto parsed = stripe::parse({"kernel", text});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed->entry;
}

TEST(KernelMemo, NamesOfTensorsAndScalarsAndBlocksDoNotCount) {
  const Block one = nameless(product("A", "B", "C", "v", "kernel_0"));
  const Block other = nameless(product("Weights", "I", "O", "product", "kernel_1"));
  EXPECT_EQ(one, other);
  EXPECT_EQ(shape_hash(one), shape_hash(other));
}

TEST(KernelMemo, OneTensorReadTwiceIsNotTwoTensors) {
  EXPECT_FALSE(nameless(product("A", "B", "C", "v", "k")) ==
               nameless(product("A", "A", "C", "v", "k")));
}

TEST(KernelMemo, StridesCount) {
  EXPECT_FALSE(nameless(product("A", "B", "C", "v", "k", 1)) ==
               nameless(product("A", "B", "C", "v", "k", 2)));
}

TEST(KernelMemo, AsksOncePerKind) {
  KernelMemo<int> memo;
  int asked = 0;
  const auto find = [&] { return ++asked; };
  EXPECT_EQ(memo.of(nameless(product("A", "B", "C", "v", "k")), find), 1);
  EXPECT_EQ(memo.of(nameless(product("A", "A", "C", "v", "k")), find), 2);
  EXPECT_EQ(memo.of(nameless(product("D", "E", "F", "w", "l")), find), 1);
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace stria::passes
