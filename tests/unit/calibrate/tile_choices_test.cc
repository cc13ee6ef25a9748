// SPDX-License-Identifier: Apache-2.0
// Tiles of real programs. How long they take decides nothing here.
#include "stria/calibrate/tile_choices.h"

#include <gtest/gtest.h>

#include <set>

#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria::calibrate {
namespace {

Device opened(const std::string& selector) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  options.only_plugins = {selector};
  Result<Device> device = Runtime(options).open(selector);
  EXPECT_TRUE(device.ok()) << device.status().to_string();
  return *device;
}

TEST(TileSet, ProgramsHaveNamesOfTheirOwnAndWeights) {
  std::set<std::string> names;
  for (const TileProgram& one : tile_set()) {
    EXPECT_TRUE(names.insert(one.program.name).second) << one.program.name;
    EXPECT_TRUE(one.program.inputs.contains(one.weights)) << one.program.name;
  }
}

// What the pipeline chooses by a model stands among what was timed, and another model chooses
// otherwise.
TEST(TileChoices, JudgesTheChoiceByAModel) {
  const Device device = opened("llvm_cpu");
  std::vector<TileProgram> two = tile_set();
  two.resize(2);
  std::set<std::string> told;
  const Result<TileChoices> tiles = TileChoices::measure(
      device, two, 1, [&](std::string_view what, double) { told.emplace(what); });
  ASSERT_TRUE(tiles.ok()) << tiles.status().to_string();
  EXPECT_EQ(told.size(), 2u);
  ASSERT_FALSE(tiles->empty());
  const HardwareModel& own = Inside::model(device);
  const Result<ChoiceError> error = tiles->error_of(own);
  ASSERT_TRUE(error.ok()) << error.status().to_string();
  EXPECT_EQ(error->choices, 2u);
  EXPECT_LE(error->worst, error->geomean);
  EXPECT_LE(error->geomean, 1);
  EXPECT_GT(error->worst, 0);
  const Result<ChoiceLoss> loss = tiles->loss_of(own);
  ASSERT_TRUE(loss.ok()) << loss.status().to_string();
  EXPECT_GE(loss->lost, 0);
  EXPECT_GT(loss->spread, 0);  // no cost is the time
  EXPECT_EQ(loss->sum(), tiles->loss_of(own)->sum());
  // A choice in each half.
  const Result<ChoiceLoss> even = tiles->loss_of(own, TileChoices::Programs::even),
                           odd = tiles->loss_of(own, TileChoices::Programs::odd);
  EXPECT_NEAR(2 * loss->lost, even->lost + odd->lost, 1e-12);
  EXPECT_NEAR(2 * loss->spread, even->spread + odd->spread, 1e-12);
  // To whom tiles cost nothing and loads all, other tiles are good.
  HardwareModel other = own;
  for (ExecutionUnit& unit : other.executors) {
    unit.calibration.core.tile_cycles = 0;
    unit.calibration.core.load_factor = 100;
    unit.calibration.core.edge_factor = 100;
  }
  EXPECT_NE(loss->lost, tiles->loss_of(other)->lost);
  // Costs that are those of no tile spread more.
  EXPECT_GT(tiles->loss_of(other)->spread, loss->spread);
}

TEST(TileChoices, LittleTimeIsForNoProgram) {
  const Device device = opened("llvm_cpu");
  const Result<TileChoices> none = TileChoices::measure(device, tile_set(), 0.1, {});
  ASSERT_TRUE(none.ok()) << none.status().to_string();
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(none->unsteady_part(), 0);
  EXPECT_EQ(none->error_of(Inside::model(device))->choices, 0u);
}

// A pipeline that times nothing offers no choice.
TEST(TileChoices, OfAPipelineWithoutTimesThereAreNone) {
  const Device device = opened("reference");
  std::vector<TileProgram> one = tile_set();
  one.resize(1);
  const Result<TileChoices> none = TileChoices::measure(device, one, 1, {});
  ASSERT_TRUE(none.ok()) << none.status().to_string();
  EXPECT_TRUE(none->empty());
}

}  // namespace
}  // namespace stria::calibrate
