// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/hardware_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/hwmodel/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

// Larger than any machine's clock, latency or number of units; keeps products of two such numbers
// inside int64.
constexpr double kMaxNumber = 1e9;
// Sizes are bytes, which a double tells exactly up to 2^53. A product with another number needs a
// check.
constexpr double kMaxBytes = 9007199254740992;

// Reads one JSON object: each get() marks a key as known, finish() reports the keys left over.
class ObjectReader {
 public:
  ObjectReader(const std::string& file, const json& object, std::string pointer)
      : file_(file), object_(object), pointer_(std::move(pointer)) {}

  Status check() const {
    if (object_.is_object()) return {};
    return fail(pointer_, fmt::format("must be an object, this is {}", object_.type_name()));
  }

  Status text(const std::string& key, std::string& value) {
    const json* found = get(key);
    if (!found) return {};
    if (!found->is_string()) return wrong(key, "a string", *found);
    value = found->get<std::string>();
    if (value.empty()) return wrong(key, "a string that is not empty", *found);
    return {};
  }

  // `value` is the key's number times `factor`, at most `highest`.
  Status integer(const std::string& key, int64_t& value, int64_t lower, int64_t factor = 1,
                 double highest = kMaxNumber) {
    double number = static_cast<double>(value) / static_cast<double>(factor);
    STRIA_RETURN_IF_ERROR(
        real(key, number, static_cast<double>(lower), highest / static_cast<double>(factor)));
    if (number * static_cast<double>(factor) != std::floor(number * static_cast<double>(factor)))
      return wrong(key, "an integer", object_[key]);
    value = static_cast<int64_t>(number * static_cast<double>(factor));
    return {};
  }

  Status real(const std::string& key, double& value, double lower, double upper = kMaxNumber) {
    const json* found = get(key);
    if (!found) return {};
    if (!found->is_number()) return wrong(key, "a number", *found);
    double number = found->get<double>();
    if (!(number >= lower && number <= upper))
      return fail(pointer_child(pointer_, key), fmt::format("{} is outside {} .. {}", found->dump(),
                                                            lower, static_cast<int64_t>(upper)));
    value = number;
    return {};
  }

  const json* get(const std::string& key) {
    known_.push_back(key);
    auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }

  Status finish() const {
    for (auto it = object_.begin(); it != object_.end(); ++it)
      if (std::find(known_.begin(), known_.end(), it.key()) == known_.end())
        return fail(pointer_child(pointer_, it.key()),
                    fmt::format("unknown key{}", did_you_mean(it.key(), known_)));
    return {};
  }

  Status fail(const std::string& pointer, const std::string& message) const {
    return invalid_argument("{}: {}: {}", file_, pointer.empty() ? "/" : pointer, message);
  }

  Status wrong(const std::string& key, const char* what, const json& value) const {
    return fail(pointer_child(pointer_, key),
                fmt::format("must be {}, this is {}", what, value.dump()));
  }

  std::string pointer_of(const std::string& key) const { return pointer_child(pointer_, key); }

 private:
  const std::string& file_;
  const json& object_;
  std::string pointer_;
  std::vector<std::string> known_;
};

bool is_unit_name(const std::string& name) {
  if (name.empty() || !starts_with_letter(name)) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// Reads {"NAME": {…}, …} with `read(ObjectReader&, Unit&)` for each unit.
template <typename Unit, typename Read>
Status read_units(const std::string& file, ObjectReader& model, const std::string& key,
                  std::vector<Unit>& units, const Read& read) {
  const json* group = model.get(key);
  if (!group) return {};
  ObjectReader group_reader(file, *group, model.pointer_of(key));
  STRIA_RETURN_IF_ERROR(group_reader.check());
  for (auto it = group->begin(); it != group->end(); ++it) {
    std::string pointer = group_reader.pointer_of(it.key());
    if (!is_unit_name(it.key()))
      return model.fail(pointer, "a unit's name is letters, digits and '_', a letter first");
    ObjectReader reader(file, *it, pointer);
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
  STRIA_RETURN_IF_ERROR(reader.integer("size_KiB", unit.size_bytes, 0, 1024, kMaxBytes));
  STRIA_RETURN_IF_ERROR(reader.integer("line_bytes", unit.line_bytes, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("banks", unit.banks, 0));
  return reader.real("latency_cycles", unit.latency_cycles, 0);
}

Status read_executor(ObjectReader& reader, ExecutionUnit& unit) {
  STRIA_RETURN_IF_ERROR(reader.real("ops_per_cycle", unit.ops_per_cycle, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("pipeline_depth", unit.pipeline_depth, 1));
  STRIA_RETURN_IF_ERROR(reader.integer("vector_bytes", unit.vector_bytes, 0));
  STRIA_RETURN_IF_ERROR(reader.integer("vector_registers", unit.vector_registers, 0));
  return reader.integer("fma_latency_cycles", unit.fma_latency_cycles, 0);
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

Status read_ends(const HardwareModel& model, ObjectReader& bus, const std::string& key,
                 std::vector<UnitInstance>& ends) {
  const json* list = bus.get(key);
  if (!list || !list->is_array() || list->empty())
    return bus.fail(bus.pointer_of(key), "must be a list of units such as \"DRAM[0]\"");
  std::vector<std::string> names;
  for (const auto& [name, count] : model.units()) names.push_back(name);
  for (size_t i = 0; i < list->size(); ++i) {
    const json& entry = (*list)[i];
    std::string pointer = pointer_child(bus.pointer_of(key), std::to_string(i));
    auto unit = entry.is_string() ? parse_instance(entry.get<std::string>()) : std::nullopt;
    if (!unit)
      return bus.fail(pointer,
                      fmt::format("must be a unit such as \"DRAM[0]\", this is {}", entry.dump()));
    auto count = model.unit_count(unit->name);
    if (!count)
      return bus.fail(pointer, fmt::format("the model has no unit '{}'{}", unit->name,
                                           did_you_mean(unit->name, names)));
    if (unit->instance >= *count)
      return bus.fail(pointer,
                      fmt::format("the model has {} of '{}', counted from 0", *count, unit->name));
    ends.push_back(*unit);
  }
  return {};
}

Status read_model(const std::string& file, const json& object, HardwareModel& model) {
  ObjectReader reader(file, object, "");
  STRIA_RETURN_IF_ERROR(reader.check());
  reader.get("$schema");
  STRIA_RETURN_IF_ERROR(reader.text("name", model.name));
  STRIA_RETURN_IF_ERROR(reader.real("clock_mhz", model.clock_mhz, 0));
  STRIA_RETURN_IF_ERROR(read_units(file, reader, "mem_units", model.memories, read_memory));
  STRIA_RETURN_IF_ERROR(read_units(file, reader, "exec_units", model.executors, read_executor));
  STRIA_RETURN_IF_ERROR(read_units(file, reader, "tx_units", model.transfers,
                                   [](ObjectReader&, TransferUnit&) { return Status(); }));
  size_t units = model.memories.size() + model.executors.size() + model.transfers.size();
  if (model.units().size() != units)
    return reader.fail("", "a unit's name occurs in two of mem_units, exec_units and tx_units");
  const json* buses = reader.get("buses");
  if (buses && !buses->is_array()) return reader.wrong("buses", "a list", *buses);
  for (size_t i = 0; buses && i < buses->size(); ++i) {
    ObjectReader bus_reader(file, (*buses)[i], pointer_child("/buses", std::to_string(i)));
    STRIA_RETURN_IF_ERROR(bus_reader.check());
    Bus bus;
    STRIA_RETURN_IF_ERROR(read_ends(model, bus_reader, "sources", bus.sources));
    STRIA_RETURN_IF_ERROR(read_ends(model, bus_reader, "sinks", bus.sinks));
    STRIA_RETURN_IF_ERROR(bus_reader.real("bytes_per_cycle", bus.bytes_per_cycle, 0));
    STRIA_RETURN_IF_ERROR(bus_reader.real("latency_cycles", bus.latency_cycles, 0));
    STRIA_RETURN_IF_ERROR(bus_reader.finish());
    model.buses.push_back(std::move(bus));
  }
  return reader.finish();
}

// `over` wins field by field; an array is one field.
void overlay(json& base, const json& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (auto it = over.begin(); it != over.end(); ++it) {
    if (base.contains(it.key()))
      overlay(base[it.key()], *it);
    else
      base[it.key()] = *it;
  }
}

void collect_origins(const json& value, const json* file, const json* device,
                     const std::string& pointer, const std::string& file_name,
                     std::map<std::string, std::string>& origins) {
  auto child = [](const json* object, const std::string& key) -> const json* {
    if (!object || !object->is_object()) return nullptr;
    auto at = object->find(key);
    return at == object->end() ? nullptr : &*at;
  };
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end(); ++it)
      collect_origins(*it, child(file, it.key()), child(device, it.key()),
                      pointer_child(pointer, it.key()), file_name, origins);
    return;
  }
  // A file that repeats what the device says (`{{ device.clock_mhz }}`) lets the device speak.
  bool from_device = device && (!file || *file == *device);
  origins[pointer] = from_device ? "device" : file_name;
}

template <typename Unit>
const Unit* find_unit(const std::vector<Unit>& units, std::string_view name) {
  for (const Unit& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

}  // namespace

const MemoryUnit* HardwareModel::find_memory(std::string_view unit) const {
  return find_unit(memories, unit);
}
const ExecutionUnit* HardwareModel::find_executor(std::string_view unit) const {
  return find_unit(executors, unit);
}
const TransferUnit* HardwareModel::find_transfer(std::string_view unit) const {
  return find_unit(transfers, unit);
}

std::optional<int64_t> HardwareModel::unit_count(std::string_view unit) const {
  if (auto* memory = find_memory(unit)) return memory->count;
  if (auto* executor = find_executor(unit)) return executor->count;
  if (auto* transfer = find_transfer(unit)) return transfer->count;
  return std::nullopt;
}

std::map<std::string, int64_t> HardwareModel::units() const {
  std::map<std::string, int64_t> out;
  for (const MemoryUnit& unit : memories) out[unit.name] = unit.count;
  for (const ExecutionUnit& unit : executors) out[unit.name] = unit.count;
  for (const TransferUnit& unit : transfers) out[unit.name] = unit.count;
  return out;
}

int64_t HardwareModel::vector_lanes(int64_t element_bytes, std::string_view unit) const {
  for (const ExecutionUnit& executor : executors)
    if ((unit.empty() || executor.name == unit) && executor.vector_bytes > 0)
      return std::max<int64_t>(1, executor.vector_bytes / element_bytes);
  return 1;
}

std::string HardwareModel::to_string() const { return merged_->dump(2) + "\n"; }

std::string HardwareModel::explain() const {
  std::string out;
  for (const auto& [pointer, origin] : origins_)
    out += fmt::format("{} = {}  ({})\n", pointer, merged_->at(json::json_pointer(pointer)).dump(),
                       origin);
  return out;
}

Result<HardwareModel> load_hardware_model(const SourceText& file, const TemplateSettings& settings,
                                          std::string_view device_json) {
  json values = settings_as_json(settings);
  json device = json::object();
  SourceText device_text{"device properties", std::string(device_json)};
  if (!device_json.empty()) {
    STRIA_ASSIGN(device, parse_json_text(device_text));
    // Checked alone, so that a mistake of the device is not blamed on the file.
    HardwareModel alone;
    STRIA_RETURN_IF_ERROR(read_model(device_text.name, device, alone));
    values["device"] = device;
  }
  STRIA_ASSIGN(json own, parse_json_template(file, values));
  json merged = device;
  overlay(merged, own);
  HardwareModel model;
  STRIA_RETURN_IF_ERROR(read_model(file.name, merged, model));
  collect_origins(merged, &own, device_json.empty() ? nullptr : &device, "", file.name,
                  model.origins_);
  model.merged_ = std::make_shared<const json>(std::move(merged));
  return model;
}

HardwareModel empty_hardware_model() {
  auto model = load_hardware_model({"empty model", "{}"});
  return std::move(model).value();
}

}  // namespace stria
