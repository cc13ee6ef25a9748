// SPDX-License-Identifier: Apache-2.0
#include "small_machine.h"

namespace stria::sim {

HardwareModel small_model(double wide, double narrow, const std::string& more) {
  auto model = load_hardware_model({"small.json", fmt::format(R"({{
    {} "clock_mhz": 1000,
    "mem_units": {{"DRAM": {{"count": 1, "size_KiB": 1024}}, "SRAM": {{"count": 2, "size_KiB": 64}}}},
    "exec_units": {{"CONV": {{"count": 2, "ops_per_cycle": 16, "op": "mac"}},
                   "DSP": {{"count": 2, "ops_per_cycle": 4}}}},
    "tx_units": {{"DMA": {{"count": 2}}}},
    "buses": [
      {{"sources": ["DRAM[0]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": {}}},
      {{"sources": ["DMA[0]", "DMA[1]"], "sinks": ["SRAM[0]", "SRAM[1]"], "bytes_per_cycle": {}}},
      {{"sources": ["SRAM[0]", "SRAM[1]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": {}}},
      {{"sources": ["DMA[0]", "DMA[1]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": {}}}]}})",
                                                              more, wide, narrow, narrow, wide)});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

Machine small_machine(double wide, double narrow, const std::string& more) {
  auto machine = Machine::make(small_model(wide, narrow, more));
  STRIA_CHECK(machine.ok(), "{}", machine.status().to_string());
  return std::move(machine).value();
}

TaskKind operation(const Machine& machine, const std::string& unit, uint64_t ticks,
                   int32_t instance) {
  TaskKind kind;
  kind.work = TaskKind::Work::operation;
  kind.name = unit;
  kind.group = machine.execution_group(unit).value();
  kind.instance = instance;
  kind.compute_ticks = ticks;
  return kind;
}

TaskKind transfer(Machine& machine, const std::string& from, const std::string& to, uint64_t bytes,
                  int64_t instance) {
  const auto unit = [](const std::string& text) {
    const size_t open = text.find('[');
    return UnitInstance{text.substr(0, open), std::stoll(text.substr(open + 1))};
  };
  auto route = machine.route(unit(from), "DMA", instance, {unit(to)});
  STRIA_CHECK(route.ok(), "{}", route.status().to_string());
  TaskKind kind;
  kind.work = TaskKind::Work::transfer;
  kind.name = from + " to " + to;
  kind.group = route->group;
  kind.instance = route->instance;
  kind.route = std::move(route).value();
  kind.bytes = bytes;
  return kind;
}

}  // namespace stria::sim
