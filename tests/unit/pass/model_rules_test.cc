// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/model_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/base/text.h"

namespace stria {
namespace {

using testing::HasSubstr;

Result<HardwareModel> model_with(const std::string& lane) {
  return load_hardware_model({"m.json", fmt::format(R"({{
    "name": "m", "clock_mhz": 1000,
    "mem_units": {{"DRAM": {{"count": 1}}, "SRAM": {{"count": 4, "size_KiB": 2}}, "REG": {{"count": 8}},
                  "L1": {{"count": 2, "size_KiB": 32, "policy": "lru"}}}},
    "exec_units": {{
      "CONV": {{"count": 2, "pipeline_depth": 1}},
      "WARP": {{"count": 2, "instructions": {{"mma": {{
        "cycles": 1, "idxs": [{{"name": "m", "size": 4}}, {{"name": "n", "size": 2}}],
        "operands": {{
          "A": {{"type": "fp16", "dims": ["m"], "home": "REG", "fragment": {{"lane": "{}", "slot": "0"}}}},
          "C": {{"type": "fp32", "dims": ["m", "n"], "home": "SRAM", "written": true}}}}}}}}}}}}}})",
                                                    lane)});
}

TEST(ModelRules, AreWhatTheModelSays) {
  Result<HardwareModel> model = model_with("1 + 2*d0[0+:2]");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  Result<ModelRules> rules = ModelRules::of(*model);
  ASSERT_TRUE(rules.ok()) << rules.status().to_string();
  const stripe::VerifyOptions options = rules->options(nullptr);
  EXPECT_EQ(options.units->at("SRAM"), 4);
  // A depth that is not given is not known, a size of a cache no limit.
  EXPECT_EQ(*options.pipeline_depths, (std::map<std::string, int64_t>{{"CONV", 1}}));
  EXPECT_EQ(*options.memory_bytes, (std::map<std::string, int64_t>{{"SRAM", 2048}}));
  ASSERT_EQ(options.stencils->size(), 1u);
  const stripe::Stencil& stencil = options.stencils->front();
  EXPECT_EQ(stencil.name, "mma");
  EXPECT_EQ(stencil.unit, "WARP");
  EXPECT_EQ(stencil.indices[1], (std::pair<std::string, int64_t>("n", 2)));
  const stripe::StencilOperand& a = stencil.operands[0];
  EXPECT_EQ(a.fragment[0].first, "lane");
  EXPECT_EQ(a.fragment[0].second, (stripe::BitFieldForm{1, {{0, 0, 2, 2}}}));
  EXPECT_TRUE(stencil.operands[1].written);
  EXPECT_TRUE(stencil.operands[1].fragment.empty());
}

TEST(ModelRules, OfNoModelAllowAnyLocation) {
  const HardwareModel model = empty_hardware_model();
  Result<ModelRules> rules = ModelRules::of(model);
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules->options(nullptr).units, nullptr);
  EXPECT_EQ(rules->options(nullptr).stencils, nullptr);
}

TEST(ModelRules, RefuseFragmentsThatAreNoForms) {
  for (const char* lane : {"d0", "d0[0+:2] *", "2*e0[0+:1]", "d0[0+:99]"}) {
    Result<HardwareModel> model = model_with(lane);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const std::string message = ModelRules::of(*model).status().message();
    EXPECT_THAT(message, HasSubstr("WARP/instructions/mma/operands/A/fragment/lane:1:")) << lane;
  }
}

}  // namespace
}  // namespace stria
