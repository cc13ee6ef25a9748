// SPDX-License-Identifier: Apache-2.0
// Dispatches that no device may get: too large, of the wrong number of points, or with a part of a
// subgroup where all of it is needed. Each message says how much, of what, where.
#include "emit/group_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit/subgroup_values.h"
#include "stria/semtree/tree/expr.h"
#include "stria/stripe/text/parser.h"

namespace stria::vulkan {
namespace {

using semtree::ExprRef;
using semtree::Function;
using semtree::Op;
using testing::AllOf;
using testing::HasSubstr;

constexpr DataType kIndex = DataType::i32;

Features device() {
  Features out;
  out.device = "Made-up GPU";
  out.fp64 = out.int64 = out.int16 = out.int8 = out.storage16 = out.storage8 = true;
  return out;
}

// 256 lanes, 16 KiB, 8 x 4 x 2 groups.
Limits limits() { return {.group_lanes = 256, .shared_bytes = 16384, .groups = {8, 4, 2}}; }

// `groups` groups of `lanes` lanes, in one dimension.
KernelCode grouped(int64_t lanes, int64_t groups) {
  KernelCode out;
  out.name = "conv";
  Function& f = out.function;
  f.index_type = kIndex;
  f.vars = {{"group", {kIndex, 1}}, {"lane", {kIndex, 1}}, {"n", {kIndex, 1}}};
  f.grid = {{0, groups}};
  f.trip_count = out.groups[0] = groups;
  f.lane_var = 1;
  f.group_lanes = out.group_lanes = lanes;
  return out;
}
ExprRef var(int number) { return semtree::variable(number, {kIndex, 1}); }
ExprRef number(int64_t value) { return semtree::integer(kIndex, value); }

semtree::Statement instruction() { return {semtree::Instruction{"matrix.16x16x16", {}}}; }

std::string check(const KernelCode& kernel, StatusCode code, int64_t subgroup = 32) {
  const Status status = check_group(kernel, device(), limits(), subgroup);
  EXPECT_EQ(status.code(), code) << status.to_string();
  return std::string(status.message());
}

TEST(GroupCheck, TakesWhatTheDeviceTakes) {
  for (const int64_t subgroup : {0, 1, 4, 8, 16, 32, 64, 128})
    for (const int64_t lanes : {1, 2, 31, 33, 255, 256})
      for (const int64_t groups : {0, 1, 8}) {
        KernelCode kernel = grouped(lanes, groups);
        if (lanes == 1) kernel.function.grid.clear();
        EXPECT_EQ(check(kernel, StatusCode::ok, subgroup), "");
      }
}

TEST(GroupCheck, RefusesGroupsOfTooManyLanes) {
  EXPECT_THAT(check(grouped(257, 1), StatusCode::out_of_range),
              AllOf(HasSubstr("'conv'"), HasSubstr("257 lanes"), HasSubstr("256 at most"),
                    HasSubstr("'Made-up GPU'"), HasSubstr("subgroups of 32")));
  KernelCode alone = grouped(1, 1);
  alone.function.grid.clear();
  alone.group_lanes = 300;
  check(alone, StatusCode::out_of_range, 0);
}

TEST(GroupCheck, RefusesTooManyGroupsInEachDimension) {
  EXPECT_THAT(check(grouped(64, 9), StatusCode::out_of_range),
              AllOf(HasSubstr("'conv'"), HasSubstr("9 groups in dimension x"),
                    HasSubstr("8 there at most"), HasSubstr("subgroups of 32")));
  for (size_t d = 0; d < 3; ++d) {
    KernelCode kernel = grouped(64, 1);
    kernel.function.grid = {{0, 8}, {0, 4}, {0, 2}};
    kernel.groups = {8, 4, 2};
    kernel.function.trip_count = 64;
    EXPECT_EQ(check(kernel, StatusCode::ok), "");
    ++kernel.function.grid[d].size;
    ++kernel.groups[d];
    EXPECT_THAT(check(kernel, StatusCode::out_of_range),
                HasSubstr(std::string("dimension ") + "xyz"[d]));
  }
}

// Counted as the device lays it out: narrow elements may take words.
TEST(GroupCheck, RefusesMoreSharedMemoryThanThereIs) {
  KernelCode kernel = grouped(64, 1);
  kernel.function.arrays = {{"a", DataType::u8, 16384, false, 1, true}};
  EXPECT_EQ(check(kernel, StatusCode::ok), "");
  Features words = device();
  words.int8 = false;
  EXPECT_THAT(std::string(check_group(kernel, words, limits(), 16).message()),
              AllOf(HasSubstr("'conv'"), HasSubstr("64 lanes"), HasSubstr("65536 bytes"),
                    HasSubstr("16384 for them"), HasSubstr("subgroups of 16")));
  kernel.function.arrays[0].count = 16385;
  EXPECT_THAT(check(kernel, StatusCode::out_of_range), HasSubstr("bytes"));
}

TEST(GroupCheck, RefusesDispatchesThatLeavePointsOut) {
  KernelCode kernel = grouped(64, 8);
  kernel.groups[0] = 7;
  EXPECT_THAT(check(kernel, StatusCode::internal), HasSubstr("it has 8 groups"));
  kernel = grouped(64, 8);
  kernel.group_lanes = 32;
  EXPECT_THAT(check(kernel, StatusCode::internal), HasSubstr("its groups have 64 lanes"));
  kernel = grouped(64, 8);
  kernel.function.grid[0].size = 4;
  EXPECT_THAT(check(kernel, StatusCode::internal), HasSubstr("grid has 4 groups for 8 points"));
  // Points that do not meet: in groups of 64, spread over two dimensions.
  kernel = grouped(1, 1000);
  kernel.function.grid.clear();
  kernel.group_lanes = 64;
  kernel.groups = {8, 2, 1};
  EXPECT_EQ(check(kernel, StatusCode::ok), "");
  kernel.groups = {5, 3, 1};
  EXPECT_THAT(check(kernel, StatusCode::internal), HasSubstr("it has 1000 points"));
  kernel = grouped(64, 8);
  kernel.function.grid = {{0, 4}, {0, 2}};
  kernel.groups = {2, 4, 1};  // as many
  EXPECT_THAT(check(kernel, StatusCode::internal), HasSubstr("4 groups in dimension x"));
  kernel.groups = {4, 2, 2};
  EXPECT_THAT(check(kernel, StatusCode::internal), HasSubstr("1 groups in dimension z"));
  kernel.groups = {-4, 2, 1};
  check(kernel, StatusCode::internal);
}

TEST(GroupCheck, InstructionsNeedWholeSubgroups) {
  KernelCode kernel = grouped(128, 8);
  kernel.function.body.push_back(instruction());
  for (const int64_t subgroup : {4, 8, 16, 32, 64, 128})
    EXPECT_EQ(check(kernel, StatusCode::ok, subgroup), "");
  EXPECT_THAT(check(kernel, StatusCode::unsupported, 0),
              AllOf(HasSubstr("'conv'"), HasSubstr("'matrix.16x16x16'"), HasSubstr("'Made-up GPU'"),
                    HasSubstr("subgroupSizeControl")));
  kernel = grouped(96, 8);
  kernel.function.body.push_back(instruction());
  EXPECT_EQ(check(kernel, StatusCode::ok, 32), "");
  EXPECT_THAT(check(kernel, StatusCode::unsupported, 64),
              AllOf(HasSubstr("groups of 96 lanes"), HasSubstr("subgroups of 64")));
  EXPECT_THAT(check(kernel, StatusCode::unsupported, 128), HasSubstr("subgroups of 128"));
  // Points of their own.
  kernel = grouped(1, 8);
  kernel.function.grid.clear();
  kernel.group_lanes = 64;
  kernel.function.body.push_back(instruction());
  check(kernel, StatusCode::unsupported, 32);
}

// Conditions and loops around an instruction.
TEST(GroupCheck, AllLanesOfASubgroupComeToAnInstruction) {
  const auto behind = [](const ExprRef& condition) {
    KernelCode kernel = grouped(128, 8);
    kernel.function.body.push_back({semtree::If{condition, {instruction()}, {}}});
    return kernel;
  };
  const auto subgroup_of_lane = semtree::binary(Op::div, var(1), number(32));
  const std::vector<ExprRef> same = {
      semtree::binary(Op::lt, var(1), number(64)),
      semtree::binary(Op::le, var(1), number(63)),
      semtree::binary(Op::le, number(32), var(1)),
      semtree::binary(Op::lt, number(31), var(1)),
      semtree::binary(Op::lt, var(0), number(3)),
      semtree::binary(Op::le, subgroup_of_lane, number(1)),
      semtree::binary(Op::eq, semtree::binary(Op::rem, subgroup_of_lane, number(2)), var(0))};
  for (const ExprRef& condition : same) {
    EXPECT_EQ(check(behind(condition), StatusCode::ok, 32), "");
    EXPECT_EQ(check(behind(condition), StatusCode::ok, 8), "");
  }
  const std::vector<ExprRef> different = {
      semtree::binary(Op::lt, var(1), number(40)),
      semtree::binary(Op::le, var(1), number(64)),
      semtree::binary(Op::le, number(33), var(1)),
      semtree::binary(Op::lt, number(32), var(1)),
      semtree::binary(Op::lt, var(1), var(0)),
      semtree::binary(Op::eq, semtree::binary(Op::div, var(1), number(16)), number(0)),
      semtree::binary(Op::eq, semtree::binary(Op::rem, var(1), number(32)), number(0))};
  for (const ExprRef& condition : different)
    EXPECT_THAT(check(behind(condition), StatusCode::unsupported, 32),
                AllOf(HasSubstr("'conv'"), HasSubstr("32 lanes"), HasSubstr("'Made-up GPU'")));
  EXPECT_THAT(check(behind(same[0]), StatusCode::unsupported, 128), HasSubstr("128 lanes"));

  // A loop that each lane leaves at its own time, and one that all leave together.
  for (const bool together : {false, true}) {
    KernelCode kernel = grouped(128, 8);
    kernel.function.body.push_back(
        {semtree::For{2, number(0), together ? var(0) : var(1), {instruction()}, false}});
    check(kernel, together ? StatusCode::ok : StatusCode::unsupported, 32);
  }
}

// What was loaded is the same only if the place is, and no lane's own.
TEST(SubgroupValues, OfLoads) {
  for (const int which : {0, 1, 2}) {
    KernelCode kernel = grouped(64, 8);
    Function& f = kernel.function;
    f.params = {{"A", kIndex, true, false, 100, 0}};
    f.arrays = {{"own", kIndex, 100, false, 1, false}};
    const semtree::Place at{.memory = which == 2 ? 1 : 0, .offset = var(which == 1 ? 1 : 0)};
    f.body.push_back({semtree::Load{2, at}});
    f.body.push_back(
        {semtree::If{semtree::binary(Op::lt, var(2), number(5)), {instruction()}, {}}});
    EXPECT_EQ(SubgroupValues(f, 32).divided() == nullptr, which == 0) << which;
  }
}

TEST(GroupCheck, UnitsThatAreSubgroupsHaveTheirLanes) {
  constexpr const char* kText = R"(stripe 1.0
0: #program block [] ( // copy
    none new@0 A[0] fp32(128:1)
    none new@0 R[0] fp32(128:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(128:1)
      out R[0] fp32(128:1)
  ) {
    0: #group #kernel block<CU[g]> [g:2] ( // halves
        in A[64*g] fp32(64:1)
        out R[64*g] fp32(64:1)
    ) {
      0: block<SUBGROUP[w]/LANE[l]> [w:4, l:16] ( // lanes
          in A[16*w + l] fp32(1:1)
          out R[16*w + l] fp32(1:1)
      ) {
        0: $a = load(A)
        1: R = store($a)
      }
    }
  }
}
)";
  auto program = stripe::parse({"copy", kText});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const semtree::SourceOptions options = source_options(limits());
  auto kernels = build_kernels(*program, device(), options);
  ASSERT_TRUE(kernels.ok()) << kernels.status().to_string();
  ASSERT_EQ((*kernels)[0].group_lanes, 64);
  const auto check = [&](int64_t subgroup) {
    return check_groups(*program, *kernels, device(), limits(), subgroup);
  };
  EXPECT_TRUE(check(16).ok());
  for (const int64_t subgroup : {0, 4, 8, 32, 64, 128}) {
    const Status status = check(subgroup);
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("'halves'"), HasSubstr("'SUBGROUP' have 16 lanes"),
                      HasSubstr("'Made-up GPU'")));
  }
  (*kernels)[0].groups[0] = 1;
  EXPECT_EQ(check(16).code(), StatusCode::internal);
}

TEST(GroupCheck, CountsIdleLanes) {
  EXPECT_EQ(idle_lanes(64, 32), 0);
  EXPECT_EQ(idle_lanes(33, 32), 31);
  EXPECT_EQ(idle_lanes(1, 128), 127);
  EXPECT_EQ(idle_lanes(7, 0), 0);
}

}  // namespace
}  // namespace stria::vulkan
