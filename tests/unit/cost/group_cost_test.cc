// SPDX-License-Identifier: Apache-2.0
// The numbers that PlaidML's text on kernel generation prints for its convolution, and those of the
// settings that the Stripe slides print, to the digit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/base/file.h"
#include "stria/cost/search/tile_search.h"
#include "stria/cost/workgroup/roofline_occupancy.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The convolution and its ReLU as they are lowered.
constexpr const char* kProgram = R"(
0: #program block [] (
    none new@0x0 D[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, 64:1)
    none new@0x0 K[0, 0, 0, 0] fp32(3:12288, 3:4096, 64:64, 64:1)
    none new@0x0 R[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, 64:1)
) {
  0: #main block [] (
      in D[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, 64:1)
      in K[0, 0, 0, 0] fp32(3:12288, 3:4096, 64:64, 64:1)
      out R[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, 64:1)
      none new@0x0 O[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, 64:1)
  ) {
    0: #contraction #kernel block [ci:64, co:64, i:3, j:3, n:32, x:224, y:224] ( // convolution
        -1 + i + x >= 0
        224 - i - x >= 0
        -1 + j + y >= 0
        224 - j - y >= 0
        in D[n, -1 + i + x, -1 + j + y, ci] fp32(1:3211264, 1:14336, 1:64, 1:1)
        in K[i, j, co, ci] fp32(1:12288, 1:4096, 1:64, 1:1)
        out O[n, x, y, co]:add.fp32 fp32(1:3211264, 1:14336, 1:64, 1:1)
    ) {
      0: $D = load(D)
      1: $K = load(K)
      2: $O = mul.fp32($D, $K)
      3: O = store($O)
    }
    1: #eltwise #kernel block [co:64, n:32, x:224, y:224] ( // relu
        in O[n, x, y, co] fp32(1:3211264, 1:14336, 1:64, 1:1)
        out R[n, x, y, co] fp32(1:3211264, 1:14336, 1:64, 1:1)
    ) {
      0: $O = load(O)
      1: $zero = (fp32)0.0
      2: $cmp_gt = cmp_gt.fp32($O, $zero)
      3: $R = cond.fp32($cmp_gt, $O, $zero)
      4: R = store($R)
    }
  }
}
)";

FlatKernel convolution() {
  Result<stripe::Program> program = stripe::parse({"convolution", kProgram});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  const stripe::Block& main = *program->main();
  const stripe::Block* relu = main.stmts[1].block();
  Result<FlatKernel> flat = flatten(main, *main.stmts[0].block(), {&relu, 1});
  STRIA_CHECK(flat.ok(), "{}", flat.status().to_string());
  return *flat;
}

GroupSettings settings(const char* file) {
  const std::string path = std::string(STRIA_SOURCE_DIR "/hwmodels/settings/") + file;
  Result<std::string> text = read_file(path);
  STRIA_CHECK(text.ok(), "{}", text.status().to_string());
  Result<HardwareModel> model = load_hardware_model({path, *text});
  STRIA_CHECK(model.ok() && model->settings, "{}", path);
  return *model->settings;
}

SearchResult search(const FlatKernel& kernel, const GroupSettings& of) {
  std::vector<int64_t> ranges;
  for (const FlatKernel::Index& index : kernel.indices) ranges.push_back(index.range);
  return ascend(ranges, [&](const Tile& tile) { return score_of(kernel, tile, of).score; });
}

TEST(KernelGeneration, FlattenedTable) {
  EXPECT_EQ(to_string(convolution()), R"(           range           O           D           K
ci            64           0           1           1
co            64           1           0          64
i              3           0       14336       12288
j              3           0          64        4096
n             32     3211264     3211264           0
x            224       14336       14336           0
y            224          64          64           0
offset                     0      -14400           0
-i - x <= -1
i + x <= 224
-j - y <= -1
j + y <= 224
)");
  const FlatKernel kernel = convolution();
  EXPECT_EQ(kernel.post_operations, 2);
  EXPECT_TRUE(kernel.post_inputs.empty());
  EXPECT_EQ(kernel.written_tensors, 1);
}

TEST(KernelGeneration, ScoreLines) {
  const FlatKernel kernel = convolution();
  const GroupSettings of = settings("kernel_generation.json");
  const auto line = [&](const Tile& tile) { return to_string(score_of(kernel, tile, of), of); };
  EXPECT_EQ(
      line({8, 32, 1, 3, 16, 8, 2}),
      "operations=236760072192 groups=12544 inner_tiles=24 shared_bytes=20656 register_bytes=32768 "
      "read_bytes=19456 written_bytes=32768 lanes_at_work=256 merging_steps=0 lanes_used=256\n"
      "over memory: 20656 bytes of 18432\n");
  EXPECT_EQ(
      line({8, 32, 1, 3, 16, 4, 4}),
      "operations=236760072192 groups=12544 inner_tiles=24 shared_bytes=16272 register_bytes=32768 "
      "read_bytes=15360 written_bytes=32768 lanes_at_work=256 merging_steps=0 lanes_used=256\n"
      "over registers: 32768 bytes of 18432\n");
  EXPECT_EQ(
      line({16, 32, 1, 1, 16, 2, 2}),
      "operations=236760072192 groups=50176 inner_tiles=36 shared_bytes=6488 register_bytes=8192 "
      "read_bytes=6144 written_bytes=8192 lanes_at_work=256 merging_steps=0 lanes_used=256\n"
      "flops_per_byte=20.5714 occupancy=20 roof_ratio=1 occupancy_ratio=1 lane_ratio=1 "
      "score=1\n");
  EXPECT_EQ(
      line({8, 32, 2, 1, 16, 2, 2}),
      "operations=236760072192 groups=50176 inner_tiles=48 shared_bytes=5264 register_bytes=8192 "
      "read_bytes=5120 written_bytes=8192 lanes_at_work=256 merging_steps=0 lanes_used=256\n"
      "flops_per_byte=18.5806 occupancy=20 roof_ratio=0.929032 occupancy_ratio=1 lane_ratio=1 "
      "score=0.929032\n");
}

TEST(KernelGeneration, SearchLooksAt552TilesAndChoosesThePrintedOne) {
  const FlatKernel kernel = convolution();
  GroupSettings of = settings("kernel_generation.json");
  SearchResult found = search(kernel, of);
  ASSERT_EQ(found.looked_at.size(), 552u);
  // The four printed lines stand beside each other.
  EXPECT_THAT(found.looked_at[486].tile, ElementsAre(8, 32, 1, 3, 16, 8, 2));
  EXPECT_THAT(found.looked_at[487].tile, ElementsAre(8, 32, 1, 3, 16, 4, 4));
  EXPECT_THAT(found.looked_at[488].tile, ElementsAre(16, 32, 1, 1, 16, 2, 2));
  EXPECT_THAT(found.looked_at[489].tile, ElementsAre(8, 32, 2, 1, 16, 2, 2));
  ASSERT_GE(found.best, 0);
  EXPECT_THAT(found.looked_at[static_cast<size_t>(found.best)].tile,
              ElementsAre(8, 32, 2, 3, 16, 2, 2));
  for (const auto& [bytes, tiles] : {std::pair(16384, 505u), std::pair(18000, 549u)}) {
    of.max_mem = bytes;
    found = search(kernel, of);
    EXPECT_EQ(found.looked_at.size(), tiles);
    EXPECT_THAT(found.looked_at[static_cast<size_t>(found.best)].tile,
                ElementsAre(8, 32, 2, 3, 16, 2, 2));
  }
}

TEST(KernelGeneration, LayoutsLanesAndGrid) {
  const FlatKernel kernel = convolution();
  const GroupSettings of = settings("kernel_generation.json");
  const Tile tile = {8, 32, 2, 3, 16, 2, 2};
  const auto layout = [&](const FlatTensor& input) {
    const StagePlan plan = plan_stage(input, tile, of);
    std::string text;
    for (const StagedIndex& index : plan.indices)
      text += fmt::format("{} {} {} {}, ", plan.name(kernel, index), index.range,
                          index.global_stride, index.local_stride);
    return text + fmt::format("{} elements, {} transactions", plan.elements, plan.transactions);
  };
  EXPECT_EQ(
      layout(kernel.inputs[0]),
      "i_x 3 14336 1, n 16 3211264 3, ci 8 1 49, j_y 4 64 393, 1572 elements, 192 transactions");
  EXPECT_EQ(layout(kernel.inputs[1]),
            "co 32 64 1, ci 8 1 33, j_i 6 4096 265, 1590 elements, 192 transactions");
  const LanePlan lanes = plan_lanes(kernel, tile, of);
  std::string split;
  for (const LanePlan::Index& index : lanes.indices)
    split += fmt::format("{} {}x{}, ", kernel.indices[index.index].name, index.lanes, index.steps);
  EXPECT_EQ(split, "co 8x4, y 2x1, x 2x1, n 8x2, ");
  EXPECT_EQ(lanes.lanes, 256);
  EXPECT_EQ(lanes.accumulators, 8);
  const GridPlan grid = plan_grid(kernel, tile);
  EXPECT_THAT(grid.sizes, ElementsAre(112, 112, 4));
  std::string groups;
  for (const GridPlan::Index& index : grid.indices)
    groups += fmt::format("{} = g{} / {} % {}, ", kernel.indices[index.index].name, index.dimension,
                          index.divisor, index.groups);
  EXPECT_EQ(groups, "y = g0 / 1 % 112, x = g1 / 1 % 112, co = g2 / 2 % 2, n = g2 / 1 % 2, ");
}

TEST(StripeSlides, ScoresAndChoice) {
  const FlatKernel kernel = convolution();
  const GroupSettings of = settings("stripe_slides.json");
  EXPECT_NEAR(score_of(kernel, {32, 32, 3, 1, 8, 16, 1}, of).score, 0.940408, 5e-7);
  EXPECT_NEAR(score_of(kernel, {32, 32, 1, 3, 16, 1, 4}, of).score, 0.606316, 5e-7);
  const SearchResult found = search(kernel, of);
  EXPECT_EQ(found.looked_at.size(), 929u);
  EXPECT_THAT(found.looked_at[static_cast<size_t>(found.best)].tile,
              ElementsAre(32, 32, 3, 1, 8, 16, 1));
}

TEST(Flatten, PostInputsAndTensorsThatOutliveTheKernels) {
  std::string text = kProgram;
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  // The ReLU compares with a tensor in fp16, and the sums are a result too.
  replace("        out R[n, x, y, co]", "        in B[co] fp16(1:1)\n        out R[n, x, y, co]");
  replace("1: $zero = (fp32)0.0", "1: $zero = load(B)");
  replace("      out R[0, 0, 0, 0]",
          "      in B[0] fp16(64:1)\n      out O[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, "
          "64:1)\n      out R[0, 0, 0, 0]");
  replace("      none new@0x0 O[0, 0, 0, 0] fp32(32:3211264, 224:14336, 224:64, 64:1)\n  )", "  )");
  Result<stripe::Program> program = stripe::parse({"changed", text});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const stripe::Block& main = *program->main();
  const stripe::Block* relu = main.stmts[1].block();
  Result<FlatKernel> flat = flatten(main, *main.stmts[0].block(), {&relu, 1});
  ASSERT_TRUE(flat.ok()) << flat.status().to_string();
  EXPECT_THAT(flat->post_inputs, ElementsAre(DataType::fp16));
  EXPECT_EQ(flat->written_tensors, 2);
  const GroupSettings of = settings("kernel_generation.json");
  const Tile tile = {8, 32, 2, 3, 16, 2, 2};
  // 256 transactions' worth of outputs, two bytes each; two tensors written.
  EXPECT_EQ(score_of(*flat, tile, of).read_bytes, 12288 + 256 * 2);
  EXPECT_EQ(score_of(*flat, tile, of).written_bytes, 2 * 8192);
}

TEST(Flatten, RefusesWhatIsNoTable) {
  const auto message = [](const std::string& from, const std::string& to) {
    std::string text = kProgram;
    text.replace(text.find(from), from.size(), to);
    Result<stripe::Program> program = stripe::parse({"changed", text});
    STRIA_CHECK(program.ok(), "{}", program.status().to_string());
    return flatten(*program->main(), *program->main()->stmts[0].block()).status().message();
  };
  EXPECT_THAT(message("      3: O = store($O)", "      3: special zero(; O)"),
              HasSubstr("a special"));
  EXPECT_THAT(message("ci:64, co", "ci:64 = 3, co"), HasSubstr("index 'ci' starts at another one"));
  EXPECT_THAT(message("in K[i, j, co, ci] fp32(1:12288", "in K[i, j, co, ci] fp32(2:12288"),
              HasSubstr("'K' shows more than one element"));
  EXPECT_THAT(message("      3: O = store($O)", "      3: O[0, 0, 0, 0] = store($O)"),
              HasSubstr("scalars choose"));
}

TEST(GroupCost, ReductionsThatThreadsShareAreMerged) {
  // One output for each of four rows, 64 terms: threads share outputs and add their sums up
  // afterwards.
  FlatKernel kernel;
  kernel.indices = {{"k", 64}, {"m", 4}};
  kernel.output = {"C", DataType::fp32, {0, 1}, 0};
  kernel.inputs = {{"A", DataType::fp32, {1, 64}, 0}};
  const GroupSettings of = settings("kernel_generation.json");
  const GroupScore score = score_of(kernel, {64, 4}, of);
  EXPECT_EQ(score.lanes_at_work, 256);
  EXPECT_EQ(score.merging_steps, 6);
  // The rows of A lie behind one another: one run of 256 elements.
  EXPECT_EQ(score.shared_bytes, 4 * 256 + 256 * 4);
  EXPECT_EQ(score.groups, 1);
  EXPECT_DOUBLE_EQ(score.occupancy_ratio, 1.0 / 20);
}

TEST(Ascend, NothingFits) {
  const SearchResult found = ascend({4, 4}, [](const Tile&) { return -1.0; });
  EXPECT_EQ(found.best, -1);
  EXPECT_EQ(found.looked_at.size(), 1u);
}

}  // namespace
}  // namespace stria::cost
