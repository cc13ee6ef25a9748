// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/micro_kernels.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/template/json_text.h"

namespace stria {
namespace {

// "hw/host.json:14: /exec_units/CORE/instructions/product/symbol"
std::string place_of(const HardwareModel& model, const ExecutionUnit& unit,
                     const Instruction& instruction) {
  std::string pointer = "/exec_units";
  for (const std::string& key :
       {unit.name, std::string("instructions"), instruction.name, std::string("symbol")})
    pointer = pointer_child(pointer, key);
  const auto origin = model.origins().find(pointer);
  if (origin == model.origins().end() || origin->second.place.empty()) return pointer;
  return origin->second.place + ": " + pointer;
}

}  // namespace

bool has_micro_kernels(const HardwareModel& model) {
  for (const ExecutionUnit& unit : model.executors)
    for (const Instruction& instruction : unit.instructions)
      if (!instruction.symbol.empty()) return true;
  return false;
}

Status check_micro_kernels(const HardwareModel& model, std::string_view plugin) {
  if (model.simulated) return {};
  const std::vector<std::string>& known = model.micro_kernels;
  for (const ExecutionUnit& unit : model.executors)
    for (const Instruction& instruction : unit.instructions) {
      const std::string& symbol = instruction.symbol;
      if (symbol.empty() || std::find(known.begin(), known.end(), symbol) != known.end()) continue;
      const std::string place = place_of(model, unit, instruction);
      if (known.empty())
        return make_error(
            StatusCode::incompatible,
            "{}: the plugin '{}' calls no micro-kernels, so it has no '{}': take the "
            "instruction '{}' out of the model, or report the functions of the plugin "
            "as \"micro_kernels\" in the device's properties",
            place, plugin, symbol, instruction.name);
      return make_error(StatusCode::incompatible,
                        "{}: the plugin '{}' has no micro-kernel '{}'{} (it has {}): correct the "
                        "name, or add the function to the plugin",
                        place, plugin, symbol, did_you_mean(symbol, known), join(known, ", "));
    }
  return {};
}

}  // namespace stria
