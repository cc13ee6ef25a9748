// SPDX-License-Identifier: Apache-2.0
// Memories of rows through the clock (docs/semantics.md, C5 and C8): a transfer ends when its bytes
// have moved and its rows are free again, and transfers share the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/check_timeline.h"
#include "engine/cycle_oracle.h"
#include "program/part_simulation.h"
#include "small_machine.h"
#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

// 1 GHz. 32 bytes in a burst of a cycle, rows of 1 KiB in 4 banks: a row of a bank every 40 cycles.
constexpr const char* kDram =
    R"("dram": {"banks": 4, "row_bytes": 1024, "burst_bytes": 32, "burst_ns": 1, "row_cycle_ns": 40,
    "activate_ns": 4)";

HardwareModel machine(const std::string& more = "}", const std::string& clock = "1000") {
  auto model = load_hardware_model({"rows.json", fmt::format(R"({{
    "clock_mhz": {},
    "mem_units": {{"DRAM": {{"size_KiB": 1024, {}{}}}, "SRAM": {{"size_KiB": 64}}}},
    "exec_units": {{"CONV": {{"ops_per_cycle": 16, "op": "mac"}}, "DSP": {{"ops_per_cycle": 16}}}},
    "tx_units": {{"DMA": {{"count": 2}}}},
    "buses": [
      {{"sources": ["DRAM[0]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": 32}},
      {{"sources": ["DMA[0]", "DMA[1]"], "sinks": ["SRAM[0]"], "bytes_per_cycle": 64}},
      {{"sources": ["SRAM[0]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": 64}},
      {{"sources": ["DMA[0]", "DMA[1]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 32}}]}})",
                                                             clock, kDram, more)});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

// Brings `rows` runs of `run` bytes that lie `stride` bytes apart.
std::string bring(int rows, int run, int stride) {
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // p
    in<DRAM[0]> A[0, 0] i8({0}:{2}, {1}:1)
    none new@0x0<SRAM[0]> B[0, 0] i8({0}:{1}, {1}:1)
) {{
  0: #main block [] ( // main
      in<DRAM[0]> A[0, 0] i8({0}:{2}, {1}:1)
      out<SRAM[0]> B[0, 0] i8({0}:{1}, {1}:1)
  ) {{
    0: #copy #swap_in block<DMA[0]> [i:{0}, j:{1}] ( // swap_in A
        in<DRAM[0]> A[i, j] i8(1:{2}, 1:1)
        out<SRAM[0]> B[i, j] i8(1:{1}, 1:1)
    ) {{
      0: $a = load(A)
      1: B = store($a)
    }}
  }}
}}
)",
                     rows, run, stride);
}

uint64_t ticks_of(const std::string& text, const HardwareModel& model) {
  auto program = stripe::parse({"test", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  auto out = simulate_part(*program, *program->main(), model, {});
  STRIA_CHECK(out.ok(), "{}", out.status().to_string());
  EXPECT_GE(out->ticks(), least_ticks(out->machine, out->lowered));
  return out->ticks();
}

TEST(Dram, TimeIsThatOfThePatternAndNotOfTheBytesAlone) {
  const HardwareModel rows = machine();
  // 16 KiB that lie together: the pins are as wide as the bus.
  EXPECT_EQ(ticks_of(bring(16, 1024, 1024), rows), 512u);
  // 512 bursts, each of another row, bank after bank: 40 / 4 cycles each.
  EXPECT_EQ(ticks_of(bring(512, 32, 1024), rows), 5120u);
  // All of one bank.
  EXPECT_EQ(ticks_of(bring(512, 32, 4096), rows), 512u * 40);
  // 8 bytes of each burst: the bus moves a quarter, the pins all.
  EXPECT_EQ(ticks_of(bring(2048, 8, 32), rows), 2048u);
  // A flat memory of the same bus.
  HardwareModel flat = rows;
  for (MemoryUnit& memory : flat.memories) memory.dram.reset();
  EXPECT_EQ(ticks_of(bring(512, 32, 4096), flat), 512u);
}

TEST(Dram, RefreshesMakeItLonger) {
  const HardwareModel rows = machine(R"(, "refresh_interval_ns": 1000, "refresh_ns": 200})");
  EXPECT_EQ(ticks_of(bring(16, 1024, 1024), rows), 640u);
}

TEST(Dram, NanosecondsStayWhenTheClockChanges) {
  EXPECT_EQ(ticks_of(bring(512, 32, 4096), machine("}", "2000")), 512u * 80);
  EXPECT_EQ(ticks_of(bring(512, 32, 4096), machine("}", "500")), 512u * 20);
}

TEST(Dram, TransfersShareTheRows) {
  auto machine_of = Machine::make(machine());
  ASSERT_TRUE(machine_of.ok()) << machine_of.status().to_string();
  Machine& on = *machine_of;
  const std::optional<uint32_t> rows = on.rows({"DRAM", 0});
  ASSERT_TRUE(rows.has_value());
  EXPECT_FALSE(on.rows({"SRAM", 0}).has_value());
  EXPECT_EQ(on.channels()[*rows].name, "rows DRAM[0]");
  TaskGraph graph;
  for (const int64_t instance : {0, 1}) {
    TaskKind kind = transfer(on, "DRAM[0]", "SRAM[0]", 320, instance);
    kind.flows = {{{*rows}, 3200}};
    graph.kinds.push_back(kind);
    graph.add(static_cast<uint32_t>(instance), {});
  }
  for (const BusModel buses : {BusModel::fluid, BusModel::burst}) {
    const auto timeline = simulate(on, graph, {buses, 32, false});
    ASSERT_TRUE(timeline.ok()) << timeline.status().to_string();
    EXPECT_EQ(timeline->ticks, 200u);  // 6,400 bytes over pins of 32
    EXPECT_TRUE(check_timeline(on, graph, *timeline).ok());
    Timeline wrong = *timeline;
    for (TaskRecord& task : wrong.tasks) task.end -= 1;
    wrong.ticks -= 1;
    EXPECT_THAT(check_timeline(on, graph, wrong).message(), HasSubstr("rows DRAM[0]"));
  }
  const auto slow = simulate_by_cycles(on, graph, 1000);
  ASSERT_TRUE(slow.ok()) << slow.status().to_string();
  EXPECT_EQ(slow->ticks, 200u);
}

TEST(Dram, ModelsThatCannotBeAreRefused) {
  const auto message = [](const std::string& dram, const std::string& clock = "1000") {
    const auto model = load_hardware_model(
        {"rows.json",
         fmt::format("{{\n\"clock_mhz\": {}, \"mem_units\": {{\"D\": {{{}}}}}}}", clock, dram)});
    if (!model.ok()) return model.status().to_string();
    return Machine::make(*model).status().to_string();
  };
  EXPECT_THAT(message(R"("dram": {"row_bytes": 1024, "burst_bytes": 32})"),
              HasSubstr("/mem_units/D/dram: 'burst_ns' is missing"));
  EXPECT_THAT(message(R"("dram": {"row_bytes": 1000, "burst_bytes": 32, "burst_ns": 1})"),
              HasSubstr("must be whole bursts of 32 bytes, this is 1000"));
  EXPECT_THAT(message(R"("dram": {"row_bytes": 1024, "burst_bytes": 32, "burst_ns": 0})"),
              HasSubstr("burst_ns: must be 1e-06 or more, this is 0"));
  EXPECT_THAT(message(R"("dram": {"row_bytes": 64, "burst_bytes": 32, "burst_ns": 1, "banks": 0})"),
              HasSubstr("/mem_units/D/dram/banks"));
  EXPECT_THAT(message(R"("dram": {"row_bytes": 64, "burst_bytes": 32, "burst_ns": 1,
                         "refresh_interval_ns": 100, "refresh_ns": 100})"),
              HasSubstr("must be less than refresh_interval_ns, 100; this is 100"));
  EXPECT_THAT(
      message(R"("dram": {"row_bytes": 64, "burst_bytes": 32, "burst_ns": 1, "row_cycles_ns": 4})"),
      HasSubstr("did you mean 'row_cycle_ns'?"));
  EXPECT_THAT(
      message(R"("dram": {"row_bytes": 64, "burst_bytes": 32, "burst_ns": 1})", "0"),
      HasSubstr("the times of the rows of 'D' are nanoseconds, but the model has no clock_mhz"));
}

}  // namespace
}  // namespace stria::sim
