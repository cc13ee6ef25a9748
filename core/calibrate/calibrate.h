// SPDX-License-Identifier: Apache-2.0
// Calibrates a device: measures kernels of a fixed set of programs, and fits the numbers of its
// hardware model that predict them. Nothing here knows any plugin: programs go through the device's
// own pipeline and code generator, and times are those that the device tells.
//
//   calibration_set.h ──> measured_kernels.h ──> fit.h ──> an overlay (hwmodel/model_overlay.h)
//   tile_set.h ─────────> tile_choices.h ───────────┘
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/calibrate/fit.h"
#include "stria/calibrate/measured_kernels.h"
#include "stria/calibrate/tile_choices.h"
#include "stria/runtime/device.h"

namespace stria::calibrate {

struct CalibrateOptions {
  double seconds = 90;  // of running; compiling and fitting come on top
  bool tiles = false;   // also what tiles are chosen by, of units with vector registers
  bool rates = false;   // also rates that the model gives as measured or as the device's own
  bool anyway = false;  // also if the device's times vary, and then the result says so
  std::string date;     // "2026-11-28"
  Progress progress;    // may be empty
};

struct Calibration {
  std::string overlay;  // JSON text
  // Each kernel's time as measured, as the model predicted it, and as it predicts it now; seconds,
  // 0: no prediction.
  struct Row {
    std::string kernel;
    double measured = 0, before = 0, after = 0;
  };
  std::vector<Row> rows;
  FitError before, after;
  // Of what the pipeline chooses by the model, for units with vector registers.
  ChoiceError tiles_before, tiles_after;
  // Fitted numbers chose better for programs that they were not fitted to. If not, they stay out.
  bool tiles_fitted = false;
  struct Change {
    std::string pointer;
    double before = 0, after = 0;
  };
  std::vector<Change> changes;
  std::vector<std::string> left_out;  // programs, with the reasons
  std::string unsteady;               // how much times varied; "": little enough
};

// unavailable if the device is busy, unless `anyway`; failed_precondition if it tells no times, or
// if its model says too little of any unit for a prediction; what measuring fails with. Takes about
// `seconds`.
Result<Calibration> calibrate(const Device& device, const CalibrateOptions& options);

}  // namespace stria::calibrate
