// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/hwmodel/bus_ways.h"
#include "stria/hwmodel/bus_width.h"

namespace stria {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// DRAM - DMA - NET - SRAM[0], SRAM[1]; DMA[1] is on no bus, CONV beside SRAM[0].
HardwareModel network() {
  auto model = load_hardware_model({"m.json", R"({
    "mem_units": {"DRAM": {}, "SRAM": {"count": 2}}, "exec_units": {"CONV": {}},
    "tx_units": {"DMA": {"count": 2}, "NET": {}},
    "buses": [
      {"sources": ["DRAM"], "sinks": ["DMA[0]"], "bytes_per_cycle": 8},
      {"sources": ["DMA[0]"], "sinks": ["NET"], "bytes_per_cycle": 8},
      {"sources": ["NET"], "sinks": ["SRAM[0]", "SRAM[1]"], "bytes_per_cycle": 8},
      {"sources": ["SRAM[0]"], "sinks": ["CONV", "NET"], "bytes_per_cycle": 8},
      {"sources": ["CONV"], "sinks": ["DMA[0]"], "bytes_per_cycle": 8}]})"});
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return *model;
}

const UnitInstance kDram{"DRAM", 0}, kDma{"DMA", 0}, kNet{"NET", 0}, kSram1{"SRAM", 1};

TEST(BusWays, AreTheShortestThroughTransferUnits) {
  const HardwareModel model = network();
  const BusReach reach(model, kDram);
  EXPECT_THAT(reach.way_to(kDma).value(), ElementsAre(0));
  EXPECT_THAT(reach.way_to(kSram1).value(), ElementsAre(0, 1, 2));
  const TransferWay way = transfer_way(model, kDram, kDma, kSram1).value();
  EXPECT_THAT(way.in, ElementsAre(0));
  EXPECT_THAT(way.out, ElementsAre(1, 2));
  EXPECT_THAT(transfer_way(model, kDram, kNet, kSram1)->in, ElementsAre(0, 1));
}

// A bus is one link for all of its units, in the model's cycles; a mesh one for each router.
TEST(BusWays, WidthsOfSomeUnits) {
  const auto model = load_hardware_model({"m.json", R"({
    "clock_mhz": 1000, "mem_units": {"DRAM": {"count": 3}, "SRAM": {"count": 4}},
    "buses": [
      {"sources": ["DRAM[0]", "DRAM[1]"], "sinks": ["SRAM[0]"],
       "bytes_per_cycle": 8, "clock_mhz": 500},
      {"sources": ["DRAM[0]", "DRAM[1]", "DRAM[2]"],
       "sinks": ["SRAM[0]", "SRAM[1]", "SRAM[2]", "SRAM[3]"], "bytes_per_cycle": 16,
       "mesh": {"columns": 2, "places": {
         "DRAM[0]": 0, "DRAM[1]": 0, "DRAM[2]": 1,
         "SRAM[0]": 0, "SRAM[1]": 1, "SRAM[2]": 2, "SRAM[3]": 3}}}]})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto all = [](const UnitInstance&) { return true; };
  const auto none = [](const UnitInstance&) { return false; };
  const auto second = [](const UnitInstance& unit) { return unit.instance == 1; };
  const Bus &bus = model->buses[0], &mesh = model->buses[1];
  EXPECT_EQ(bus_width(*model, bus, bus.sources, all), 4);
  EXPECT_EQ(bus_width(*model, bus, bus.sources, none), 0);
  EXPECT_EQ(bus_width(*model, mesh, mesh.sources, all), 32);
  EXPECT_EQ(bus_width(*model, mesh, mesh.sources, second), 16);
  EXPECT_EQ(bus_width(*model, mesh, mesh.sinks, all), 64);
}

TEST(BusWays, MistakesNameBothEnds) {
  HardwareModel model = network();
  const auto says = [&](const UnitInstance& from, const UnitInstance& over, const UnitInstance& to,
                        StatusCode code) {
    const Status status = transfer_way(model, from, over, to).status();
    EXPECT_EQ(status.code(), code);
    return status.message();
  };
  EXPECT_EQ(says(kDram, {"DMA", 1}, kSram1, StatusCode::not_found),
            "from 'DRAM[0]' to 'SRAM[1]' over 'DMA[1]': the hardware model has no way over buses "
            "from 'DRAM[0]' to 'DMA[1]'");
  // Not through an execution unit, though one is on the way back, and not back to the start.
  EXPECT_THAT(says({"SRAM", 0}, kDma, kDram, StatusCode::not_found),
              HasSubstr("no way over buses from 'SRAM[0]' to 'DMA[0]'"));
  EXPECT_FALSE(BusReach(model, kDma).way_to(kDma).ok());
  model.buses[1].bytes_per_cycle = 0;
  EXPECT_EQ(says(kDram, kDma, kSram1, StatusCode::out_of_range),
            "from 'DRAM[0]' to 'SRAM[1]' over 'DMA[0]': the bus from 'DMA[0]' to 'NET[0]' carries "
            "0 bytes per cycle");
  model = network();
  model.buses.push_back(model.buses[2]);
  EXPECT_THAT(says(kDram, kDma, kSram1, StatusCode::invalid_argument),
              HasSubstr("2 ways of 2 buses from 'DMA[0]' to 'SRAM[1]'"));
}

TEST(BusWays, InstancesOnBusesAreThoseThatAnEndNames) {
  const HardwareModel model = network();
  EXPECT_THAT(instances_on_buses(model, "SRAM"), ElementsAre(0, 1));
  EXPECT_THAT(instances_on_buses(model, "DMA"), ElementsAre(0));
  EXPECT_THAT(instances_on_buses(model, "DSP"), ElementsAre(0));
}

// A longer way beside the shortest one is no second way.
TEST(BusWays, DetoursDoNotCount) {
  HardwareModel model = network();
  model.buses.push_back({{kDma}, {kSram1}, 0, 4});
  EXPECT_THAT(transfer_way(model, kDram, kDma, kSram1)->out, ElementsAre(5));
}

}  // namespace
}  // namespace stria
