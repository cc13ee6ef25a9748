// SPDX-License-Identifier: Apache-2.0
// What a pass of a plugin changes through the reader, and calls of the plugin's functions in the C
// that it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stria/sdk/reader.h"

namespace stria::sdk {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProgram = R"(stripe 1.0
0: #program block [] ( // net
    none new@0x00000000 A[0, 0] fp32(16:10, 10:1)
    none new@0x00000000 B[0, 0] fp32(10:24, 24:1)
    none new@0x00000000 C[0, 0] fp32(16:24, 24:1)
) {
  0: #main block [] ( // main
      in A[0, 0] fp32(16:10, 10:1)
      in B[0, 0] fp32(10:24, 24:1)
      inout C[0, 0] fp32(16:24, 24:1)
  ) {
    0: #kernel #parallel block [i:2, j:3] ( // product
        in A[8*i, 0] fp32(8:10, 10:1)
        in B[0, 8*j] fp32(10:24, 8:1)
        inout C[8*i, 8*j]:add.fp32 fp32(8:24, 8:1)
    ) {
      0: #stencil="product" #micro_kernel="product_8x8" block [m:8, n:8, k:10] ( // tile
          in A[m, k] fp32(1:10, 1:1)
          in B[k, n] fp32(1:24, 1:1)
          inout C[m, n]:add.fp32 fp32(1:24, 1:1)
      ) {
        0: $a = load(A)
        1: $b = load(B)
        2: $c = mul.fp32($a, $b)
        3: C = store($c)
      }
    }
  }
}
)";

class ReaderChanges : public testing::Test {
 protected:
  void SetUp() override {
    ReaderError error = read_program("text", kProgram, &program_);
    ASSERT_FALSE(error) << error.message();
  }
  const stria_block& kernel() const { return *kernels(*program_)[0].block; }
  const stria_block& tile() const { return *statements(kernel())[0].block; }
  std::string text() const {
    std::string out;
    EXPECT_FALSE(print(program_, &out));
    return out;
  }
  ReaderProgram program_;
};

TEST_F(ReaderChanges, NothingChangedIsTheSameText) { EXPECT_EQ(text(), kProgram); }

TEST_F(ReaderChanges, Tags) {
  EXPECT_FALSE(set_tag(program_, kernel(), "mine"));
  EXPECT_FALSE(set_tag(program_, kernel(), "rows", 4));
  EXPECT_FALSE(set_tag(program_, kernel(), "rows", 8));
  EXPECT_FALSE(set_tag(program_, tile(), "name", "a b"));
  EXPECT_FALSE(remove_tag(program_, tile(), "micro_kernel"));
  EXPECT_FALSE(remove_tag(program_, tile(), "none"));
  EXPECT_THAT(text(), AllOf(HasSubstr("#kernel #parallel #mine #rows=8 block [i:2, j:3]"),
                            HasSubstr("0: #stencil=\"product\" #name=\"a b\" block [m:8")));
  // The structures stay as the program was read.
  EXPECT_EQ(find_tag(kernel(), "mine"), nullptr);
  EXPECT_NE(find_tag(tile(), "micro_kernel"), nullptr);
  stria_tag flag{};
  flag.size = sizeof flag;
  flag.name = string_of("flag");
  flag.kind = STRIA_VALUE_NUMBER;
  const ReaderError refused(stria_reader_set_tag(program_.changing(), &tile(), &flag));
  EXPECT_EQ(refused.code(), STRIA_INVALID_ARGUMENT);
  EXPECT_THAT(refused.message(), HasSubstr("the tag 'flag' has a value of kind 3"));
  const std::string before = text();
  for (const char* name : {"", "a b block<", "a.b", "1st", "x block [i:2] (", "\n"}) {
    const ReaderError no_name = set_tag(program_, tile(), name);
    EXPECT_EQ(no_name.code(), STRIA_INVALID_ARGUMENT) << name;
    EXPECT_THAT(no_name.message(), HasSubstr("is no name of a tag"));
  }
  EXPECT_EQ(text(), before);
}

// A special has a block to look at, and none to change.
TEST(ReaderSpecials, CannotBeChanged) {
  ReaderProgram program;
  ASSERT_FALSE(read_program("text", R"(stripe 1.0
0: #program block [] ( // net
    none new@0x00000000 A[0] fp32(16:1)
    none new@0x00000000 R[0] fp32(16:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(16:1)
      out R[0] fp32(16:1)
  ) {
    0: special copy(A; R)
  }
}
)",
                            &program));
  const stria_block& block = *kernels(*program)[0].block;
  const ReaderError refused = set_tag(program, block, "mine");
  EXPECT_EQ(refused.code(), STRIA_UNSUPPORTED);
  EXPECT_THAT(refused.message(), HasSubstr("kernel 'copy' is a special"));
}

// The name becomes part of a symbol of the C.
TEST(ReaderMicroKernels, HaveNamesOfFunctions) {
  for (const char* name : {"x(0); system(id); void (*y", "a b", "", "8x8", "ä"}) {
    std::string text = kProgram;
    text.replace(text.find("product_8x8"), 11, name);
    ReaderProgram program;
    ReaderTree tree;
    ReaderError error = read_program("text", text, &program);
    if (!error) error = build_tree(program, 0, &tree);
    EXPECT_TRUE(error) << name;
  }
}

TEST_F(ReaderChanges, ABlockInPlaceOfAnother) {
  std::string block;
  ASSERT_FALSE(print(program_, tile(), &block));
  EXPECT_THAT(block, testing::StartsWith("0: #stencil=\"product\""));
  block.replace(block.find("#stencil=\"product\" #micro_kernel=\"product_8x8\" "), 46, "");
  ASSERT_FALSE(replace(program_, tile(), block));
  EXPECT_THAT(text(), AllOf(HasSubstr("0: block [m:8, n:8, k:10] ( // tile"),
                            Not(HasSubstr("micro_kernel"))));
  // What is put in place can be changed in turn, and a block around it, too.
  EXPECT_FALSE(set_tag(program_, tile(), "again"));
  EXPECT_FALSE(set_tag(program_, kernel(), "around"));
  EXPECT_THAT(text(), AllOf(HasSubstr("0: #again block [m:8"), HasSubstr("#around block [i:2")));
}

TEST_F(ReaderChanges, WhatIsRefusedChangesNothing) {
  const ReaderError wrong = replace(program_, tile(), "0: block [m:8] (\n  in A[m] what\n) {}");
  EXPECT_EQ(wrong.code(), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(wrong.place(), "block:2:11");
  const ReaderError no_block = replace(program_, tile(), "0: special zero(C)");
  EXPECT_EQ(no_block.code(), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(no_block.place(), "block:1:1");
  const stria_block other{};
  EXPECT_EQ(set_tag(program_, other, "mine").code(), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(text(), kProgram);
  ASSERT_FALSE(replace(program_, kernel(), "0: block [] ( // empty\n) {}"));
  const ReaderError gone = set_tag(program_, tile(), "mine");
  EXPECT_EQ(gone.code(), STRIA_FAILED_PRECONDITION);
  EXPECT_EQ(gone.message(), "the block lies in one that was replaced, so it is gone");
}

// Rule S21: a call with addresses, sizes and strides, through a variable.
TEST_F(ReaderChanges, MicroKernelsInC) {
  ReaderTree tree;
  ReaderError error = build_tree(program_, 0, &tree);
  ASSERT_FALSE(error) << error.message();
  std::vector<std::string> names;
  for (const stria_string& name : micro_kernels(*tree)) names.emplace_back(text_of(name));
  EXPECT_THAT(names, ElementsAre("product_8x8"));
  CSource source;
  ASSERT_FALSE(source.create());
  ASSERT_FALSE(source.add(tree));
  std::string text;
  ASSERT_FALSE(source.print(&text));
  EXPECT_THAT(text, AllOf(HasSubstr("void (*stria_micro_product_8x8)("),
                          HasSubstr("stria_sizes[] = {8, 10, 10, 8, 8, 8};"),
                          HasSubstr("stria_strides[] = {10, 1, 24, 1, 24, 1};"),
                          HasSubstr("stria_micro_product_8x8(stria_operands, stria_sizes, "
                                    "stria_strides);")));
}

}  // namespace
}  // namespace stria::sdk
