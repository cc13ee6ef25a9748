// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/unlikely_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "stria/template/json_text.h"

namespace stria {
namespace {

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

bool is_power_of_two(int64_t number) {
  return number > 0 && std::has_single_bit(static_cast<uint64_t>(number));
}

// Collects what is unlikely of one kind.
class Numbers {
 public:
  explicit Numbers(const HardwareModel& model) : model_(model) {}

  std::vector<UnlikelyNumber> of(NumberKind kind) {
    switch (kind) {
      case NumberKind::sizes: sizes(); break;
      case NumberKind::counts: counts(); break;
      case NumberKind::clocks: clocks(); break;
      case NumberKind::operations: operations(); break;
      case NumberKind::bandwidths: bandwidths(); break;
      case NumberKind::latencies: latencies(); break;
      case NumberKind::vectors: vectors(); break;
      case NumberKind::lines: lines(); break;
      case NumberKind::energies: energies(); break;
    }
    return std::move(found_);
  }

 private:
  static std::string memory(const MemoryUnit& unit, const std::string& key) {
    return pointer_child(pointer_child("/mem_units", unit.name), key);
  }
  static std::string executor(const ExecutionUnit& unit, const std::string& key) {
    return pointer_child(pointer_child("/exec_units", unit.name), key);
  }
  static std::string transfer(const TransferUnit& unit, const std::string& key) {
    return pointer_child(pointer_child("/tx_units", unit.name), key);
  }
  std::string bus(const Bus& bus, const std::string& key) const {
    return fmt::format("/buses/{}/{}", &bus - model_.buses.data(), key);
  }

  // `what` is said before the number: "is", "gives in a second".
  void within(const std::string& pointer, double value, double most, const char* what = "is",
              const char* unit = "") {
    if (std::isfinite(value) && value >= 0 && value <= most) return;
    found_.push_back(
        {pointer, fmt::format("{} {:g}{}; 0 to {:g} are likely", what, value, unit, most)});
  }
  double cycles_per_second(double own_mhz) const {
    return (own_mhz > 0 ? own_mhz : model_.clock_mhz) * 1e6;
  }
  // A number of all units together, in a second.
  void in_a_second(const std::string& pointer, double in_a_cycle, int64_t count, double own_mhz,
                   double most) {
    within(pointer, in_a_cycle * static_cast<double>(count) * cycles_per_second(own_mhz), most,
           "makes for all units in a second");
  }
  void power_of_two(const std::string& pointer, int64_t bytes, int64_t most) {
    if (bytes == 0 || (is_power_of_two(bytes) && bytes <= most)) return;
    found_.push_back({pointer, fmt::format("is {}; powers of two up to {} are likely", bytes, most),
                      !is_power_of_two(bytes)});
  }

  void sizes() {
    const MemoryUnit* main = largest_memory(model_);
    for (const MemoryUnit& unit : model_.memories)
      within(memory(unit, "size_KiB"), static_cast<double>(unit.size_bytes),
             &unit == main ? kMostMainBytes : kMostNearBytes, "is", " bytes");
  }
  void count(const std::string& pointer, int64_t number) {
    if (number < 1 || number > kMostUnits)
      found_.push_back({pointer, fmt::format("is {}; 1 to {} are likely", number, kMostUnits)});
  }
  void counts() {
    for (const MemoryUnit& unit : model_.memories) count(memory(unit, "count"), unit.count);
    for (const ExecutionUnit& unit : model_.executors) count(executor(unit, "count"), unit.count);
    for (const TransferUnit& unit : model_.transfers) count(transfer(unit, "count"), unit.count);
  }
  void clocks() {
    within("/clock_mhz", model_.clock_mhz, kMostClockMhz);
    for (const MemoryUnit& unit : model_.memories)
      within(memory(unit, "clock_mhz"), unit.clock_mhz, kMostClockMhz);
    for (const ExecutionUnit& unit : model_.executors)
      within(executor(unit, "clock_mhz"), unit.clock_mhz, kMostClockMhz);
    for (const TransferUnit& unit : model_.transfers)
      within(transfer(unit, "clock_mhz"), unit.clock_mhz, kMostClockMhz);
    for (const Bus& one : model_.buses) within(bus(one, "clock_mhz"), one.clock_mhz, kMostClockMhz);
  }
  void operations() {
    for (const ExecutionUnit& unit : model_.executors) {
      std::string pointer = executor(unit, "ops_per_cycle");
      within(pointer, unit.ops_per_cycle, kMostOpsPerCycle);
      double most = unit.ops_per_cycle;
      for (const auto& [type, rates] : unit.rates) {
        const std::string at = pointer_child(
            pointer_child(executor(unit, "rates"), std::string(name_of(type))), "ops_per_cycle");
        within(at, rates.ops_per_cycle, kMostOpsPerCycle);
        if (rates.ops_per_cycle > most) {
          most = rates.ops_per_cycle;
          pointer = at;
        }
      }
      in_a_second(pointer, most, unit.count, unit.clock_mhz, kMostOpsPerSecond);
    }
  }
  void bandwidths() {
    for (const MemoryUnit& unit : model_.memories)
      for (const auto& [key, rate] : {std::pair{"read_bytes_per_cycle", unit.read_bytes_per_cycle},
                                      {"write_bytes_per_cycle", unit.write_bytes_per_cycle}}) {
        within(memory(unit, key), rate, kMostBytesPerCycle);
        in_a_second(memory(unit, key), rate, unit.count, unit.clock_mhz, kMostBytesPerSecond);
      }
    for (const Bus& one : model_.buses)
      in_a_second(bus(one, "bytes_per_cycle"), one.bytes_per_cycle, 1, one.clock_mhz,
                  kMostBytesPerSecond);
  }
  void latencies() {
    for (const MemoryUnit& unit : model_.memories)
      within(memory(unit, "latency_cycles"), unit.latency_cycles, kMostLatencyCycles);
    for (const TransferUnit& unit : model_.transfers)
      within(transfer(unit, "latency_cycles"), unit.latency_cycles, kMostLatencyCycles);
    for (const Bus& one : model_.buses)
      within(bus(one, "latency_cycles"), one.latency_cycles, kMostLatencyCycles);
    within("/launch_us", model_.launch_us, kMostLaunchUs);
    within("/drain_us", model_.drain_us, kMostLaunchUs);
  }
  void vectors() {
    for (const ExecutionUnit& unit : model_.executors)
      power_of_two(executor(unit, "vector_bytes"), unit.vector_bytes, kMostVectorBytes);
  }
  void lines() {
    for (const MemoryUnit& unit : model_.memories)
      power_of_two(memory(unit, "line_bytes"), unit.line_bytes, kMostLineBytes);
  }
  void energies() {
    for (const MemoryUnit& unit : model_.memories) {
      within(memory(unit, "read_pJ_per_byte"), unit.read_pj_per_byte, kMostPj);
      within(memory(unit, "write_pJ_per_byte"), unit.write_pj_per_byte, kMostPj);
    }
    for (const ExecutionUnit& unit : model_.executors)
      for (const auto& [name, energy] : unit.energy_pj)
        within(pointer_child(executor(unit, "energy_pJ"), name), energy, kMostPj);
    for (const TransferUnit& unit : model_.transfers)
      within(transfer(unit, "pJ_per_byte"), unit.pj_per_byte, kMostPj);
    for (const Bus& one : model_.buses) within(bus(one, "pJ_per_byte"), one.pj_per_byte, kMostPj);
  }

  const HardwareModel& model_;
  std::vector<UnlikelyNumber> found_;
};

}  // namespace

std::string UnlikelyNumber::text(const HardwareModel& model) const {
  std::string place;
  // A list counts as one field, with the place of its beginning.
  for (std::string at = pointer; !at.empty(); at.resize(at.rfind('/'))) {
    const auto origin = model.origins().find(at);
    if (origin == model.origins().end()) continue;
    place = origin->second.place;
    break;
  }
  return fmt::format("{}{}{} {}", place, place.empty() ? "" : ": ", pointer, what);
}

std::vector<UnlikelyNumber> unlikely_numbers(const HardwareModel& model, NumberKind kind) {
  return Numbers(model).of(kind);
}

std::vector<UnlikelyNumber> unlikely_numbers(const HardwareModel& model, uint64_t device_bytes) {
  std::vector<UnlikelyNumber> out;
  for (const NumberKind kind : kNumberKinds)
    for (UnlikelyNumber& one : unlikely_numbers(model, kind)) out.push_back(std::move(one));
  if (auto memory = unlikely_memory(model, device_bytes)) out.push_back(std::move(*memory));
  return out;
}

std::optional<UnlikelyNumber> unlikely_memory(const HardwareModel& model, uint64_t device_bytes) {
  const MemoryUnit* main = largest_memory(model);
  if (device_bytes == 0 || !main || main->size_bytes == 0 || model.simulated) return std::nullopt;
  const auto said = static_cast<double>(device_bytes);
  const auto size = static_cast<double>(main->size_bytes) * static_cast<double>(main->count);
  if (size <= said * kMemoryFactor && size * kMemoryFactor >= said) return std::nullopt;
  return UnlikelyNumber{pointer_child(pointer_child("/mem_units", main->name), "size_KiB"),
                        fmt::format("makes {:g} bytes of {}, and the device says that it has {:g}",
                                    size, main->name, said)};
}

const MemoryUnit* largest_memory(const HardwareModel& model) {
  const MemoryUnit* out = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (!out || memory.size_bytes > out->size_bytes) out = &memory;
  return out;
}

}  // namespace stria
