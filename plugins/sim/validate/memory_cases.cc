// SPDX-License-Identifier: Apache-2.0
#include "validate/memory_cases.h"

#include <functional>

#include "engine/simulate.h"
#include "program/part_simulation.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

constexpr const char* kClosed = "closed form";
constexpr const char* kPublished =
    "Wang et al., Benchmarking HBM on FPGAs, FCCM 2020: 425 GB/s of two stacks";
constexpr const char* kBook =
    "Dally and Towles, Interconnection Networks, 2004: the busiest link of each pattern";

// A DRAM whose way to the scratchpad is wider than its pins. The numbers are those of
// hwmodels/dram.
constexpr const char* kMachine = R"({{
  "clock_mhz": 1000,
  "mem_units": {{"DRAM": {{"dram": {{{}}}}}, "SRAM": {{}}}},
  "exec_units": {{"REST": {{"ops_per_cycle": 1}}}},
  "tx_units": {{"DMA": {{}}}},
  "buses": [{{"sources": ["DRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 100000}},
            {{"sources": ["DMA[0]"], "sinks": ["SRAM[0]"], "bytes_per_cycle": 100000}}]}})";
constexpr const char* kDdr4 =
    R"("banks": 16, "row_bytes": 8192, "burst_bytes": 64, "burst_ns": 3.3333333333333335,
       "row_cycle_ns": 46.16, "activate_ns": 5.25)";
constexpr const char* kHbm2 =
    R"("banks": 256, "row_bytes": 1024, "burst_bytes": 32, "burst_ns": 0.1391304347826087,
       "row_cycle_ns": 47, "activate_ns": 0.25, "refresh_interval_ns": 3900, "refresh_ns": 260)";

// Nanoseconds to bring so many runs of bytes that begin so many bytes apart.
Result<double> nanoseconds(const char* dram, int64_t runs, int64_t run_bytes, int64_t apart) {
  STRIA_ASSIGN(const HardwareModel model,
               load_hardware_model({"rows.json", fmt::format(kMachine, dram)}));
  STRIA_ASSIGN(const stripe::Program program,
               stripe::parse({"rows", fmt::format(R"(stripe 1.0
0: #program block [] ( // rows
    none new@0x0<DRAM[0]> A[0, 0] i8({0}:{2}, {1}:1)
    none new@0x0<SRAM[0]> B[0, 0] i8({0}:{1}, {1}:1)
) {{
  0: #main block [] ( // main
      in<DRAM[0]> A[0, 0] i8({0}:{2}, {1}:1)
      out<SRAM[0]> B[0, 0] i8({0}:{1}, {1}:1)
  ) {{
    0: #swap_in block<DMA> [i:{0}, j:{1}] (
        in<DRAM[0]> A[i, j] i8(1:{2}, 1:1)
        out<SRAM[0]> B[i, j] i8(1:{1}, 1:1)
    ) {{
      0: $a = load(A)
      1: B = store($a)
    }}
  }}
}}
)",
                                                  runs, run_bytes, apart)}));
  STRIA_ASSIGN(const PartSimulation run, simulate_part(program, *program.main(), model));
  return static_cast<double>(run.ticks());
}

// Nodes of a mesh with a memory and a DMA engine each, 16 bytes in a cycle of a link. All send at
// once to `to(node)`, but for those that would send to themselves.
Result<double> mesh_cycles(int side, uint64_t bytes, const std::function<int(int)>& to) {
  std::string buses, engines, memories, places;
  for (int n = 0; n < side * side; ++n) {
    const char* comma = n > 0 ? ", " : "";
    buses += fmt::format(
        R"({{"sources": ["SRAM[{0}]"], "sinks": ["DMA[{0}]"], "bytes_per_cycle": 1024}}, )", n);
    engines += fmt::format("{}\"DMA[{}]\"", comma, n);
    memories += fmt::format("{}\"SRAM[{}]\"", comma, n);
    places += fmt::format("{0}\"DMA[{1}]\": {1}, \"SRAM[{1}]\": {1}", comma, n);
  }
  STRIA_ASSIGN(const HardwareModel model,
               load_hardware_model({"mesh.json", fmt::format(R"({{
    "clock_mhz": 1000,
    "mem_units": {{"SRAM": {{"count": {0}}}}}, "tx_units": {{"DMA": {{"count": {0}}}}},
    "buses": [{1} {{"sources": [{2}], "sinks": [{3}], "bytes_per_cycle": 16,
                    "mesh": {{"columns": {5}, "places": {{{4}}}}}}}]}})",
                                                             side * side, buses, engines, memories,
                                                             places, side)}));
  STRIA_ASSIGN(Machine machine, Machine::make(model));
  TaskGraph graph;
  for (int n = 0; n < side * side; ++n) {
    if (to(n) == n) continue;
    TaskKind kind;
    kind.work = TaskKind::Work::transfer;
    STRIA_ASSIGN(kind.route, machine.route({"SRAM", n}, "DMA", n, {{"SRAM", to(n)}}));
    kind.group = kind.route.group;
    kind.instance = kind.route.instance;
    kind.bytes = bytes;
    graph.kinds.push_back(std::move(kind));
    graph.add(static_cast<uint32_t>(graph.kinds.size()) - 1, {});
  }
  STRIA_ASSIGN(const Timeline timeline, simulate(machine, graph));
  return static_cast<double>(timeline.ticks);
}

}  // namespace

Result<std::vector<ValidationCase>> memory_cases() {
  std::vector<ValidationCase> out;
  // An HBM stack's bytes in a row, and bursts of a DDR4 channel that lie apart: in other banks, in
  // every second one, in the same.
  constexpr int64_t kMebibyte = 1 << 20, kBursts = 10'000;
  STRIA_ASSIGN(const double stack, nanoseconds(kHbm2, 1, 16 * kMebibyte, 16 * kMebibyte));
  constexpr double kWithin = 2;
  out.push_back({"GB/s of a stack of HBM2, bytes in a row", kPublished, 425.0 / 2,
                 static_cast<double>(16 * kMebibyte) / stack, kWithin});
  struct Pattern {
    const char* name;
    int64_t run, apart;
    double ns;
  };
  for (const Pattern& one : {Pattern{"bytes in a row", 64, 64, 64 / 19.2},
                             {"a burst of each row", 64, 8192, 5.25},
                             {"a burst of every second row", 64, 2 * 8192, 46.16 / 8},
                             {"a burst of each row of one bank", 64, 16 * 8192, 46.16},
                             {"16 bytes of each burst", 16, 64, 64 / 19.2}}) {
    STRIA_ASSIGN(const double took, nanoseconds(kDdr4, kBursts, one.run, one.apart));
    out.push_back({fmt::format("10000 bursts of DDR4-2400, {}, ns", one.name), kClosed,
                   std::ceil(static_cast<double>(kBursts) * one.ns - 1e-6), took});
  }
  constexpr int kSide = 8;
  constexpr uint64_t kAlone = 10'000;
  const auto at = [](int column, int row) { return row * kSide + column; };
  const std::pair<const char*, std::function<int(int)>> traffic[] = {
      {"to the next column", [&](int n) { return at((n % kSide + 1) % kSide, n / kSide); }},
      {"transposed", [&](int n) { return at(n / kSide, n % kSide); }},
      {"to the mirrored column", [&](int n) { return at(kSide - 1 - n % kSide, n / kSide); }},
      {"all to one", [](int) { return 0; }}};
  const double busiest[] = {1, kSide - 1, kSide / 2, kSide * kSide - 1};
  for (size_t p = 0; p < std::size(busiest); ++p) {
    STRIA_ASSIGN(const double took, mesh_cycles(kSide, 16 * kAlone, traffic[p].second));
    out.push_back({fmt::format("mesh of 8x8, {}, cycles", traffic[p].first), kBook,
                   busiest[p] * kAlone, took});
  }
  return out;
}

}  // namespace stria::sim
