// SPDX-License-Identifier: Apache-2.0
// A program mapped as `stria sim` maps it, and timed.
#pragma once

#include <map>
#include <string>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"
#include "stria/template/template_text.h"
#include "stria/tile/bind/bind.h"

namespace stria::sim {

using Inputs = std::map<std::string, tile::TensorType>;

// Device Stripe for the machine.
stripe::Program mapped_program(const HardwareModel& model, const std::string& text,
                               const Inputs& inputs, bool chains = true);

// Cycles of #main on the template `machine` with these parameters. Without `chains` no kernels run
// over common tiles.
double mapped_cycles(const std::string& machine, const TemplateSettings& settings,
                     const std::string& text, const Inputs& inputs, bool chains = true);

// What a run of #main takes.
struct MappedRun {
  double cycles = 0;
  double pj = 0;  // of operations and of bytes, without leakage
};

// On the template `machine` with these parameters. A byte of a memory costs what it costs with the
// parameters `prices`: energies of templates grow with the size of a memory.
MappedRun mapped_run(const std::string& machine, const TemplateSettings& settings,
                     const TemplateSettings& prices, const std::string& text, const Inputs& inputs);

}  // namespace stria::sim
