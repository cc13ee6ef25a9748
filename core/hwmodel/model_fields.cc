// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/model_fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <set>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hwmodel/bus_ways.h"
#include "stria/hwmodel/dram_fields.h"
#include "stria/hwmodel/instruction_fields.h"
#include "stria/hwmodel/port_fields.h"

namespace stria {
namespace {

using nlohmann::json;

bool is_unit_name(const std::string& name) {
  if (name.empty() || !starts_with_letter(name)) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// Reads {"NAME": {…}, …} with `read(ObjectReader&, Unit&)` for each unit.
template <typename Unit, typename Read>
Status read_units(ObjectReader& model, const std::string& key, std::vector<Unit>& units,
                  const Read& read) {
  const json* group = model.get(key);
  if (!group) return {};
  ObjectReader group_reader = model.inside(key);
  STRIA_RETURN_IF_ERROR(group_reader.check());
  for (auto it = group->begin(); it != group->end(); ++it) {
    if (!is_unit_name(it.key()) || it.key() == "source")
      return group_reader.fail(
          it.key(), "a unit's name is letters, digits and '_', a letter first, and not 'source'",
          PlacedTexts::At::key);
    ObjectReader reader = group_reader.inside(it.key());
    STRIA_RETURN_IF_ERROR(reader.check());
    Unit unit;
    unit.name = it.key();
    STRIA_RETURN_IF_ERROR(reader.integer("count", unit.count, 1));
    STRIA_RETURN_IF_ERROR(read(reader, unit));
    STRIA_RETURN_IF_ERROR(reader.finish());
    units.push_back(std::move(unit));
  }
  return {};
}

Status read_memory(ObjectReader& reader, MemoryUnit& unit) {
  STRIA_RETURN_IF_ERROR(reader.real("clock_mhz", unit.clock_mhz));
  STRIA_RETURN_IF_ERROR(reader.integer("size_KiB", unit.size_bytes, 0, 1024, kMaxModelBytes));
  STRIA_RETURN_IF_ERROR(reader.integer("unit_KiB", unit.unit_bytes, 0, 1024, kMaxModelBytes));
  size_t policy = 0;
  STRIA_RETURN_IF_ERROR(reader.choice("policy", {"unknown", "managed", "lru"}, policy));
  unit.policy = static_cast<MemoryPolicy>(policy);
  STRIA_RETURN_IF_ERROR(reader.integer("line_bytes", unit.line_bytes, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("ways", unit.ways, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("banks", unit.banks, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("bank_bytes", unit.bank_bytes, 0));
  STRIA_RETURN_IF_ERROR(reader.real("latency_cycles", unit.latency_cycles));
  STRIA_RETURN_IF_ERROR(reader.real("read_bytes_per_cycle", unit.read_bytes_per_cycle));
  STRIA_RETURN_IF_ERROR(reader.real("write_bytes_per_cycle", unit.write_bytes_per_cycle));
  STRIA_RETURN_IF_ERROR(read_ports(reader, unit.ports));
  STRIA_RETURN_IF_ERROR(read_dram(reader, unit.dram));
  STRIA_RETURN_IF_ERROR(reader.text("energy_from", unit.energy_from));
  STRIA_RETURN_IF_ERROR(reader.real("read_pJ_per_byte", unit.read_pj_per_byte));
  STRIA_RETURN_IF_ERROR(reader.real("write_pJ_per_byte", unit.write_pj_per_byte));
  STRIA_RETURN_IF_ERROR(reader.real("leakage_mW", unit.leakage_mw));
  return reader.real("area_mm2", unit.area_mm2);
}

// The names of the memories, in order, which execution units refer to; read before them.
std::vector<std::string> names_of(const std::vector<MemoryUnit>& memories) {
  std::vector<std::string> names;
  for (const MemoryUnit& memory : memories) names.push_back(memory.name);
  return names;
}

Status read_rates(ObjectReader& unit, const std::vector<std::string>& memories,
                  std::map<DataType, TypeRates>& rates) {
  if (!unit.get("rates")) return {};
  ObjectReader by_type = unit.inside("rates");
  STRIA_RETURN_IF_ERROR(by_type.check());
  STRIA_ASSIGN(std::vector<std::string> types, by_type.names());
  for (const std::string& name : types) {
    std::optional<DataType> type = parse_data_type(name);
    if (!type)
      return by_type.fail(
          name, fmt::format("there is no type '{}'{}", name, did_you_mean(name, data_type_names())),
          PlacedTexts::At::key);
    ObjectReader reader = by_type.inside(name);
    STRIA_RETURN_IF_ERROR(reader.check());
    TypeRates& of_type = rates[*type];
    STRIA_RETURN_IF_ERROR(reader.real("ops_per_cycle", of_type.ops_per_cycle));
    if (reader.get("read_bytes_per_cycle")) {
      ObjectReader reads = reader.inside("read_bytes_per_cycle");
      STRIA_RETURN_IF_ERROR(reads.check());
      STRIA_ASSIGN(std::vector<std::string> from, reads.names());
      for (const std::string& memory : from) {
        STRIA_RETURN_IF_ERROR(check_memory(reads, memory, memory, memories, PlacedTexts::At::key));
        STRIA_RETURN_IF_ERROR(reads.real(memory, of_type.read_bytes_per_cycle[memory]));
      }
    }
    STRIA_RETURN_IF_ERROR(reader.finish());
  }
  return {};
}

// "2026-11-28".
bool is_day(const std::string& text) {
  if (text.size() != 10) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  const int month = std::stoi(text.substr(5, 2)), day = std::stoi(text.substr(8, 2));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

Status read_calibration(ObjectReader& unit, UnitCalibration& calibration) {
  if (!unit.get("calibration")) return {};
  ObjectReader reader = unit.inside("calibration");
  STRIA_RETURN_IF_ERROR(reader.check());
  STRIA_RETURN_IF_ERROR(reader.text("machine", calibration.machine));
  STRIA_RETURN_IF_ERROR(reader.text("date", calibration.date));
  if (!calibration.date.empty() && !is_day(calibration.date))
    return reader.fail("date", fmt::format("must be a day such as \"2026-11-28\", this is \"{}\"",
                                           shown_name(calibration.date)));
  for (const CalibrationFact& fact : calibration_facts()) {
    double& value = fact.in(calibration);
    STRIA_RETURN_IF_ERROR(reader.real(fact.name, value, fact.lowest, fact.highest));
    if (fact.whole && value != std::floor(value))
      return reader.fail(fact.name, fmt::format("must be an integer, this is {}", value));
  }
  return reader.finish();
}

Status read_systolic(ObjectReader& unit, std::optional<SystolicArray>& systolic) {
  if (!unit.get("systolic")) return {};
  ObjectReader reader = unit.inside("systolic");
  STRIA_RETURN_IF_ERROR(reader.check());
  SystolicArray& array = systolic.emplace();
  STRIA_RETURN_IF_ERROR(reader.integer("rows", array.rows, 1));
  STRIA_RETURN_IF_ERROR(reader.integer("columns", array.columns, 1));
  size_t dataflow = 0;
  STRIA_RETURN_IF_ERROR(reader.choice("dataflow", {"os", "ws", "is"}, dataflow));
  array.dataflow = static_cast<SystolicArray::Dataflow>(dataflow);
  STRIA_RETURN_IF_ERROR(reader.integer("accumulators", array.accumulators, 0));
  STRIA_RETURN_IF_ERROR(reader.flag("overlap_folds", array.overlap_folds));
  return reader.finish();
}

Status read_executor(ObjectReader& reader, const std::vector<std::string>& memories,
                     ExecutionUnit& unit) {
  STRIA_RETURN_IF_ERROR(reader.real("clock_mhz", unit.clock_mhz));
  size_t operation = 0;
  STRIA_RETURN_IF_ERROR(reader.choice("op", {"flop", "mac"}, operation));
  unit.operation = static_cast<ExecutionUnit::Operation>(operation);
  STRIA_RETURN_IF_ERROR(reader.real("ops_per_cycle", unit.ops_per_cycle));
  STRIA_RETURN_IF_ERROR(reader.real("overhead_cycles", unit.overhead_cycles));
  STRIA_RETURN_IF_ERROR(reader.integer("pipeline_depth", unit.pipeline_depth, 1));
  STRIA_RETURN_IF_ERROR(reader.integer("vector_bytes", unit.vector_bytes, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("vector_registers", unit.vector_registers, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("fma_latency_cycles", unit.fma_latency_cycles, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("max_threads", unit.max_threads, 0));
  STRIA_RETURN_IF_ERROR(read_rates(reader, memories, unit.rates));
  STRIA_RETURN_IF_ERROR(read_calibration(reader, unit.calibration));
  size_t energy_from = 0;
  if (reader.get("energy_from")) {
    STRIA_RETURN_IF_ERROR(reader.choice("energy_from", {"operations"}, energy_from));
    unit.energy_from = "operations";
  }
  STRIA_RETURN_IF_ERROR(read_energies(reader, "energy_pJ", unit.energy_pj));
  STRIA_RETURN_IF_ERROR(reader.real("leakage_mW", unit.leakage_mw));
  STRIA_RETURN_IF_ERROR(reader.real("area_mm2", unit.area_mm2));
  STRIA_RETURN_IF_ERROR(read_systolic(reader, unit.systolic));
  if (!reader.get("instructions")) return {};
  ObjectReader instructions = reader.inside("instructions");
  STRIA_RETURN_IF_ERROR(instructions.check());
  STRIA_ASSIGN(std::vector<std::string> names, instructions.names());
  for (const std::string& name : names) {
    ObjectReader instruction = instructions.inside(name);
    STRIA_RETURN_IF_ERROR(instruction.check());
    unit.instructions.push_back({.name = name});
    STRIA_RETURN_IF_ERROR(read_instruction(instruction, memories, unit.instructions.back()));
  }
  return {};
}

Status read_transfer(ObjectReader& reader, TransferUnit& unit) {
  STRIA_RETURN_IF_ERROR(reader.real("clock_mhz", unit.clock_mhz));
  size_t duplex = 0;
  STRIA_RETURN_IF_ERROR(reader.choice("duplex", {"full", "half"}, duplex));
  unit.half_duplex = duplex == 1;
  STRIA_RETURN_IF_ERROR(reader.real("latency_cycles", unit.latency_cycles));
  STRIA_RETURN_IF_ERROR(reader.real("pJ_per_byte", unit.pj_per_byte));
  STRIA_RETURN_IF_ERROR(reader.real("leakage_mW", unit.leakage_mw));
  return reader.real("area_mm2", unit.area_mm2);
}

// "DRAM[0]" or "DRAM" (instance 0).
std::optional<UnitInstance> parse_instance(const std::string& text) {
  UnitInstance unit;
  size_t open = text.find('[');
  unit.name = text.substr(0, open);
  if (!is_unit_name(unit.name)) return std::nullopt;
  if (open == std::string::npos) return unit;
  const char* first = text.data() + open + 1;
  const char* last = text.data() + text.size();
  auto [end, error] = std::from_chars(first, last, unit.instance);
  if (error != std::errc() || end + 1 != last || *end != ']' || unit.instance < 0)
    return std::nullopt;
  return unit;
}

Status read_ends(const std::map<std::string, int64_t>& units, ObjectReader& bus,
                 const std::string& key, std::vector<UnitInstance>& ends) {
  const json* list = bus.get(key);
  if (!list || !list->is_array() || list->empty())
    return bus.fail(key, "must be a list of units such as \"DRAM[0]\"");
  std::set<std::pair<std::string, int64_t>> listed;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& entry = (*list)[i];
    auto fail = [&](const std::string& message) {
      return bus.texts().fail(pointer_child(bus.pointer_of(key), std::to_string(i)), message);
    };
    auto unit = entry.is_string() ? parse_instance(entry.get<std::string>()) : std::nullopt;
    if (!unit)
      return fail(fmt::format("must be a unit such as \"DRAM[0]\", this is {}", entry.dump()));
    auto count = units.find(unit->name);
    if (count == units.end()) {
      std::vector<std::string> names;
      for (const auto& [name, instances] : units) names.push_back(name);
      const std::string near = did_you_mean(unit->name, names);
      return fail(fmt::format(
          "the model has no unit '{}'{}", unit->name,
          near.empty() && !names.empty() ? " (it has " + join(names, ", ") + ")" : near));
    }
    if (unit->instance >= count->second)
      return fail(
          fmt::format("the model has {} of '{}', counted from 0", count->second, unit->name));
    // It would be a second way to the same place.
    if (!listed.emplace(unit->name, unit->instance).second)
      return fail(fmt::format("'{}[{}]' is listed twice", unit->name, unit->instance));
    ends.push_back(*unit);
  }
  return {};
}

constexpr int64_t kMostRouters = 65'536;

// {"columns": 4, "places": {"DMA[0]": 0, "SRAM[0]": 5}}
Status read_mesh(ObjectReader& bus, Bus& out) {
  if (!bus.get("mesh")) return {};
  ObjectReader reader = bus.inside("mesh");
  STRIA_RETURN_IF_ERROR(reader.check());
  Mesh mesh;
  STRIA_RETURN_IF_ERROR(reader.integer("columns", mesh.columns, 1, 1, kMostRouters));
  if (!reader.get("columns")) return bus.fail("mesh", "'columns' is missing");
  if (!reader.get("places")) return bus.fail("mesh", "'places' is missing");
  ObjectReader places = reader.inside("places");
  STRIA_RETURN_IF_ERROR(places.check());
  std::set<std::string> ends;
  for (const auto* list : {&out.sources, &out.sinks})
    for (const UnitInstance& end : *list) ends.insert(to_string(end));
  STRIA_ASSIGN(const std::vector<std::string> names, places.names());
  for (const std::string& name : names) {
    const std::optional<UnitInstance> unit = parse_instance(name);
    if (unit && mesh.places.count({unit->name, unit->instance}) > 0)
      return places.fail(name, fmt::format("'{}' has a place already", to_string(*unit)),
                         PlacedTexts::At::key);
    if (!unit || ends.count(to_string(*unit)) == 0)
      return places.fail(name,
                         fmt::format("'{}' is no source and no sink of this bus{}", name,
                                     did_you_mean(name, {ends.begin(), ends.end()})),
                         PlacedTexts::At::key);
    int64_t router = 0;
    STRIA_RETURN_IF_ERROR(places.integer(name, router, 0, 1, kMostRouters - 1));
    mesh.places[{unit->name, unit->instance}] = router;
    ends.erase(to_string(*unit));
    if (mesh.routers() > kMostRouters)
      return places.fail(name, fmt::format("a mesh has {} routers at most", kMostRouters));
  }
  if (!ends.empty()) return reader.fail("places", fmt::format("'{}' has no place", *ends.begin()));
  STRIA_RETURN_IF_ERROR(reader.finish());
  out.mesh = std::move(mesh);
  return {};
}

Status read_buses(ObjectReader& model, const std::map<std::string, int64_t>& units,
                  std::vector<Bus>& buses) {
  const json* list = model.get("buses");
  if (!list) return {};
  if (!list->is_array()) return model.wrong("buses", "a list");
  for (size_t i = 0; i < list->size(); ++i) {
    ObjectReader reader(model.texts(), (*list)[i], pointer_child("/buses", std::to_string(i)));
    STRIA_RETURN_IF_ERROR(reader.check());
    Bus bus;
    STRIA_RETURN_IF_ERROR(read_ends(units, reader, "sources", bus.sources));
    STRIA_RETURN_IF_ERROR(read_ends(units, reader, "sinks", bus.sinks));
    STRIA_RETURN_IF_ERROR(reader.real("clock_mhz", bus.clock_mhz));
    STRIA_RETURN_IF_ERROR(reader.real("bytes_per_cycle", bus.bytes_per_cycle));
    STRIA_RETURN_IF_ERROR(reader.real("latency_cycles", bus.latency_cycles));
    STRIA_RETURN_IF_ERROR(reader.real("pJ_per_byte", bus.pj_per_byte));
    STRIA_RETURN_IF_ERROR(read_mesh(reader, bus));
    STRIA_RETURN_IF_ERROR(reader.finish());
    buses.push_back(std::move(bus));
  }
  return {};
}

// A list of names, each once.
Status read_micro_kernels(ObjectReader& model, std::vector<std::string>& names) {
  const std::string key = "micro_kernels";
  const json* list = model.get(key);
  if (!list) return {};
  if (!list->is_array()) return model.wrong(key, "a list");
  for (size_t i = 0; i < list->size(); ++i) {
    const json& entry = (*list)[i];
    const std::string at = pointer_child(model.pointer_of(key), std::to_string(i));
    if (!entry.is_string() || !is_function_name(entry.get<std::string>()))
      return model.texts().fail(at, fmt::format("{}, this is {}", kFunctionName, entry.dump()));
    if (std::find(names.begin(), names.end(), entry.get<std::string>()) != names.end())
      return model.texts().fail(at, fmt::format("{} is listed twice", entry.dump()));
    names.push_back(entry.get<std::string>());
  }
  return {};
}

// A list of float types, each once.
Status read_flushed(ObjectReader& model, FlushedTypes& flushed) {
  const std::string key = "flushes_subnormals";
  const json* list = model.get(key);
  if (!list) return {};
  if (!list->is_array()) return model.wrong(key, "a list");
  for (size_t i = 0; i < list->size(); ++i) {
    const json& entry = (*list)[i];
    if (entry != "fp32" && entry != "fp64")
      return model.texts().fail(
          pointer_child(model.pointer_of(key), std::to_string(i)),
          fmt::format("must be \"fp32\" (bf16 goes with it) or \"fp64\", this is {}",
                      entry.dump()));
    const DataType type = entry == "fp32" ? DataType::fp32 : DataType::fp64;
    if (flushed.contains(type))
      return model.texts().fail(pointer_child(model.pointer_of(key), std::to_string(i)),
                                fmt::format("{} is listed twice", entry.dump()));
    flushed.add(type);
  }
  return {};
}

// {"fp64": "shaderFloat64"}
Status read_lacking(ObjectReader& model, std::map<DataType, std::string>& types) {
  const std::string key = "lacks_types";
  if (!model.get(key)) return {};
  ObjectReader reader = model.inside(key);
  STRIA_RETURN_IF_ERROR(reader.check());
  for (const std::string_view name : data_type_names()) {
    std::string why;
    STRIA_RETURN_IF_ERROR(reader.text(std::string(name), why));
    if (!why.empty()) types[*parse_data_type(name)] = why;
  }
  return reader.finish();
}

Status read_power_of_two(ObjectReader& reader, const std::string& key, int64_t& value,
                         int64_t lower, int64_t upper) {
  STRIA_RETURN_IF_ERROR(reader.integer(key, value, lower, 1, static_cast<double>(upper)));
  if (!std::has_single_bit(static_cast<uint64_t>(value)) && value != 0)
    return reader.wrong(key, "a power of two");
  return {};
}

Status read_settings(ObjectReader& model, std::optional<GroupSettings>& settings) {
  if (!model.get("settings")) return {};
  ObjectReader reader = model.inside("settings");
  STRIA_RETURN_IF_ERROR(reader.check());
  GroupSettings& out = settings.emplace();
  STRIA_RETURN_IF_ERROR(read_power_of_two(reader, "threads", out.threads, 1, 1024));
  STRIA_RETURN_IF_ERROR(read_power_of_two(reader, "vec_size", out.vec_size, 1, 64));
  STRIA_RETURN_IF_ERROR(read_power_of_two(reader, "mem_width", out.mem_width, 1, 4096));
  STRIA_RETURN_IF_ERROR(reader.integer("max_mem", out.max_mem, 1, 1, kMaxModelBytes));
  STRIA_RETURN_IF_ERROR(reader.integer("max_regs", out.max_regs, 1, 1, kMaxModelBytes));
  STRIA_RETURN_IF_ERROR(reader.integer("goal_groups", out.goal_groups, 1));
  STRIA_RETURN_IF_ERROR(reader.integer("goal_flops_per_byte", out.goal_flops_per_byte, 1));
  STRIA_RETURN_IF_ERROR(reader.flag("use_global", out.use_global));
  return reader.finish();
}

}  // namespace

Status read_model_fields(const PlacedTexts& texts, const json& object, HardwareModel& model) {
  ObjectReader reader(texts, object, "");
  STRIA_RETURN_IF_ERROR(reader.check());
  reader.get("$schema");
  std::string energy_table;  // read by fill_energies
  STRIA_RETURN_IF_ERROR(reader.text("energy_table", energy_table));
  STRIA_RETURN_IF_ERROR(reader.text("name", model.name));
  STRIA_RETURN_IF_ERROR(reader.text("description", model.description));
  STRIA_RETURN_IF_ERROR(reader.real("clock_mhz", model.clock_mhz));
  STRIA_RETURN_IF_ERROR(reader.flag("simulated", model.simulated));
  STRIA_RETURN_IF_ERROR(reader.real("launch_us", model.launch_us));
  STRIA_RETURN_IF_ERROR(reader.real("drain_us", model.drain_us));
  STRIA_RETURN_IF_ERROR(reader.real("run_us", model.run_us));
  STRIA_RETURN_IF_ERROR(reader.real("build_ms", model.build_ms));
  STRIA_RETURN_IF_ERROR(read_flushed(reader, model.flushed_subnormals));
  STRIA_RETURN_IF_ERROR(read_lacking(reader, model.lacking_types));
  STRIA_RETURN_IF_ERROR(read_micro_kernels(reader, model.micro_kernels));
  STRIA_RETURN_IF_ERROR(read_units(reader, "mem_units", model.memories, read_memory));
  const std::vector<std::string> memories = names_of(model.memories);
  STRIA_RETURN_IF_ERROR(read_units(reader, "exec_units", model.executors,
                                   [&](ObjectReader& unit_reader, ExecutionUnit& unit) {
                                     return read_executor(unit_reader, memories, unit);
                                   }));
  STRIA_RETURN_IF_ERROR(read_units(reader, "tx_units", model.transfers, read_transfer));
  const std::map<std::string, int64_t> units = model.units();
  if (units.size() != model.memories.size() + model.executors.size() + model.transfers.size())
    return texts.fail("", "a unit's name occurs in two of mem_units, exec_units and tx_units");
  STRIA_RETURN_IF_ERROR(read_buses(reader, units, model.buses));
  STRIA_RETURN_IF_ERROR(read_settings(reader, model.settings));
  return reader.finish();
}

}  // namespace stria
