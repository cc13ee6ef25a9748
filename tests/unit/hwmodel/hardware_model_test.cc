// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria {
namespace {

using testing::HasSubstr;

std::string failure(const std::string& text, const std::string& device = "") {
  auto model = load_hardware_model({"m.json", text}, {}, device);
  EXPECT_FALSE(model.ok()) << text;
  return model.ok() ? "" : model.status().message();
}

// The model that the slides print, repaired as the design allows.
TEST(HardwareModel, TheSlidesModelLoads) {
  auto text = read_file(std::string(STRIA_SOURCE_DIR) + "/tests/unit/hwmodel/slides_model.json");
  ASSERT_TRUE(text.ok());
  auto model = load_hardware_model({"slides_model.json", *text}, {{"NUM_SRAM", "4"}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->find_memory("SRAM")->count, 4);
  EXPECT_EQ(model->find_memory("SRAM")->size_bytes, 512 * 1024);
  EXPECT_EQ(model->find_memory("DRAM")->size_bytes, int64_t{1} << 30);
  EXPECT_EQ(model->find_executor("CONV")->pipeline_depth, 2);
  EXPECT_EQ(model->unit_count("DMA"), 1);
  EXPECT_EQ(model->unit_count("L1"), std::nullopt);
  ASSERT_EQ(model->buses.size(), 4u);
  EXPECT_EQ(model->buses[2].sinks.size(), 4u);
  EXPECT_EQ(model->buses[2].sinks[3], (UnitInstance{"SRAM", 3}));
  EXPECT_EQ(model->merged()["exec_units"]["DSP"]["ops_per_cycle"], 64);
}

TEST(HardwareModel, TheFileWinsFieldByFieldAndOriginsAreKept) {
  auto model = load_hardware_model(
      {"m.json",
       R"({"clock_mhz": 1000, "exec_units": {"CORE": {"vector_bytes": {{ device.exec_units.CORE.vector_bytes | default(16) }} }}})"},
      {}, R"({"clock_mhz": 3000, "exec_units": {"CORE": {"count": 8, "vector_bytes": 64}}})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->clock_mhz, 1000);
  EXPECT_EQ(model->find_executor("CORE")->count, 8);
  EXPECT_EQ(model->find_executor("CORE")->vector_bytes, 64);
  EXPECT_EQ(model->origins().at("/clock_mhz"), "m.json");
  EXPECT_EQ(model->origins().at("/exec_units/CORE/count"), "device");
  EXPECT_EQ(model->origins().at("/exec_units/CORE/vector_bytes"), "device");
  EXPECT_THAT(model->explain(), HasSubstr("/clock_mhz = 1000  (m.json)"));
}

TEST(HardwareModel, VectorLanes) {
  auto model = load_hardware_model(
      {"m.json", R"({"exec_units": {"CORE": {"vector_bytes": 64}, "DSP": {}}})"});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->vector_lanes(4), 16);
  EXPECT_EQ(model->vector_lanes(8), 8);
  EXPECT_EQ(model->vector_lanes(128), 1);
  EXPECT_EQ(model->vector_lanes(4, "DSP"), 1);
  EXPECT_EQ(empty_hardware_model().vector_lanes(4), 1);
}

TEST(HardwareModel, LargeMemoriesHaveTheirSize) {
  auto model =
      load_hardware_model({"m.json", R"({"mem_units": {"DRAM": {"size_KiB": 1073741824}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->memories[0].size_bytes, int64_t{1} << 40);
  model =
      load_hardware_model({"m.json", R"({"mem_units": {"DRAM": {"size_KiB": 8796093022208}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->memories[0].size_bytes, int64_t{1} << 53);
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"size_KiB": 8796093022209}}})"),
              HasSubstr("/mem_units/DRAM/size_KiB: 8796093022209 is outside 0 .. 8796093022208"));
}

TEST(HardwareModel, MistakesNameTheJsonPath) {
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"size_Kib": 1}}})"),
              HasSubstr("m.json: /mem_units/DRAM/size_Kib: unknown key, did you mean 'size_KiB'?"));
  EXPECT_THAT(failure(R"({"mem_unit": {}})"), HasSubstr("did you mean 'mem_units'?"));
  EXPECT_THAT(failure(R"({"clock_mhz": -1})"), HasSubstr("/clock_mhz: -1 is outside"));
  EXPECT_THAT(failure(R"({"clock_mhz": "fast"})"), HasSubstr("must be a number"));
  EXPECT_THAT(failure(R"({"exec_units": {"CORE": {"count": 1.5}}})"),
              HasSubstr("must be an integer"));
  EXPECT_THAT(failure(R"({"exec_units": {"CORE": {"count": 1e300}}})"), HasSubstr("outside"));
  EXPECT_THAT(failure(R"({"exec_units": {"CORE": {"count": 0}}})"),
              HasSubstr("m.json: /exec_units/CORE/count: 0 is outside 1 .. 1000000000"));
  EXPECT_THAT(failure(R"({"mem_units": {"DRAM": {"count": -1}}})"),
              HasSubstr("/mem_units/DRAM/count: -1 is outside 1 .."));
  EXPECT_THAT(failure(R"({"tx_units": {"DMA": {"count": 0}}})"),
              HasSubstr("/tx_units/DMA/count: 0 is outside 1 .."));
  EXPECT_THAT(failure(R"({"name": ""})"), HasSubstr("m.json: /name: must be a string that is not"));
  EXPECT_THAT(failure(R"({"exec_units": {"A B": {}}})"), HasSubstr("letters, digits"));
  EXPECT_THAT(failure(R"({"exec_units": {"X": {}}, "mem_units": {"X": {}}})"),
              HasSubstr("in two of"));
  EXPECT_THAT(failure(R"([])"), HasSubstr("must be an object"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"DRAM": {}}, "buses": [{"sources": ["DRAM[0]"], "sinks": ["DRAN[0]"]}]})"),
      HasSubstr("/buses/0/sinks/0: the model has no unit 'DRAN', did you mean 'DRAM'?"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"DRAM": {}}, "buses": [{"sources": ["DRAM[1]"], "sinks": ["DRAM"]}]})"),
      HasSubstr("the model has 1 of 'DRAM'"));
  EXPECT_THAT(
      failure(
          R"({"mem_units": {"DRAM": {}}, "buses": [{"sources": ["DRAM[0"], "sinks": ["DRAM"]}]})"),
      HasSubstr("must be a unit such as"));
  EXPECT_THAT(failure("{}", R"({"clok_mhz": 1})"),
              HasSubstr("device properties: /clok_mhz: unknown key"));
}

// The schema that editors use says what the reader accepts: the same keys, no others.
TEST(HardwareModel, TheSchemaHasTheReadersKeys) {
  auto text = read_file(STRIA_SOURCE_DIR "/hwmodels/schema/hwmodel.schema.json");
  ASSERT_TRUE(text.ok());
  nlohmann::json schema = nlohmann::json::parse(*text);
  auto value_of = [](const nlohmann::json& rule) -> nlohmann::json {
    std::string kind = rule.value("type", rule.value("$ref", ""));
    if (kind == "string") return "x";
    if (kind == "object") return nlohmann::json::object();
    if (kind == "array") return nlohmann::json::array();
    return 1;
  };
  for (const auto& [key, rule] : schema["properties"].items()) {
    EXPECT_TRUE(load_hardware_model({"m", nlohmann::json{{key, value_of(rule)}}.dump()}).ok())
        << key;
    if (!rule.contains("additionalProperties")) continue;
    for (const auto& [inner, inner_rule] : rule["additionalProperties"]["properties"].items())
      EXPECT_TRUE(load_hardware_model(
                      {"m", nlohmann::json{{key, {{"U", {{inner, value_of(inner_rule)}}}}}}.dump()})
                      .ok())
          << key << "/" << inner;
  }
  // A key that is added to the reader belongs into the schema, and its count here.
  EXPECT_EQ(schema["properties"]["mem_units"]["additionalProperties"]["properties"].size(), 5u);
  EXPECT_EQ(schema["properties"]["exec_units"]["additionalProperties"]["properties"].size(), 6u);
  EXPECT_EQ(schema["properties"].size(), 7u);
}

TEST(HardwareModel, TheModelsOfThePluginsLoadWithoutADevice) {
  for (const char* path :
       {"/plugins/llvm_cpu/hw/cpu.json", "/plugins/reference/hw/reference.json"}) {
    auto text = read_file(STRIA_SOURCE_DIR + std::string(path));
    ASSERT_TRUE(text.ok());
    auto model = load_hardware_model({path, *text});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
  }
}

}  // namespace
}  // namespace stria
