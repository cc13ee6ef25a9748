// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/staged/staged_rates.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "stria/base/text.h"
#include "stria/cost/block/tile.h"
#include "stria/hwmodel/bus_ways.h"

namespace stria::cost {

double narrower_rate(double a, double b) {
  return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
}

double StagedRates::row_cycles(const Walk& walk) const {
  return dram ? dram_ns(*dram, row_walk(*dram, walk)) * cycles_per_ns : 0;
}

namespace {

// The way from one memory to the other, over each instance of the transfer unit that has one.
struct FoundWay {
  StagedRates::Way way;
  std::set<size_t> buses;
  int64_t movers = 0;
};

// Bytes in a cycle of transfers over all of these ways at once; a way is a set of links. Fair
// shares (C6): all ways get more alike, until a bus is full; that stops the ways over it. `widths`:
// by bus.
double fair_sum(std::vector<std::set<size_t>> ways, std::map<size_t, double> widths) {
  double sum = 0, level = 0;
  while (!ways.empty()) {
    std::map<size_t, double> users;
    for (const std::set<size_t>& way : ways)
      for (size_t bus : way) ++users[bus];
    double step = std::numeric_limits<double>::infinity();
    for (const auto& [bus, count] : users) step = std::min(step, widths[bus] / count);
    level += step;
    std::set<size_t> full;
    for (const auto& [bus, count] : users)
      if (widths[bus] / count == step)
        full.insert(bus);
      else
        widths[bus] -= step * count;
    sum += level * static_cast<double>(std::erase_if(ways, [&](const std::set<size_t>& way) {
             return std::any_of(way.begin(), way.end(),
                                [&](size_t bus) { return full.count(bus) > 0; });
           }));
  }
  return sum;
}

Result<FoundWay> find_way(const HardwareModel& model, const TransferUnit& unit,
                          const MemoryUnit& from, const MemoryUnit& to) {
  const auto cycles = [&](double own, double clock) { return own / model.unit_cycles(clock); };
  FoundWay out;
  std::vector<std::set<size_t>> ways;  // of the instances
  std::map<size_t, double> widths;
  double latencies = 0, rates = 0, energies = 0;
  Status why;
  const BusMap map(model);
  const BusReach reach(map, UnitInstance{from.name});
  for (const int64_t i : instances_on_buses(model, unit.name)) {
    Result<TransferWay> way = transfer_way(map, reach, {unit.name, i}, UnitInstance{to.name});
    if (!way.ok()) {
      // An instance without a way is of no use. Any other mistake is the model's.
      if (way.status().code() != StatusCode::not_found) return way.status();
      if (why.ok()) why = way.status();
      continue;
    }
    std::vector<size_t> buses = std::move(way->in);
    buses.insert(buses.end(), way->out.begin(), way->out.end());
    double narrowest = std::numeric_limits<double>::infinity();
    for (size_t position : buses) {
      const BusLink& bus = map.links()[position];
      const double width = bus.bytes_per_cycle * model.unit_cycles(bus.clock_mhz);
      latencies += cycles(bus.latency_cycles, bus.clock_mhz);
      energies += bus.pj_per_byte;
      narrowest = std::min(narrowest, width);
      widths[position] = width;
    }
    out.buses.insert(buses.begin(), buses.end());
    ways.emplace_back(buses.begin(), buses.end());
    rates += narrowest;
    ++out.movers;
  }
  if (out.movers == 0) return why;
  // Transfers are spread over the instances. If their ways differ, the mean counts.
  const auto movers = static_cast<double>(out.movers);
  out.way.latency = cycles(from.latency_cycles, from.clock_mhz) +
                    cycles(unit.latency_cycles, unit.clock_mhz) + latencies / movers;
  out.way.bytes = rates / movers;
  out.way.pj = from.read_pj_per_byte + unit.pj_per_byte + energies / movers + to.write_pj_per_byte;
  out.way.together = fair_sum(std::move(ways), std::move(widths));
  return out;
}

}  // namespace

ScratchpadPorts scratchpad_ports(const HardwareModel& model, const MemoryUnit& scratchpad) {
  ScratchpadPorts out;
  const double cycle = model.unit_cycles(scratchpad.clock_mhz);
  // The banks together have a width. A port is not wider.
  const double width = static_cast<double>(scratchpad.banks * scratchpad.bank_bytes) * cycle;
  for (const MemoryPort& port : ports_of(scratchpad)) {
    const double rate = narrower_rate(width, port.bytes_per_cycle * cycle);
    if (rate <= 0) continue;
    for (size_t use = 0; use < kPortUses; ++use)
      if (port.serves[use]) out.port_of[use] = static_cast<int>(out.ports.size());
    out.ports.push_back(rate);
  }
  return out;
}

Result<StagedRates> staged_rates(const HardwareModel& model, const StagedUnits& units) {
  StagedRates out;
  out.unit = model.find_executor(units.unit);
  const MemoryUnit *scratchpad = model.find_memory(units.scratchpad),
                   *global = model.find_memory(units.global);
  const TransferUnit* transfer = model.find_transfer(units.transfer);
  if (!out.unit) return not_found("the hardware model has no execution unit '{}'", units.unit);
  for (const auto& [unit, name] :
       {std::pair(scratchpad, units.scratchpad), std::pair(global, units.global)})
    if (!unit) return not_found("the hardware model has no memory unit '{}'", name);
  if (!transfer) return not_found("the hardware model has no transfer unit '{}'", units.transfer);
  out.unit_cycle = 1 / model.unit_cycles(out.unit->clock_mhz);
  out.depth = model.origins().count(fmt::format("/exec_units/{}/pipeline_depth", units.unit)) > 0
                  ? std::max<int64_t>(1, out.unit->pipeline_depth)
                  : 2;
  out.instance_depth = out.depth;
  out.spread = units.spread;
  const int64_t instances = std::max<int64_t>(1, out.unit->count);
  out.instances = static_cast<double>(instances);
  if (!out.spread) out.depth = saturating_product(out.depth, instances);
  STRIA_ASSIGN(const FoundWay in, find_way(model, *transfer, *global, *scratchpad));
  STRIA_ASSIGN(const FoundWay back, find_way(model, *transfer, *scratchpad, *global));
  out.in = in.way;
  out.out = back.way;
  out.movers = static_cast<double>(std::min(in.movers, back.movers));
  out.in_turns =
      transfer->half_duplex || std::any_of(in.buses.begin(), in.buses.end(),
                                           [&](size_t bus) { return back.buses.count(bus) > 0; });
  out.read_pj = scratchpad->read_pj_per_byte;
  out.write_pj = scratchpad->write_pj_per_byte;
  if (out.in.pj + out.out.pj + out.read_pj + out.write_pj <= 0) out.in.pj = out.out.pj = 1;
  out.line_bytes = global->line_bytes;
  if (global->dram && model.clock_mhz > 0) {
    out.dram = &*global->dram;
    constexpr double kMhzPerGhz = 1000;
    out.cycles_per_ns = model.clock_mhz / kMhzPerGhz;
  }
  const double global_cycle = model.unit_cycles(global->clock_mhz);
  static_cast<ScratchpadPorts&>(out) = scratchpad_ports(model, *scratchpad);
  out.one_port = out.ports.size() == 1 && std::all_of(out.port_of.begin(), out.port_of.end(),
                                                      [](int port) { return port == 0; });
  const auto global_rate = [&](PortUse use) {
    for (const MemoryPort& port : ports_of(*global))
      if (port.serves[static_cast<size_t>(use)]) return port.bytes_per_cycle * global_cycle;
    return 0.0;
  };
  // One port for both directions is as one bus for both.
  for (const MemoryPort& port : ports_of(*global))
    out.in_turns |= port.bytes_per_cycle > 0 &&
                    port.serves[static_cast<size_t>(PortUse::copy_in)] &&
                    port.serves[static_cast<size_t>(PortUse::copy_out)];
  out.in.bytes = narrower_rate(narrower_rate(out.in.bytes, global_rate(PortUse::copy_out)),
                               out.port_rate(PortUse::copy_in));
  out.out.bytes = narrower_rate(narrower_rate(out.out.bytes, global_rate(PortUse::copy_in)),
                                out.port_rate(PortUse::copy_out));
  out.in.together = narrower_rate(out.in.together, global_rate(PortUse::copy_out));
  out.out.together = narrower_rate(out.out.together, global_rate(PortUse::copy_in));
  out.port_banks = scratchpad->banks;
  out.port_bank_bytes = scratchpad->bank_bytes;
  out.banks = units.banks;
  out.bank_bytes = units.bank_bytes > 0 ? units.bank_bytes : scratchpad->size_bytes;
  return out;
}

}  // namespace stria::cost
