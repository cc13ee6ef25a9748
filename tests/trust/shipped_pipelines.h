// SPDX-License-Identifier: Apache-2.0
// The pipelines that plugins ship, each with its hardware model, and the slides' accelerator's.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::trust {

struct Shipped {
  std::string name;  // "llvm_cpu: passes/cpu.json for hw/cpu.json"
  std::string pipeline;
  TemplateSettings settings;
  HardwareModel model;
};

// Read from the manifests of the built plugins, as the runtime does; each pair of files once.
Result<std::vector<Shipped>> shipped_pipelines();

}  // namespace stria::trust
