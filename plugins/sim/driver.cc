// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <algorithm>
#include <iterator>

#include "compiler.h"
#include "executor.h"
#include "program/part_checks.h"
#include "stria/base/file.h"
#include "stria/codegen/code_generator.h"
#include "stria/hwmodel/machine_roles.h"

namespace stria::sim {

namespace {

// The kinds of the manifest, the one that `--device sim` takes first. A device's id is its kind.
struct Machine {
  const char* kind;
  const char* name;
  const char* model;  // the file that the manifest names; the host reads the same one
};
constexpr Machine kMachines[] = {
    {"slides", "simulated accelerator of the Stripe slides", "hw/stripe_slides.json"},
    {"slides_systolic", "simulated accelerator with a systolic array", "hw/slides_systolic.json"},
    {"tpu_like", "simulated array in the manner of the first TPU", "hw/tpu_like.json"},
    {"eyeriss_like", "simulated elements in the manner of Eyeriss", "hw/eyeriss_like.json"},
    {"slides_spread", "simulated accelerator of the Stripe slides, a memory for each unit",
     "hw/stripe_slides.json"},
};

}  // namespace

std::vector<sdk::DeviceInfo> SimDriver::enumerate() {
  std::vector<sdk::DeviceInfo> out;
  for (const Machine& machine : kMachines) {
    sdk::DeviceInfo info;
    info.id = info.kind = machine.kind;
    info.name = machine.name;
    info.vendor = "stria";
    info.properties = R"({"simulated": true})";
    out.push_back(std::move(info));
  }
  return out;
}

sdk::Ref<sdk::Device> SimDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  const auto* machine = std::find_if(std::begin(kMachines), std::end(kMachines),
                                     [&](const Machine& known) { return info.kind == known.kind; });
  const std::string path = options().directory + "/" + machine->model;
  const std::string text = code_generator::require(read_file(path, kMaxJsonBytes));
  HardwareModel model =
      code_generator::require(load_hardware_model({path, text}, {}, info.properties));
  code_generator::require(check_model(model));
  return sdk::make<SimDevice>(host(), info, std::move(model));
}

sdk::Ref<sdk::Compiler> SimDevice::create_compiler() { return sdk::make<SimCompiler>(model_); }

std::string SimDevice::main_memory() const { return roles_of(*model_).main; }

stria_estimate SimDevice::estimate(std::string_view stripe, std::string_view options) {
  stria_estimate out{};
  for (const auto& part : SimCompiler(model_).simulate(stripe, options)) {
    (part->part == STRIA_MAIN ? out.time_ns : out.prologue_ns) = part->nanoseconds;
    if (part->part == STRIA_MAIN) out.energy_pj = part->picojoules;
  }
  out.low_time_ns = out.high_time_ns = out.time_ns;
  return out;
}

sdk::Ref<sdk::Executor> SimDevice::create_executor(std::string_view) {
  return sdk::make<SimExecutor>(host());
}

}  // namespace stria::sim
