// SPDX-License-Identifier: Apache-2.0
// Predictions of a program on devices, and the choice between these. Not installed:
// Runtime::pick is what callers see.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/plugin_set.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/runtime/pick/prediction.h"

namespace stria {

// Safe to call from several threads.
struct DevicePicker {
  // Of the generic program, in milliseconds; the device is not opened. nullopt: the model lacks
  // rates.
  static std::optional<Prediction> by_bounds(const Compilation& generic,
                                             const HardwareModel& model);
  // Of the device Stripe, which `generic` becomes first: by the hardware model, then by the plugin
  // if it has estimates. Nothing is built or run. An empty list: nobody knows. Fails where the
  // pipeline does.
  static Result<std::vector<Prediction>> of_device(const Device& device, const Compilation& generic,
                                                   const CompileOptions& options);
  // Builds and runs the program on random values, three times at least, else for about so long. By
  // the host's clock, from the call to the end, tensors on the device.
  static Result<Prediction> measured(const Device& device, const Compilation& generic,
                                     const CompileOptions& options, double seconds);
  // Of a model that no device has: by bounds, and unless `bounds_only` of the device Stripe that
  // the pipeline of a plugin's kind makes for it. One failure that names the model's file for a
  // model that cannot be read, a kind that nobody has, none that fits, and a pipeline that cannot
  // be read for the model. What is wrong with the program there is an objection.
  static Result<PickedModel> of_model(const std::vector<hal::PluginRecord>& plugins,
                                      const ModelFile& given, const Compilation& generic,
                                      bool bounds_only);
};

}  // namespace stria
