// SPDX-License-Identifier: Apache-2.0
// Every option that names a unit of the hardware model, with a name that the model does not have:
// one error that says where it stands, which name it is, and the nearest right one.
#include <gtest/gtest.h>

#include "stria/base/text.h"
#include "stria/passes/all_passes.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr const char* kModel = R"({"name": "m", "clock_mhz": 1000,
    "mem_units": {"DRAM": {"size_KiB": 1024, "policy": "managed"},
                  "SRAM": {"count": 2, "size_KiB": 4, "policy": "managed"},
                  "REG": {"count": 8, "size_KiB": 1, "policy": "managed"},
                  "L2": {"count": 2, "size_KiB": 4, "policy": "lru", "line_bytes": 32}},
    "tx_units": {"DMA": {"count": 1}},
    "exec_units": {"CORE": {"count": 2, "vector_bytes": 16, "vector_registers": 8}}})";

TEST(MissingUnits, AreNamedWithTheirOptionAndTheNearestRightOne) {
  const auto model = load_hardware_model({"m", kModel});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  // A misspelt name where a right one would do.
  const struct {
    const char *options, *path, *wrong, *right;
  } kCases[] = {
      {R"("autotile": {"memory": "SRAN"})", "/memory", "SRAN", "SRAM"},
      {R"("autotile": {"cost": "registers", "unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("autotile": {"cost": "group_time", "unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("autotile": {"cost": "group_time", "local": "SRAN"})", "/local", "SRAN", "SRAM"},
      {R"("autotile": {"cost": "group_time", "local": "SRAM", "registers": "REH"})", "/registers",
       "REH", "REG"},
      {R"("block_reduction": {"memory": "L3"})", "/memory", "L3", "L2"},
      {R"("block_reduction": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("cache": {"loc": {"name": "SRAN"}})", "/loc", "SRAN", "SRAM"},
      {R"("cache": {"loc": {"name": "SRAM"}, "xfer_loc": {"name": "DNA"}})", "/xfer_loc", "DNA",
       "DMA"},
      {R"("choose_layouts": {"memory": "L3"})", "/memory", "L3", "L2"},
      {R"("distribute": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("fusion": {"local": true, "loc": {"name": "REH"}})", "/loc", "REH", "REG"},
      {R"("locate_block": {"reqs": ["kernel"], "loc": {"name": "COR"}})", "/loc", "COR", "CORE"},
      {R"("locate_memory": {"reqs": ["kernel"], "loc": {"name": "DRAN"}})", "/loc", "DRAN", "DRAM"},
      {R"("memory_placement": {"locs": [{"name": "DRAN"}]})", "/locs/0/name", "DRAN", "DRAM"},
      {R"("owner_computes": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("pack_inputs": {"memory": "L3"})", "/memory", "L3", "L2"},
      {R"("partition_compute": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("partition_memory": {"memory": "SRAN"})", "/memory", "SRAN", "SRAM"},
      {R"("pipeline": {"memory": "SRAN"})", "/memory", "SRAN", "SRAM"},
      {R"("prefetch": {"memory": "L3"})", "/memory", "L3", "L2"},
      {R"("rollup": {"loc": {"name": "REH"}})", "/loc", "REH", "REG"},
      {R"("schedule": {"mem_loc": {"name": "SRAN"}, "xfer_loc": {"name": "DMA"}})", "/mem_loc",
       "SRAN", "SRAM"},
      {R"("schedule": {"mem_loc": {"name": "SRAM"}, "xfer_loc": {"name": "DNA"}})", "/xfer_loc",
       "DNA", "DMA"},
      {R"("split_reduction": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("swizzle": {"memory": "SRAN"})", "/memory", "SRAN", "SRAM"},
      {R"("tensorize": {"stencils": [{"unit": "COR"}]})", "/stencils/0/unit", "COR", "CORE"},
      {R"("thread": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("thread_lanes": {"unit": "COR"})", "/unit", "COR", "CORE"},
      {R"("vectorize": {"accumulator": "REH"})", "/accumulator", "REH", "REG"},
  };
  const auto program =
      make_program("function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
                   {{"A", {DataType::fp32, {8, 8}}}, {"B", {DataType::fp32, {8, 8}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  for (const auto& each : kCases) {
    const auto steps =
        parse_pipeline({"p", fmt::format("[{{{}}}]", each.options)}, {}, *model, pass_registry());
    EXPECT_TRUE(steps.ok()) << each.options << ": " << steps.status().to_string();
    if (!steps.ok()) continue;
    stripe::Program stripe = program->generic;
    const auto reports = run_pipeline(stripe, *steps, *model);
    const std::string message = reports.ok() ? "" : reports.status().message();
    EXPECT_NE(
        message.find(fmt::format("{}: the hardware model has no unit '{}', did you mean '{}'?",
                                 each.path, each.wrong, each.right)),
        std::string::npos)
        << each.options << ": " << message;
  }
}

}  // namespace
}  // namespace stria::passes
