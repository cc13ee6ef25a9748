// SPDX-License-Identifier: Apache-2.0
// What programs move (docs/semantics.md, C4, C7 and C10): sums that go on, the operands of systolic
// arrays, widths of memories, ports, and bounds of buses that several engines share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "program/part_simulation.h"
#include "small_machine.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;
using Dataflow = SystolicArray::Dataflow;

stripe::Program parsed(const std::string& text) {
  auto program = stripe::parse({"test", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return std::move(program).value();
}

PartSimulation run(const std::string& text, const HardwareModel& model,
                   const PartOptions& options = {}) {
  const stripe::Program program = parsed(text);
  auto out = simulate_part(program, *program.main(), model, options);
  STRIA_CHECK(out.ok(), "{}", out.status().to_string());
  return std::move(out).value();
}

// Of all tasks.
KindCounts::Memory counts_of(const PartSimulation& run, const std::string& memory) {
  KindCounts::Memory out;
  for (size_t k = 0; k < run.lowered.tasks.size(); ++k) {
    const auto at = run.lowered.counts[k].memories.find(memory);
    if (at == run.lowered.counts[k].memories.end()) continue;
    out.reads += run.lowered.tasks[k] * at->second.reads;
    out.writes += run.lowered.tasks[k] * at->second.writes;
    out.read_bytes += run.lowered.tasks[k] * at->second.read_bytes;
    out.written_bytes += run.lowered.tasks[k] * at->second.written_bytes;
  }
  return out;
}

// Three memories, one for each operand of a product, beside a unit.
HardwareModel machine(const std::string& unit, const std::string& memories = "") {
  auto model = load_hardware_model({"counts.json", fmt::format(R"({{
    "clock_mhz": 1000,
    "mem_units": {{"A": {{}}, "B": {{}}, "C": {{}} {1}}},
    "exec_units": {{"UNIT": {{"op": "mac", {0}}}, "REST": {{"ops_per_cycle": 1}}}}}})",
                                                               unit, memories)});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

// m x k by k x n, in blocks of `step` along k, one operation for each.
std::string product(int m, int n, int k, int step, const std::string& outer = "out",
                    const std::string& places = "ABC", const std::string& type = "i32") {
  return fmt::format(
      R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0<{6}[0]> A[0, 0] i8({0}:{2}, {2}:1)
    none new@0x0<{7}[0]> B[0, 0] i8({2}:{1}, {1}:1)
    none new@0x0<{8}[0]> C[0, 0] {9}({0}:{1}, {1}:1)
) {{
  0: #main block [] ( // main
      in<{6}[0]> A[0, 0] i8({0}:{2}, {2}:1)
      in<{7}[0]> B[0, 0] i8({2}:{1}, {1}:1)
      {5}<{8}[0]> C[0, 0] {9}({0}:{1}, {1}:1)
  ) {{
    0: block [s:{4}] ( // steps
        in<{6}[0]> A[0, {3}*s] i8({0}:{2}, {3}:1)
        in<{7}[0]> B[{3}*s, 0] i8({3}:{1}, {1}:1)
        {5}<{8}[0]> C[0, 0]:add.i32 {9}({0}:{1}, {1}:1)
    ) {{
      0: block<UNIT> [i:{0}, j:{1}, k:{3}] (
          in A[i, k] i8(1:{2}, 1:1)
          in B[k, j] i8(1:{1}, 1:1)
          out C[i, j]:add.i32 {9}(1:{1}, 1:1)
      ) {{
        0: $a = load(A)
        1: $b = load(B)
        2: $c = mul.i32($a, $b)
        3: C = store($c)
      }}
    }}
  }}
}}
)",
      m, n, k, step, k / step, outer, places[0], places[1], places[2], type);
}

// (C7) Of four steps that add to the same elements the first one starts them.
TEST(Counts, SumsThatGoOnAreReadAsWellAsWritten) {
  const HardwareModel model = machine("\"ops_per_cycle\": 1000000");
  const auto c = [&](const std::string& text) { return counts_of(run(text, model), "C[0]"); };
  EXPECT_EQ(c(product(8, 16, 64, 64)).read_bytes, 0);
  EXPECT_EQ(c(product(8, 16, 64, 64)).written_bytes, 8 * 16 * 4);
  EXPECT_EQ(c(product(8, 16, 64, 16)).read_bytes, 3 * 8 * 16 * 4);
  EXPECT_EQ(c(product(8, 16, 64, 16)).written_bytes, 4 * 8 * 16 * 4);
  // A sum that is there before the first step goes on with it.
  EXPECT_EQ(c(product(8, 16, 64, 64, "inout")).read_bytes, 8 * 16 * 4);
  EXPECT_EQ(c(product(8, 16, 64, 16, "inout")).read_bytes, 4 * 8 * 16 * 4);
}

// Each step starts its elements anew if no refinement around it holds the sum.
TEST(Counts, SumsThatEachPointStartsAreNotRead) {
  std::string text = product(8, 16, 64, 16);
  const std::string outer = "C[0, 0]:add.i32 i32";
  text.replace(text.find(outer), outer.size(), "C[0, 0] i32");
  EXPECT_EQ(counts_of(run(text, machine("\"ops_per_cycle\": 1000000")), "C[0]").read_bytes, 0);
}

// A second block of one point goes on with the sums of the first one, where both have the same
// elements.
TEST(Counts, BlocksBesideEachOtherGoOnWithTheSameElements) {
  const auto text = [](int second) {
    return fmt::format(R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0<A[0]> A[0] i8(64:1)
    none new@0x0<C[0]> C[0] i32(64:1)
) {{
  0: #main block [] ( // main
      in<A[0]> A[0] i8(64:1)
      out<C[0]> C[0] i32(64:1)
  ) {{
    0: block [] ( // sums
        in A[0] i8(64:1)
        out C[0]:add.i32 i32(64:1)
    ) {{
      0: block<UNIT> [i:16] (in A[i] i8(1:1), out C[i]:add.i32 i32(1:1)) {{
        0: $a = load(A)
        1: C = store($a)
      }}
      1: block<UNIT> [i:16] (in A[i] i8(1:1), out C[{} + i]:add.i32 i32(1:1)) {{
        0: $a = load(A)
        1: C = store($a)
      }}
    }}
  }}
}}
)",
                       second);
  };
  const HardwareModel model = machine("\"ops_per_cycle\": 1000000");
  EXPECT_EQ(counts_of(run(text(0), model), "C[0]").read_bytes, 16 * 4);
  EXPECT_EQ(counts_of(run(text(16), model), "C[0]").read_bytes, 0);
}

// (C7) All points of a loop take the time of one that reads.
TEST(Counts, SumsThatGoOnTakeTheirTimeAtThePort) {
  HardwareModel model = machine("\"ops_per_cycle\": 1000000");
  for (MemoryUnit& memory : model.memories)
    if (memory.name == "C") memory.read_bytes_per_cycle = 1;
  EXPECT_EQ(run(product(8, 16, 64, 64), model).ticks(), 1u);
  EXPECT_EQ(run(product(8, 16, 64, 16), model).ticks(), 4u * 8 * 16 * 4);
}

std::string array(const char* dataflow, const std::string& more = "") {
  return fmt::format(R"("systolic": {{"rows": 32, "columns": 32, "dataflow": "{}"{}}})", dataflow,
                     more);
}

// (C7) A product of 256 x 256 by 256 x 128 on 32 x 32. SCALE-Sim counts 262,144 writes of results
// for weights that stay.
TEST(Counts, OperandsOfSystolicArraysFollowTheDataflow) {
  struct Case {
    const char* dataflow;
    const char* more;
    double a, b, sums, results;
  };
  constexpr double kA = 256 * 256, kB = 256 * 128, kC = 256 * 128;
  for (const Case& one :
       {Case{"ws", "", 4 * kA, kB, 7 * kC, 8 * kC},
        Case{"ws", ", \"accumulators\": 256", 4 * kA, kB, 0, kC},
        Case{"ws", ", \"accumulators\": 100", 4 * kA, 3 * kB, 0, kC},
        Case{"os", "", 4 * kA, 8 * kB, 0, kC}, Case{"is", "", kA, 8 * kB, 7 * kC, 8 * kC},
        Case{"is", ", \"accumulators\": 128", kA, 8 * kB, 0, kC}}) {
    SCOPED_TRACE(fmt::format("{}{}", one.dataflow, one.more));
    const PartSimulation made =
        run(product(256, 128, 256, 256), machine(array(one.dataflow, one.more)));
    EXPECT_EQ(counts_of(made, "A[0]").read_bytes, one.a);
    EXPECT_EQ(counts_of(made, "B[0]").read_bytes, one.b);
    EXPECT_EQ(counts_of(made, "C[0]").read_bytes / 4, one.sums);
    EXPECT_EQ(counts_of(made, "C[0]").written_bytes / 4, one.results);
  }
  EXPECT_EQ(8 * kC, 262'144);
}

// (C7) Sums that leave the array have the type in which they are summed up.
TEST(Counts, SumsOnTheirWayAreWide) {
  const PartSimulation made =
      run(product(32, 32, 64, 64, "out", "ABC", "i16"), machine(array("ws")));
  EXPECT_EQ(counts_of(made, "C[0]").written_bytes, 32 * 32 * (4 + 2));
  EXPECT_EQ(counts_of(made, "C[0]").read_bytes, 32 * 32 * 4);
}

// (C7) Ports are as busy as the dataflow makes them.
TEST(Counts, ArraysWaitForWhatStreamsThroughThem) {
  HardwareModel model = machine(array("os"));
  for (MemoryUnit& memory : model.memories)
    if (memory.name == "B") memory.read_bytes_per_cycle = 4;
  EXPECT_EQ(run(product(256, 128, 256, 256), model).ticks(), 8u * 256 * 128 / 4);
}

// When the last of `folds` leaves an array in which weights stay: each element has a second place
// for the weight of the next fold, which comes down its column while the present one is in use.
int64_t cycles_of_double_buffered_array(int rows, int columns, int folds, int steps) {
  int64_t load = 0, last = 0, begin = 0;
  for (int f = 0; f < folds; ++f) {
    // A row of weights comes in each cycle, the lowest one first.
    int64_t loaded = load;
    for (int r = 0; r < rows; ++r) loaded = std::max(loaded, load + r + 1);
    begin = std::max(loaded, f == 0 ? 0 : begin + steps);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) last = std::max<int64_t>(last, begin + steps - 1 + r + c);
    // The first row is free when its present weight is in use, and each row a cycle later.
    load = begin;
  }
  return last + 1;
}

// (C4)
TEST(Counts, FoldsThatOverlapHideFillAndDrain) {
  const auto cycles = [](SystolicArray array, double m, double n, double k) {
    return cost::systolic_cycles(array, {m, n, k, 1});
  };
  for (int rows : {1, 4, 9})
    for (int columns : {1, 3, 8})
      for (int folds : {1, 2, 7})
        for (int steps : {1, 5, 30})
          EXPECT_EQ(cycles({rows, columns, Dataflow::weight_stationary, 0, true}, steps, columns,
                           rows * folds),
                    cycles_of_double_buffered_array(rows, columns, folds, steps));
  // One fold is what it was.
  EXPECT_EQ(cycles({16, 8, Dataflow::output_stationary, 0, true}, 16, 8, 5), 5 + 16 + 8 - 2);
  EXPECT_EQ(cycles({16, 8, Dataflow::output_stationary, 0, true}, 32, 8, 50), 50 + 50 + 16 + 8 - 2);
  // Results of a fold go down 16 rows.
  EXPECT_EQ(cycles({16, 8, Dataflow::output_stationary, 0, true}, 32, 8, 5), 16 + 5 + 16 + 8 - 2);
}

// (C4) 100 steps in parts of 40 go through each of the folds, the last part with 20.
TEST(Counts, AccumulatorsTakeStepsInParts) {
  const auto cycles = [](int64_t accumulators, bool overlap, double k) {
    return cost::systolic_cycles({16, 8, Dataflow::weight_stationary, accumulators, overlap},
                                 {100, 8, k, 1});
  };
  EXPECT_EQ(cycles(40, false, 32), 2 * (100 + 3 * (2 * 16 + 8 - 2)));
  EXPECT_EQ(cycles(100, false, 32), cycles(0, false, 32));
  EXPECT_EQ(cycles(40, false, 16), cycles(0, false, 16));  // a sum is one fold
  EXPECT_EQ(cycles(40, true, 32), 2 * 100 + 2 * 16 + 8 - 2);
  EXPECT_EQ(cycles(10, true, 32), 2 * 10 * 16 - 16 + 10 + 2 * 16 + 8 - 2);  // too short for a load
}

// (C10) 512 results in lines of 32 bytes are 16 accesses, as 512 inputs are.
TEST(Counts, ResultsComeInLinesAsInputsDo) {
  HardwareModel model = machine("\"ops_per_cycle\": 1");
  for (MemoryUnit& memory : model.memories) memory.line_bytes = 32;
  const PartSimulation made = run(R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0<A[0]> A[0] i8(512:1)
    none new@0x0<C[0]> C[0] i8(512:1)
) {
  0: #main block [] ( // main
      in<A[0]> A[0] i8(512:1)
      out<C[0]> C[0] i8(512:1)
  ) {
    0: block<UNIT> [i:512] (in A[i] i8(1:1), out C[i] i8(1:1)) {
      0: $a = load(A)
      1: $b = neg.i8($a)
      2: C = store($b)
    }
  }
}
)",
                                  model);
  EXPECT_EQ(counts_of(made, "A[0]").reads, 16);
  EXPECT_EQ(counts_of(made, "C[0]").writes, 16);
}

// (C10) Rows of a view that reach into each other are one run, and three of five bytes in words of
// four are six accesses.
TEST(Counts, AccessesAreWhole) {
  HardwareModel model = machine("\"ops_per_cycle\": 1");
  for (MemoryUnit& memory : model.memories) {
    memory.banks = 2;
    memory.bank_bytes = 4;
  }
  const auto reads = [&](int size, int stride, int rows) {
    return counts_of(run(fmt::format(R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0<A[0]> A[0] i8(640:1)
    none new@0x0<C[0]> C[0] i32(1:1)
) {{
  0: #main block [] ( // main
      in<A[0]> A[0] i8(640:1)
      out<C[0]> C[0] i32(1:1)
  ) {{
    0: block [] (in A[0] i8({2}:{1}, {0}:1), out C[0]:add.i32 i32(1:1)) {{
      0: block<UNIT> [r:{2}, i:{0}] (in A[r, i] i8(1:{1}, 1:1), out C[0]:add.i32 i32(1:1)) {{
        0: $a = load(A)
        1: C = store($a)
      }}
    }}
  }}
}}
)",
                                     size, stride, rows),
                         model),
                     "A[0]")
        .reads;
  };
  EXPECT_EQ(reads(5, 100, 3), 3 * 2);
  EXPECT_EQ(reads(10, 8, 3), std::ceil((10 + 2 * 8) / 4.0));
  for (int size : {3, 7, 12})
    for (int stride : {1, 5, 9, 30}) {
      const double found = reads(size, stride, 4);
      EXPECT_EQ(found, std::floor(found)) << size << " " << stride;
    }
}

// Nothing is free for want of a place.
TEST(Counts, WhatIsInNoMemoryIsAnError) {
  std::string text = product(8, 16, 64, 64);
  for (size_t at; (at = text.find("<B[0]>")) != std::string::npos;) text.erase(at, 6);
  const stripe::Program program = parsed(text);
  EXPECT_THAT(
      simulate_part(program, *program.main(), machine("\"ops_per_cycle\": 1")).status().to_string(),
      HasSubstr("'B' is in no memory: no pass has given it a location"));
}

// The bus of two engines is as busy as both make it.
TEST(Counts, BoundsKnowBusesThatSeveralEnginesShare) {
  std::string statements;
  for (int s = 0; s < 4; ++s)
    statements += fmt::format(
        R"(    {0}: block<DMA> [i:1024] (in<DRAM[0]> A[{1} + i] i8(1:1), out<SRAM[0]> S[{1} + i] i8(1:1)) {{
      0: $a = load(A)
      1: S = store($a)
    }}
)",
        s, 1024 * s);
  const std::string text = fmt::format(R"(stripe 1.0
0: #program #placed block [] ( // p
    none new@0x0<DRAM[0]> A[0] i8(4096:1)
) {{
  0: #main #deps block [] ( // main
      in<DRAM[0]> A[0] i8(4096:1)
      none new@0x0<SRAM[0]> S[0] i8(4096:1)
  ) {{
{}  }}
}}
)",
                                       statements);
  const HardwareModel model = small_model(64, 32);
  EXPECT_EQ(run(text, model, {Fidelity::roofline, {}}).ticks(), 4096u / 32);
  EXPECT_EQ(run(text, model).ticks(), 4096u / 32);
}

// --- ports

// (C7) 8 x 64 bytes, 64 x 16 bytes and 8 x 16 x 4 bytes of one memory in a cycle's work.
TEST(Counts, PortsServeWhatTheySay) {
  const auto ticks = [](const std::string& ports) {
    const HardwareModel model =
        machine("\"ops_per_cycle\": 1000000", R"(, "M": {"ports": [)" + ports + "]}");
    return run(product(8, 16, 64, 64, "out", "MMM"), model).ticks();
  };
  const auto port = [](int width, const std::string& serves) {
    return fmt::format(R"({{"bytes_per_cycle": {}, "serves": [{}]}})", width, serves);
  };
  constexpr uint64_t kA = 8 * 64, kB = 64 * 16, kC = 8 * 16 * 4;
  EXPECT_EQ(ticks(port(1, "\"reads\", \"writes\"")), kA + kB + kC);
  EXPECT_EQ(ticks(port(1, "\"reads\"") + ", " + port(1, "\"writes\"")), kA + kB);
  EXPECT_EQ(ticks(port(1, "\"first\"") + ", " + port(1, "\"second\"")), kB);
  EXPECT_EQ(ticks(port(1, "\"first\"") + ", " + port(4, "\"second\", \"results\"")), kA);
  EXPECT_EQ(ticks(port(1, "\"results\", \"first\"")), kA + kC);
  EXPECT_EQ(ticks(port(1, "\"sums\", \"copy_in\"")), 1u);
}

TEST(Counts, ChannelsOfPortsHaveNames) {
  const HardwareModel model = machine(
      "\"ops_per_cycle\": 1", R"(, "M": {"ports": [{"bytes_per_cycle": 2, "serves": ["reads"]},
                                                  {"bytes_per_cycle": 3, "serves": ["results"]}]},
      "N": {"ports": [{"bytes_per_cycle": 4, "serves": ["writes", "reads"]}]})");
  auto made = Machine::make(model);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  std::vector<std::string> names;
  for (const Channel& channel : made->channels()) names.push_back(channel.name);
  EXPECT_THAT(names, testing::ElementsAre("read M[0]", "results M[0]", "N[0]"));
  EXPECT_EQ(made->ports({"M", 0}).of(PortUse::copy_in), -1);
}

}  // namespace
}  // namespace stria::sim
