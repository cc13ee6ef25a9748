// SPDX-License-Identifier: Apache-2.0
// From device Stripe to tasks: what operations, transfers and loops take, on programs of a few
// lines and on the convolution that the slides print.
#include "program/lower_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "program/part_simulation.h"
#include "small_machine.h"
#include "stria/base/file.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/stripe/text/parser.h"
#include "validate/slides_convolution.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

stripe::Program parsed(const std::string& text) {
  auto program = stripe::parse({"test", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return std::move(program).value();
}

PartSimulation run(const stripe::Program& program, const HardwareModel& model,
                   const PartOptions& options = {}) {
  auto out = simulate_part(program, *program.main(), model, options);
  STRIA_CHECK(out.ok(), "{}", out.status().to_string());
  return std::move(out).value();
}

std::string why_not(const std::string& text, const HardwareModel& model) {
  const stripe::Program program = parsed(text);
  return simulate_part(program, *program.main(), model).status().to_string();
}

// A main of tensors A i8[rows, 64] to B i32[rows] with the statements.
std::string with(const std::string& scratchpads, const std::string& statements, int rows = 16,
                 const std::string& tags = "#deps ") {
  return fmt::format(R"(stripe 1.0
0: #program #placed block [] ( // p
    none new@0x0<DRAM[0]> A[0, 0] i8({0}:64, 64:1)
    none new@0x8000<DRAM[0]> B[0] i32({0}:1)
) {{
  0: #main {3}block [] ( // main
      in<DRAM[0]> A[0, 0] i8({0}:64, 64:1)
      out<DRAM[0]> B[0] i32({0}:1)
{1}  ) {{
{2}  }}
}}
)",
                     rows, scratchpads, statements, tags);
}

constexpr const char* kScratchpads =
    "      none new@0x0<SRAM[0]> An[0, 0] i8(16:64, 64:1)\n"
    "      none new@0x0<SRAM[1]> Bn[0] i32(16:1)\n";

std::string copy_in(const std::string& waits = "") {
  return "    0" + waits + R"(: #swap_in block<DMA> [i:16, k:64] (
        in<DRAM[0]> A[i, k] i8(1:64, 1:1)
        out<SRAM[0]> An[i, k] i8(1:64, 1:1)
    ) {
      0: $a = load(A)
      1: An = store($a)
    }
)";
}
std::string sums(const std::string& unit, const std::string& from = "SRAM[0]> A = An") {
  return "    1[0]: block<" + unit + R"(> [i:16, k:64] ( // sums
        in<)" +
         from + R"([i, k] i8(1:64, 1:1)
        out<SRAM[1]> B = Bn[i]:add.i32 i32(1:1)
    ) {
      0: $a = load(A)
      1: B = store($a)
    }
)";
}
constexpr const char* kCopyOut = R"(    2[1]: #swap_out block<DMA> [i:16] (
        in<SRAM[1]> Bn[i] i32(1:1)
        out<DRAM[0]> B[i] i32(1:1)
    ) {
      0: $b = load(Bn)
      1: B = store($b)
    }
)";

TEST(LowerPart, TransfersAndOperations) {
  const PartSimulation made =
      run(parsed(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut)), small_model(64, 32));
  // 1024 bytes at 32, 1024 additions at 4, 64 bytes at 32.
  ASSERT_EQ(made.spans.size(), 3u);
  EXPECT_EQ(made.spans[0].end, 32u);
  EXPECT_EQ(made.spans[1].start, 32u);
  EXPECT_EQ(made.spans[1].end, 32u + 256);
  EXPECT_EQ(made.ticks(), 32u + 256 + 2);
  EXPECT_THAT(made.lowered.statements, testing::ElementsAre("swap_in A", "sums", "swap_out B"));
  EXPECT_EQ(made.lowered.counts[1].operations.at("add.i32"), 1024);
  EXPECT_EQ(made.lowered.counts[0].memories.at("DRAM[0]").read_bytes, 1024);
  EXPECT_EQ(made.lowered.counts[0].memories.at("SRAM[0]").written_bytes, 1024);
}

TEST(LowerPart, EveryFidelityStaysAboveTheBound) {
  const stripe::Program program = parsed(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut));
  const HardwareModel model = small_model(64, 32);
  const uint64_t bound = run(program, model, {Fidelity::roofline, {}}).ticks();
  EXPECT_EQ(bound, 290u);  // a chain
  EXPECT_EQ(run(program, model, {Fidelity::cycle, {}}).ticks(), 290u);
  EXPECT_EQ(run(program, model).ticks(), 290u);
}

// (C8) Each access to an operand in global memory crosses the bus.
TEST(LowerPart, GlobalOperandsCrossTheBusWithEachAccess) {
  const std::string scratchpads = "      none new@0x0<SRAM[1]> Bn[0] i32(16:1)\n";
  std::string statements = sums("DSP", "DRAM[0]> A") + kCopyOut;
  statements.replace(statements.find("1[0]"), 4, "0");
  statements.replace(statements.find("2[1]"), 4, "1[0]");
  const stripe::Program program = parsed(with(scratchpads, statements));
  // 1024 additions at 4 take 256, 1024 bytes at 64 take 16, at 2 they take 512.
  EXPECT_EQ(run(program, small_model(64, 32)).spans[0].end, 256u);
  EXPECT_EQ(run(program, small_model(2, 32)).spans[0].end, 512u);
  const PartSimulation slow = run(program, small_model(2, 32));
  EXPECT_EQ(slow.times[slow.machine.groups()[1].first][Spent::memory], 256u);
}

TEST(LowerPart, AnIndexOfTheLocationIsATaskForEachInstance) {
  std::string spread = sums("DSP");
  spread.replace(spread.find("block<DSP>"), 10, "block<DSP[i]>");
  spread.replace(spread.find("[i:16, k:64]"), 12, "[i:2, k:64]");
  const PartSimulation made =
      run(parsed(with(kScratchpads, copy_in() + spread + kCopyOut)), small_model());
  EXPECT_EQ(made.spans[1].end - made.spans[1].start, 16u);  // 64 additions at 4, on each of two
  spread.replace(spread.find("[i:2, k:64]"), 11, "[i:3, k:64]");
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + spread + kCopyOut), small_model()),
              HasSubstr("'DSP[2]', but the hardware model has 2 of 'DSP'"));
  // Below 0 as well: no number stands for any instance.
  spread.replace(spread.find("block<DSP[i]>"), 13, "block<DSP[i - 1]>");
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + spread + kCopyOut), small_model()),
              HasSubstr("'DSP[-1]', but the hardware model has 2 of 'DSP'"));
}

// (C3) Points of a #parallel block of blocks are taken by any instances, many at once.
TEST(LowerPart, PointsOfAParallelBlockAreOperationsOfAnyInstance) {
  const std::string spread = R"(    1[0]: #parallel block<DSP> [i:16] ( // sums
        in<SRAM[0]> A = An[i, 0] i8(1:64, 64:1)
        out<SRAM[1]> B = Bn[i]:add.i32 i32(1:1)
    ) {
      0: block [k:64] (
          in<SRAM[0]> A[0, k] i8(1:64, 1:1)
          out<SRAM[1]> B[0]:add.i32 i32(1:1)
      ) {
        0: $a = load(A)
        1: B = store($a)
      }
    }
)";
  const PartSimulation made =
      run(parsed(with(kScratchpads, copy_in() + spread + kCopyOut)), small_model());
  // 16 of 64 additions at 4, on two.
  EXPECT_EQ(made.spans[1].end - made.spans[1].start, 16u * 16 / 2);
  std::string alone = spread;
  alone.replace(alone.find("#parallel "), 10, "");
  EXPECT_EQ(
      run(parsed(with(kScratchpads, copy_in() + alone + kCopyOut)), small_model()).spans[1].end -
          made.spans[1].start,
      16u * 16);
}

// (C3) Also inside a block of the same unit, as tiles are that a unit's instances share.
TEST(LowerPart, InstancesOfOneUnitShareATile) {
  const auto tiles = [](const std::string& inner) {
    return "    1[0]: block<DSP> [t:2] ( // sums\n" + fmt::format(R"(
        in<SRAM[0]> A = An[8*t, 0] i8(8:64, 64:1)
        out<SRAM[1]> B = Bn[8*t]:add.i32 i32(8:1)
    ) {{
      0: {} (
          in<SRAM[0]> A[i, 0] i8(1:64, 64:1)
          out<SRAM[1]> B[i]:add.i32 i32(1:1)
      ) {{
        0: block [k:64] (
            in<SRAM[0]> A[0, k] i8(1:64, 1:1)
            out<SRAM[1]> B[0]:add.i32 i32(1:1)
        ) {{
          0: $a = load(A)
          1: B = store($a)
        }}
      }}
    }}
)",
                                                                  inner);
  };
  const auto ticks = [&](const std::string& inner) {
    const PartSimulation made =
        run(parsed(with(kScratchpads, copy_in() + tiles(inner) + kCopyOut)), small_model());
    return made.spans[1].end - made.spans[1].start;
  };
  // Two tiles of eight times 64 additions at 4.
  EXPECT_EQ(ticks("block [i:8]"), 16u * 16);
  EXPECT_EQ(ticks("#parallel block<DSP> [i:8]"), 16u * 16 / 2);
  EXPECT_EQ(ticks("block<DSP[1]> [i:8]"), 16u * 16);
}

// (C3) One without a unit runs on the slowest one that is no systolic array.
TEST(LowerPart, WhatHasNoUnitRunsOnTheGeneralOne) {
  std::string nowhere = sums("DSP");
  nowhere.replace(nowhere.find("block<DSP>"), 10, "block");
  const stripe::Program program = parsed(with(kScratchpads, copy_in() + nowhere + kCopyOut));
  EXPECT_EQ(run(program, small_model(64, 32)).spans[1].end, 32u + 256);
  HardwareModel model = small_model(64, 32);
  for (ExecutionUnit& unit : model.executors) {
    if (unit.name == "DSP") unit.ops_per_cycle = 1000;
    if (unit.name == "CONV") unit.systolic.emplace();
  }
  EXPECT_EQ(run(program, model).spans[1].end, 32u + 2);
  model.executors.clear();
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + nowhere + kCopyOut), model),
              HasSubstr("the hardware model has no execution unit"));
}

// (C3)
TEST(LowerPart, OverheadIsOfEachOperation) {
  HardwareModel model = small_model(64, 32);
  for (ExecutionUnit& unit : model.executors) unit.overhead_cycles = 9;
  EXPECT_EQ(run(parsed(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut)), model).ticks(),
            290u + 9);
}

TEST(PartChecks, SayWhatDoesNotFitOrIsNotOrdered) {
  const HardwareModel model = small_model();
  std::string scratchpads = kScratchpads;
  scratchpads.replace(scratchpads.find("new@0x0<SRAM[1]>"), 16, "new@0xffe0<SRAM[1]>");
  EXPECT_THAT(
      why_not(with(scratchpads, copy_in() + sums("DSP") + kCopyOut), model),
      HasSubstr("'Bn' (64 bytes at 65504) does not fit into 'SRAM' of 65536 bytes: 32 too many"));
  std::string early = sums("DSP");
  early.replace(early.find("1[0]"), 4, "1");
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + early + kCopyOut), model),
              HasSubstr("'sums' reads 'An' before anything is written to it"));
  // Bn where An is: the result is written while what it is made of is still read by nobody else,
  // but copied out while the next one is copied in.
  scratchpads = kScratchpads;
  scratchpads.replace(scratchpads.find("<SRAM[1]>"), 9, "<SRAM[0]>");
  std::string again = copy_in() + sums("DSP") + kCopyOut;
  again = again + R"(    3[0]: #swap_in block<DMA> [i:16, k:64] (
        in<DRAM[0]> A[i, k] i8(1:64, 1:1)
        out<SRAM[0]> An[i, k] i8(1:64, 1:1)
    ) {
      0: $a = load(A)
      1: An = store($a)
    }
)";
  EXPECT_THAT(
      why_not(with(scratchpads, again), model),
      testing::AllOf(HasSubstr("run at the same time"), HasSubstr("no dependency orders them")));
  HardwareModel without = model;
  std::erase_if(without.executors, [](const ExecutionUnit& unit) { return unit.name == "DSP"; });
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut), without),
              HasSubstr("no execution unit 'DSP'"));
  without = model;
  for (ExecutionUnit& unit : without.executors) unit.ops_per_cycle = 0;
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut), without),
              HasSubstr("no rate of 'DSP'"));
}

// --- the convolution of the slides: 1024 x 1024, 3 x 3, 32 to 64 channels, i8

HardwareModel slides(int64_t convs, const std::string& duplex = "") {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  std::string text = read_file(path).value();
  if (!duplex.empty()) {
    const std::string unit = "\"DMA\": {";
    text.replace(text.find(unit), unit.size(), unit + " \"duplex\": \"" + duplex + "\",");
  }
  auto model = load_hardware_model(
      {path, text}, {{"NUM_CONV", std::to_string(convs)}, {"SRAM_SIZE_KIB", "65536"}});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

TEST(SlidesConvolution, TakesWhatItsBytesAndProductsTake) {
  const stripe::Program program = parsed(kSlidesConvolution);
  const auto bound = [&](int64_t convs) {
    return run(program, slides(convs), {Fidelity::roofline, {}}).ticks();
  };
  constexpr uint64_t kMacs = 19'327'352'832, kWrite = 1'048'576, kRead = 524'576;
  EXPECT_EQ(bound(1), kMacs / 512);
  EXPECT_EQ(bound(35), (kMacs / 512 + 34) / 35);
  EXPECT_EQ(bound(36), kWrite);  // break-even: 37,748,736 / 36
  EXPECT_EQ(bound(37), kWrite);
  const PartSimulation one = run(program, slides(1));
  // All of the image first, then row by row, the last row's result last.
  EXPECT_EQ(one.ticks(), kRead + kMacs / 512 + kWrite / 1024);
  // With one array the way out is idle for nearly all of the time.
  for (const Group& group : one.machine.groups())
    if (group.name == "DMA from SRAM") {
      EXPECT_EQ(one.times[group.first].busy(), kWrite);
    }
  // 48 arrays: the bus to DRAM is the limit.
  EXPECT_LE(run(program, slides(48)).ticks(), kRead + kMacs / 512 / 1024 + kWrite);
  EXPECT_EQ(run(program, slides(48, "half"), {Fidelity::roofline, {}}).ticks(), kRead + kWrite);
}

// --- several sinks, on the model that ships

// (C5) A bus that leads to several memories carries what they all get once; the network between the
// memories does the same.
TEST(LowerPart, TheSlidesMachineBringsOneTensorToSeveralMemoriesAtOnce) {
  const auto to_all = [](const char* wait, const char* unit, const char* from, const char* tensor) {
    return fmt::format(R"({}: block<{}> [i:16, k:64] (
        in<{}> {}[i, k] i8(1:64, 1:1)
        out<SRAM[1]> X1[i, k] i8(1:64, 1:1)
        out<SRAM[2]> X2[i, k] i8(1:64, 1:1)
        out<SRAM[3]> X3[i, k] i8(1:64, 1:1)
    ) {{
      0: $a = load({})
      1: X1 = store($a)
      2: X2 = store($a)
      3: X3 = store($a)
    }}
)",
                       wait, unit, from, tensor, tensor);
  };
  const std::string scratchpads = R"(      none new@0x0<SRAM[0]> An[0, 0] i8(16:64, 64:1)
      none new@0x0<SRAM[1]> X1[0, 0] i8(16:64, 64:1)
      none new@0x0<SRAM[2]> X2[0, 0] i8(16:64, 64:1)
      none new@0x0<SRAM[3]> X3[0, 0] i8(16:64, 64:1)
)";
  const auto bytes = [](const PartSimulation& run, const std::string& channel) {
    double out = 0;
    for (const KindTimes& times : run.kinds) {
      const TaskKind& kind = run.lowered.graph.kinds[times.kind];
      for (uint32_t l : kind.route.ways[0].channels)
        if (run.machine.channels()[l].name == channel)
          out += static_cast<double>(times.tasks) * static_cast<double>(kind.bytes);
    }
    return out;
  };
  const PartSimulation from_global =
      run(parsed(with(scratchpads, to_all("0", "DMA", "DRAM[0]", "A"))), slides(2));
  EXPECT_EQ(from_global.ticks(), 1024u / 64);
  EXPECT_EQ(bytes(from_global, "DMA[0] -> SRAM[0], …"), 1024);
  for (const char* memory : {"SRAM[1]", "SRAM[2]", "SRAM[3]"})
    EXPECT_EQ(from_global.lowered.counts[0].memories.at(memory).written_bytes, 1024) << memory;
  const PartSimulation between =
      run(parsed(with(scratchpads, copy_in() + to_all("1[0]", "NOC", "SRAM[0]", "An"))), slides(2));
  EXPECT_EQ(between.ticks(), 1024u / 64 + 1024 / 512);
  EXPECT_EQ(bytes(between, "NOC[0] -> SRAM[0], …"), 1024);
}

// --- systolic arrays

// An array of R by C multiply-adds, cycle by cycle: operand values move right and down.
double cycles_of_output_stationary_array(int rows, int columns, int k) {
  // a[i][j]: which step of the sum is at the element; the elements at the edge are fed skewed.
  std::vector<std::vector<int>> left(static_cast<size_t>(rows),
                                     std::vector<int>(static_cast<size_t>(columns), -1));
  auto up = left;
  std::vector<std::vector<int>> done(static_cast<size_t>(rows),
                                     std::vector<int>(static_cast<size_t>(columns), 0));
  for (int cycle = 0;; ++cycle) {
    for (int i = rows - 1; i >= 0; --i)
      for (int j = columns - 1; j >= 0; --j) {
        const auto r = static_cast<size_t>(i), c = static_cast<size_t>(j);
        const auto fed = [&](int skew) {
          return cycle - skew >= 0 && cycle - skew < k ? cycle - skew : -1;
        };
        left[r][c] = j > 0 ? left[r][c - 1] : fed(i);
        up[r][c] = i > 0 ? up[r - 1][c] : fed(j);
        STRIA_CHECK(left[r][c] == up[r][c], "operands of one sum meet");
        done[r][c] += left[r][c] >= 0;
      }
    bool all = true;
    for (const auto& row : done)
      for (int sums : row) all = all && sums == k;
    if (all) return cycle + 1;
  }
}

// (C4)
TEST(SystolicArray, FormulasMeetPublishedAndSteppedCycles) {
  using Dataflow = SystolicArray::Dataflow;
  const auto cycles = [](int64_t rows, int64_t columns, Dataflow dataflow, double m, double n,
                         double k) {
    return cost::systolic_cycles({rows, columns, dataflow}, {m, n, k, 1});
  };
  // 3N - 2 for N x N by N x N (validated against hardware by SCALE-Sim's authors).
  for (int n : {4, 8, 16, 20, 32, 40, 50, 64, 70, 80, 90})
    EXPECT_EQ(cycles(n, n, Dataflow::output_stationary, n, n, n), 3 * n - 2);
  // SCALE-Sim: 256 x 128 x 256 on 32 x 32; 100 x 70 x 50 on 16 x 16.
  EXPECT_EQ(cycles(32, 32, Dataflow::output_stationary, 256, 128, 256), 10'176);
  EXPECT_EQ(cycles(16, 16, Dataflow::output_stationary, 100, 70, 50), 2'800);
  EXPECT_EQ(cycles(16, 16, Dataflow::weight_stationary, 100, 70, 50), 2'920);
  EXPECT_EQ(cycles(16, 16, Dataflow::input_stationary, 100, 70, 50), 3'248);
  // Step by step, 1,000 shapes.
  std::mt19937 random(1);
  for (int n = 0; n < 1000; ++n) {
    const int rows = 1 + static_cast<int>(random() % 12),
              columns = 1 + static_cast<int>(random() % 12);
    const int k = 1 + static_cast<int>(random() % 40);
    const int folds_m = 1 + static_cast<int>(random() % 3),
              folds_n = 1 + static_cast<int>(random() % 3);
    const double once = cycles_of_output_stationary_array(rows, columns, k);
    EXPECT_EQ(
        cycles(rows, columns, Dataflow::output_stationary, rows * folds_m, columns * folds_n, k),
        once * folds_m * folds_n);
  }
}

TEST(BlockWork, FindsTheProductInABlock) {
  const stripe::Program program = parsed(kSlidesConvolution);
  const stripe::Block& loop = *program.main()->stmts[2].block();
  const cost::BlockWork work = cost::work_of(*loop.stmts[0].block());
  ASSERT_EQ(work.products.size(), 1u);
  EXPECT_EQ(work.products[0].m, 1024);
  EXPECT_EQ(work.products[0].n, 64);
  EXPECT_EQ(work.products[0].k, 288);
  EXPECT_EQ(work.operations.at("mac.i8"), 1024.0 * 64 * 288);
  EXPECT_EQ(work.accesses.at("I").loads, 1024.0 * 64 * 288);
  const cost::Footprint image =
      cost::footprint_of(*loop.stmts[0].block(), *loop.stmts[0].block()->find_ref("I"));
  EXPECT_EQ(image.bytes, 3 * 1026 * 32);
  EXPECT_EQ(image.run_bytes, 1026 * 32 + 2 * 32768);  // its rows reach into each other
}

// --- energy

// What is fused behind a sum makes it element by element; the array still sees one product.
TEST(BlockWork, FindsTheProductAroundASumThatIsMadeInside) {
  const stripe::Program program = parsed(R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0 A[0, 0] i8(8:16, 16:1)
    none new@0x0 B[0, 0] i8(16:4, 4:1)
    none new@0x0 C[0, 0] i32(8:4, 4:1)
) {
  0: #main block [] ( // main
      in A[0, 0] i8(8:16, 16:1)
      in B[0, 0] i8(16:4, 4:1)
      out C[0, 0] i32(8:4, 4:1)
  ) {
    0: block<CONV> [j:4] (
        in A[0, 0] i8(8:16, 16:1)
        in B[0, j] i8(16:4, 1:1)
        out C[0, j] i32(8:4, 1:1)
    ) {
      0: block [i:8] (
          none new@0x0 S[0] i32(1:1)
          in A[i, 0] i8(1:16, 16:1)
          in B[0, 0] i8(16:4, 1:1)
          out C[i, 0] i32(1:4, 1:1)
      ) {
        0: block [k:16] (
            in A[0, k] i8(1:16, 1:1)
            in B[k, 0] i8(1:4, 1:1)
            out S[0]:add.i32 i32(1:1)
        ) {
          0: $a = load(A)
          1: $b = load(B)
          2: $s = mul.i32($a, $b)
          3: S = store($s)
        }
        1: block [] (
            in S[0] i32(1:1)
            out C[0, 0] i32(1:4, 1:1)
        ) {
          0: $s = load(S)
          1: $c = neg.i32($s)
          2: C = store($c)
        }
      }
    }
  }
}
)");
  const cost::BlockWork work = cost::work_of(*program.main()->stmts[0].block());
  ASSERT_EQ(work.products.size(), 1u);
  EXPECT_EQ(work.products[0].m, 8);
  EXPECT_EQ(work.products[0].n, 4);
  EXPECT_EQ(work.products[0].k, 16);
  EXPECT_EQ(work.products[0].batch, 1);
  EXPECT_EQ(work.others, 32);
}

// Times beyond all clocks are refused, not wrapped.
TEST(LowerPart, RatesThatAreNextToNothing) {
  HardwareModel model = small_model(64, 32);
  for (ExecutionUnit& unit : model.executors) unit.ops_per_cycle = 1e-300;
  EXPECT_THAT(why_not(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut), model),
              HasSubstr("on 'DSP' takes more than 2^53 ticks"));
  EXPECT_THAT(
      why_not(with(kScratchpads, copy_in() + sums("DSP") + kCopyOut), small_model(1e-300, 32)),
      HasSubstr("more than 2^53 ticks"));
}

// (C10)
TEST(UnitOperation, PricesOfOperations) {
  ExecutionUnit unit;
  unit.energy_pj = {{"add.i8", 0.03}, {"add.i32", 0.1}, {"mul.i8", 0.2}, {"add.fp32", 0.9}};
  EXPECT_DOUBLE_EQ(cost::operation_pj(unit, "mac.i8"), 0.3);
  EXPECT_DOUBLE_EQ(cost::operation_pj(unit, "add.u8"), 0.03);
  EXPECT_DOUBLE_EQ(cost::operation_pj(unit, "other.fp32"), 0.9);
  EXPECT_DOUBLE_EQ(cost::operation_pj(unit, "move"), 0);
  EXPECT_LT(cost::operation_pj(unit, "mul.fp64"), 0);
  unit.energy_pj["mac.i8"] = 0.25;
  EXPECT_DOUBLE_EQ(cost::operation_pj(unit, "mac.i8"), 0.25);
}

}  // namespace
}  // namespace stria::sim
