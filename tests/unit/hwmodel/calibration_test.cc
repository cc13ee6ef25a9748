// SPDX-License-Identifier: Apache-2.0
// The object `calibration` of an execution unit: what costs know of it beside its rates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "json_schema.h"
#include "stria/base/file.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Result<HardwareModel> model_with(const std::string& calibration) {
  return load_hardware_model(
      {"m.json", R"({"exec_units": {"CORE": {"calibration": )" + calibration + "}}}"});
}
std::string failure(const std::string& calibration) {
  const auto model = model_with(calibration);
  return model.ok() ? "" : model.status().message();
}

TEST(Calibration, WhatAModelLeavesOutHasItsDefault) {
  const auto model =
      model_with(R"({"loop_cycles": 0.5, "machine": "a board", "date": "2026-11-28"})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const UnitCalibration& of = model->executors[0].calibration;
  EXPECT_EQ(of.core.loop_cycles, 0.5);
  EXPECT_EQ(of.machine, "a board");
  EXPECT_EQ(of.date, "2026-11-28");
  CoreFacts defaults;
  defaults.loop_cycles = 0.5;
  EXPECT_EQ(of.core, defaults);
  EXPECT_EQ(of.group, GroupFacts());
}

TEST(Calibration, FactsAreListedOnceWithSensibleDefaults) {
  std::set<std::string> names;
  for (const CalibrationFact& fact : calibration_facts()) {
    EXPECT_TRUE(names.insert(fact.name).second) << fact.name;
    EXPECT_LE(fact.lowest, fact.initial) << fact.name;
    EXPECT_LE(fact.initial, fact.highest) << fact.name;
    UnitCalibration defaults;
    EXPECT_EQ(fact.in(defaults), fact.initial) << fact.name;
    EXPECT_STRNE(fact.meaning, "") << fact.name;
  }
}

TEST(Calibration, TheSchemaSaysTheSame) {
  const auto text = read_file(STRIA_SOURCE_DIR "/hwmodels/schema/hwmodel.schema.json");
  ASSERT_TRUE(text.ok());
  const json schema = json::parse(*text);
  const json& fields = schema["properties"]["exec_units"]["additionalProperties"]["properties"]
                             ["calibration"]["properties"];
  EXPECT_EQ(fields.size(), calibration_facts().size() + 3);  // source, machine, date
  for (const CalibrationFact& fact : calibration_facts()) {
    ASSERT_TRUE(fields.contains(fact.name)) << fact.name;
    const json& field = fields[fact.name];
    EXPECT_EQ(field["type"], fact.whole ? "integer" : "number") << fact.name;
    EXPECT_EQ(field["minimum"].get<double>(), fact.lowest) << fact.name;
    EXPECT_EQ(field["maximum"].get<double>(), fact.highest) << fact.name;
    EXPECT_EQ(field["default"].get<double>(), fact.initial) << fact.name;
    EXPECT_EQ(field["description"], std::string(fact.unit) + ": " + fact.meaning) << fact.name;
  }
}

TEST(Calibration, MistakesNameThePlaceAndTheLimit) {
  const std::string at = "/exec_units/CORE/calibration";
  EXPECT_THAT(failure(R"({"loop_cycle": 1})"),
              HasSubstr(at + "/loop_cycle: unknown key, did you mean 'loop_cycles'?"));
  EXPECT_THAT(failure(R"({"loop_cycles": -0.1})"),
              HasSubstr(at + "/loop_cycles: -0.1 is outside 0 .. 1000"));
  EXPECT_THAT(failure(R"({"tile_cycles": 1e30})"),
              HasSubstr(at + "/tile_cycles: 1e+30 is outside 0 .. 1000000"));
  EXPECT_THAT(failure(R"({"edge_factor": 0})"),
              HasSubstr(at + "/edge_factor: 0 is outside 1 .. 100"));
  EXPECT_THAT(failure(R"({"next_memory_part": 0})"),
              HasSubstr(at + "/next_memory_part: 0 is outside"));
  EXPECT_THAT(failure(R"({"hidden_part": "all"})"),
              HasSubstr(at + "/hidden_part: must be a number"));
  EXPECT_THAT(failure(R"({"hidden_part": null})"), HasSubstr("must be a number"));
  for (const char* day : {"yesterday", "2026-13-01", "2026-11-00", "26-11-28", "2026/11/28"})
    EXPECT_THAT(failure("{\"date\": \"" + std::string(day) + "\"}"),
                HasSubstr(at + "/date: must be a day such as \"2026-11-28\""))
        << day;
  EXPECT_THAT(failure(R"({"most_groups_beside": 1.5})"),
              HasSubstr(at + "/most_groups_beside: must be an integer, this is 1.5"));
  EXPECT_THAT(failure("[]"), HasSubstr(at + ": must be an object"));
  EXPECT_THAT(failure(R"({"machine": 1})"), HasSubstr(at + "/machine: must be a string"));
}

}  // namespace
}  // namespace stria
