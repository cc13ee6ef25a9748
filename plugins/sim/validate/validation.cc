// SPDX-License-Identifier: Apache-2.0
#include "validate/validation.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/simulate.h"
#include "program/part_simulation.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/text/parser.h"
#include "validate/dataflow_cases.h"
#include "validate/mapped_convolutions.h"
#include "validate/memory_cases.h"
#include "validate/slides_convolution.h"
#include "validate/systolic_cases.h"

namespace stria::sim {
namespace {

constexpr const char* kScaleSim = "SCALE-Sim v3, golden compute report";
constexpr const char* kClosed = "closed form";
constexpr const char* kTimeloop = "Timeloop and Accelergy, ISPASS 2020 exercises";

class Cases {
 public:
  Cases(const SourceText& slides, const MapProgram& map) : slides_(slides), map_(map) {}

  Result<std::vector<ValidationCase>> run() {
    STRIA_RETURN_IF_ERROR(add_all(systolic_cases(map_)));
    STRIA_RETURN_IF_ERROR(add_all(dataflow_cases()));
    STRIA_RETURN_IF_ERROR(layer());
    STRIA_RETURN_IF_ERROR(convolution());
    STRIA_RETURN_IF_ERROR(mapped());
    STRIA_RETURN_IF_ERROR(buses());
    STRIA_RETURN_IF_ERROR(overlaps());
    STRIA_RETURN_IF_ERROR(rooflines());
    STRIA_RETURN_IF_ERROR(add_all(memory_cases()));
    return std::move(out_);
  }

 private:
  Status add_all(Result<std::vector<ValidationCase>> cases) {
    if (!cases.ok()) return cases.status();
    std::move(cases->begin(), cases->end(), std::back_inserter(out_));
    return {};
  }
  void add(std::string name, const char* source, double expected, double ours,
           double within_percent = 0) {
    out_.push_back({std::move(name), source, expected, ours, within_percent});
  }

  // The slides' layer as a program, which the pipeline maps anew for each number of units: its time
  // is near the machine's bound, of operations or of the bus.
  Status layer() {
    constexpr const char* kLayer =
        "function (I[H, W, C], K[KH, KW, C, O]) -> (R) {\n"
        "  R[y, x, o : H, W, O] = +(I[y + i - 1, x + j - 1, c] * K[i, j, c, o]);\n}";
    constexpr double kMacs = 19'327'352'832.0, kWritten = 512.0 * 512 * 128 * 4, kBus = 64;
    constexpr double kWithin = 5;
    for (int convs : {1, 2, 4, 16, 36}) {
      STRIA_ASSIGN(const HardwareModel model,
                   load_hardware_model(slides_, {{"NUM_CONV", std::to_string(convs)}}));
      STRIA_ASSIGN(
          const stripe::Program program,
          map_(kLayer, {{"I", DataType::i8, {512, 512, 64}}, {"K", DataType::i8, {3, 3, 64, 128}}},
               model));
      STRIA_ASSIGN(const PartSimulation run, simulate_part(program, *program.main(), model));
      add(fmt::format("a layer of 512x512x64 to 128, 3x3, mapped to {} CONV", convs), kClosed,
          std::max(std::ceil(kMacs / 512 / convs), kWritten / kBus),
          static_cast<double>(run.ticks()), kWithin);
    }
    return {};
  }

  Status convolution() {
    STRIA_ASSIGN(const stripe::Program program,
                 stripe::parse({"slides convolution", kSlidesConvolution}));
    const auto simulated = [&](int convs, Fidelity fidelity, bool half,
                               int mhz = 1000) -> Result<PartSimulation> {
      STRIA_ASSIGN(HardwareModel model,
                   load_hardware_model(slides_, {{"NUM_CONV", std::to_string(convs)},
                                                 {"SRAM_SIZE_KIB", "65536"},
                                                 {"CLOCK_MHZ", std::to_string(mhz)}}));
      for (TransferUnit& unit : model.transfers) unit.half_duplex = half;
      return simulate_part(program, *program.main(), model, {fidelity, {}});
    };
    const auto ticks = [&](int convs, Fidelity fidelity, bool half) -> Result<double> {
      STRIA_ASSIGN(const PartSimulation run, simulated(convs, fidelity, half));
      return static_cast<double>(run.ticks());
    };
    constexpr double kMacs = 19'327'352'832.0, kWrite = 1'048'576, kRead = 524'576;
    for (int convs : {1, 35, 36, 37}) {
      STRIA_ASSIGN(const double bound, ticks(convs, Fidelity::roofline, false));
      add(fmt::format("slides' convolution, {} CONV, bound", convs), kClosed,
          std::max(std::ceil(kMacs / 512 / convs), kWrite), bound);
    }
    STRIA_ASSIGN(const double half, ticks(48, Fidelity::roofline, true));
    add("slides' convolution, half-duplex DMA, bound", kClosed, kRead + kWrite, half);
    STRIA_ASSIGN(const double event, ticks(1, Fidelity::event, false));
    add("slides' convolution, 1 CONV, events", kClosed, kRead + kMacs / 512 + kWrite / 1024, event);
    STRIA_ASSIGN(const PartSimulation fast, simulated(1, Fidelity::event, false, 2000));
    add("slides' convolution at twice the clock, cycles", kClosed, event,
        static_cast<double>(fast.ticks()));
    add("slides' convolution at twice the clock, nanoseconds", kClosed, event / 2,
        std::round(fast.machine.seconds(fast.ticks()) * 1e9));
    return {};
  }

  // Convolutions with their mappings: accesses and energy.
  Status mapped() {
    struct Case {
      const char* name;
      const char* stripe;
      const char* words;  // of MAIN
      const char* register_source;
      double macs, registers, read, written, femtojoules;
    };
    // The exercises count words of 8 bytes over a whole run. In the first one C10 counts the same
    // for each transfer. In the second one tiles share words, so MAIN is priced by bytes there.
    const Case cases[] = {{"convolution of 3 by 16", kConvolution, "\"bank_bytes\": 8,", kTimeloop,
                           48, 197, 3 + 18, 16, 7500.08},
                          {"convolution of 3 by 16 by 32, tiled", kTiledConvolution, "", kClosed,
                           1536, 2 * 1536 + 96 + 288 + 1024 + 1536, 96 + 288, 512, 5162.30}};
    for (const Case& one : cases) {
      STRIA_ASSIGN(const HardwareModel model,
                   load_hardware_model({"mapped.json", fmt::format(kMappedMachine, one.words)}));
      STRIA_ASSIGN(const stripe::Program program, stripe::parse({one.name, one.stripe}));
      STRIA_ASSIGN(const PartSimulation run, simulate_part(program, *program.main(), model));
      double busy = 0, registers = 0, read = 0, written = 0, pj = 0;
      for (size_t k = 0; k < run.lowered.tasks.size(); ++k) {
        const KindCounts& counts = run.lowered.counts[k];
        const double times = run.lowered.tasks[k];
        const TaskKind& kind = run.lowered.graph.kinds[k];
        const bool operation = kind.work == TaskKind::Work::operation;
        pj += times * (counts.pj_operations + counts.pj_memories + counts.pj_moving);
        if (kind.work == TaskKind::Work::transfer)
          (counts.memories.at("MAIN[0]").reads > 0 ? read : written) +=
              times * static_cast<double>(kind.bytes);
        for (const auto& [name, memory] : counts.memories) {
          if (name == "MAIN[0]") continue;
          registers += times * (memory.written_bytes + (operation ? memory.read_bytes : 0));
          // The exercises do not count the reads of results for copy-out.
          if (!operation)
            pj -= times * memory.read_bytes * model.find_memory("RF")->read_pj_per_byte;
        }
      }
      for (const KindTimes& kind : run.kinds)
        if (run.lowered.graph.kinds[kind.kind].work == TaskKind::Work::operation)
          busy += static_cast<double>(kind.ticks);
      // Their time is that of the busiest unit. A milliwatt is a picojoule in a tick of 1 GHz.
      for (const MemoryUnit& memory : model.memories) pj += memory.leakage_mw * busy;
      const std::string name = one.name;
      add(name + ", cycles of the MAC", kTimeloop, one.macs, busy);
      add(name + ", register accesses (drain free)", one.register_source, one.registers, registers);
      add(name + ", bytes from main memory", kTimeloop, one.read, read);
      add(name + ", bytes to main memory", kTimeloop, one.written, written);
      add(name + ", fJ of a MAC (drain free)", kTimeloop, one.femtojoules, 1000 * pj / one.macs,
          0.1);
    }
    return {};
  }

  // A bus of 64 bytes leads to two DMA engines, one of 32 from them to two memories, and back.
  Status buses() {
    STRIA_ASSIGN(const HardwareModel model, load_hardware_model({"validation.json", R"({
      "clock_mhz": 1000,
      "mem_units": {"DRAM": {}, "SRAM": {"count": 2, "read_bytes_per_cycle": 16}},
      "exec_units": {"CONV": {"count": 2, "ops_per_cycle": 1}},
      "tx_units": {"DMA": {"count": 2}},
      "buses": [
        {"sources": ["DRAM[0]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": 64},
        {"sources": ["DMA[0]", "DMA[1]"], "sinks": ["SRAM[0]", "SRAM[1]"], "bytes_per_cycle": 32},
        {"sources": ["SRAM[0]", "SRAM[1]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": 32},
        {"sources": ["DMA[0]", "DMA[1]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 64}]})"}));
    for (BusModel buses : {BusModel::fluid, BusModel::burst}) {
      STRIA_ASSIGN(Machine machine, Machine::make(model));
      const char* name = buses == BusModel::fluid ? "fluid" : "burst";
      const auto moving = [&](const UnitInstance& from, const UnitInstance& to,
                              uint64_t bytes) -> Result<TaskKind> {
        TaskKind kind;
        kind.work = TaskKind::Work::transfer;
        STRIA_ASSIGN(kind.route, machine.route(from, "DMA", -1, {to}));
        kind.group = kind.route.group;
        kind.instance = kind.route.instance;
        kind.bytes = bytes;
        return kind;
      };
      const auto ticks = [&](const TaskGraph& graph) -> Result<double> {
        STRIA_ASSIGN(const Timeline timeline, simulate(machine, graph, {buses, 256}));
        return static_cast<double>(timeline.ticks);
      };
      const UnitInstance dram{"DRAM", 0}, sram{"SRAM", 0};
      TaskGraph one, two, ports;
      STRIA_ASSIGN(TaskKind kind, moving(dram, sram, 64 * 1024));
      one.kinds = {kind};
      one.add(0, {});
      STRIA_ASSIGN(double ours, ticks(one));
      add(fmt::format("a transfer over buses of 64 and 32, {}", name), kClosed, 64 * 1024 / 32,
          ours);
      two.kinds = {kind};
      two.add(0, {});
      two.add(0, {});
      STRIA_ASSIGN(ours, ticks(two));
      add(fmt::format("two equal transfers on one bus, {}", name), kClosed, 2 * 64 * 1024 / 32,
          ours);
      // To two memories at once: over the bus once.
      {
        TaskGraph both;
        both.kinds = {kind};
        STRIA_ASSIGN(both.kinds[0].route,
                     machine.route(dram, "DMA", -1, {sram, UnitInstance{"SRAM", 1}}));
        both.add(0, {});
        STRIA_ASSIGN(ours, ticks(both));
        add(fmt::format("a transfer to two memories, {}", name), kClosed, 64 * 1024 / 32, ours);
      }
      // Two tensors are copied in and one out, over an engine that does one thing at a time.
      {
        HardwareModel half = model;
        for (TransferUnit& unit : half.transfers) unit.half_duplex = true;
        STRIA_ASSIGN(Machine one_way, Machine::make(half));
        TaskGraph sum;
        const uint64_t bytes = 4096;
        const auto by_first = [&](const UnitInstance& from, const UnitInstance& to) -> Status {
          TaskKind moved;
          moved.work = TaskKind::Work::transfer;
          STRIA_ASSIGN(moved.route, one_way.route(from, "DMA", 0, {to}));
          moved.group = moved.route.group;
          moved.instance = moved.route.instance;
          moved.bytes = bytes;
          sum.kinds.push_back(std::move(moved));
          return {};
        };
        STRIA_RETURN_IF_ERROR(by_first(dram, sram));
        STRIA_RETURN_IF_ERROR(by_first(dram, sram));
        STRIA_RETURN_IF_ERROR(by_first(UnitInstance{"SRAM", 1}, dram));
        for (uint32_t t = 0; t < 3; ++t) sum.add(t, {});
        STRIA_ASSIGN(const Timeline timeline, simulate(one_way, sum, {buses, 256}));
        // 32 bytes in a cycle go in, 16 out of the memory's port.
        add(fmt::format("an element-wise sum, half duplex, {}", name), kClosed,
            2 * 4096 / 32 + 4096 / 16, static_cast<double>(timeline.ticks));
      }
      STRIA_ASSIGN(const uint32_t conv, machine.execution_group("CONV"));
      for (int64_t bank : {0, 1}) {
        ports.kinds.clear();
        TaskGraph reads;
        for (int64_t memory : {int64_t{0}, bank}) {
          TaskKind operation;
          operation.work = TaskKind::Work::operation;
          operation.group = conv;
          operation.compute_ticks = 10;
          operation.flows = {
              {{static_cast<uint32_t>(machine.ports({"SRAM", memory}).of(PortUse::first))},
               16 * 512}};
          reads.kinds.push_back(std::move(operation));
          reads.add(static_cast<uint32_t>(reads.kinds.size()) - 1, {});
        }
        STRIA_ASSIGN(ours, ticks(reads));
        add(fmt::format("two readers of {}, {}", bank == 0 ? "one memory" : "two memories", name),
            kClosed, bank == 0 ? 1024 : 512, ours);
      }
      // Load 100, compute 80, store 30 (the memory's port is narrower than the bus), ten tiles.
      STRIA_ASSIGN(const TaskKind load, moving(dram, sram, 3200));
      STRIA_ASSIGN(const TaskKind store, moving({"SRAM", 1}, dram, 480));
      TaskKind compute;
      compute.work = TaskKind::Work::operation;
      compute.group = conv;
      compute.instance = 0;
      compute.compute_ticks = 80;
      for (int depth : {100, 1}) {
        TaskGraph tiles;
        tiles.kinds = {load, compute, store};
        // One engine each way.
        tiles.kinds[0].instance = tiles.kinds[2].instance = 0;
        std::vector<uint32_t> ends;
        for (int i = 0; i < 10; ++i) {
          const uint32_t slot = i >= depth ? ends[static_cast<size_t>(i - depth)] : kNoTask;
          uint32_t task =
              tiles.add(0, slot == kNoTask ? std::vector<uint32_t>{} : std::vector{slot}, slot);
          task = tiles.add(1, {task});
          ends.push_back(tiles.add(2, {task}));
        }
        STRIA_ASSIGN(ours, ticks(tiles));
        add(fmt::format("ten tiles, {}, {}", depth == 1 ? "one buffer" : "many buffers", name),
            kClosed, depth == 1 ? 10 * 210 : 1110, ours);
      }
    }
    return {};
  }

  // A memory that a unit reads over a port of so many bytes in a cycle, beside DMA engines that
  // load 100 cycles for a tile and store 30.
  static Result<Machine> machine_of(int port, const char* duplex) {
    STRIA_ASSIGN(const HardwareModel model,
                 load_hardware_model({"validation.json", fmt::format(R"({{
      "clock_mhz": 1000,
      "mem_units": {{"DRAM": {{}}, "SRAM": {{"count": 2, "read_bytes_per_cycle": {}}}}},
      "exec_units": {{"CONV": {{"ops_per_cycle": 1}}}},
      "tx_units": {{"DMA": {{"duplex": "{}"}}}},
      "buses": [
        {{"sources": ["DRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 32}},
        {{"sources": ["DMA[0]"], "sinks": ["SRAM[0]", "SRAM[1]"], "bytes_per_cycle": 32}},
        {{"sources": ["SRAM[0]", "SRAM[1]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 32}},
        {{"sources": ["DMA[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 32}}]}})",
                                                                     port, duplex)}));
    return Machine::make(model);
  }

  // Load 100, compute 80, store 30. A buffer that the next tile comes into as soon as this one has
  // been computed; and loads and stores that share an engine.
  Status overlaps() {
    const auto tiles = [](int count, const char* duplex, bool one_buffer) -> Result<double> {
      STRIA_ASSIGN(Machine machine, machine_of(32, duplex));
      TaskGraph graph;
      graph.kinds.resize(3);
      TaskKind &load = graph.kinds[0], &compute = graph.kinds[1], &store = graph.kinds[2];
      load.work = store.work = TaskKind::Work::transfer;
      STRIA_ASSIGN(load.route, machine.route({"DRAM", 0}, "DMA", -1, {{"SRAM", 0}}));
      STRIA_ASSIGN(store.route, machine.route({"SRAM", 1}, "DMA", -1, {{"DRAM", 0}}));
      load.group = load.route.group;
      store.group = store.route.group;
      load.bytes = 3200;
      store.bytes = 960;
      compute.work = TaskKind::Work::operation;
      STRIA_ASSIGN(compute.group, machine.execution_group("CONV"));
      compute.compute_ticks = 80;
      uint32_t computed = kNoTask;
      for (int tile = 0; tile < count; ++tile) {
        const bool waits = one_buffer && computed != kNoTask;
        const uint32_t loaded = graph.add(
            0, waits ? std::vector{computed} : std::vector<uint32_t>{}, waits ? computed : kNoTask);
        computed = graph.add(1, {loaded});
        graph.add(2, {computed});
      }
      STRIA_ASSIGN(const Timeline timeline, simulate(machine, graph));
      return static_cast<double>(timeline.ticks);
    };
    STRIA_ASSIGN(const double ten, tiles(10, "full", true));
    add("ten tiles, one buffer for what comes", kClosed, 10 * (100 + 80) + 30, ten);
    STRIA_ASSIGN(const double few, tiles(10, "half", false));
    STRIA_ASSIGN(const double more, tiles(20, "half", false));
    add("ten tiles more, one engine for both ways", kClosed, 10 * (100 + 30), more - few);
    return {};
  }

  // What an operation attains: no more than the unit can do, and no more than its operands allow.
  Status rooflines() {
    const auto ticks = [](int port, double cycles, uint64_t bytes) -> Result<double> {
      STRIA_ASSIGN(const Machine machine, machine_of(port, "full"));
      TaskGraph graph;
      TaskKind operation;
      operation.work = TaskKind::Work::operation;
      STRIA_ASSIGN(operation.group, machine.execution_group("CONV"));
      operation.compute_ticks = static_cast<uint64_t>(cycles);
      operation.flows = {
          {{static_cast<uint32_t>(machine.ports({"SRAM", 0}).of(PortUse::first))}, bytes}};
      graph.kinds = {operation};
      graph.add(0, {});
      STRIA_ASSIGN(const Timeline timeline, simulate(machine, graph));
      return static_cast<double>(timeline.ticks);
    };
    // 4,096 operations at one in a cycle, over 16 bytes in a cycle.
    for (const uint64_t bytes : {16'384, 131'072}) {
      const double operations = 4096, intensity = operations / static_cast<double>(bytes);
      STRIA_ASSIGN(const double took, ticks(16, operations, bytes));
      add(fmt::format("operations in a cycle at {:.5g} a byte", intensity), kClosed,
          std::min(1.0, intensity * 16), operations / took);
    }
    // The tool's own traffic over its own bus. What its result has beyond that is how it
    // prefetches.
    const double compute = cost::systolic_cycles(
        {32, 32, SystolicArray::Dataflow::output_stationary}, {256, 128, 256, 1});
    STRIA_ASSIGN(const double took, ticks(10, compute, 524'320));
    constexpr double kWithin = 0.1;
    add("256x256 by 256x128 on 32x32, os, 524320 words at 10", kScaleSim, 52'448, took, kWithin);
    add("256x256 by 256x128 on 32x32, os, of that stalls", kScaleSim, 42'272, took - compute,
        kWithin);
    return {};
  }

  const SourceText& slides_;
  const MapProgram& map_;
  std::vector<ValidationCase> out_;
};

}  // namespace

double ValidationCase::error_percent() const {
  return expected == 0 ? 0 : 100 * (ours - expected) / expected;
}

bool ValidationCase::met() const {
  return within_percent == 0 ? ours == expected : std::abs(error_percent()) <= within_percent;
}

Result<std::vector<ValidationCase>> validate(const SourceText& slides_template,
                                             const MapProgram& map) {
  return Cases(slides_template, map).run();
}

std::string validation_table(const std::vector<ValidationCase>& cases) {
  size_t widest = 0;
  for (const ValidationCase& one : cases) widest = std::max(widest, one.name.size());
  std::string out = fmt::format("{:<{}} {:>12} {:>12} {:>8}  {}\n", "case", widest, "expected",
                                "ours", "error", "source");
  size_t exact = 0, missed = 0;
  double worst = 0;
  for (const ValidationCase& one : cases) {
    const int digits = one.expected == std::floor(one.expected) ? 0 : 2;
    out += fmt::format("{:<{}} {:>12.{}f} {:>12.{}f} {:>7.3f}%  {}{}\n", one.name, widest,
                       one.expected, digits, one.ours, digits, one.error_percent(), one.source,
                       one.met() ? "" : "  MISSED");
    exact += one.ours == one.expected;
    missed += !one.met();
    worst = std::max(worst, std::abs(one.error_percent()));
  }
  return out + fmt::format("{} of {} cases are exact, {} missed; the largest error is {:.3f}%\n",
                           exact, cases.size(), missed, worst);
}

}  // namespace stria::sim
