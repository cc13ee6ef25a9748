// SPDX-License-Identifier: Apache-2.0
// From JSON to the typed fields of a hardware model: the keys that exist, and their limits. An
// internal part of hardware_model.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/object_reader.h"

namespace stria {

// Sets the typed fields of `model` from `object`.
Status read_model_fields(const PlacedTexts& texts, const nlohmann::json& object,
                         HardwareModel& model);

}  // namespace stria
