// SPDX-License-Identifier: Apache-2.0
// The step `plugin_pass` of a pipeline: hands the program, as text, to a pass of the device's own
// plugin and takes back what it makes of it.
//
//   {"plugin_pass": {"pass": "pack_weights", "options": {"lanes": 16}}}
#pragma once

#include "stria/hal/device.h"
#include "stria/pass/pipeline.h"

namespace stria {

// Of a device that is none (a model without one), the step is read, and fails when it runs.
PassInfo make_plugin_pass(const hal::Device& device);

}  // namespace stria
