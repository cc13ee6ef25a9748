// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/machine_roles.h"

#include <gtest/gtest.h>

#include "stria/base/file.h"

namespace stria {
namespace {

MachineRoles roles(const std::string& text) {
  const Result<HardwareModel> model = load_hardware_model({"m.json", text});
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return model.ok() ? roles_of(*model) : MachineRoles();
}

TEST(MachineRoles, AreToldByWhatUnitsCanDo) {
  const MachineRoles of = roles(R"({"clock_mhz": 1000,
  "mem_units": {"A": {"size_KiB": 64}, "B": {"size_KiB": 1000000}, "C": {"size_KiB": 512},
                "CACHE": {"size_KiB": 9000000, "policy": "lru", "line_bytes": 64}},
  "exec_units": {"FEW": {"op": "mac", "ops_per_cycle": 100},
                 "MANY": {"count": 9, "op": "flop", "ops_per_cycle": 20},
                 "GRID": {"systolic": {"rows": 16, "columns": 16, "dataflow": "ws"}, "ops_per_cycle": 1}},
  "tx_units": {"SLOW": {}, "FAST": {}},
  "buses": [{"sources": ["B[0]"], "sinks": ["SLOW[0]", "FAST[0]"], "bytes_per_cycle": 64},
            {"sources": ["SLOW[0]", "FAST[0]"], "sinks": ["B[0]"], "bytes_per_cycle": 64},
            {"sources": ["SLOW[0]"], "sinks": ["C[0]"], "bytes_per_cycle": 8},
            {"sources": ["C[0]"], "sinks": ["SLOW[0]"], "bytes_per_cycle": 8},
            {"sources": ["FAST[0]"], "sinks": ["C[0]"], "bytes_per_cycle": 32},
            {"sources": ["C[0]"], "sinks": ["FAST[0]"], "bytes_per_cycle": 32}]})");
  EXPECT_EQ(of.main, "B");
  EXPECT_EQ(of.scratchpad, "C");  // nothing fills A
  EXPECT_EQ(of.transfer, "FAST");
  EXPECT_EQ(of.products, "GRID");
  EXPECT_EQ(of.rest, "MANY");
}

// From main memory over a hub to the unit that fills the scratchpad.
TEST(MachineRoles, WaysMayLeadOverOtherTransferUnits) {
  const MachineRoles of =
      roles(R"({"mem_units": {"RAM": {"size_KiB": 9999}, "NEAR": {"size_KiB": 64}},
  "exec_units": {"X": {"ops_per_cycle": 1}}, "tx_units": {"HUB": {}, "COPIER": {}, "OTHER": {}},
  "buses": [{"sources": ["RAM[0]"], "sinks": ["HUB[0]"], "bytes_per_cycle": 8},
            {"sources": ["HUB[0]"], "sinks": ["RAM[0]", "COPIER[0]"], "bytes_per_cycle": 8},
            {"sources": ["COPIER[0]"], "sinks": ["HUB[0]", "NEAR[0]"], "bytes_per_cycle": 8},
            {"sources": ["NEAR[0]"], "sinks": ["COPIER[0]", "OTHER[0]"], "bytes_per_cycle": 8},
            {"sources": ["OTHER[0]"], "sinks": ["NEAR[0]"], "bytes_per_cycle": 99}]})");
  EXPECT_EQ(of.main, "RAM");
  EXPECT_EQ(of.scratchpad, "NEAR");
  EXPECT_EQ(of.transfer, "COPIER");  // OTHER does not reach RAM
}

TEST(MachineRoles, OneUnitDoesAll) {
  const MachineRoles of = roles(R"({"mem_units": {"RAM": {"size_KiB": 64}},
                                    "exec_units": {"X": {"ops_per_cycle": 1}}})");
  EXPECT_EQ(of.main, "RAM");
  EXPECT_EQ(of.scratchpad, "");
  EXPECT_EQ(of.transfer, "");
  EXPECT_EQ(of.products, "X");
  EXPECT_EQ(of.rest, "X");
  EXPECT_EQ(roles("{}").main, "");
}

TEST(MachineRoles, OfTheModelsThatShip) {
  const auto of = [](const std::string& name) {
    const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/" + name + ".json";
    const Result<std::string> text = read_file(path);
    const Result<HardwareModel> model = load_hardware_model({path, text.ok() ? *text : ""});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    return model.ok() ? roles_of(*model) : MachineRoles();
  };
  EXPECT_EQ(of("stripe_slides").scratchpad, "SRAM");
  EXPECT_EQ(of("stripe_slides").products, "CONV");
  EXPECT_EQ(of("stripe_slides").rest, "DSP");
  EXPECT_EQ(of("stripe_slides").transfer, "DMA");
  EXPECT_EQ(of("tpu_like").scratchpad, "UB");
  EXPECT_EQ(of("tpu_like").products, "MXU");
  EXPECT_EQ(of("eyeriss_like").products, "PE");
  EXPECT_EQ(of("eyeriss_like").rest, "PE");
}

}  // namespace
}  // namespace stria
