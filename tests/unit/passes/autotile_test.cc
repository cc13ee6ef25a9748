// SPDX-License-Identifier: Apache-2.0
// What a device that times candidates changes about autotile's choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stria/pass/measure.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

using testing::HasSubstr;

constexpr const char* kProgram = R"(
0: #program block [] (
    none new@0x0 A[0, 0] fp32(64:64, 64:1)
    none new@0x0 B[0, 0] fp32(64:64, 64:1)
    none new@0x0 C[0, 0] fp32(64:64, 64:1)
) {
  0: #main block [] (
      in A[0, 0] fp32(64:64, 64:1)
      in B[0, 0] fp32(64:64, 64:1)
      out C[0, 0] fp32(64:64, 64:1)
  ) {
    0: #contraction #kernel block [i:64, j:64, k:64] ( // kernel_0
        in A[i, k] fp32(1:64, 1:1)
        in B[k, j] fp32(1:64, 1:1)
        out C[i, j]:add.fp32 fp32(1:64, 1:1)
    ) {
      0: $A = load(A)
      1: $B = load(B)
      2: $C = mul.fp32($A, $B)
      3: C = store($C)
    }
  }
}
)";

struct Ran {
  Status status;
  StepReport report;
  std::string tile;  // index list of the inner block
};

Ran run(const std::string& options, const Measure* measure, const std::string& explain = "") {
  Result<stripe::Program> program = stripe::parse({"test", kProgram});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  const HardwareModel model = small_model(16, 8);
  auto steps = parse_pipeline({"pipeline", "[{\"autotile\": {" + options + "}}]"}, {}, model,
                              pass_registry());
  STRIA_CHECK(steps.ok(), "{}", steps.status().to_string());
  PipelineOptions how;
  how.verify_each = true;
  how.measure = measure;
  how.explain = explain;
  auto reports = run_pipeline(*program, *steps, model, how);
  if (!reports.ok()) return {reports.status(), {}, ""};
  const stripe::Block& kernel = *program->main()->stmts[0].block();
  return {{}, reports->at(0), stripe::print_line(kernel.stmts[0])};
}

// A device on which tiles with few steps of the reduction are fast.
struct FakeDevice {
  Measure measure;
  std::vector<std::string> timed;
  FakeDevice() {
    measure.device = "fake";
    measure.times = one_by_one([this](const stripe::Program& program) { return time(program); });
  }
  Result<double> time(const stripe::Program& program) {
    const stripe::Block& block = *program.main()->stmts.at(0).block();
    timed.push_back(stripe::print_line(block.stmts.at(0)));
    const stripe::Index* k = block.stmts.at(0).block()->find_index("k");
    return k ? static_cast<double>(k->range) : 1;
  }
};

TEST(MeasuredTile, IsTheFastestOfTheBest) {
  const std::string options = R"("max_points": 512)";
  const Ran by_cost = run(options, nullptr);
  ASSERT_TRUE(by_cost.status.ok()) << by_cost.status.to_string();
  EXPECT_EQ(by_cost.tile, "block [i:8, j:8, k:8]");
  FakeDevice device;
  const Ran measured = run(options + R"(, "measure_top": 4)", &device.measure);
  ASSERT_TRUE(measured.status.ok()) << measured.status.to_string();
  ASSERT_EQ(device.timed.size(), 4u);
  EXPECT_EQ(device.timed[0], by_cost.tile);  // the best by cost is among them, first
  EXPECT_EQ(measured.report.counters.at("candidates_timed"), 4);
  EXPECT_EQ(measured.tile, "block [i:16, j:8, k:4]");
  EXPECT_THAT(device.timed, testing::Contains(measured.tile));
}

TEST(MeasuredTile, EqualTimesLeaveTheCostItsChoice) {
  FakeDevice device;
  // Those after the first are faster by less than a clock can tell.
  for (const double faster : {0.0, 0.01, 0.09}) {
    double ns = 5;
    device.measure.times = one_by_one([&](const stripe::Program&) -> Result<double> {
      const double out = ns;
      ns = 5 - faster;
      return out;
    });
    EXPECT_EQ(run(R"("max_points": 512, "measure_top": 4)", &device.measure).tile,
              "block [i:8, j:8, k:8]");
  }
}

TEST(MeasuredTile, IsNotTakenForWhatBuildsDifferBy) {
  FakeDevice device;
  for (const double second : {3150.0, 3050.0}) {
    double ns = 3300;
    device.measure.times = one_by_one([&](const stripe::Program&) -> Result<double> {
      const double out = ns;
      ns = second;
      return out;
    });
    const Ran ran =
        run(R"("max_points": 512, "measure_top": 4, "measure_margin_ns": 200)", &device.measure);
    EXPECT_EQ(ran.tile == "block [i:8, j:8, k:8]", second > 3100) << ran.tile;
  }
}

TEST(MeasuredTile, IsNotMeasuredTwice) {
  FakeDevice device;
  device.measure.folder = std::filesystem::path(testing::TempDir()) / "stria_measured_tiles";
  std::filesystem::remove_all(device.measure.folder);
  const std::string options = R"("max_points": 512, "measure_top": 3)";
  const Ran first = run(options, &device.measure), second = run(options, &device.measure);
  EXPECT_EQ(device.timed.size(), 3u);
  EXPECT_EQ(first.tile, second.tile);
  EXPECT_EQ(first.report.counters.at("candidates_timed"), 3);
  EXPECT_EQ(second.report.counters.at("times_known"), 3);
  EXPECT_EQ(second.report.counters.count("candidates_timed"), 0u);
  std::filesystem::remove_all(device.measure.folder);
}

TEST(MeasuredTile, AFailureNamesBlockAndTile) {
  FakeDevice device;
  device.measure.times = one_by_one(
      [](const stripe::Program&) -> Result<double> { return unsupported("out of memory"); });
  EXPECT_THAT(run(R"("max_points": 512, "measure_top": 4)", &device.measure).status.message(),
              HasSubstr("block 'kernel_0', tile [i:8, j:8, k:8]: out of memory"));
}

TEST(MeasuredTile, ACandidateThatFailsIsLeftOutWithANote) {
  FakeDevice device;
  device.measure.times = one_by_one([&](const stripe::Program& program) -> Result<double> {
    if (device.timed.empty()) {
      device.timed.emplace_back("none");
      return unsupported("out of registers");
    }
    return device.time(program);
  });
  const Ran ran = run(R"("max_points": 512, "measure_top": 4)", &device.measure);
  ASSERT_TRUE(ran.status.ok()) << ran.status.to_string();
  EXPECT_EQ(ran.tile, "block [i:16, j:8, k:4]");
  EXPECT_EQ(ran.report.counters.at("candidates_that_fail"), 1);
  EXPECT_EQ(ran.report.counters.at("candidates_timed"), 3);
  EXPECT_THAT(ran.report.notes,
              testing::ElementsAre(HasSubstr("1. [i:8, j:8, k:8] is left out: out of registers")));
}

TEST(NoTileFits, SaysWhichLimitByHowMuchAtWhichBlock) {
  const auto model = load_hardware_model({"m", R"({"name": "m", "clock_mhz": 1000,
      "mem_units": {"DRAM": {"size_KiB": 1024, "policy": "managed", "latency_cycles": 400},
                    "LOCAL": {"count": 2, "size_KiB": 1, "policy": "managed"},
                    "REG": {"count": 512, "size_KiB": 1, "policy": "managed"},
                    "L1": {"count": 2, "size_KiB": 1, "policy": "lru", "line_bytes": 64, "ways": 2}},
      "exec_units": {"CORE": {"count": 2, "vector_bytes": 64, "vector_registers": 2},
                     "CU": {"count": 2, "ops_per_cycle": 32, "op": "mac", "max_threads": 512}},
      "settings": {"threads": 256, "mem_width": 32, "max_mem": 7, "max_regs": 512,
                   "goal_groups": 16, "goal_flops_per_byte": 20, "source": "small"}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const std::string smallest =
      "block 'kernel_0': no tile fits: the smallest, [i:1, j:1, k:1], is over ";
  const std::pair<const char*, std::string> kCases[] = {
      {R"("memory": "LOCAL", "only_multiple_of": 32)",
       "the smallest, [i:32, j:32, k:32], is over LOCAL (1024 bytes): 12288 bytes of 1024, 11264 "
       "too many"},
      {R"("memory": "LOCAL", "pipeline_depth": 100)",
       smallest + "LOCAL (1024 bytes / pipeline_depth 100): 12 bytes of 10, 2 too many"},
      {R"("memory": "L1", "only_multiple_of": 32)",
       "is over L1 (1024 bytes): 12288 bytes of 1024, 11264 too many"},
      {R"("max_per_input_bytes": 3)",
       smallest + "max_per_input_bytes of 'A': 4 bytes of 3, 1 too many"},
      {R"("max_output_bytes": 2)", smallest + "max_output_bytes: 4 bytes of 2, 2 too many"},
      {R"("max_total_bytes": 11)", smallest + "max_total_bytes: 12 bytes of 11, 1 too many"},
      {R"("max_points": 100, "only_multiple_of": 32)",
       "[i:32, j:32, k:32], is over max_points: 32768 points of 100, 32668 too many"},
      {R"("max_tiles": 3, "max_points": 65536)", "is over max_tiles: 4 tiles of 3, 1 too many"},
      {R"("cost": "roofline_occupancy")",
       smallest + "the model's settings.max_mem: 8 bytes of 7, 1 too many"},
      {R"("cost": "registers")",
       "[i:1, j:16, k:64], is over the vector registers of CORE: 3 vectors of 2, 1 too many"},
      {R"("cost": "group_time", "unit": "CU", "pipeline_depth": 1000)",
       "is over the local memory of a group: "}};
  for (const auto& [options, expected] : kCases) {
    Result<stripe::Program> program = stripe::parse({"test", kProgram});
    ASSERT_TRUE(program.ok());
    const auto steps =
        parse_pipeline({"pipeline", "[{\"autotile\": {" + std::string(options) + "}}]"}, {}, *model,
                       pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().to_string();
    const auto reports = run_pipeline(*program, *steps, *model);
    EXPECT_THAT(reports.status().message(), HasSubstr("block 'kernel_0'")) << options;
    EXPECT_THAT(reports.status().message(), HasSubstr(expected)) << options;
    EXPECT_THAT(reports.status().message(), HasSubstr("too many")) << options;
  }
}

TEST(ExplainedTile, NotesWhatTheDeviceSays) {
  FakeDevice device;
  const Ran ran =
      run(R"("max_points": 512, "measure_top": 2, "explain_top": 1)", &device.measure, "autotile");
  EXPECT_THAT(
      ran.report.notes,
      testing::ElementsAre(HasSubstr("tiles looked at by exhaustive"),
                           HasSubstr("kernel_0: 1. [i:8, j:8, k:8]"),
                           HasSubstr("1. [i:8, j:8, k:8] takes 8 ns on fake"), HasSubstr("takes")));
  EXPECT_TRUE(run(R"("max_points": 512)", nullptr).report.notes.empty());
  EXPECT_TRUE(run(R"("max_points": 512)", nullptr, "prune").report.notes.empty());
}

}  // namespace
}  // namespace stria::passes
