// SPDX-License-Identifier: Apache-2.0
// An overlay: numbers that stand in for those of a device's model, as `stria calibrate` measures
// them. It is a JSON object with keys of a model, and `overlay_of`, which says whose they are:
//
//   {"overlay_of": {"plugin": "acme", "device": "Acme T1"},
//    "launch_us": 2.5, "exec_units": {"CU": {"calibration": {"step_instructions": 30}}}}
//
// It refines units that the model has; it adds none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"

namespace stria {

class PlacedTexts;

// What an overlay is for. Empty: any plugin, any device.
struct OverlayTarget {
  std::string plugin;  // its id
  std::string device;  // its name
  bool covers(std::string_view plugin_id, std::string_view device_name) const {
    return (plugin.empty() || plugin == plugin_id) && (device.empty() || device == device_name);
  }
};
// invalid_argument, with the place, if it is no object, or `overlay_of` is not as above.
Result<OverlayTarget> overlay_target(const SourceText& file);

// invalid_argument, with the unit's place and the nearest name, if the overlay names a unit that
// the model lacks. For load_hardware_model.
Status check_overlay_units(const nlohmann::json& model, const nlohmann::json& overlay,
                           const PlacedTexts& texts);

}  // namespace stria
