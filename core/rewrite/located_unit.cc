// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/located_unit.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

Status check_unit(const HardwareModel& model, UnitUse use, const std::string& option,
                  const std::string& name) {
  std::map<std::string, int64_t> units = model.units();
  bool is_memory = model.find_memory(name) != nullptr;
  if (name.empty() || units.empty() ||
      (units.count(name) && (use == UnitUse::either || is_memory == (use == UnitUse::hold))))
    return {};
  std::vector<std::string> names;
  if (units.count(name)) {
    for (const auto& [unit, count] : units)
      if ((model.find_memory(unit) != nullptr) != is_memory) names.push_back(unit);
    return invalid_argument("{}: '{}' is {} unit; {} (the hardware model has {})", option, name,
                            is_memory                   ? "a memory"
                            : model.find_executor(name) ? "an execution"
                                                        : "a transfer",
                            is_memory ? "a block runs on an execution or transfer unit"
                                      : "elements are held in a memory unit",
                            names.empty() ? "none" : join(names, ", "));
  }
  for (const auto& [unit, count] : units) names.push_back(unit);
  const std::string near = did_you_mean(name, names);
  return not_found("{}: the hardware model has no unit '{}'{}", option, name,
                   near.empty() ? fmt::format(" (it has {})", join(names, ", ")) : near);
}

Status check_location(const HardwareModel& model, UnitUse use, const std::string& option,
                      const stripe::Location& location) {
  for (const stripe::LocationUnit& unit : location.path) {
    STRIA_RETURN_IF_ERROR(check_unit(model, use, option, unit.name));
    auto count = model.unit_count(unit.name);
    for (const Affine& form : unit.units)
      if (count && form.is_constant() && (form.constant() < 0 || form.constant() >= *count))
        return make_error(StatusCode::out_of_range,
                          "{}: the hardware model has {} of '{}', so there is no {}[{}]", option,
                          *count, unit.name, unit.name, form.constant());
  }
  return {};
}

Status check_pattern(const HardwareModel& model, const std::string& option,
                     const stripe::Location& pattern) {
  for (const stripe::LocationUnit& unit : pattern.path)
    if (unit.name != "*")
      STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::either, option, unit.name));
  return {};
}

bool begins_with(const stripe::Location& location, const stripe::Location& pattern) {
  if (location.path.size() < pattern.path.size()) return false;
  for (size_t i = 0; i < pattern.path.size(); ++i) {
    const stripe::LocationUnit& wanted = pattern.path[i];
    const stripe::LocationUnit& unit = location.path[i];
    if (wanted.name != "*" && wanted.name != unit.name) return false;
    if (!wanted.units.empty() && wanted.units != unit.units) return false;
  }
  return true;
}

bool numbers_units(const stripe::Location& location) {
  return !location.path.empty() &&
         std::none_of(location.path.begin(), location.path.end(),
                      [](const stripe::LocationUnit& unit) { return unit.units.empty(); });
}

bool holds_numbered_blocks(const stripe::Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const stripe::Statement& stmt) {
    const stripe::Block* inner = stmt.block();
    if (!inner || inner->tags.has(stripe::tag::kStencil)) return false;
    return numbers_units(inner->location) || holds_numbered_blocks(*inner);
  });
}

stripe::Location placed(const stripe::Location& location, const stripe::Location& loc,
                        bool append) {
  if (!append) return loc;
  stripe::Location out = location;
  out.path.insert(out.path.end(), loc.path.begin(), loc.path.end());
  return out;
}

}  // namespace stria::passes
