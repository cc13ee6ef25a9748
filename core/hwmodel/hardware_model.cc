// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/hardware_model.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "stria/base/json_object.h"
#include "stria/base/text.h"
#include "stria/hwmodel/energy_table.h"
#include "stria/hwmodel/model_fields.h"
#include "stria/hwmodel/model_overlay.h"
#include "stria/hwmodel/object_reader.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;

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

// Removes each object's `source`.
void strip_sources(json& value) {
  if (!value.is_structured()) return;
  if (value.is_object()) value.erase(kSource);
  for (json& child : value) strip_sources(child);
}

struct Overlay {
  PlacedText text;
  json values;
};

// Where each field of a merged model is from.
class OriginReader {
 public:
  OriginReader(const json& file, const PlacedText& file_text, const json& device,
               const std::vector<Overlay>& overlays)
      : file_(file),
        file_text_(file_text),
        file_lines_({&file_text}),
        device_(device),
        overlays_(overlays) {}

  // `merged` has no sources. A list of units' names is one field; other lists are looked into.
  void read(const json& merged, const std::string& pointer,
            std::map<std::string, FieldOrigin>& origins) const {
    const bool list = merged.is_array();
    const bool looked_into =
        merged.is_object() || (list && !merged.empty() && merged[0].is_object());
    if (!looked_into) {
      origins[pointer] = origin_of(pointer, merged);
      return;
    }
    size_t position = 0;
    for (auto it = merged.begin(); it != merged.end(); ++it, ++position)
      read(*it, pointer_child(pointer, list ? std::to_string(position) : it.key()), origins);
  }

 private:
  std::string device_source(const std::string& pointer) const {
    const std::string said = source_of(device_, pointer);
    return said.empty() ? "the device" : said;
  }

  // What the device says, not what the model makes of it: of 12 bytes for each of the device's
  // units the 12 are the model's.
  bool says(const std::string& path, const json& value) const {
    const json::json_pointer at(path);
    return device_.contains(at) && device_.at(at) == value;
  }

  FieldOrigin origin_of(const std::string& pointer, const json& value) const {
    const bool number = value.is_number();
    FieldOrigin out;
    const json::json_pointer at(pointer);
    for (auto overlay = overlays_.rbegin(); overlay != overlays_.rend(); ++overlay) {
      if (!overlay->values.contains(at)) continue;
      out.place = PlacedTexts({&overlay->text}).line_of(pointer);
      if (number) out.source = source_of(overlay->values, pointer);
      return out;
    }
    if (!file_.contains(json::json_pointer(pointer))) {
      out.device = {pointer};
      if (number) out.source = device_source(pointer);
      return out;
    }
    out.place = file_lines_.line_of(pointer);
    if (out.place.empty())
      out.place = std::filesystem::path(file_text_.source->name).filename().string();
    auto place = file_text_.places.find(pointer);
    const TemplateReads reads =
        place == file_text_.places.end() ? TemplateReads() : place->second.reads;
    out.defaulted = reads.defaulted;
    std::vector<std::string> device_sources;
    for (const std::string& path : reads.paths) {
      std::vector<std::string> steps = split(path, '.');
      if (steps[0] != "device") {
        if (std::find(out.settings.begin(), out.settings.end(), steps[0]) == out.settings.end())
          out.settings.push_back(steps[0]);
        continue;
      }
      steps[0] = "";
      out.device.push_back(join(steps, "/"));
      const std::string said = device_source(out.device.back());
      if (std::find(device_sources.begin(), device_sources.end(), said) == device_sources.end())
        device_sources.push_back(said);
    }
    if (!number) return out;
    out.source = source_of(file_, pointer);
    if (device_sources.empty() || out.defaulted || !out.settings.empty()) return out;
    const bool said = says(out.device.front(), value) || says(pointer, value);
    const bool computed = !said && !out.source.empty();
    out.source = (computed ? out.source + "; " : "") + join(device_sources, "; ");
    return out;
  }

  const json& file_;
  const PlacedText& file_text_;
  const PlacedTexts file_lines_;
  const json& device_;
  const std::vector<Overlay>& overlays_;
};

// Each number's source, beside it: {"size_KiB": 48, "source": {"size_KiB": "sysfs"}}.
void write_sources(const std::map<std::string, FieldOrigin>& origins, json& merged) {
  for (const auto& [pointer, origin] : origins) {
    if (origin.source.empty()) continue;
    json::json_pointer at(pointer);
    const std::string key = at.back();
    at.pop_back();
    object_at(merged.at(at), kSource)[key] = origin.source;
  }
}

// `units` are in the order of their names.
template <typename Unit>
const Unit* find_unit(const std::vector<Unit>& units, std::string_view name) {
  const auto at = std::lower_bound(
      units.begin(), units.end(), name,
      [](const Unit& unit, std::string_view wanted) { return unit.name < wanted; });
  return at != units.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

std::string FieldOrigin::to_string() const {
  std::vector<std::string> parts;
  if (!place.empty()) parts.push_back(place);
  if (!settings.empty()) parts.push_back("--set " + join(settings, ", "));
  if (!device.empty()) parts.push_back("device");
  if (defaulted) parts.push_back("default");
  return join(parts, ", ");
}

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

namespace {

// Of the unit, or of the first one whose facts are not the defaults.
template <typename Facts>
const Facts& facts_of(const std::vector<ExecutionUnit>& executors, std::string_view unit,
                      Facts UnitCalibration::* kind) {
  static const Facts defaults;
  const Facts* measured = &defaults;
  for (const ExecutionUnit& executor : executors) {
    const Facts& facts = executor.calibration.*kind;
    if (executor.name == unit) return facts;
    if (measured == &defaults && facts != defaults) measured = &facts;
  }
  return *measured;
}

}  // namespace

const CoreFacts& HardwareModel::core_facts(std::string_view unit) const {
  return facts_of(executors, unit, &UnitCalibration::core);
}

const GroupFacts& HardwareModel::group_facts(std::string_view unit) const {
  return facts_of(executors, unit, &UnitCalibration::group);
}

int64_t HardwareModel::cache_line_bytes() const {
  const MemoryUnit* nearest = nullptr;
  for (const MemoryUnit& memory : memories)
    if (memory.policy == MemoryPolicy::lru && memory.line_bytes > 0 &&
        (!nearest || memory.size_bytes < nearest->size_bytes))
      nearest = &memory;
  return nearest ? nearest->line_bytes : static_cast<int64_t>(core_facts().cache_line_bytes);
}

std::vector<std::string> HardwareModel::numbers_without_source() const {
  std::vector<std::string> out;
  for (const auto& [pointer, origin] : origins_)
    if (origin.source.empty() && merged_->at(json::json_pointer(pointer)).is_number())
      out.push_back(pointer);
  return out;
}

std::string HardwareModel::to_string() const { return merged_->dump(2) + "\n"; }

std::string HardwareModel::explain() const {
  constexpr size_t kWidest = 60;  // longer fields push the rest of their line to the right
  std::vector<std::string> fields, places;
  size_t field_width = 0, place_width = 0;
  for (const auto& [pointer, origin] : origins_) {
    fields.push_back(
        fmt::format("{} = {}", pointer, merged_->at(json::json_pointer(pointer)).dump()));
    places.push_back(fmt::format("({})", origin.to_string()));
    if (fields.back().size() <= kWidest) field_width = std::max(field_width, fields.back().size());
    if (places.back().size() <= kWidest) place_width = std::max(place_width, places.back().size());
  }
  std::string out;
  size_t at = 0;
  for (const auto& [pointer, origin] : origins_) {
    std::string line = fmt::format("{:<{}}  {:<{}}  {}", fields[at], field_width, places[at],
                                   place_width, origin.source);
    out += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    ++at;
  }
  return out;
}

std::string HardwareModel::explain_calibration() const {
  const std::map<std::string, std::string> kinds = {
      {"core", "of a core with vector registers"},
      {"group", "of a unit that runs groups of lanes"}};
  const std::vector<CalibrationFact>& facts = calibration_facts();
  size_t name_width = 0;
  for (const CalibrationFact& fact : facts)
    name_width = std::max(name_width, std::string_view(fact.name).size());
  std::string out;
  for (const auto& [kind, heading] : kinds) {
    out += fmt::format("{}calibration {} (default; what a unit has of its own)\n",
                       out.empty() ? "" : "\n", heading);
    for (const CalibrationFact& fact : facts) {
      if (fact.kind != kind) continue;
      out += fmt::format("{:<{}}  {:<6.6g}  {}: {}\n", fact.name, name_width, fact.initial,
                         fact.unit, fact.meaning);
      for (const ExecutionUnit& unit : executors) {
        const auto own =
            origins_.find(fmt::format("/exec_units/{}/calibration/{}", unit.name, fact.name));
        if (own == origins_.end()) continue;
        UnitCalibration calibration = unit.calibration;
        out += fmt::format("{:<{}}  {:<6.6g}  {} ({})\n", "", name_width, fact.in(calibration),
                           unit.name, own->second.to_string());
      }
    }
  }
  return out;
}

Result<HardwareModel> load_hardware_model(const SourceText& file, const TemplateSettings& settings,
                                          std::string_view device_json,
                                          const std::vector<SourceText>& overlay_files) {
  json values = settings_as_json(settings);
  json device = json::object();
  const SourceText device_source{"device properties", std::string(device_json)};
  PlacedText device_text{&device_source, {}}, file_text{&file, {}};
  if (!device_json.empty()) {
    STRIA_ASSIGN(device, parse_json_text(device_source, &device_text.places));
    // Checked alone, so that a mistake of the device is not blamed on the file.
    HardwareModel alone;
    STRIA_RETURN_IF_ERROR(read_model_fields(PlacedTexts({&device_text}), device, alone));
    values["device"] = device;
  }
  STRIA_ASSIGN(json own, parse_json_template(file, values, &file_text.places));
  json merged = device;
  overlay(merged, own);
  std::vector<Overlay> overlays(overlay_files.size());
  std::vector<const PlacedText*> placed = {&file_text, &device_text};
  for (size_t i = 0; i < overlays.size(); ++i) {
    overlays[i].text.source = &overlay_files[i];
    STRIA_ASSIGN(overlays[i].values, parse_json_text(overlay_files[i], &overlays[i].text.places));
    STRIA_RETURN_IF_ERROR(overlay_target(overlay_files[i]).status());
    overlays[i].values.erase(kOverlayOf);
    STRIA_RETURN_IF_ERROR(
        check_overlay_units(merged, overlays[i].values, PlacedTexts({&overlays[i].text})));
    overlay(merged, overlays[i].values);
    placed.insert(placed.begin(), &overlays[i].text);
  }
  HardwareModel model;
  const PlacedTexts texts(placed);
  STRIA_RETURN_IF_ERROR(read_model_fields(texts, merged, model));
  strip_sources(merged);
  OriginReader(own, file_text, device, overlays).read(merged, "", model.origins_);
  STRIA_RETURN_IF_ERROR(fill_energies(file, texts, model, merged, model.origins_));
  write_sources(model.origins_, merged);
  model.merged_ = std::make_shared<const json>(std::move(merged));
  model.file_ = file.name;
  return model;
}

HardwareModel empty_hardware_model() {
  auto model = load_hardware_model({"empty model", "{}"});
  return std::move(model).value();
}

}  // namespace stria
