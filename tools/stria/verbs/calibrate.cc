// SPDX-License-Identifier: Apache-2.0
#include "verbs/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "inputs/device_choice.h"
#include "inputs/open_device.h"
#include "message.h"
#include "output_files.h"
#include "progress.h"
#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/calibrate/calibrate.h"
#include "stria/runtime/host/hw_overlays.h"

namespace stria::command {
namespace {

// Shown even if not all are asked for: where the prediction is worst.
constexpr size_t kShownKernels = 12;

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

// "llvm_cpu-amd-epyc-2-cores.json"
std::string file_name(const DeviceInfo& info) {
  std::string out = info.plugin + "-";
  for (const char letter : info.name) {
    const auto c = static_cast<unsigned char>(letter);
    if (std::isalnum(c))
      out += static_cast<char>(std::tolower(c));
    else if (out.back() != '-')
      out += '-';
  }
  while (out.back() == '-') out.pop_back();
  return out.substr(0, 100) + ".json";
}

double factor_of(double predicted, double measured) {
  return predicted > 0 ? std::exp(std::abs(std::log(predicted / measured))) : 0;
}

std::string describe(const calibrate::Calibration& of, bool all) {
  std::vector<calibrate::Calibration::Row> rows = of.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return factor_of(a.after, a.measured) > factor_of(b.after, b.measured);
  });
  const size_t shown = all ? rows.size() : std::min(rows.size(), kShownKernels);
  std::string out = fmt::format("{:<44}  {:>12}  {:>12}  {:>12}\n", "kernel", "measured µs",
                                "before µs", "now µs");
  for (size_t i = 0; i < shown; ++i)
    out += fmt::format("{:<44}  {:>12.1f}  {:>12.1f}  {:>12.1f}\n", rows[i].kernel.substr(0, 44),
                       rows[i].measured * 1e6, rows[i].before * 1e6, rows[i].after * 1e6);
  if (shown < rows.size())
    out += fmt::format("and {} that are predicted better (--all-kernels)\n", rows.size() - shown);
  out += "\n";
  for (const calibrate::Calibration::Change& change : of.changes)
    out += fmt::format("{}: {:.4g} -> {:.4g}\n", change.pointer, change.before, change.after);
  const auto errors = [](const calibrate::FitError& of_fit) {
    return fmt::format(
        "{:.0f}% of the kernels within 1.3, the middle one off by {:.2f}, nine of "
        "ten within {:.2f}",
        of_fit.within * 100, of_fit.median_factor, of_fit.spread);
  };
  out += fmt::format("before: {}\nnow:    {}\n", errors(of.before), errors(of.after));
  if (of.tiles_after.choices > 0)
    out += fmt::format(
        "tiles chosen by the model, over the best of all: before {:.3f}, at worst {:.3f}; now "
        "{:.3f}, at worst {:.3f}{}\n",
        of.tiles_before.geomean, of.tiles_before.worst, of.tiles_after.geomean,
        of.tiles_after.worst,
        of.tiles_fitted ? ""
                        : "; what tiles are chosen by stays, since no fit to one half of the "
                          "programs helped the other");
  for (const std::string& program : of.left_out) out += "left out: " + program + "\n";
  return out;
}

}  // namespace

Outcome calibrate(const CalibrateCommand& options) {
  STRIA_FAIL_IF(check_selector(options.device));
  const std::filesystem::path folder = user_hw_folder();
  if (options.output.empty() && folder.empty())
    return Outcome(ExitCode::usage, invalid_argument("there is no folder of yours for hardware "
                                                     "models: --output says where to write"));
  // Before the time is spent.
  if (!options.output.empty() && options.output != "-")
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(options.output));
  Device device;
  STRIA_FAIL_IF(open_device(options.device, device));
  std::filesystem::path file = options.output;
  if (options.output.empty()) {
    file = folder / file_name(device.info());
    if (make_cache_folder(folder) != 0)
      return Outcome(ExitCode::program,
                     invalid_argument("{}: the folder cannot be made", folder.string()));
    STRIA_FAIL_IF_ERROR(ExitCode::program, check_writable(file));
  }
  calibrate::CalibrateOptions how;
  how.seconds = options.seconds;
  how.tiles = options.tiles;
  how.rates = options.rates;
  how.anyway = options.anyway;
  how.date = today();
  calibrate::Calibration made;
  {
    Progress progress("calibrating " + device.name());
    how.progress = [&](std::string_view what, double part) { progress.tell(what, part); };
    STRIA_OR_FAIL(made, ExitCode::device, calibrate::calibrate(device, how));
  }
  STRIA_FAIL_IF(check_process());
  if (!made.unsteady.empty()) print_message(made.unsteady);
  if (options.output == "-") {
    std::fputs(made.overlay.c_str(), stdout);
    std::fputs(describe(made, options.all_kernels).c_str(), stderr);
  } else {
    STRIA_FAIL_IF_ERROR(ExitCode::program, write_file(file, made.overlay));
    std::fputs(describe(made, options.all_kernels).c_str(), stdout);
    std::printf("written to %s%s\n", file.c_str(),
                options.output.empty() ? ", which is read whenever this device is opened"
                                       : "; --hw reads it");
  }
  std::fflush(stdout);
  return Outcome();
}

}  // namespace stria::command
