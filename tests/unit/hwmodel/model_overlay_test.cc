// SPDX-License-Identifier: Apache-2.0
// Overlays: numbers that refine a device's model, with their origin, and what is no overlay.
#include "stria/hwmodel/model_overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/hwmodel/hardware_model.h"

namespace stria {
namespace {

using testing::HasSubstr;

constexpr const char* kModel = R"({
  "clock_mhz": 1000,
  "mem_units": {"DRAM": {"count": 1}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 32, "calibration": {"loop_cycles": 0.5}}}
})";

Result<HardwareModel> with(const std::vector<std::string>& overlays,
                           const std::string& device = "") {
  std::vector<SourceText> files;
  for (const std::string& text : overlays)
    files.push_back({"over" + std::to_string(files.size()) + ".json", text});
  return load_hardware_model({"m.json", kModel}, {}, device, files);
}
std::string overlay_failure(const std::string& overlay) {
  const auto model = with({overlay});
  return model.ok() ? "" : model.status().message();
}

TEST(Overlay, WinsOverTheModelAndTheDevice) {
  const auto model = with({R"({"overlay_of": {"plugin": "acme"}, "launch_us": 3, "clock_mhz": 900,
           "exec_units": {"CORE": {"calibration": {"tile_cycles": 9, "date": "2026-11-28"}}}})",
                           R"({"launch_us": 4, "source": {"launch_us": "measured"}})"},
                          R"({"clock_mhz": 1100, "launch_us": 2})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->clock_mhz, 900);
  EXPECT_EQ(model->launch_us, 4);  // the last one
  const CoreFacts& facts = model->core_facts("CORE");
  EXPECT_EQ(facts.tile_cycles, 9);
  EXPECT_EQ(facts.loop_cycles, 0.5);  // as the model says
  EXPECT_EQ(model->executors[0].vector_bytes, 32);
  EXPECT_EQ(model->origins().at("/launch_us").to_string(), "over1.json:1");
  EXPECT_EQ(model->origins().at("/launch_us").source, "measured");
  EXPECT_EQ(model->origins().at("/exec_units/CORE/calibration/tile_cycles").place, "over0.json:2");
  EXPECT_EQ(model->origins().at("/exec_units/CORE/calibration/loop_cycles").place, "m.json:4");
  EXPECT_EQ(model->merged().count("overlay_of"), 0u);
}

TEST(Overlay, MistakesNameItsPlaceAndTheNearestName) {
  EXPECT_THAT(
      overlay_failure(R"({"exec_units": {"COER": {"count": 2}}})"),
      HasSubstr("over0.json:1:17: error: /exec_units/COER: an overlay adds no units, and the "
                "model has no 'COER', did you mean 'CORE'?"));
  EXPECT_THAT(overlay_failure(R"({"launch_ns": 3})"),
              HasSubstr("over0.json:1:2: error: /launch_ns: unknown key, did you mean "
                        "'launch_us'?"));
  EXPECT_THAT(overlay_failure(R"({"exec_units": {"CORE": {"calibration": {"loop_cycle": 3}}}})"),
              HasSubstr("did you mean 'loop_cycles'?"));
  for (const char* value : {"-1", "1e30"})
    EXPECT_THAT(
        overlay_failure(std::string(R"({"exec_units": {"CORE": {"calibration": {"loop_cycles": )") +
                        value + "}}}}"),
        HasSubstr("over0.json:1:57: error: /exec_units/CORE/calibration/loop_cycles: "));
  EXPECT_THAT(
      overlay_failure(R"({"exec_units": {"CORE": {"calibration": {"multiply_factor": 0}}}})"),
      HasSubstr("0 is outside 1 .. 100"));
  EXPECT_THAT(overlay_failure("[]"), HasSubstr("over0.json:1:1: error: "));
  EXPECT_THAT(overlay_failure(R"({"overlay_of": "acme"})"), HasSubstr("/overlay_of"));
  EXPECT_THAT(overlay_failure(R"({"overlay_of": {"divice": "x"}})"),
              HasSubstr("did you mean 'device'?"));
  EXPECT_THAT(overlay_failure("{"), HasSubstr("over0.json"));
}

TEST(Overlay, SaysWhoseNumbersItHas) {
  const auto target = overlay_target(
      {"o.json", R"({"overlay_of": {"plugin": "acme", "device": "Acme T1"}, "launch_us": 1})"});
  ASSERT_TRUE(target.ok()) << target.status().to_string();
  EXPECT_TRUE(target->covers("acme", "Acme T1"));
  EXPECT_FALSE(target->covers("acme", "Acme T2"));
  EXPECT_FALSE(target->covers("other", "Acme T1"));
  EXPECT_TRUE(overlay_target({"o.json", "{}"})->covers("any", "device"));
}

}  // namespace
}  // namespace stria
