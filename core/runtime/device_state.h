// SPDX-License-Identifier: Apache-2.0
// What a Device holds; shared by the device (device.cc) and the compile driver.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stria/base/source_text.h"
#include "stria/exec/loaded_program.h"
#include "stria/hal/device.h"
#include "stria/hal/plugin.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/pipeline.h"
#include "stria/runtime/device.h"

namespace stria {

struct [[gnu::visibility("hidden")]] Device::State {
  hal::Plugin plugin;
  hal::Device device;
  exec::DeviceMemory memory;
  std::string name;
  DeviceInfo info;
  HardwareModel model;
  PassRegistry passes;
  PipelineSource pipeline_source;
  Pipeline pipeline;
  // Work of the device is started and recorded under it.
  std::shared_ptr<std::mutex> order = std::make_shared<std::mutex>();
};

}  // namespace stria
