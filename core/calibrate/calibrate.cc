// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/calibrate.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stria/cost/kernel/kernel_time.h"
#include "stria/hwmodel/object_reader.h"
#include "stria/runtime/inside.h"

namespace stria::calibrate {
namespace {

using nlohmann::json;

double predicted(const HardwareModel& model, const MeasuredKernel& kernel) {
  const auto time = cost::kernel_time(kernel.nest, model);
  return time ? time->seconds : 0;
}

// Four digits say more than any clock does.
double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

// The unit whose calibration has been fitted; "" if there is none.
std::string calibrated_unit(const std::vector<FittedNumber>& numbers) {
  for (const FittedNumber& number : numbers)
    if (const size_t at = number.pointer.find("/calibration/"); at != std::string::npos)
      return number.pointer.substr(0, at + std::string("/calibration").size());
  return "";
}

void set_spread(HardwareModel& model, const std::string& unit_pointer, double spread,
                std::string& name) {
  for (ExecutionUnit& unit : model.executors) {
    if (unit_pointer != "/exec_units/" + unit.name + "/calibration") continue;
    const bool groups = unit.vector_registers == 0;
    name = groups ? "group_spread_factor" : "spread_factor";
    (groups ? unit.calibration.group.group_spread_factor : unit.calibration.core.spread_factor) =
        std::max(1.0, spread);
  }
}

}  // namespace

Result<Calibration> calibrate(const Device& device, const CalibrateOptions& options) {
  const HardwareModel& own = Inside::model(device);
  const DeviceInfo& info = device.info();
  if (own.simulated)
    return make_error(StatusCode::failed_precondition, "{} is simulated: its times are its model's",
                      device.name());
  STRIA_ASSIGN(Measurements measured,
               measure_kernels(device, calibration_set(own, info.memory_bytes), options.seconds,
                               options.anyway, options.progress));
  Calibration out;
  out.left_out = std::move(measured.left_out);
  out.unsteady = measured.unsteady;
  std::vector<MeasuredKernel> kernels;
  for (MeasuredKernel& kernel : measured.kernels)
    if (predicted(own, kernel) > 0) kernels.push_back(std::move(kernel));
  if (kernels.empty())
    return make_error(StatusCode::failed_precondition,
                      "the hardware model of {} has no unit with rates that could predict a time",
                      device.name());
  HardwareModel model = own;
  const std::vector<FittedNumber> numbers = numbers_to_fit(own, kernels, options.rates);
  out.before = error_of(own, kernels);
  fit(model, numbers, kernels);
  for (const FittedNumber& number : numbers) {
    double& value = number.in(model);
    value = number.whole ? value : rounded(value);
  }
  out.after = error_of(model, kernels);

  json overlay = {{kOverlayOf, {{"plugin", info.plugin}, {"device", info.name}}}};
  const std::string source =
      fmt::format("measured by stria calibrate, {}, {}{}", options.date, info.name,
                  out.unsteady.empty() ? "" : ", while it was busy");
  const auto put = [&](const std::string& pointer, const json& value) {
    json::json_pointer at(pointer);
    overlay[at] = value;
    const std::string key = at.back();
    at.pop_back();
    overlay[at][kSource][key] = source;
  };
  HardwareModel from = own;
  for (const FittedNumber& number : numbers) {
    const double before = number.in(from), after = number.in(model);
    if (before == after) continue;
    out.changes.push_back({number.pointer, before, after});
    if (number.whole)
      put(number.pointer, std::llround(after));
    else
      put(number.pointer, after);
  }
  if (const std::string unit = calibrated_unit(numbers); !unit.empty()) {
    std::string name;
    set_spread(model, unit, rounded(out.after.spread), name);
    put(unit + "/" + name, std::max(1.0, rounded(out.after.spread)));
    overlay[json::json_pointer(unit)]["machine"] = info.name;
    overlay[json::json_pointer(unit)]["date"] = options.date;
  }
  for (const MeasuredKernel& kernel : kernels)
    out.rows.push_back(
        {kernel.name, kernel.seconds, predicted(own, kernel), predicted(model, kernel)});
  out.overlay = overlay.dump(2) + "\n";
  return out;
}

}  // namespace stria::calibrate
