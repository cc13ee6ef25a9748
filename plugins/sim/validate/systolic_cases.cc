// SPDX-License-Identifier: Apache-2.0
#include "validate/systolic_cases.h"

#include "program/part_simulation.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::sim {
namespace {

constexpr const char* kScaleSim = "SCALE-Sim v3, golden compute report";
constexpr const char* kHardware = "SCALE-Sim v1, validated against RTL";

constexpr const char* kProduct =
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }";

// All memories are so wide that the array waits for none of them.
constexpr const char* kMachine = R"({{
  "clock_mhz": 1000,
  "mem_units": {{"DRAM": {{"size_KiB": 1048576, "policy": "managed"}},
                "SRAM": {{"size_KiB": 65536, "policy": "managed"}}}},
  "exec_units": {{
    "ARRAY": {{"op": "mac", "ops_per_cycle": 1,
              "systolic": {{"rows": {0}, "columns": {0}, "dataflow": "{1}"}}}},
    "REST": {{"ops_per_cycle": 1}}}},
  "tx_units": {{"DMA": {{}}}},
  "buses": [{{"sources": ["DRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 1000000000}},
            {{"sources": ["DMA[0]"], "sinks": ["SRAM[0]"], "bytes_per_cycle": 1000000000}},
            {{"sources": ["SRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 1000000000}},
            {{"sources": ["DMA[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 1000000000}}]}})";

// Of all operations on the array.
Result<double> cycles(const MapProgram& map, int side, const char* dataflow, int64_t m, int64_t n,
                      int64_t k) {
  STRIA_ASSIGN(const HardwareModel model,
               load_hardware_model({"array.json", fmt::format(kMachine, side, dataflow)}));
  STRIA_ASSIGN(const stripe::Program program,
               map(kProduct, {{"A", DataType::i8, {m, k}}, {"B", DataType::i8, {k, n}}}, model));
  STRIA_ASSIGN(const PartSimulation run, simulate_part(program, *program.main(), model));
  double out = 0;
  for (size_t kind = 0; kind < run.lowered.tasks.size(); ++kind) {
    const TaskKind& of = run.lowered.graph.kinds[kind];
    if (of.work == TaskKind::Work::operation && run.machine.groups()[of.group].unit == "ARRAY")
      out += run.lowered.tasks[kind] * static_cast<double>(of.compute_ticks);
  }
  return out;
}

}  // namespace

Result<std::vector<ValidationCase>> systolic_cases(const MapProgram& map) {
  std::vector<ValidationCase> out;
  const auto add = [&](const char* source, int side, const char* dataflow, int64_t m, int64_t n,
                       int64_t k, double expected) -> Status {
    STRIA_ASSIGN(const double ours, cycles(map, side, dataflow, m, n, k));
    out.push_back({fmt::format("{0}x{2} by {2}x{1} on {3}x{3}, {4}", m, n, k, side, dataflow),
                   source, expected, ours});
    return {};
  };
  STRIA_RETURN_IF_ERROR(add(kScaleSim, 32, "os", 256, 128, 256, 10'176));
  STRIA_RETURN_IF_ERROR(add(kScaleSim, 16, "os", 100, 70, 50, 2'800));
  STRIA_RETURN_IF_ERROR(add(kScaleSim, 16, "ws", 100, 70, 50, 2'920));
  STRIA_RETURN_IF_ERROR(add(kScaleSim, 16, "is", 100, 70, 50, 3'248));
  for (int n : {4, 8, 16, 20, 32, 40, 50, 64, 70, 80, 90})
    STRIA_RETURN_IF_ERROR(add(kHardware, n, "os", n, n, n, 3 * n - 2));
  return out;
}

}  // namespace stria::sim
