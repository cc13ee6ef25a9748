// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/calibrate.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stria/base/json_object.h"
#include "stria/calibrate/tile_choices.h"
#include "stria/cost/kernel/kernel_time.h"
#include "stria/hwmodel/object_reader.h"
#include "stria/runtime/inside.h"

namespace stria::calibrate {
namespace {

using nlohmann::json;

// Of the time, if tiles are asked for.
constexpr double kKernelsPart = 0.6;
constexpr int kTileRounds = 8;
constexpr double kTilesWeight = 5;  // beside what a number costs that leaves where it was
constexpr double kLeastGain = 0.002;

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

// The model with numbers fitted to these programs.
Result<HardwareModel> fitted_to(const TileChoices& tiles, TileChoices::Programs of,
                                const HardwareModel& model,
                                const std::vector<FittedNumber>& numbers) {
  HardwareModel out = model;
  Status failed;
  descend(out, numbers, kTileRounds, [&] {
    const Result<ChoiceLoss> now = tiles.loss_of(out, of);
    if (!now.ok()) failed = now.status();
    return now.ok() ? kTilesWeight * now->sum() : INFINITY;
  });
  STRIA_RETURN_IF_ERROR(failed);
  return out;
}

// How much less is lost by the choices for programs whose times the fit did not see: each half with
// what is fitted to the other one. What fits noise gains nothing here.
Result<double> gain_on_others(const TileChoices& tiles, const HardwareModel& model,
                              const std::vector<FittedNumber>& numbers) {
  using enum TileChoices::Programs;
  double out = 0;
  for (const auto& [seen, other] : {std::pair(even, odd), std::pair(odd, even)}) {
    STRIA_ASSIGN(const HardwareModel fitted, fitted_to(tiles, seen, model, numbers));
    STRIA_ASSIGN(const ChoiceLoss before, tiles.loss_of(model, other));
    STRIA_ASSIGN(const ChoiceLoss after, tiles.loss_of(fitted, other));
    out += (before.lost - after.lost) / 2;
  }
  return out;
}

// Rates that were fitted above count.
Status fit_tiles(const TileChoices& tiles, const HardwareModel& own,
                 const std::vector<FittedNumber>& numbers, HardwareModel& model, Calibration& out) {
  if (tiles.empty()) return Status();
  STRIA_ASSIGN(out.tiles_before, tiles.error_of(own));
  STRIA_ASSIGN(const double gain, gain_on_others(tiles, model, numbers));
  out.tiles_fitted = gain > kLeastGain;
  if (out.tiles_fitted) {
    STRIA_ASSIGN(const HardwareModel fitted,
                 fitted_to(tiles, TileChoices::Programs::all, model, numbers));
    HardwareModel from = fitted;
    for (const FittedNumber& number : numbers) number.in(model) = number.in(from);
  }
  STRIA_ASSIGN(out.tiles_after, tiles.error_of(model));
  return Status();
}

}  // namespace

Result<Calibration> calibrate(const Device& device, const CalibrateOptions& options) {
  const HardwareModel& own = Inside::model(device);
  const auto part = [&](double from, double to) -> Progress {
    if (!options.progress) return {};
    return [&, from, to](std::string_view what, double done) {
      options.progress(what, from + (to - from) * done);
    };
  };
  const double kernels_part = options.tiles ? kKernelsPart : 1;
  const DeviceInfo& info = device.info();
  if (own.simulated)
    return make_error(StatusCode::failed_precondition, "{} is simulated: its times are its model's",
                      device.name());
  STRIA_ASSIGN(
      Measurements measured,
      measure_kernels(device, calibration_set(own, info.memory_bytes),
                      options.seconds * kernels_part, options.anyway, part(0, kernels_part)));
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
  std::vector<FittedNumber> numbers = numbers_to_fit(own, kernels, options.rates);
  out.before = error_of(own, kernels);
  fit(model, numbers, kernels);
  std::vector<FittedNumber> of_tiles;
  if (options.tiles) of_tiles = tile_numbers(own, kernels);
  if (!of_tiles.empty()) {
    STRIA_ASSIGN(const TileChoices tiles,
                 TileChoices::measure(device, tile_set(), options.seconds * (1 - kernels_part),
                                      part(kernels_part, 1)));
    out.left_out.insert(out.left_out.end(), tiles.left_out().begin(), tiles.left_out().end());
    if (tiles.unsteady_part() > kMostUnsteady) {
      const std::string busy = fmt::format(
          "the device is busy, or its clock changes: of all tiles {:.0f}% took different times in "
          "every other round",
          100 * tiles.unsteady_part());
      if (!options.anyway)
        return make_error(StatusCode::unavailable, "{}; calibrate when nothing else runs", busy);
      if (out.unsteady.empty()) out.unsteady = busy;
    }
    STRIA_RETURN_IF_ERROR(fit_tiles(tiles, own, of_tiles, model, out));
    numbers.insert(numbers.end(), of_tiles.begin(), of_tiles.end());
  }
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
    object_at(overlay[at], kSource)[key] = source;
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
    json& fitted = overlay.at(json::json_pointer(unit));  // put() has made it
    fitted["machine"] = info.name;
    fitted["date"] = options.date;
  }
  for (const MeasuredKernel& kernel : kernels)
    out.rows.push_back(
        {kernel.name, kernel.seconds, predicted(own, kernel), predicted(model, kernel)});
  out.overlay = overlay.dump(2) + "\n";
  return out;
}

}  // namespace stria::calibrate
