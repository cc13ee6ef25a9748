// SPDX-License-Identifier: Apache-2.0
// The clock of the simulator against closed forms, against the tick-by-tick oracle on random task
// graphs, and its two models of buses against each other.
#include "engine/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/check_timeline.h"
#include "engine/cycle_oracle.h"
#include "small_machine.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

Timeline run(const Machine& machine, const TaskGraph& graph, const SimulateOptions& options = {}) {
  auto timeline = simulate(machine, graph, options);
  EXPECT_TRUE(timeline.ok()) << timeline.status().to_string();
  const Status status = check_timeline(machine, graph, *timeline);
  EXPECT_TRUE(status.ok()) << status.to_string()
                           << (options.buses == BusModel::burst ? " (burst)" : " (fluid)");
  return std::move(timeline).value();
}

uint32_t add_kind(TaskGraph& graph, TaskKind kind) {
  graph.kinds.push_back(std::move(kind));
  return static_cast<uint32_t>(graph.kinds.size()) - 1;
}

constexpr BusModel kModels[] = {BusModel::fluid, BusModel::burst};

// (C5) One transfer takes its bytes over the narrowest bus, not the sum of all.
TEST(Simulate, OneTransferIsCutThrough) {
  for (BusModel model : kModels)
    for (uint64_t bytes : {1u, 31u, 32u, 33u, 4096u, 5000u}) {
      Machine machine = small_machine(64, 32);
      TaskGraph graph;
      graph.add(add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[1]", bytes)), {});
      EXPECT_EQ(run(machine, graph, {model}).ticks, (bytes + 31) / 32) << bytes;
    }
}

TEST(Simulate, LatenciesOfUnitBusesAndMemoryComeFirst) {
  HardwareModel model = small_model(64, 32);
  model.transfers[0].latency_cycles = 7;
  model.buses[0].latency_cycles = 5;
  model.buses[1].latency_cycles = 3;
  model.memories[0].latency_cycles = 11;  // DRAM
  Machine machine = Machine::make(model).value();
  TaskGraph graph;
  graph.add(add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[1]", 320)), {});
  EXPECT_EQ(run(machine, graph).ticks, 7u + 5 + 3 + 11 + 10);
}

// (C6) Two equal transfers share: both end when the last would have ended one after the other.
TEST(Simulate, EqualTransfersShareABusFairly) {
  for (BusModel model : kModels) {
    Machine machine = small_machine(64, 32);
    TaskGraph graph;
    const uint32_t kind = add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[0]", 64 * 256));
    graph.add(kind, {});
    graph.add(kind, {});
    const Timeline timeline = run(machine, graph, {model});
    EXPECT_EQ(timeline.ticks, 2u * 64 * 256 / 32);
    if (model == BusModel::fluid)
      EXPECT_EQ(timeline.tasks[0].end, timeline.tasks[1].end);
    else
      EXPECT_EQ(timeline.tasks[0].end, timeline.tasks[1].end - 8);  // the last burst is the other's
  }
}

TEST(Simulate, BothWaysAtOnceUnlessTheUnitIsHalfDuplex) {
  for (bool half : {false, true}) {
    HardwareModel model = small_model(64, 32);
    model.transfers[0].half_duplex = half;
    model.transfers[0].count = 1;
    for (Bus& bus : model.buses)
      for (auto* ends : {&bus.sources, &bus.sinks})
        std::erase_if(*ends, [](const UnitInstance& end) { return end == UnitInstance{"DMA", 1}; });
    Machine machine = Machine::make(model).value();
    TaskGraph graph;
    graph.add(add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[0]", 3200)), {});
    graph.add(add_kind(graph, transfer(machine, "SRAM[1]", "DRAM[0]", 3200)), {});
    EXPECT_EQ(run(machine, graph).ticks, half ? 200u : 100u);
  }
}

// (C9) n tiles, load L, compute C, store S, several buffers, buses of their own: L + C + S + (n -
// 1) times the longest; with one buffer n (L + C + S).
TaskGraph tiles(Machine& machine, int n, uint64_t l, uint64_t c, uint64_t s, int depth) {
  TaskGraph graph;
  const uint32_t load = add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[0]", l * 32, 0));
  const uint32_t compute = add_kind(graph, operation(machine, "CONV", c, 0));
  const uint32_t store = add_kind(graph, transfer(machine, "SRAM[0]", "DRAM[0]", s * 32, 0));
  std::vector<uint32_t> ends;
  for (int i = 0; i < n; ++i) {
    const uint32_t slot = i >= depth ? ends[static_cast<size_t>(i - depth)] : kNoTask;
    uint32_t task =
        graph.add(load, slot == kNoTask ? std::vector<uint32_t>{} : std::vector{slot}, slot);
    task = graph.add(compute, {task});
    ends.push_back(graph.add(store, {task}));
  }
  return graph;
}

TEST(Simulate, DoubleBufferingComesFromTheDepthOfThePipeline) {
  for (BusModel model : kModels) {
    Machine machine = small_machine();
    EXPECT_EQ(run(machine, tiles(machine, 10, 100, 80, 30, 100), {model}).ticks, 1110u);
    EXPECT_EQ(run(machine, tiles(machine, 10, 100, 80, 30, 1), {model}).ticks, 10u * 210);
    // Two at once: the third may be loaded when the first has been stored.
    EXPECT_EQ(run(machine, tiles(machine, 10, 100, 80, 30, 2), {model}).ticks, 5u * 210 + 100);
    EXPECT_EQ(run(machine, tiles(machine, 3, 100, 150, 30, 2), {model}).ticks, 100u + 3 * 150 + 30);
  }
}

// (C2) An instance that is free takes the ready task of the lowest number; a number in a location
// is kept.
TEST(Simulate, InstancesTakeReadyTasksInOrder) {
  Machine machine = small_machine();
  TaskGraph graph;
  const uint32_t any = add_kind(graph, operation(machine, "CONV", 10));
  const uint32_t second = add_kind(graph, operation(machine, "CONV", 25, 1));
  graph.add(any, {});
  graph.add(second, {});
  graph.add(any, {});
  graph.add(any, {});
  const Timeline timeline = run(machine, graph);
  const std::vector<TaskRecord> all = timeline.all();
  std::vector<uint64_t> starts;
  for (const TaskRecord& task : all) starts.push_back(task.start);
  EXPECT_THAT(starts, testing::ElementsAre(0, 0, 10, 20));
  EXPECT_EQ(all[3].instance, all[0].instance);
  EXPECT_NE(all[1].instance, all[0].instance);
  EXPECT_EQ(timeline.events, 8u);
}

// (C7) Two operations that read one port: their times add; of two ports: the longer one.
TEST(Simulate, OperationsShareThePortsOfAMemory) {
  for (BusModel model : kModels) {
    HardwareModel hw = small_model();
    for (MemoryUnit& memory : hw.memories)
      if (memory.name == "SRAM") memory.read_bytes_per_cycle = 16;
    Machine machine = Machine::make(hw).value();
    const auto port = [&](int64_t i) {
      return static_cast<uint32_t>(machine.ports({"SRAM", i}).of(PortUse::first));
    };
    for (int64_t other : {0, 1}) {
      TaskGraph graph;
      TaskKind a = operation(machine, "CONV", 50), b = operation(machine, "DSP", 50);
      a.flows = {{{port(0)}, 16 * 640}};
      b.flows = {{{port(other)}, 16 * 640}};
      graph.add(add_kind(graph, a), {});
      graph.add(add_kind(graph, b), {});
      EXPECT_EQ(run(machine, graph, {model}).ticks, other == 0 ? 1280u : 640u);
      TaskGraph light;  // less than the computing takes
      a.flows[0].bytes = 16 * 20;
      light.add(add_kind(light, a), {});
      EXPECT_EQ(run(machine, light, {model}).ticks, 50u);
    }
  }
}

// (C1)
TEST(Simulate, ClocksOfTheirOwn) {
  HardwareModel model = small_model();
  for (ExecutionUnit& unit : model.executors)
    if (unit.name == "CONV") unit.clock_mhz = 600;  // with 1000: 3000 MHz, 3 and 5 ticks
  Machine machine = Machine::make(model).value();
  EXPECT_EQ(machine.ticks_per_cycle(), 3u);
  EXPECT_EQ(machine.groups()[machine.execution_group("CONV").value()].ticks_per_cycle, 5u);
  EXPECT_DOUBLE_EQ(machine.seconds(3000), 1e-6);
  TaskGraph graph;
  graph.add(add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[0]", 320)), {});
  EXPECT_EQ(machine.cycles(run(machine, graph).ticks), 10u);
  model.executors[0].clock_mhz = 999.999;
  model.executors[1].clock_mhz = 1000.001;
  EXPECT_THAT(Machine::make(model).status().to_string(), HasSubstr("no common time base"));
}

TEST(Machine, SaysWhichWayIsMissingOrNotClear) {
  HardwareModel model = small_model();
  model.buses.pop_back();  // DMA to DRAM
  Machine machine = Machine::make(model).value();
  EXPECT_THAT(
      machine.route({"SRAM", 0}, "DMA", -1, {{"DRAM", 0}}).status().to_string(),
      HasSubstr("from 'SRAM[0]' to 'DRAM[0]' over 'DMA[0]': the hardware model has no way over "
                "buses from 'DMA[0]' to 'DRAM[0]'"));
  model = small_model();
  model.buses.push_back(model.buses[0]);
  EXPECT_THAT(
      Machine::make(model)->route({"DRAM", 0}, "DMA", -1, {{"SRAM", 0}}).status().to_string(),
      HasSubstr("2 ways of 1 bus from 'DRAM[0]' to 'DMA[0]'"));
  model = small_model();
  model.buses[0].bytes_per_cycle = 0;
  EXPECT_THAT(
      Machine::make(model)->route({"DRAM", 0}, "DMA", -1, {{"SRAM", 0}}).status().to_string(),
      HasSubstr("the bus from 'DRAM[0]' to 'DMA[0]' carries 0 bytes per cycle"));
  EXPECT_THAT(Machine::make(small_model())->execution_group("CONVV").status().to_string(),
              HasSubstr("did you mean 'CONV'"));
}

// A bus to several memories carries what they all get once.
TEST(Machine, ABusCarriesToSeveralSinksOnce) {
  Machine machine = small_machine(64, 32);
  auto route = machine.route({"DRAM", 0}, "DMA", 0, {{"SRAM", 0}, {"SRAM", 1}});
  ASSERT_TRUE(route.ok());
  EXPECT_EQ(route->ways[0].channels.size(), 2u);
}

// --- random graphs

struct RandomCase {
  Machine machine;
  TaskGraph graph;
};

// Two clocks or one, engines of one or both ways, ports, transfers to one memory or both,
// operations whose operands lie in a scratchpad or in global memory; with `loops` also loops of
// loops.
class RandomGraph {
 public:
  RandomGraph(uint32_t seed, uint64_t least_bytes, uint64_t most_bytes)
      : random_(seed),
        least_bytes_(least_bytes),
        most_bytes_(most_bytes),
        made_{Machine::make(model()).value(), {}} {
    for (int k = 0; k < 6; ++k) made_.graph.kinds.push_back(kind());
  }

  RandomCase take(bool loops) {
    const size_t count = pick(5, 24);
    for (size_t t = 0; t < count; ++t) {
      if (loops && pick(0, 4) == 0)
        made_.graph.add_loop(loop(1), waits(made_.graph));
      else
        made_.graph.add(any_kind(), waits(made_.graph));
    }
    return std::move(made_);
  }

 private:
  uint64_t pick(uint64_t low, uint64_t high) { return low + random_() % (high - low + 1); }
  double width() {
    const double widths[] = {8, 16, 32, 48, 64};
    return widths[pick(0, 4)];
  }
  uint32_t any_kind() { return static_cast<uint32_t>(pick(0, made_.graph.kinds.size() - 1)); }

  HardwareModel model() {
    const double wide = width();
    HardwareModel out = small_model(wide, width());
    for (MemoryUnit& memory : out.memories)
      if (memory.name == "SRAM" && pick(0, 1)) {
        memory.read_bytes_per_cycle = width();
        memory.write_bytes_per_cycle = width();
      }
    if (pick(0, 2) == 0) out.executors[0].clock_mhz = 750;
    if (pick(0, 2) == 0) out.buses[1].clock_mhz = 500;
    out.transfers[0].latency_cycles = static_cast<double>(pick(0, 3));
    out.transfers[0].half_duplex = pick(0, 3) == 0;
    return out;
  }

  TaskKind kind() {
    Machine& machine = made_.machine;
    TaskKind out;
    const auto sram = static_cast<int64_t>(pick(0, 1));
    const std::string name = fmt::format("SRAM[{}]", sram);
    const uint64_t bytes = pick(least_bytes_, most_bytes_), ticks = machine.ticks_per_cycle();
    switch (pick(0, 4)) {
      case 0: out = transfer(machine, "DRAM[0]", name, bytes, pick(0, 2) ? -1 : 1); break;
      case 1: out = transfer(machine, name, "DRAM[0]", bytes); break;
      case 2: {
        out = transfer(machine, "DRAM[0]", "SRAM[0]", bytes);
        out.route = machine.route({"DRAM", 0}, "DMA", -1, {{"SRAM", 0}, {"SRAM", 1}}).value();
        break;
      }
      case 3: out = operation(machine, "CONV", ticks * pick(0, 60)); break;
      default:
        out = operation(machine, "DSP", ticks * pick(1, 90), static_cast<int32_t>(pick(0, 1)));
    }
    if (out.work != TaskKind::Work::operation) return out;
    out.overhead_ticks = pick(0, 4);
    const int32_t port = machine.ports({"SRAM", sram}).of(PortUse::first);
    if (port >= 0 && pick(0, 1)) out.flows.push_back({{static_cast<uint32_t>(port)}, bytes});
    if (pick(0, 3) == 0)
      out.flows.push_back({machine.global_channels({"DRAM", 0}, pick(0, 1) == 0).value(),
                           pick(least_bytes_, most_bytes_)});
    return out;
  }

  std::vector<uint32_t> waits(const TaskGraph& graph) {
    std::vector<uint32_t> out;
    for (size_t w = pick(0, 2); w > 0 && graph.size() > 0; --w) {
      const auto before = static_cast<uint32_t>(pick(0, graph.size() - 1));
      if (std::find(out.begin(), out.end(), before) == out.end()) out.push_back(before);
    }
    return out;
  }

  Loop loop(int deep) {
    TaskGraph body;
    for (uint64_t n = pick(1, 4); n > 0; --n)
      if (deep > 0 && pick(0, 4) == 0)
        body.add_loop(loop(deep - 1), waits(body));
      else
        body.add(any_kind(), waits(body));
    Loop out;
    out.points = pick(2, 12);
    out.depth = pick(0, 3) == 0 ? out.points : pick(1, 4);
    if (pick(0, 2) == 0) {
      const auto node = static_cast<uint32_t>(pick(0, body.size() - 1));
      out.carried.push_back({node, static_cast<uint32_t>(pick(node, body.size() - 1))});
    }
    out.body = std::make_shared<const TaskGraph>(std::move(body));
    return out;
  }

  std::mt19937 random_;
  const uint64_t least_bytes_, most_bytes_;
  RandomCase made_;
};

RandomCase random_case(uint32_t seed, uint64_t least_bytes, uint64_t most_bytes,
                       bool loops = false) {
  return RandomGraph(seed, least_bytes, most_bytes).take(loops);
}

// Tasks of each instance in the order in which it takes them.
std::map<uint32_t, std::vector<uint64_t>> orders(const Timeline& timeline) {
  std::vector<TaskRecord> all = timeline.all();
  std::sort(all.begin(), all.end(), [](const TaskRecord& a, const TaskRecord& b) {
    return std::pair(a.end, a.start) < std::pair(b.end, b.start);
  });
  std::map<uint32_t, std::vector<uint64_t>> out;
  for (const TaskRecord& task : all)
    if (task.end > task.start) out[task.instance].push_back(task.number);
  return out;
}

// Ends are rounded up to ticks where flows end; the fluid rates then differ from those of the
// oracle, which gives what is left of a tick to others: a tick for each end on the way. Where that
// changes who comes first at an instance, what follows is another schedule.
TEST(Simulate, AgreesWithTheCycleOracle) {
  int exact = 0, same_order = 0, cases = 0;
  double worst = 0;
  for (const bool loops : {false, true})
    for (uint32_t seed = 1; seed <= (loops ? 100 : 600); ++seed) {
      const RandomCase made = random_case(seed, 0, 3000, loops);
      const uint64_t tasks = numbers_of(made.graph).value();
      if (tasks > 400) continue;
      ++cases;
      const Timeline fast = run(made.machine, made.graph);
      auto slow = simulate_by_cycles(made.machine, made.graph);
      ASSERT_TRUE(slow.ok()) << slow.status().to_string();
      const Status status = check_timeline(made.machine, made.graph, *slow);
      ASSERT_TRUE(status.ok()) << seed << ": " << status.to_string();
      exact += fast.all() == slow->all();
      const double off =
          std::abs(static_cast<double>(fast.ticks) - static_cast<double>(slow->ticks));
      if (orders(fast) != orders(*slow)) continue;
      ++same_order;
      worst = std::max(worst, off / static_cast<double>(tasks));
      EXPECT_LE(off, static_cast<double>(tasks)) << seed << (loops ? " with loops" : "");
    }
  std::printf(
      "%d graphs: %d the same at every task, %d in the same order, those %.2f ticks a task "
      "apart\n",
      cases, exact, same_order, worst);
  EXPECT_GE(cases, 600);
  EXPECT_GE(exact, cases / 3);
  EXPECT_GE(same_order, cases * 95 / 100);
}

// (C6) Over transfers of 64 bursts and more the two models of buses differ by less than 2%: they
// run the same schedule. One that follows from each model's own times would be another one as soon
// as a last burst comes a tick before or after its share of a fluid bus, and as much longer as
// tasks are.
TEST(Simulate, FluidAndBurstBusesAgree) {
  double worst = 0;
  size_t cases = 0;
  for (const bool loops : {false, true})
    for (uint32_t seed = 1; seed <= (loops ? 1000 : 3000); ++seed) {
      const RandomCase made = random_case(seed, 64 * 256, 64 * 1024, loops);
      const Timeline fluid = run(made.machine, made.graph);
      const Timeline burst = run(made.machine, made.graph, {BusModel::burst, 256});
      ASSERT_EQ(orders(fluid), orders(burst)) << seed << (loops ? " with loops" : "");
      const double off =
          std::abs(static_cast<double>(fluid.ticks) - static_cast<double>(burst.ticks)) /
          std::max(1.0, static_cast<double>(fluid.ticks));
      EXPECT_LE(off, 0.02) << seed << (loops ? " with loops" : "");
      worst = std::max(worst, off);
      ++cases;
    }
  std::printf("fluid against burst: %zu graphs, at most %.2f%% apart\n", cases, 100 * worst);
}

TEST(Simulate, TheSameGraphHasTheSameTimes) {
  const RandomCase made = random_case(5, 0, 5000);
  EXPECT_EQ(run(made.machine, made.graph).all(), run(made.machine, made.graph).all());
}

// --- where time goes

TEST(UnitTimes, EachTickHasOneReason) {
  Machine machine = small_machine(64, 32);
  const TaskGraph graph = tiles(machine, 3, 100, 150, 30, 2);
  const Timeline timeline = run(machine, graph);
  const auto times = unit_times(machine, graph, timeline);
  const Group& conv = machine.groups()[machine.execution_group("CONV").value()];
  const InstanceTimes& first = times[conv.first];
  EXPECT_EQ(first[Spent::compute], 450u);
  EXPECT_EQ(first[Spent::data], 100u);
  EXPECT_EQ(first[Spent::no_work], 30u);
  EXPECT_EQ(times[conv.first + 1][Spent::no_work], timeline.ticks);
  for (const InstanceTimes& of : times) EXPECT_EQ(of.total(), timeline.ticks);
}

TEST(UnitTimes, OthersOnTheBusAreContention) {
  Machine machine = small_machine(64, 32);
  TaskGraph graph;
  const uint32_t kind = add_kind(graph, transfer(machine, "DRAM[0]", "SRAM[0]", 3200));
  graph.add(kind, {});
  graph.add(kind, {});
  const auto times = unit_times(machine, graph, run(machine, graph));
  const Group& dma = machine.groups()[graph.kinds[kind].group];
  EXPECT_EQ(times[dma.first][Spent::moving], 100u);
  EXPECT_EQ(times[dma.first][Spent::contention], 100u);
}

// Legal at the tick, illegal one before.
TEST(CheckTimeline, FindsWhatIsOneTickTooEarly) {
  Machine machine = small_machine();
  const TaskGraph graph = tiles(machine, 3, 100, 80, 30, 1);
  const Timeline right = run(machine, graph);
  const auto check = [&](Timeline wrong) {
    return check_timeline(machine, graph, wrong).to_string();
  };
  Timeline wrong = right;
  --wrong.tasks[1].start;
  EXPECT_THAT(check(wrong), HasSubstr("which it waits for ends at 100"));
  wrong = right;
  --wrong.tasks[0].end;
  EXPECT_THAT(check(wrong), HasSubstr("takes 99 ticks, 100 is the least"));
  wrong = right;
  --wrong.ticks;
  EXPECT_THAT(check(wrong), HasSubstr("the longest chain takes 630"));
  wrong = right;
  wrong.ticks = wrong.tasks[8].end = 100'000;
  EXPECT_THAT(check(wrong), HasSubstr("one after another it is 630"));
  wrong = right;
  wrong.tasks.pop_back();
  EXPECT_THAT(check(wrong), HasSubstr("is there 3 times and runs 2 times"));
  wrong = right;
  wrong.tasks[3].start -= 200;
  wrong.tasks[3].end -= 200;
  EXPECT_THAT(check(wrong), HasSubstr("before it ends one at 100"));
}

}  // namespace
}  // namespace stria::sim
