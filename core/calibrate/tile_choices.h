// SPDX-License-Identifier: Apache-2.0
// Tiles that the device's pipeline chooses from, with the time that the device takes with each; and
// how good the choice is that the pipeline makes by a model.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/calibrate/measured_kernels.h"
#include "stria/calibrate/tile_set.h"
#include "stria/runtime/device.h"
#include "stria/stripe/block.h"

namespace stria::calibrate {

struct ChoiceError {
  size_t choices = 0;
  double geomean = 1, worst = 1;  // the best tile's time over that of the model's choice
};

// What matters is `lost`, but it hangs on few times; `spread` hangs on all.
struct ChoiceLoss {
  // log(time / the best time) of the first tiles by cost, of which the first counts most, and what
  // is beyond a twelfth five times.
  double lost = 0;
  // How far log(cost / time) spreads over all tiles, of which those near the best count most.
  double spread = 0;
  double sum() const { return lost + spread; }
};

class TileChoices {
 public:
  // Which programs count. The halves take turns in the set's order.
  enum class Programs { all, even, odd };

  // Times the tiles of each program for about `seconds` together, besides compiling: of the first
  // programs, if there is little time. Those that the device cannot compile or run are left out.
  // `device` is borrowed. A device whose pipeline times no candidates has none.
  static Result<TileChoices> measure(const Device& device, const std::vector<TileProgram>& programs,
                                     double seconds, const Progress& progress);

  bool empty() const { return programs_.empty(); }
  // Programs that the device cannot compile or run, each with the reason.
  const std::vector<std::string>& left_out() const { return left_out_; }
  // The part of all tiles whose times in every other round differ by more than a tenth.
  double unsteady_part() const;
  // Of what the pipeline would choose with this model.
  Result<ChoiceError> error_of(const HardwareModel& model) const;
  // The same for a fit, as means over choices.
  Result<ChoiceLoss> loss_of(const HardwareModel& model, Programs of = Programs::all) const;

 private:
  explicit TileChoices(const Device& device) : device_(&device) {}

  using Nanoseconds = std::map<std::string, double>;  // by the candidate's text
  struct Timed {
    std::string name;
    stripe::Program generic;
    Nanoseconds times;
  };
  struct Tile {
    double cost = 0, ns = 0;
  };
  // Each choice's tiles, in the order of their cost by the model.
  Result<std::vector<std::vector<Tile>>> in_order(const HardwareModel& model, Programs of) const;
  static double best_of(const std::vector<Tile>& tiles);  // ns
  // The two parts of the loss, of one choice.
  static double lost(const std::vector<Tile>& tiles);
  static double spread(const std::vector<Tile>& tiles);

  const Device* device_;
  std::vector<Timed> programs_;
  std::vector<std::string> left_out_;
  size_t told_ = 0, unsteady_ = 0;  // tiles
};

}  // namespace stria::calibrate
