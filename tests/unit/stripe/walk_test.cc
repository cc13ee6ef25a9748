// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/walk.h"

#include <gtest/gtest.h>

#include "stria/base/file.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/text/parser.h"

namespace stria::stripe {
namespace {

Program stripe_top() {
  std::string path = std::string(STRIA_SOURCE_DIR) + "/tests/golden/stripe/stripe_top.stripe";
  return parse({path, read_file(path).value()}).value();
}

std::vector<std::string> names(const std::vector<const Refinement*>& refs) {
  std::vector<std::string> out;
  for (const Refinement* ref : refs) out.push_back(ref->into);
  return out;
}

using Names = std::vector<std::string>;

TEST(Walk, VisitsParentsFirstWithPathsAndRanges) {
  Program program = stripe_top();
  Names paths;
  visit_blocks(static_cast<const Block&>(program.entry), [&](const Place& place) {
    paths.push_back(place.path());
    if (place.depth == 2 && place.position == 0) {
      EXPECT_EQ(place.box.at("kx"), (Interval{0, 2}));
    }
  });
  EXPECT_EQ(paths, (Names{"layer_test7", "layer_test7/main", "layer_test7/main/kernel_0",
                          "layer_test7/main/kernel_1"}));
}

TEST(Walk, VisitsBlocksThatTheVisitMade) {
  Program program = stripe_top();
  int count = 0;
  visit_blocks(program.entry, [&](Block& block, const Place& place) {
    ++count;
    if (place.depth == 2 && place.position == 1) block.stmts = {Block{.name = "new"}};
  });
  EXPECT_EQ(count, 5);
}

TEST(Walk, PassedIndicesKeepTheirRange) {
  Block outer{.idxs = {{"x", 4}}};
  outer.stmts.push_back(
      Block{.idxs = {{"xo", 1, Affine::of("x", 8)}, {"xi", 8, Affine::of("x", 8) - 1}}});
  visit_blocks(static_cast<const Block&>(outer), [&](const Place& place) {
    if (place.depth == 0) return;
    EXPECT_EQ(place.box.at("xo"), (Interval{0, 24}));
    EXPECT_EQ(place.box.at("xi"), (Interval{-1, 30}));
  });
}

TEST(Walk, ArgumentsAreOutputsThenInputs) {
  Program program = stripe_top();
  EXPECT_EQ(names(kernel_arguments(*program.main()->stmts[0].block())), (Names{"O1", "I", "K1"}));
}

TEST(Footprint, IsTheBoxThatABlockTouches) {
  Program program = stripe_top();
  const Block& kernel = *program.main()->stmts[0].block();
  auto box = kernel.index_box();
  const Refinement& input = *kernel.find_ref("I");
  EXPECT_EQ(footprint(input, box)[0], (Interval{-1, 1024}));
  box["x"] = {0, -1};
  EXPECT_TRUE(footprint(input, box)[0].empty());
  Refinement huge{.access = {Affine::of("x", INT64_MAX)}, .shape = {DataType::i8, {{4, 1}}}};
  EXPECT_EQ(footprint(huge, {{"x", {-1, 1}}})[0], (Interval{-INT64_MAX, INT64_MAX}));
}

TEST(Footprint, ReachesAsFarAsTheViewsInside) {
  Result<Program> program = parse({"", R"(0: #program block [] ( none new@0x0 A[0] i8(100:1)) {
  0: #main block [] ( inout A[0] i8(100:1)) {
    0: #kernel block [x:5] ( inout A[10*x] i8(4:1)) {
      0: block [i:3, xo:1 = x] ( out A[i + 1] i8(1:1)) {
        0: block [] ( out A[-2 - 1] i8(1:1)) { 0: $a = (i8)0 1: A = store($a) } }
      1: block [i:2] ( inout B = A[3*i] i8(2:1)) { } } } })"});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Block& kernel = *program->main()->stmts[0].block();
  const Refinement& view = kernel.refs[0];
  // A[i + 1] goes down to -2 and up to 3, B up to 4.
  EXPECT_EQ(reach_of_view(kernel, view, kernel.index_box())[0], (Interval{-2, 4}));
  EXPECT_EQ(reach(kernel, view, kernel.index_box())[0], (Interval{-2, 44}));
  EXPECT_FALSE(is_loaded(kernel, view));
}

TEST(Footprint, ALoadBelowIsFound) {
  Result<Program> program = parse({"", R"(0: #program block [] ( none new@0x0 A[0] i8(4:1)) {
  0: #main block [] ( inout A[0] i8(4:1)) {
    0: block [] ( inout B = A[0] i8(1:1)) { 0: block [] ( inout C = B[0] i8(1:1)) { 0: $a = load(C) } } } })"});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_TRUE(is_loaded(*program->main(), program->main()->refs[0]));
}

}  // namespace
}  // namespace stria::stripe
