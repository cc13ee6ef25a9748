// SPDX-License-Identifier: Apache-2.0
// The rules of time (docs/semantics.md, C1 to C9) are tight: what the clock gives is legal, and a
// tick less is not. And the cycles of systolic arrays through the clock, in closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "engine/check_timeline.h"
#include "program/part_simulation.h"
#include "small_machine.h"
#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

struct Timed {
  Machine machine;
  TaskGraph graph;
  Timeline timeline;
};

Timed timed(Machine machine, TaskGraph graph, BusModel buses = BusModel::fluid) {
  auto timeline = simulate(machine, graph, {buses, 256, false});
  STRIA_CHECK(timeline.ok(), "{}", timeline.status().to_string());
  return {std::move(machine), std::move(graph), std::move(timeline).value()};
}

// Why the timeline is wrong if task `number` starts or ends so much earlier; "" if it is right.
std::string why_not(const Timed& run, uint64_t number, uint64_t start, uint64_t end) {
  Timeline wrong = run.timeline;
  for (TaskRecord& task : wrong.tasks)
    if (task.number == number) {
      task.start -= start;
      task.end -= end;
    }
  wrong.ticks = 0;
  for (const TaskRecord& task : wrong.tasks) wrong.ticks = std::max(wrong.ticks, task.end);
  return check_timeline(run.machine, run.graph, wrong).message();
}

TaskRecord task_of(const Timed& run, uint64_t number) { return run.timeline.all()[number]; }

uint32_t add(TaskGraph& graph, TaskKind kind, const std::vector<uint32_t>& after = {}) {
  graph.kinds.push_back(std::move(kind));
  return graph.add(static_cast<uint32_t>(graph.kinds.size()) - 1, after);
}

TEST(TimingRules, C1UnitsHaveClocksOfTheirOwn) {
  HardwareModel model = small_model();
  for (ExecutionUnit& unit : model.executors)
    if (unit.name == "CONV") unit.clock_mhz = 600;  // beside 1000: 5 and 3 ticks
  Machine machine = Machine::make(model).value();
  TaskGraph graph;
  add(graph, operation(machine, "CONV", 7 * 5));
  const Timed run = timed(machine, graph);
  EXPECT_EQ(task_of(run, 0).end, 35u);
  EXPECT_EQ(run.machine.cycles(35), 12u);  // of the model's clock, rounded up
  EXPECT_EQ(why_not(run, 0, 0, 0), "");
  EXPECT_THAT(why_not(run, 0, 0, 1), HasSubstr("takes 34 ticks, 35 is the least"));
}

TEST(TimingRules, C2AnInstanceDoesOneThingAtATime) {
  Machine machine = small_machine();
  TaskGraph graph;
  add(graph, operation(machine, "DSP", 20, 1));
  add(graph, operation(machine, "DSP", 30, 1));
  add(graph, transfer(machine, "DRAM[0]", "SRAM[0]", 640, 0));
  add(graph, transfer(machine, "DRAM[0]", "SRAM[0]", 640, 0));
  const Timed run = timed(machine, graph);
  EXPECT_EQ(task_of(run, 1).start, 20u);
  EXPECT_EQ(task_of(run, 3).start, 20u);
  for (uint64_t task : {1, 3}) EXPECT_THAT(why_not(run, task, 1, 0), HasSubstr("before it ends"));
}

TEST(TimingRules, C3AnOperationTakesItsOverheadAndItsWork) {
  Machine machine = small_machine();
  TaskGraph graph;
  TaskKind kind = operation(machine, "CONV", 20);
  kind.overhead_ticks = 9;
  add(graph, kind);
  const Timed run = timed(machine, graph);
  EXPECT_EQ(task_of(run, 0).end, 29u);
  EXPECT_THAT(why_not(run, 0, 0, 1), HasSubstr("takes 28 ticks, 29 is the least"));
}

TEST(TimingRules, C5ATransferTakesItsLatencyAndTheNarrowestBus) {
  HardwareModel model = small_model(64, 32);
  model.transfers[0].latency_cycles = 7;
  model.buses[0].latency_cycles = 5;
  for (const BusModel buses : {BusModel::fluid, BusModel::burst}) {
    Machine machine = Machine::make(model).value();
    TaskGraph graph;
    add(graph, transfer(machine, "DRAM[0]", "SRAM[1]", 321));
    const Timed run = timed(machine, graph, buses);
    EXPECT_EQ(task_of(run, 0).end, 12u + 11);
    EXPECT_THAT(why_not(run, 0, 0, 1), HasSubstr("takes 22 ticks, 23 is the least"));
  }
}

TEST(TimingRules, C6WhatSharesABusTakesAsLongAsAllOfIt) {
  for (const BusModel buses : {BusModel::fluid, BusModel::burst}) {
    Machine machine = small_machine(64, 32);
    TaskGraph graph;
    const TaskKind kind = transfer(machine, "DRAM[0]", "SRAM[0]", 64 * 256 + 1);
    add(graph, kind);
    add(graph, kind);
    const Timed run = timed(machine, graph, buses);
    EXPECT_EQ(run.timeline.ticks, 1025u);
    // Both one tick earlier.
    Timed wrong = run;
    for (TaskRecord& task : wrong.timeline.tasks) task.end = std::min<uint64_t>(task.end, 1024);
    EXPECT_EQ(why_not(run, 0, 0, 0), "");
    EXPECT_THAT(why_not(wrong, 0, 0, 0), HasSubstr("takes 1025 ticks"));
  }
}

TEST(TimingRules, C7OperandsOfSeveralOperationsShareAPort) {
  HardwareModel model = small_model();
  for (MemoryUnit& memory : model.memories)
    if (memory.name == "SRAM") memory.read_bytes_per_cycle = 16;
  Machine machine = Machine::make(model).value();
  const auto port = static_cast<uint32_t>(machine.ports({"SRAM", 0}).of(PortUse::first));
  TaskGraph graph;
  TaskKind kind = operation(machine, "CONV", 50);
  kind.flows = {{{port}, 16 * 640}};
  add(graph, kind);
  Timed run = timed(machine, graph);
  EXPECT_EQ(task_of(run, 0).end, 640u);
  EXPECT_THAT(why_not(run, 0, 0, 1), HasSubstr("takes 639 ticks, 640 is the least"));
  add(graph, kind);
  run = timed(machine, graph);
  EXPECT_EQ(run.timeline.ticks, 1280u);
  for (TaskRecord& task : run.timeline.tasks) --task.end;
  EXPECT_THAT(why_not(run, 0, 0, 0), HasSubstr("which takes 1280 ticks"));
}

// Three times 640 bytes over a bus of 2, whose elements are read again for each of three sums.
TEST(TimingRules, C8EachAccessToAGlobalOperandCrossesTheBus) {
  auto program = stripe::parse({"global", R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0<DRAM[0]> A[0] i8(640:1)
    none new@0x0<SRAM[0]> C[0] i32(3:1)
) {
  0: #main block [] ( // main
      in<DRAM[0]> A[0] i8(640:1)
      out<SRAM[0]> C[0] i32(3:1)
  ) {
    0: block<DSP[0]> [x:640, y:3] (
        in<DRAM[0]> A[x] i8(1:1)
        out<SRAM[0]> C[y]:add.i32 i32(1:1)
    ) {
      0: $a = load(A)
      1: C = store($a)
    }
  }
}
)"});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const HardwareModel model = small_model(2, 64);
  auto run = simulate_part(*program, *program->main(), model);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  ASSERT_EQ(run->ticks(), 3u * 640 / 2);
  Timeline early = run->timeline;
  --early.ticks;
  --early.tasks[0].end;
  EXPECT_THAT(check_timeline(run->machine, run->lowered.graph, early).message(),
              HasSubstr("takes 959 ticks, 960 is the least"));
}

TEST(TimingRules, C9PointsWaitForRoomForTheirPartsAndForSums) {
  Machine machine = small_machine();
  const auto loop = [&](uint64_t depth, std::vector<Loop::Carried> carried) {
    TaskGraph body, graph;
    graph.kinds = {transfer(machine, "DRAM[0]", "SRAM[0]", 320), operation(machine, "CONV", 80)};
    body.add(0, {});
    body.add(1, {0});
    graph.add_loop({std::make_shared<const TaskGraph>(body), 6, depth, std::move(carried)}, {});
    return timed(machine, graph);
  };
  // Room: the third of two at once comes when the first has ended.
  const Timed room = loop(2, {});
  EXPECT_EQ(task_of(room, 4).start, task_of(room, 1).end);
  EXPECT_THAT(why_not(room, 4, 1, 1), HasSubstr("point 2 may begin at 100"));
  // Parts of a point.
  EXPECT_EQ(task_of(room, 1).start, task_of(room, 0).end);
  EXPECT_THAT(why_not(room, 1, 1, 0), HasSubstr("which it waits for ends at"));
  // Sums in order, though there are two units.
  Timed sums = loop(3, {{1, 1}});
  EXPECT_EQ(task_of(sums, 3).start, task_of(sums, 1).end);
  for (TaskRecord& task : sums.timeline.tasks) task.instance += task.number == 3;
  EXPECT_THAT(why_not(sums, 3, 1, 1), HasSubstr("which it waits for ends at"));
}

// Of any task in any schedule: it could not have started a tick before. Bursts run the schedule of
// the fluid buses: no task comes before its time in it.
TEST(TimingRules, NothingCouldStartEarlier) {
  size_t tasks = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](uint64_t low, uint64_t high) {
      return low + random() % (high - low + 1);
    };
    HardwareModel model = small_model(32, 16);
    model.transfers[0].half_duplex = pick(0, 1) == 0;
    model.transfers[0].latency_cycles = static_cast<double>(pick(0, 3));
    Machine machine = Machine::make(model).value();
    TaskGraph graph;
    for (uint64_t t = 0; t < 25; ++t) {
      std::vector<uint32_t> after;
      if (t > 0 && pick(0, 2) > 0) after.push_back(static_cast<uint32_t>(pick(0, t - 1)));
      const uint64_t bytes = pick(1, 900);
      switch (pick(0, 3)) {
        case 0: add(graph, transfer(machine, "DRAM[0]", "SRAM[0]", bytes), after); break;
        case 1: add(graph, transfer(machine, "SRAM[1]", "DRAM[0]", bytes), after); break;
        case 2: add(graph, operation(machine, "CONV", pick(1, 60)), after); break;
        default: add(graph, operation(machine, "DSP", pick(1, 60), 0), after);
      }
    }
    const Timed run = timed(machine, graph);
    ASSERT_EQ(why_not(run, 0, 0, 0), "") << seed;
    for (const TaskRecord& task : run.timeline.all()) {
      if (task.start == 0) continue;
      ++tasks;
      ASSERT_NE(why_not(run, task.number, 1, 1), "") << seed << ", task " << task.number;
    }
    const Timed bursts = timed(machine, graph, BusModel::burst);
    ASSERT_EQ(why_not(bursts, 0, 0, 0), "") << seed;
    for (const TaskRecord& task : bursts.timeline.all()) {
      ASSERT_GE(task.start, task_of(run, task.number).start) << seed << ", task " << task.number;
      ASSERT_EQ(task.instance, task_of(run, task.number).instance) << seed;
    }
  }
  EXPECT_GE(tasks, 2000u);
}

// (C4) 1,000 random products and arrays of each dataflow, as programs on the clock.
TEST(TimingRules, C4SystolicArraysTakeTheirClosedForms) {
  using Dataflow = SystolicArray::Dataflow;
  std::mt19937 random(1);
  const auto pick = [&](uint64_t most) { return static_cast<int64_t>(1 + random() % most); };
  for (int shape = 0; shape < 1000; ++shape) {
    const int64_t m = pick(300), n = pick(300), k = pick(300);
    auto program = stripe::parse({"product", fmt::format(R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0<DRAM[0]> A[0, 0] i8({0}:{2}, {2}:1)
    none new@0x0<DRAM[0]> B[0, 0] i8({2}:{1}, {1}:1)
    none new@0x0<DRAM[0]> C[0, 0] i32({0}:{1}, {1}:1)
) {{
  0: #main block [] ( // main
      in<DRAM[0]> A[0, 0] i8({0}:{2}, {2}:1)
      in<DRAM[0]> B[0, 0] i8({2}:{1}, {1}:1)
      out<DRAM[0]> C[0, 0] i32({0}:{1}, {1}:1)
  ) {{
    0: block<CONV> [i:{0}, j:{1}, k:{2}] (
        in<DRAM[0]> A[i, k] i8(1:{2}, 1:1)
        in<DRAM[0]> B[k, j] i8(1:{1}, 1:1)
        out<DRAM[0]> C[i, j]:add.i32 i32(1:{1}, 1:1)
    ) {{
      0: $a = load(A)
      1: $b = load(B)
      2: $c = mul.i32($a, $b)
      3: C = store($c)
    }}
  }}
}}
)",
                                                         m, n, k)});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    HardwareModel model = small_model();
    model.buses.clear();  // the array is beside all memories
    for (const Dataflow dataflow :
         {Dataflow::output_stationary, Dataflow::weight_stationary, Dataflow::input_stationary}) {
      const SystolicArray array{pick(64), pick(64), dataflow};
      for (ExecutionUnit& unit : model.executors)
        if (unit.name == "CONV") unit.systolic = array;
      auto run = simulate_part(*program, *program->main(), model);
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      const auto folds = [](int64_t of, int64_t side) { return (of + side - 1) / side; };
      const int64_t r = array.rows, c = array.columns;
      const int64_t expected = dataflow == Dataflow::output_stationary
                                   ? folds(m, r) * folds(n, c) * (k + r + c - 2)
                               : dataflow == Dataflow::weight_stationary
                                   ? folds(k, r) * folds(n, c) * (m + 2 * r + c - 2)
                                   : folds(k, r) * folds(m, c) * (n + 2 * r + c - 2);
      ASSERT_EQ(run->ticks(), static_cast<uint64_t>(expected))
          << m << " x " << k << " x " << n << " on " << r << " x " << c;
      Timeline early = run->timeline;
      --early.ticks;
      --early.tasks[0].end;
      ASSERT_THAT(check_timeline(run->machine, run->lowered.graph, early).message(),
                  HasSubstr("is the least"));
    }
  }
}

}  // namespace
}  // namespace stria::sim
