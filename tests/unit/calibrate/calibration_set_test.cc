// SPDX-License-Identifier: Apache-2.0
// The programs of the calibration are programs, and take no more than they may.
#include "stria/calibrate/calibration_set.h"

#include <gtest/gtest.h>

#include <set>

#include "stria/runtime/compilation.h"

namespace stria::calibrate {
namespace {

double bytes_of_inputs(const CalibrationProgram& program) {
  double out = 0;
  for (const auto& [name, type] : program.inputs) {
    double bytes = static_cast<double>(byte_size(type.type));
    for (const int64_t size : type.sizes) bytes *= static_cast<double>(size);
    out += bytes;
  }
  return out;
}

TEST(CalibrationSet, AllProgramsBind) {
  const auto model = load_hardware_model(
      {"m.json", R"({"mem_units": {"L1": {"count": 1, "size_KiB": 32, "policy": "lru"},
                                   "L2": {"count": 1, "size_KiB": 1024, "policy": "lru"}},
                     "lacks_types": {"fp64": "double"}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::set<std::string> names;
  for (const CalibrationProgram& program : calibration_set(*model, 0)) {
    EXPECT_TRUE(names.insert(program.name).second) << program.name;
    const auto parsed = Program::from_tile({program.name, program.text});
    ASSERT_TRUE(parsed.ok()) << program.name << ": " << parsed.status().to_string();
    const auto bound = lower_program(*parsed, program.inputs);
    EXPECT_TRUE(bound.ok()) << program.name << ": " << bound.status().to_string();
    EXPECT_EQ(program.name.find("fp64"), std::string::npos);
  }
  EXPECT_GT(names.size(), 25u);
}

TEST(CalibrationSet, StaysBelowAnEighthOfTheDevicesMemory) {
  const HardwareModel model = empty_hardware_model();
  for (const uint64_t memory : {uint64_t{64} << 20, uint64_t{1} << 30})
    for (const CalibrationProgram& program : calibration_set(model, memory))
      EXPECT_LE(bytes_of_inputs(program), static_cast<double>(memory) / 8) << program.name;
}

}  // namespace
}  // namespace stria::calibrate
