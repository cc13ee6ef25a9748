// SPDX-License-Identifier: Apache-2.0
#include "model/bounds_cases.h"

#include <bit>
#include <cmath>

#include "model/kind_files.h"

namespace stria::conformance {
namespace {

// Beyond what machines of today have by a factor of a hundred or more: what is beyond is a slip of
// a unit (bytes for KiB, Hz for MHz), not a better machine.
constexpr double kMostClockMhz = 1e5;
constexpr double kMostNearBytes = double(uint64_t{1} << 40);  // of a memory that is not the largest
constexpr double kMostMainBytes = double(uint64_t{1} << 52);
constexpr double kMostOpsPerSecond = 1e18;
constexpr double kMostBytesPerSecond = 1e16;
constexpr double kMostOpsPerCycle = 1e7;    // of one unit
constexpr double kMostBytesPerCycle = 1e6;  // of one unit
constexpr double kMostLatencyCycles = 1e6;
constexpr double kMostLaunchUs = 1e5;
constexpr int64_t kMostUnits = int64_t{1} << 24;
constexpr int64_t kMostVectorBytes = 1 << 14;
constexpr int64_t kMostLineBytes = 1 << 16;
constexpr double kMostPj = 1e9;
// A model file may be of a smaller or a larger board than the one that is there.
constexpr double kMemoryFactor = 8;

constexpr std::string_view kUnits =
    "Numbers that no machine has are a slip of a unit, as bytes where KiB are asked for.";

constexpr std::string_view kSays =
    "It says at least one memory unit with a size, and at least one execution unit.";

constexpr std::string_view kProperties =
    "What the device says of itself as an overlay over the kind's hardware model: a JSON object "
    "with that schema's keys";

using Check = std::function<Status(const HardwareModel&)>;

// Two cases: the file's model, and that model completed by the open device.
void add(CaseMaker& maker, const std::string& kind, std::string_view name, const Check& check,
         std::string_view sentence = kUnits) {
  Case& of_file = maker.add('H', fmt::format("{}.file.{}", kind, name), Level::loads, sentence,
                            [kind, check](Subject& subject) -> Finding {
                              STRIA_ASSIGN(const HardwareModel model, model_of(subject, kind));
                              return check(model);
                            });
  of_file.place = Place::bare;
  of_file.source = "guide/hardware_model.md";
  Case& of_device = maker.add('H', fmt::format("{}.device.{}", kind, name), Level::right, sentence,
                              [kind, check](Subject& subject) -> Finding {
                                STRIA_ASSIGN(const auto model, reported_model(subject, kind));
                                if (!model) return Finding::skip("the device is of another kind");
                                return check(*model);
                              });
  of_device.source = "guide/hardware_model.md";
}

// What the device reports is a part of a model, and fits into the file's.
void add_reads(CaseMaker& maker, const std::string& kind) {
  Case& c = maker.add('H', kind + ".device.reads", Level::loads, kProperties,
                      [kind](Subject& subject) -> Finding {
                        STRIA_ASSIGN(const auto model, reported_model(subject, kind));
                        return model ? Finding() : Finding::skip("the device is of another kind");
                      });
  c.source = "stria/plugin.h";
}

Status within(const std::string& what, double value, double most) {
  if (std::isfinite(value) && value >= 0 && value <= most) return Status();
  return broken("{} is {:g}; 0 to {:g} are likely", what, value, most);
}

double cycles_per_second(const HardwareModel& model, double own_mhz) {
  return (own_mhz > 0 ? own_mhz : model.clock_mhz) * 1e6;
}

const MemoryUnit* largest(const HardwareModel& model) {
  const MemoryUnit* out = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (!out || memory.size_bytes > out->size_bytes) out = &memory;
  return out;
}

Status clocks(const HardwareModel& model) {
  STRIA_RETURN_IF_ERROR(within("clock_mhz", model.clock_mhz, kMostClockMhz));
  for (const MemoryUnit& unit : model.memories)
    STRIA_RETURN_IF_ERROR(within(unit.name + ".clock_mhz", unit.clock_mhz, kMostClockMhz));
  for (const ExecutionUnit& unit : model.executors)
    STRIA_RETURN_IF_ERROR(within(unit.name + ".clock_mhz", unit.clock_mhz, kMostClockMhz));
  for (const TransferUnit& unit : model.transfers)
    STRIA_RETURN_IF_ERROR(within(unit.name + ".clock_mhz", unit.clock_mhz, kMostClockMhz));
  return Status();
}

Status sizes(const HardwareModel& model) {
  const MemoryUnit* main = largest(model);
  for (const MemoryUnit& unit : model.memories)
    STRIA_RETURN_IF_ERROR(within(unit.name + ".size_KiB, in bytes,",
                                 static_cast<double>(unit.size_bytes),
                                 &unit == main ? kMostMainBytes : kMostNearBytes));
  return Status();
}

Status counts(const HardwareModel& model) {
  for (const auto& [name, count] : model.units())
    if (count < 1 || count > kMostUnits)
      return broken("{}.count is {}; 1 to {} are likely", name, count, kMostUnits);
  return Status();
}

Status operations(const HardwareModel& model) {
  for (const ExecutionUnit& unit : model.executors) {
    STRIA_RETURN_IF_ERROR(
        within(unit.name + ".ops_per_cycle", unit.ops_per_cycle, kMostOpsPerCycle));
    double most = unit.ops_per_cycle;
    for (const auto& [type, rates] : unit.rates) {
      STRIA_RETURN_IF_ERROR(within(fmt::format("{}.rates.{}", unit.name, name_of(type)),
                                   rates.ops_per_cycle, kMostOpsPerCycle));
      most = std::max(most, rates.ops_per_cycle);
    }
    STRIA_RETURN_IF_ERROR(
        within(unit.name + ": operations in a second of all units together",
               most * static_cast<double>(unit.count) * cycles_per_second(model, unit.clock_mhz),
               kMostOpsPerSecond));
  }
  return Status();
}

Status bandwidths(const HardwareModel& model) {
  for (const MemoryUnit& unit : model.memories)
    for (const double rate : {unit.read_bytes_per_cycle, unit.write_bytes_per_cycle}) {
      STRIA_RETURN_IF_ERROR(within(unit.name + ": bytes in a cycle", rate, kMostBytesPerCycle));
      STRIA_RETURN_IF_ERROR(
          within(unit.name + ": bytes in a second of all units together",
                 rate * static_cast<double>(unit.count) * cycles_per_second(model, unit.clock_mhz),
                 kMostBytesPerSecond));
    }
  for (const Bus& bus : model.buses)
    STRIA_RETURN_IF_ERROR(within("a bus: bytes in a second",
                                 bus.bytes_per_cycle * cycles_per_second(model, bus.clock_mhz),
                                 kMostBytesPerSecond));
  return Status();
}

Status latencies(const HardwareModel& model) {
  for (const MemoryUnit& unit : model.memories)
    STRIA_RETURN_IF_ERROR(
        within(unit.name + ".latency_cycles", unit.latency_cycles, kMostLatencyCycles));
  for (const TransferUnit& unit : model.transfers)
    STRIA_RETURN_IF_ERROR(
        within(unit.name + ".latency_cycles", unit.latency_cycles, kMostLatencyCycles));
  for (const Bus& bus : model.buses)
    STRIA_RETURN_IF_ERROR(within("a bus: latency_cycles", bus.latency_cycles, kMostLatencyCycles));
  STRIA_RETURN_IF_ERROR(within("launch_us", model.launch_us, kMostLaunchUs));
  return within("drain_us", model.drain_us, kMostLaunchUs);
}

bool is_power_of_two(int64_t number) {
  return number > 0 && std::has_single_bit(static_cast<uint64_t>(number));
}

Status no_size(const std::string& what, int64_t bytes, int64_t most) {
  const Status status = broken("{} is {}; powers of two up to {} are likely", what, bytes, most);
  return is_power_of_two(bytes) ? status : with_rule(status, Rule::powers_of_two);
}

Status vectors(const HardwareModel& model) {
  for (const ExecutionUnit& unit : model.executors)
    if (unit.vector_bytes != 0 &&
        (!is_power_of_two(unit.vector_bytes) || unit.vector_bytes > kMostVectorBytes))
      return no_size(unit.name + ".vector_bytes", unit.vector_bytes, kMostVectorBytes);
  return Status();
}

Status lines(const HardwareModel& model) {
  for (const MemoryUnit& unit : model.memories)
    if (unit.line_bytes != 0 &&
        (!is_power_of_two(unit.line_bytes) || unit.line_bytes > kMostLineBytes))
      return no_size(unit.name + ".line_bytes", unit.line_bytes, kMostLineBytes);
  return Status();
}

Status energies(const HardwareModel& model) {
  for (const MemoryUnit& unit : model.memories)
    for (const double energy : {unit.read_pj_per_byte, unit.write_pj_per_byte})
      STRIA_RETURN_IF_ERROR(within(unit.name + ": picojoules for a byte", energy, kMostPj));
  for (const ExecutionUnit& unit : model.executors)
    for (const auto& [name, energy] : unit.energy_pj)
      STRIA_RETURN_IF_ERROR(within(unit.name + ": picojoules for " + name, energy, kMostPj));
  return Status();
}

Status says_something(const HardwareModel& model) {
  if (model.memories.empty()) return broken("the model has no memory unit");
  if (model.executors.empty()) return broken("the model has no execution unit");
  return Status();
}

Status buses_end_somewhere(const HardwareModel& model) {
  for (const Bus& bus : model.buses)
    for (const auto* ends : {&bus.sources, &bus.sinks})
      for (const UnitInstance& end : *ends) {
        const auto count = model.unit_count(end.name);
        if (!count) return broken("a bus ends at {}[{}], which is no unit", end.name, end.instance);
        if (end.instance < 0 || end.instance >= *count)
          return broken("a bus ends at {}[{}]; the model has {} of it", end.name, end.instance,
                        *count);
      }
  return Status();
}

Status has_main_memory(const HardwareModel& model) {
  const MemoryUnit* main = largest(model);
  if (!main || main->size_bytes == 0) return broken("no memory unit says its size");
  return Status();
}

}  // namespace

void add_bounds_cases(CaseMaker& maker, const std::string& kind) {
  add_reads(maker, kind);
  add(maker, kind, "says_something", says_something, kSays);
  add(maker, kind, "main_memory", has_main_memory, kSays);
  add(maker, kind, "sizes", sizes);
  add(maker, kind, "counts", counts);
  add(maker, kind, "clocks", clocks);
  add(maker, kind, "operations", operations);
  add(maker, kind, "bandwidths", bandwidths);
  add(maker, kind, "latencies", latencies);
  add(maker, kind, "vectors", vectors);
  add(maker, kind, "lines", lines);
  add(maker, kind, "energies", energies);
  add(maker, kind, "buses", buses_end_somewhere, sentence_of(Rule::model));
  Case& c = maker.add(
      'H', kind + ".device.memory_agrees", Level::right, kUnits,
      [kind](Subject& subject) -> Finding {
        STRIA_ASSIGN(const auto model, reported_model(subject, kind));
        if (!model) return Finding::skip("the device is of another kind");
        const auto said = static_cast<double>(subject.device_info().memory_bytes);
        const MemoryUnit* main = largest(*model);
        if (said == 0 || !main || main->size_bytes == 0 || model->simulated)
          return Finding::skip("one of the two does not say its size, or no machine is behind it");
        const auto size = static_cast<double>(main->size_bytes) * static_cast<double>(main->count);
        if (size > said * kMemoryFactor || size * kMemoryFactor < said)
          return broken("the model says {:g} bytes of {}, the device {:g}", size, main->name, said);
        return {};
      });
  c.source = "guide/hardware_model.md";
}

}  // namespace stria::conformance
