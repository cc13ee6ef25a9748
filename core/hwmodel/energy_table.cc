// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/energy_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria {
namespace {

using nlohmann::json;

constexpr size_t kMaxFileBytes = size_t{1} << 20;

Status read_point(ObjectReader& reader, MemoryEnergy::Point& point) {
  STRIA_RETURN_IF_ERROR(reader.integer("size_KiB", point.size_bytes, 0, 1024, kMaxModelBytes));
  double both = -1;
  STRIA_RETURN_IF_ERROR(reader.real("pJ", both));
  point.low_pj = point.high_pj = both;
  STRIA_RETURN_IF_ERROR(reader.real("pJ_low", point.low_pj));
  STRIA_RETURN_IF_ERROR(reader.real("pJ_high", point.high_pj));
  STRIA_RETURN_IF_ERROR(reader.finish());
  if (point.low_pj < 0 || point.high_pj < point.low_pj)
    return reader.texts().fail(reader.pointer(),
                               "needs pJ, or pJ_low and a pJ_high that is not below it");
  return {};
}

Status read_memory_energy(ObjectReader& reader, const json& root, MemoryEnergy& memory) {
  memory.source = source_of(root, reader.pointer_of("access_bytes"));
  STRIA_RETURN_IF_ERROR(reader.integer("access_bytes", memory.access_bytes, 1));
  const json* list = reader.get("at");
  if (!list || !list->is_array() || list->empty())
    return reader.fail("at", "must be a list such as [{\"size_KiB\": 8, \"pJ\": 10}]");
  for (size_t i = 0; i < list->size(); ++i) {
    ObjectReader entry(reader.texts(), (*list)[i],
                       pointer_child(reader.pointer_of("at"), std::to_string(i)));
    STRIA_RETURN_IF_ERROR(entry.check());
    MemoryEnergy::Point point;
    STRIA_RETURN_IF_ERROR(read_point(entry, point));
    if (!memory.points.empty() && point.size_bytes <= memory.points.back().size_bytes)
      return entry.fail("size_KiB", "must be larger than the one before");
    if (point.size_bytes == 0 && list->size() > 1)
      return entry.fail("size_KiB", "must be above 0 where there are several");
    memory.points.push_back(point);
  }
  return reader.finish();
}

void collect_numbers(const json& root, const json& value, const std::string& pointer,
                     std::vector<std::string>& missing) {
  if (value.is_number() && source_of(root, pointer).empty()) missing.push_back(pointer);
  if (!value.is_structured()) return;
  size_t position = 0;
  for (auto it = value.begin(); it != value.end(); ++it, ++position)
    collect_numbers(root, *it,
                    pointer_child(pointer, value.is_array() ? std::to_string(position) : it.key()),
                    missing);
}

// Sets a number that the table gives, unless the model has it.
void give(json& unit, const std::string& unit_pointer, const std::string& key, double value,
          const FieldOrigin& origin, double& field, std::map<std::string, FieldOrigin>& origins) {
  if (unit.contains(key)) return;
  unit[key] = field = value;
  origins[pointer_child(unit_pointer, key)] = origin;
}

Status fill_memory(const PlacedTexts& texts, const EnergyTable& table, const std::string& place,
                   MemoryUnit& unit, json& merged, std::map<std::string, FieldOrigin>& origins) {
  const std::string pointer = pointer_child("/mem_units", unit.name);
  const std::string asked = pointer_child(pointer, "energy_from");
  const MemoryEnergy* memory = nullptr;
  std::vector<std::string> names;
  for (const MemoryEnergy& one : table.memories) {
    names.push_back(one.name);
    if (one.name == unit.energy_from) memory = &one;
  }
  if (!memory)
    return texts.fail(asked, fmt::format("the energy table '{}' has no memory '{}'{}", table.name,
                                         unit.energy_from, did_you_mean(unit.energy_from, names)));
  if (unit.size_bytes == 0 && memory->points[0].size_bytes != 0)
    return texts.fail(
        pointer_child(pointer, "size_KiB"),
        "a memory with energy_from needs a size above 0: the table's energies are by size");
  const MemoryEnergy::PerByte energy = memory->per_byte(unit.size_bytes);
  FieldOrigin origin;
  origin.place = place;
  origin.source = memory->source.empty() ? table.name : memory->source;
  if (energy.low_pj != energy.high_pj)
    origin.source +=
        fmt::format(" (the middle of {:.4g} to {:.4g})", energy.low_pj, energy.high_pj);
  if (energy.beyond) origin.source += " (of the nearest size there)";
  const double middle = (energy.low_pj + energy.high_pj) / 2;
  give(merged, pointer, "read_pJ_per_byte", middle, origin, unit.read_pj_per_byte, origins);
  give(merged, pointer, "write_pJ_per_byte", middle, origin, unit.write_pj_per_byte, origins);
  return {};
}

void fill_operations(const EnergyTable& table, const std::string& place, ExecutionUnit& unit,
                     json& merged, std::map<std::string, FieldOrigin>& origins) {
  const std::string pointer = pointer_child(pointer_child("/exec_units", unit.name), "energy_pJ");
  for (const auto& [operation, energy] : table.operations) {
    FieldOrigin origin;
    origin.place = place;
    origin.source = source_of(*table.json, pointer_child("/operations_pJ", operation));
    if (origin.source.empty()) origin.source = table.name;
    give(merged["energy_pJ"], pointer, operation, energy, origin, unit.energy_pj[operation],
         origins);
  }
}

}  // namespace

MemoryEnergy::PerByte MemoryEnergy::per_byte(int64_t size_bytes) const {
  const double bytes = static_cast<double>(access_bytes);
  auto at =
      std::lower_bound(points.begin(), points.end(), size_bytes,
                       [](const Point& point, int64_t size) { return point.size_bytes < size; });
  const bool any_size = points.size() == 1 && points[0].size_bytes == 0;
  if (any_size || at == points.end() || at->size_bytes == size_bytes || at == points.begin()) {
    const Point& point = at == points.end() ? points.back() : *at;
    return {point.low_pj / bytes, point.high_pj / bytes,
            !any_size && point.size_bytes != size_bytes};
  }
  const Point &below = *(at - 1), &above = *at;
  const double part =
      std::log(static_cast<double>(size_bytes) / static_cast<double>(below.size_bytes)) /
      std::log(static_cast<double>(above.size_bytes) / static_cast<double>(below.size_bytes));
  auto between = [&](double low, double high) {
    return low <= 0 ? high * part : low * std::pow(high / low, part);
  };
  return {between(below.low_pj, above.low_pj) / bytes,
          between(below.high_pj, above.high_pj) / bytes, false};
}

Result<EnergyTable> parse_energy_table(const SourceText& file) {
  PlacedText text{&file, {}};
  STRIA_ASSIGN(json root, parse_json_text(file, &text.places));
  const PlacedTexts texts({&text});
  EnergyTable table;
  ObjectReader reader(texts, root, "");
  STRIA_RETURN_IF_ERROR(reader.check());
  reader.get("$schema");
  STRIA_RETURN_IF_ERROR(reader.text("name", table.name));
  if (table.name.empty()) return reader.fail("name", "is missing");
  STRIA_RETURN_IF_ERROR(reader.real("node_nm", table.node_nm));
  STRIA_RETURN_IF_ERROR(read_energies(reader, "operations_pJ", table.operations));
  if (reader.get("memories")) {
    ObjectReader memories = reader.inside("memories");
    STRIA_RETURN_IF_ERROR(memories.check());
    STRIA_ASSIGN(std::vector<std::string> names, memories.names());
    for (const std::string& name : names) {
      ObjectReader memory = memories.inside(name);
      STRIA_RETURN_IF_ERROR(memory.check());
      table.memories.push_back({.name = name});
      STRIA_RETURN_IF_ERROR(read_memory_energy(memory, root, table.memories.back()));
    }
  }
  STRIA_RETURN_IF_ERROR(reader.finish());
  table.json = std::make_shared<const json>(std::move(root));
  return table;
}

std::vector<std::string> numbers_without_source(const EnergyTable& table) {
  std::vector<std::string> missing;
  collect_numbers(*table.json, *table.json, "", missing);
  return missing;
}

Status fill_energies(const SourceText& file, const PlacedTexts& texts, HardwareModel& model,
                     json& merged, std::map<std::string, FieldOrigin>& origins) {
  std::optional<EnergyTable> table;
  std::string place;
  if (auto named = merged.find("energy_table"); named != merged.end()) {
    const std::filesystem::path path =
        std::filesystem::path(file.name).parent_path() / named->get<std::string>();
    // A pipe would make the reader wait, a device never end.
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      return texts.fail("/energy_table",
                        fmt::format("there is no {}file '{}'",
                                    std::filesystem::exists(path, error) ? "regular " : "",
                                    shown_name(path.string())));
    auto text = read_file(path, kMaxFileBytes);
    if (!text.ok()) return texts.fail("/energy_table", text.status().message());
    place = path.filename().string();
    STRIA_ASSIGN(table,
                 parse_energy_table({path.lexically_normal().string(), std::move(text).value()}));
    merged.erase("energy_table");
    origins.erase("/energy_table");
  }
  auto resolve = [&](const std::string& group, auto& units, const auto& fill) -> Status {
    for (auto& unit : units) {
      if (unit.energy_from.empty()) continue;
      const std::string asked = pointer_child(pointer_child("/" + group, unit.name), "energy_from");
      if (!table) return texts.fail(asked, "needs an energy_table at the top of the model");
      json& at = merged[group][unit.name];
      STRIA_RETURN_IF_ERROR(fill(unit, at));
      at.erase("energy_from");
      origins.erase(asked);
    }
    return {};
  };
  STRIA_RETURN_IF_ERROR(resolve("mem_units", model.memories, [&](MemoryUnit& unit, json& at) {
    return fill_memory(texts, *table, place, unit, at, origins);
  }));
  return resolve("exec_units", model.executors, [&](ExecutionUnit& unit, json& at) {
    fill_operations(*table, place, unit, at, origins);
    return Status();
  });
}

}  // namespace stria
