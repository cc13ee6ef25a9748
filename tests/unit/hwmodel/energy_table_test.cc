// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stria/hwmodel/energy_table.h"

namespace stria {
namespace {

using testing::HasSubstr;

std::string failure(const std::string& text) {
  auto table = parse_energy_table({"e.json", text});
  EXPECT_FALSE(table.ok()) << text;
  return table.ok() ? "" : table.status().message();
}

TEST(EnergyTable, BetweenTwoSizesTheEnergyIsAPowerOfTheSize) {
  auto table = parse_energy_table({"e.json", R"({"name": "t", "memories": {
    "S": {"access_bytes": 2, "at": [{"size_KiB": 1, "pJ": 4}, {"size_KiB": 16, "pJ_low": 8, "pJ_high": 16}]},
    "D": {"access_bytes": 4, "at": [{"pJ_low": 10, "pJ_high": 20}]}}})"});
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  const MemoryEnergy& s = table->memories[1];
  EXPECT_EQ(s.name, "S");
  EXPECT_DOUBLE_EQ(s.per_byte(1024).low_pj, 2);
  EXPECT_DOUBLE_EQ(s.per_byte(16384).high_pj, 8);
  EXPECT_DOUBLE_EQ(s.per_byte(4096).low_pj, 4 * std::sqrt(2.0) / 2);
  EXPECT_DOUBLE_EQ(s.per_byte(4096).high_pj, 4);
  EXPECT_FALSE(s.per_byte(4096).beyond);
  EXPECT_TRUE(s.per_byte(100).beyond);
  EXPECT_DOUBLE_EQ(s.per_byte(100).low_pj, 2);
  EXPECT_TRUE(s.per_byte(1 << 20).beyond);
  EXPECT_DOUBLE_EQ(s.per_byte(1 << 20).low_pj, 4);
  EXPECT_DOUBLE_EQ(table->memories[0].per_byte(1 << 30).low_pj, 2.5);
  EXPECT_FALSE(table->memories[0].per_byte(0).beyond);
  EXPECT_THAT(numbers_without_source(*table), testing::SizeIs(9));
}

TEST(EnergyTable, MistakesNameThePlace) {
  EXPECT_THAT(failure(R"({"nam": "t"})"), HasSubstr("/name: is missing"));
  EXPECT_THAT(failure(R"({"name": "t", "operation_pJ": {}})"),
              HasSubstr("e.json:1:15: error: /operation_pJ: unknown key, did you mean "
                        "'operations_pJ'?"));
  EXPECT_THAT(failure(R"({"name": "t", "operations_pJ": {"ad.i8": 1}})"),
              HasSubstr("there is no operation 'ad', did you mean 'add'?"));
  EXPECT_THAT(failure(R"({"name": "t", "operations_pJ": {"add.fp33": 1}})"),
              HasSubstr("there is no type 'fp33', did you mean 'fp32'?"));
  EXPECT_THAT(failure(R"({"name": "t", "operations_pJ": {"add": 1}})"), HasSubstr("no type ''"));
  EXPECT_THAT(failure(R"({"name": "t", "operations_pJ": {"add.i8": -1}})"),
              HasSubstr("-1 is outside 0"));
  EXPECT_THAT(failure(R"({"name": "t", "memories": {"S": {}}})"),
              HasSubstr("/memories/S/at: must be a list"));
  EXPECT_THAT(failure(R"({"name": "t", "memories": {"S": {"at": [{"size_KiB": 1}]}}})"),
              HasSubstr("/memories/S/at/0: needs pJ, or pJ_low"));
  EXPECT_THAT(
      failure(
          R"({"name": "t", "memories": {"S": {"at": [{"size_KiB": 2, "pJ": 1}, {"size_KiB": 2, "pJ": 1}]}}})"),
      HasSubstr("/memories/S/at/1/size_KiB: must be larger than the one before"));
}

TEST(EnergyTable, ModelsThatTakeFromIt) {
  const std::string table = STRIA_SOURCE_DIR "/hwmodels/energy/horowitz45.json";
  auto load = [&](const std::string& units) {
    return load_hardware_model({"m.json", R"({"energy_table": ")" + table + "\", " + units + "}"});
  };
  auto model = load(
      R"("mem_units": {"S": {"size_KiB": 32, "energy_from": "SRAM", "write_pJ_per_byte": 7},
                       "D": {"energy_from": "DDR"}},
         "exec_units": {"X": {"energy_from": "operations", "energy_pJ": {"add.i8": 5}}})");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->find_memory("S")->read_pj_per_byte, 2.5);
  EXPECT_EQ(model->find_memory("S")->write_pj_per_byte, 7);
  EXPECT_EQ(model->find_executor("X")->energy_pj.at("add.i8"), 5);
  EXPECT_EQ(model->find_executor("X")->energy_pj.at("mul.fp32"), 3.7);
  EXPECT_EQ(model->origins().at("/mem_units/S/read_pJ_per_byte").to_string(), "horowitz45.json");
  // A range stays visible.
  EXPECT_EQ(model->find_memory("D")->read_pj_per_byte, 1950.0 / 8);
  EXPECT_THAT(model->origins().at("/mem_units/D/read_pJ_per_byte").source,
              HasSubstr("(the middle of 162.5 to 325)"));

  auto message = [&](const std::string& units) { return load(units).status().message(); };
  EXPECT_THAT(message(R"("mem_units": {"S": {"size_KiB": 1, "energy_from": "SRAN"}})"),
              HasSubstr("/mem_units/S/energy_from: the energy table 'horowitz45' has no memory "
                        "'SRAN', did you mean 'SRAM'?"));
  EXPECT_THAT(message(R"("mem_units": {"S": {"energy_from": "SRAM"}})"),
              HasSubstr("needs a size above 0"));
  EXPECT_THAT(
      load_hardware_model({"m.json", R"({"exec_units": {"X": {"energy_from": "operations"}}})"})
          .status()
          .message(),
      HasSubstr("/exec_units/X/energy_from: needs an energy_table"));
  for (const std::string file : {"nowhere.json", "/dev/zero", "/"})
    EXPECT_THAT(
        load_hardware_model({"m.json", "{\"energy_table\": \"" + file + "\"}"}).status().message(),
        HasSubstr("m.json:1:18: error: /energy_table: there is no " +
                  std::string(file == "nowhere.json" ? "" : "regular ") + "file '" + file + "'"));
}

}  // namespace
}  // namespace stria
