// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/located_unit.h"

#include "stria/base/text.h"

namespace stria::passes {

Status check_unit(const HardwareModel& model, const std::string& name) {
  std::map<std::string, int64_t> units = model.units();
  if (name.empty() || units.empty() || units.count(name)) return {};
  std::vector<std::string> names;
  for (const auto& [unit, count] : units) names.push_back(unit);
  return not_found("the hardware model has no unit '{}'{}", name, did_you_mean(name, names));
}

Status check_location(const HardwareModel& model, const stripe::Location& location) {
  for (const stripe::LocationUnit& unit : location.path) {
    STRIA_RETURN_IF_ERROR(check_unit(model, unit.name));
    auto count = model.unit_count(unit.name);
    for (const Affine& form : unit.units)
      if (count && form.is_constant() && (form.constant() < 0 || form.constant() >= *count))
        return make_error(StatusCode::out_of_range,
                          "the hardware model has {} of '{}', so there is no {}[{}]", *count,
                          unit.name, unit.name, form.constant());
  }
  return {};
}

}  // namespace stria::passes
