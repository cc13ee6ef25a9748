// SPDX-License-Identifier: Apache-2.0
#include "explain_cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "io/random.h"
#include "progress.h"
#include "report.h"
#include "stria/cost/kernel/kernel_time.h"
#include "stria/cost/kernel/section_nests.h"
#include "stria/runtime/inside.h"
#include "timed_runs.h"

namespace stria::command {
namespace {

// Kernels come in the order in which they are launched.
struct Predicted {
  std::string name;
  std::optional<cost::PredictedTime> time;
};

std::vector<Predicted> predict(const stripe::Program& program, const HardwareModel& model) {
  std::vector<Predicted> out;
  const stripe::Block* section = program.main();
  if (section == nullptr) return out;
  for (const cost::SectionNest& each : cost::section_nests(*section, model, true))
    out.push_back({each.kernel->name, cost::kernel_time(each.nest, model)});
  return out;
}

std::string us(double seconds) { return fmt::format("{:.1f}", seconds * 1e6); }

}  // namespace

Outcome explain_cost(const Device& device, const Executable& executable, std::string& table) {
  std::vector<Tensor> inputs, outputs;
  for (const TensorInfo& info : executable.inputs()) {
    STRIA_OR_FAIL(HostTensor values, ExitCode::program,
                  random_tensor(info.type, info.sizes, inputs.size() + 1, info.name));
    STRIA_OR_FAIL(Tensor tensor, ExitCode::device, device.create_tensor(info));
    STRIA_FAIL_IF_ERROR(ExitCode::device, tensor.write(values.bytes()));
    inputs.push_back(std::move(tensor));
  }
  for (const TensorInfo& info : executable.outputs()) {
    STRIA_OR_FAIL(Tensor tensor, ExitCode::device, device.create_tensor(info));
    outputs.push_back(std::move(tensor));
  }
  Profile profile;
  {
    Progress progress("running on " + device.name());
    STRIA_FAIL_IF(run_executable(executable, inputs, outputs, &profile));
  }
  const std::vector<Predicted> kernels =
      predict(Inside::compilation(executable).device, Inside::model(device));
  size_t width = 6;
  for (const Predicted& kernel : kernels)
    width = std::max(width, short_kernel_name(kernel.name).size());
  table = fmt::format("{:<{}}  {:>12}  {:>21}  {:>12}  {:>6}\n", "kernel", width, "predicted µs",
                      "interval", "measured µs", "ratio");
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::optional<cost::PredictedTime>& time = kernels[k].time;
    const auto found =
        std::find_if(profile.kernels.begin(), profile.kernels.end(),
                     [&](const KernelTime& measured) { return measured.name == kernels[k].name; });
    const double measured =
        found == profile.kernels.end() ? 0 : static_cast<double>(found->nanoseconds) * 1e-9;
    table +=
        fmt::format("{:<{}}  {:>12}  {:>21}  {:>12}  {:>6}\n", short_kernel_name(kernels[k].name),
                    width, time ? us(time->seconds) : "-",
                    time ? us(time->least_seconds) + " .. " + us(time->most_seconds) : "-",
                    measured > 0 ? us(measured) : "-",
                    time && measured > 0 ? fmt::format("{:.2f}", time->seconds / measured) : "-");
    if (time) table += "  " + cost::to_string(*time) + "\n";
  }
  return Outcome();
}

}  // namespace stria::command
