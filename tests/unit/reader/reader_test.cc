// SPDX-License-Identifier: Apache-2.0
// What stria/reader.h promises beside the text of programs (files_test.cc): meanings of tags,
// affine forms, arguments, trees, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plain.h"
#include "stria/sdk/build_options.h"
#include "stria/sdk/reader.h"

namespace stria {
namespace {

using testing::HasSubstr;

// A product in tiles of 4 rows, in parallel.
constexpr const char* kProduct = R"(stripe 1.0
0: #program block [] (
    none new@0x0 A[0, 0] i8(8:16, 16:1)
    none new@0x0 R[0] i32(8:1)
    none new@0x0 T[0] i32(8:1)
) {
  0: #main block [] (
      in A[0, 0] i8(8:16, 16:1)
      inout R[0] i32(8:1)
      inout T[0] i32(8:1)
  ) {
    0: #kernel #parallel #own="x" block<CORE[t]> [t:2] ( // sums
        in A[4*t, 0] i8(4:16, 16:1)
        inout R[4*t] i32(4:1)
        inout T[4*t] i32(4:1)
    ) {
      0: #unroll_hint block [x:4, k:16, t:1 = t] (
          3 - x >= 0
          in A[x, k] i8(1:16, 1:1)
          inout R[x]:add.i32 i32(1:1)
          inout T[x]:max.i32 i32(1:1)
      ) {
        0: $a = load(A)
        1: $i = load_index.i32(x + 4*t)
        2: $p = mul.i32($a, $i)
        3: R = store($p)
        4: T = store($p)
        5: $unused = add.i32($p, $p)
      }
    }
  }
}
)";

sdk::ReaderProgram product() {
  sdk::ReaderProgram program;
  const sdk::ReaderError error = sdk::read_program("product", kProduct, &program);
  EXPECT_FALSE(error) << error.message();
  return program;
}

TEST(Reader, TagsHaveTheirMeaning) {
  const sdk::ReaderProgram program = product();
  const stria_block& kernel = *program->kernels[0]->block;
  ASSERT_EQ(kernel.tag_count, 3u);
  const stria_tag* parallel = sdk::find_tag(kernel, "parallel");
  ASSERT_NE(parallel, nullptr);
  EXPECT_EQ(parallel->meaning_class, STRIA_TAG_SEMANTICS);
  EXPECT_EQ(sdk::text_of(parallel->meaning), "its points run in parallel");
  EXPECT_EQ(parallel->kind, STRIA_VALUE_NONE);
  const stria_tag* own = sdk::find_tag(kernel, "own");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->meaning_class, STRIA_TAG_UNKNOWN);
  EXPECT_EQ(own->kind, STRIA_VALUE_TEXT);
  EXPECT_EQ(sdk::text_of(own->text), "x");
  EXPECT_EQ(sdk::find_tag(kernel, "kernel")->meaning_class, STRIA_TAG_PASSES);
  EXPECT_EQ(sdk::find_tag(*kernel.statements[0]->block, "unroll_hint")->meaning_class,
            STRIA_TAG_HINT);
  EXPECT_EQ(sdk::find_tag(kernel, "clamp"), nullptr);
}

TEST(Reader, ViewsAndArguments) {
  const sdk::ReaderProgram program = product();
  EXPECT_EQ(program->prologue, nullptr);
  ASSERT_EQ(program->kernel_count, 1u);
  const stria_kernel_block& kernel = sdk::kernels(*program)[0];
  EXPECT_EQ(sdk::text_of(kernel.name), "sums");
  EXPECT_EQ(kernel.part, STRIA_MAIN);
  ASSERT_EQ(kernel.argument_count, 3u);
  const auto arguments = sdk::arguments(kernel);
  EXPECT_EQ(sdk::text_of(arguments[0].name), "R");
  EXPECT_EQ(arguments[0].direction, STRIA_INOUT);
  EXPECT_EQ(arguments[0].bytes, 32u);
  EXPECT_EQ(sdk::text_of(arguments[1].name), "T");
  EXPECT_EQ(arguments[1].direction, STRIA_INOUT);
  EXPECT_EQ(sdk::text_of(arguments[2].name), "A");
  EXPECT_EQ(arguments[2].type, STRIA_I8);
  EXPECT_EQ(arguments[2].bytes, 128u);
  const stria_refinement* view = sdk::find_refinement(*kernel.block, "A");
  ASSERT_NE(view, nullptr);
  std::string text;
  EXPECT_FALSE(sdk::print(*view->flat_access, &text));
  EXPECT_EQ(text, "64*t");
  EXPECT_EQ(view->span_bytes, 64);
  const stria_block& inner = *kernel.block->statements[0]->block;
  EXPECT_EQ(sdk::find_refinement(inner, "T")->aggregation, STRIA_MAX);
  EXPECT_EQ(sdk::find_refinement(inner, "T")->aggregation_type, STRIA_I32);
  EXPECT_NE(sdk::indices(inner)[2].from, nullptr);
}

TEST(Reader, AffineForms) {
  const sdk::ReaderProgram program = product();
  const stria_block& inner = *program->kernels[0]->block->statements[0]->block;
  const stria_affine& form = *sdk::statements(inner)[1].affine;
  const stria_term point[] = {{sdk::string_of("t"), 1}, {sdk::string_of("x"), -3}};
  int64_t value = 0;
  EXPECT_FALSE(sdk::evaluate(form, {point, 2}, &value));
  EXPECT_EQ(value, 1);
  sdk::ReaderError error = sdk::evaluate(form, {point, 1}, &value);
  EXPECT_EQ(error.code(), STRIA_NOT_FOUND);
  EXPECT_THAT(std::string(error.message()), HasSubstr("'x'"));
  const stria_term far[] = {{sdk::string_of("t"), INT64_MAX / 2}, {sdk::string_of("x"), 0}};
  EXPECT_EQ(sdk::evaluate(form, {far, 2}, &value).code(), STRIA_OUT_OF_RANGE);
  EXPECT_EQ(value, 1) << "a failure has written its result";
  const stria_range box[] = {{sdk::string_of("x"), 0, 3}, {sdk::string_of("t"), -1, 1}};
  int64_t lowest = 0, highest = 0;
  EXPECT_FALSE(sdk::interval(form, {box, 2}, &lowest, &highest));
  EXPECT_EQ(lowest, -4);
  EXPECT_EQ(highest, 7);
  EXPECT_EQ(sdk::interval(form, {box, 1}, &lowest, &highest).code(), STRIA_NOT_FOUND);
  const stria_range none[] = {{sdk::string_of("x"), 3, 0}, {sdk::string_of("t"), 0, 1}};
  EXPECT_EQ(sdk::interval(form, {none, 2}, &lowest, &highest).code(), STRIA_INVALID_ARGUMENT);
}

TEST(Reader, TreesAndC) {
  const sdk::ReaderProgram program = product();
  sdk::ReaderTree tree;
  ASSERT_FALSE(sdk::build_tree(program, 0, &tree));
  EXPECT_EQ(sdk::text_of(tree->symbol), "k0_sums");
  EXPECT_EQ(tree->trip_count, 2u);
  EXPECT_EQ(tree->group_lanes, 1u);
  EXPECT_EQ(tree->index_type, STRIA_I64);
  std::string text;
  EXPECT_FALSE(sdk::print(tree, &text));
  EXPECT_THAT(text, HasSubstr("kernel sums (inout R: i32[8], inout T: i32[8], in A: i8[128])"));
  sdk::CSource source;
  ASSERT_FALSE(source.create());
  EXPECT_FALSE(source.add(tree));
  EXPECT_EQ(source.add(tree).code(), STRIA_INVALID_ARGUMENT);
  std::string code;
  EXPECT_FALSE(source.print(&code));
  EXPECT_THAT(code, HasSubstr("void k0_sums(void* const* stria_arguments, int64_t stria_first, "
                              "int64_t stria_end)"));
  EXPECT_EQ(sdk::build_tree(program, 1, &tree).code(), STRIA_INVALID_ARGUMENT);
  stria_tree_options options{};
  options.size = sizeof options;
  options.narrow_indices = 1;
  ASSERT_FALSE(sdk::build_tree(program, 0, &tree, &options));
  EXPECT_EQ(tree->index_type, STRIA_I32);
  // Definitions that nothing uses stay.
  EXPECT_EQ(text.find("unused"), std::string::npos) << text;
  options.no_peepholes = 1;
  std::string plain;
  ASSERT_FALSE(sdk::build_tree(program, 0, &tree, &options));
  ASSERT_FALSE(sdk::print(tree, &plain));
  EXPECT_THAT(plain, HasSubstr("unused"));
  options.no_peepholes = 0;
  // A struct of an older header ends earlier.
  options.size = offsetof(stria_tree_options, narrow_indices);
  ASSERT_FALSE(sdk::build_tree(program, 0, &tree, &options));
  EXPECT_EQ(tree->index_type, STRIA_I64);
}

TEST(BuildOptions, OfTheHost) {
  const sdk::BuildOptions options =
      sdk::read_build_options(R"({"dump_source":false,"fast_math" : true})");
  EXPECT_TRUE(options.fast_math);
  EXPECT_FALSE(options.dump_source);
  EXPECT_FALSE(options.no_peepholes);
  EXPECT_FALSE(sdk::read_build_options("{}").fast_math);
  for (const char* wrong : {R"({"fast_math": 1})", R"({"fast_math"})", R"({"fast_math":)"})
    EXPECT_THROW(sdk::read_build_options(wrong), sdk::Error) << wrong;
}

TEST(Reader, Versions) {
  const stria_version_range* versions = stria_reader_stripe_versions();
  EXPECT_EQ(versions->major, 1u);
  EXPECT_EQ(versions->minor_max, static_cast<uint32_t>(STRIA_READER_STRIPE_MINOR));
  sdk::ReaderProgram program;
  sdk::ReaderError error = sdk::read_program("new", "stripe 1.9\n", &program);
  EXPECT_EQ(error.code(), STRIA_INCOMPATIBLE);
  EXPECT_THAT(std::string(error.message()), HasSubstr("1.9"));
  EXPECT_EQ(sdk::text_of(stria_reader_type_name(STRIA_BF16)), "bf16");
  EXPECT_EQ(stria_reader_type_bytes(STRIA_BOOL), 1u);
  EXPECT_EQ(stria_reader_type_bytes(STRIA_BF16), 2u);
  EXPECT_EQ(sdk::text_of(stria_reader_type_name(STRIA_FP8_E4M3)), "fp8_e4m3");
  EXPECT_EQ(stria_reader_type_bytes(STRIA_FP8_E4M3), 1u);
  EXPECT_EQ(sdk::text_of(stria_reader_type_name(STRIA_U2)), "u2");
  EXPECT_EQ(stria_reader_type_bytes(STRIA_U2), 0u);
  for (const stria_data_type none : {-1, STRIA_U2 + 1}) {
    EXPECT_EQ(sdk::text_of(stria_reader_type_name(none)), "");
    EXPECT_EQ(stria_reader_type_bytes(none), 0u);
  }
}

TEST(Reader, ErrorsNameTheirPlace) {
  sdk::ReaderProgram program;
  std::string text = kProduct;
  text.replace(text.find("load(A)"), 7, "load[A]");
  sdk::ReaderError error = sdk::read_program("device program", text, &program);
  EXPECT_EQ(error.code(), STRIA_INVALID_ARGUMENT);
  EXPECT_EQ(error.place(), "device program:23:21") << error.message();
  EXPECT_THAT(std::string(error.message()), HasSubstr("^"));
  text = kProduct;
  text.replace(text.find("load(A)"), 7, "load(B)");
  error = sdk::read_program("device program", text, &program);
  EXPECT_EQ(error.code(), STRIA_INVALID_ARGUMENT);
  EXPECT_THAT(std::string(error.message()), HasSubstr("statement 0 `$a = load(B)`"));
  EXPECT_EQ(error.place(), "");
  // What the reader trusts, and verify does not.
  text = kProduct;
  text.replace(text.find("in A[x, k]"), 10, "in A[x + 9, k]");
  ASSERT_FALSE(sdk::read_program("device program", text, &program));
  EXPECT_EQ(sdk::verify(program).code(), STRIA_INVALID_ARGUMENT);
}

TEST(Reader, WhatCannotBeSaid) {
  std::string text = kProduct;
  // Two lanes for each core: there is no group of lanes in C.
  text.replace(text.find("block<CORE[t]> [t:2]"), 20, "block<CORE[t]/LANE> [t:2]");
  EXPECT_THAT(reader_test::describe(text), HasSubstr("sums: R T A k0_sums, 2 points"));
  text = kProduct;
  text.replace(text.find("#unroll_hint block ["), 20, "block<LANE[x]> [");
  const std::string said = reader_test::describe(text);
  EXPECT_THAT(said, HasSubstr("kernel 'sums': the device has no groups of lanes"));
  EXPECT_EQ(said.find("k0_sums"), std::string::npos) << said;
}

}  // namespace
}  // namespace stria
