// SPDX-License-Identifier: Apache-2.0
#include "validate/validation.h"

#include <algorithm>
#include <cmath>

#include "engine/simulate.h"
#include "program/part_simulation.h"
#include "program/unit_operation.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/parser.h"
#include "validate/slides_convolution.h"

namespace stria::sim {
namespace {

constexpr const char* kScaleSim = "SCALE-Sim v3, golden compute report";
constexpr const char* kHardware = "SCALE-Sim v1, validated against RTL";
constexpr const char* kClosed = "closed form";

class Cases {
 public:
  explicit Cases(const SourceText& slides) : slides_(slides) {}

  Result<std::vector<ValidationCase>> run() {
    systolic();
    STRIA_RETURN_IF_ERROR(convolution());
    STRIA_RETURN_IF_ERROR(buses());
    return std::move(out_);
  }

 private:
  void add(std::string name, const char* source, double expected, double ours) {
    out_.push_back({std::move(name), source, expected, ours});
  }

  void systolic() {
    using Dataflow = SystolicArray::Dataflow;
    const auto cycles = [](int64_t side, Dataflow dataflow, double m, double n, double k) {
      return systolic_cycles({side, side, dataflow}, {m, n, k, 1});
    };
    add("256x256 by 256x128 on 32x32, os", kScaleSim, 10'176,
        cycles(32, Dataflow::output_stationary, 256, 128, 256));
    add("100x50 by 50x70 on 16x16, os", kScaleSim, 2'800,
        cycles(16, Dataflow::output_stationary, 100, 70, 50));
    add("100x50 by 50x70 on 16x16, ws", kScaleSim, 2'920,
        cycles(16, Dataflow::weight_stationary, 100, 70, 50));
    add("100x50 by 50x70 on 16x16, is", kScaleSim, 3'248,
        cycles(16, Dataflow::input_stationary, 100, 70, 50));
    for (int n : {4, 8, 16, 20, 32, 40, 50, 64, 70, 80, 90})
      add(fmt::format("{0}x{0} by {0}x{0} on {0}x{0}, os", n), kHardware, 3 * n - 2,
          cycles(n, Dataflow::output_stationary, n, n, n));
  }

  Status convolution() {
    STRIA_ASSIGN(const stripe::Program program,
                 stripe::parse({"slides convolution", kSlidesConvolution}));
    const auto ticks = [&](int convs, Fidelity fidelity, bool half) -> Result<double> {
      STRIA_ASSIGN(HardwareModel model,
                   load_hardware_model(
                       slides_, {{"NUM_CONV", std::to_string(convs)}, {"SRAM_SIZE_KIB", "65536"}}));
      for (TransferUnit& unit : model.transfers) unit.half_duplex = half;
      STRIA_ASSIGN(const PartSimulation run,
                   simulate_part(program, *program.main(), model, {fidelity, {}}));
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
    return {};
  }

  // One memory each side, a bus of 64 there, of 32 on; two DMA engines.
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
              {{static_cast<uint32_t>(machine.ports({"SRAM", memory}).read)}, 16 * 512}};
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

  const SourceText& slides_;
  std::vector<ValidationCase> out_;
};

}  // namespace

double ValidationCase::error_percent() const {
  return expected == 0 ? 0 : 100 * (ours - expected) / expected;
}

Result<std::vector<ValidationCase>> validate(const SourceText& slides_template) {
  return Cases(slides_template).run();
}

std::string validation_table(const std::vector<ValidationCase>& cases) {
  std::string out = fmt::format("{:<50} {:>12} {:>12} {:>8}  {}\n", "case", "expected", "ours",
                                "error", "source");
  size_t exact = 0;
  double worst = 0;
  for (const ValidationCase& one : cases) {
    out += fmt::format("{:<50} {:>12.0f} {:>12.0f} {:>7.2f}%  {}\n", one.name, one.expected,
                       one.ours, one.error_percent(), one.source);
    exact += one.ours == one.expected;
    worst = std::max(worst, std::abs(one.error_percent()));
  }
  return out + fmt::format("{} of {} cases are exact, the largest error is {:.2f}%\n", exact,
                           cases.size(), worst);
}

}  // namespace stria::sim
