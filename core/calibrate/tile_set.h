// SPDX-License-Identifier: Apache-2.0
// Products and convolutions whose tiles are timed, to fit what tiles are chosen by. No bench has
// them.
#pragma once

#include <string>
#include <vector>

#include "stria/calibrate/calibration_set.h"

namespace stria::calibrate {

struct TileProgram {
  CalibrationProgram program;
  std::string weights;  // the input that is constant, as in the layers of a network
};

std::vector<TileProgram> tile_set();

}  // namespace stria::calibrate
