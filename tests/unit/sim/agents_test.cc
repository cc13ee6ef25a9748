// SPDX-License-Identifier: Apache-2.0
// Tasks of kernels in which several agents go on at once (rule C11): the convolution that is
// written by hand takes as long as its recurrences say, tile by tile.
#include "program/lower_agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_programs.h"
#include "program/part_simulation.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

// Two DMA engines with buses of their own, a unit that multiplies, one for elementwise work.
HardwareModel accelerator(int in_bytes, int macs, int flops, int out_bytes) {
  auto model = load_hardware_model(
      {"accelerator", fmt::format(R"({{
      "clock_mhz": 1000,
      "mem_units": {{"DRAM": {{"size_KiB": 65536, "policy": "managed"}},
                    "SRAM": {{"size_KiB": 4096, "policy": "managed"}},
                    "SEMAPHORE": {{"size_KiB": 1, "policy": "managed"}}}},
      "exec_units": {{"CONV": {{"ops_per_cycle": {}, "op": "mac"}},
                     "ACTIVATE": {{"ops_per_cycle": {}, "op": "flop"}}}},
      "tx_units": {{"DMA_IN": {{"count": 1}}, "DMA_OUT": {{"count": 1}}}},
      "buses": [
        {{"sources": ["DRAM[0]"], "sinks": ["DMA_IN[0]"], "bytes_per_cycle": {}}},
        {{"sources": ["DMA_IN[0]"], "sinks": ["SRAM[0]"], "bytes_per_cycle": {}}},
        {{"sources": ["SRAM[0]"], "sinks": ["DMA_OUT[0]"], "bytes_per_cycle": {}}},
        {{"sources": ["DMA_OUT[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": {}}}]}})",
                                  macs, flops, in_bytes, in_bytes, out_bytes, out_bytes)});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

constexpr int64_t kHeight = 64, kWidth = 16, kIn = 8, kOut = 16, kRows = 4;

stripe::Program convolution() {
  auto program = device_programs::make(
      "conv_semaphores",
      {{"H", kHeight}, {"W", kWidth}, {"CI", kIn}, {"CO", kOut}, {"TILE_H", kRows}});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return std::move(program).value();
}

int64_t cycles(int64_t work, int64_t rate) { return (work + rate - 1) / rate; }

// What each engine and unit waits for: itself, what it takes, and two tiles before what it frees.
int64_t by_recurrence(int in_bytes, int macs, int flops, int out_bytes) {
  const int64_t weights = cycles(4 * 9 * kIn * kOut, in_bytes);
  const int64_t bring = cycles(4 * (kRows + 2) * (kWidth + 2) * kIn, in_bytes);
  const int64_t sum = cycles(kRows * kWidth * kOut * 9 * kIn, macs);
  const int64_t relu = cycles(kRows * kWidth * kOut, flops);
  const int64_t take = cycles(4 * kRows * kWidth * kOut, out_bytes);
  std::vector<int64_t> brought, summed, done, taken;
  const auto at = [](const std::vector<int64_t>& ends, int64_t i) {
    return i < 0 ? 0 : ends[static_cast<size_t>(i)];
  };
  for (int64_t i = 0; i < kHeight / kRows; ++i) {
    const int64_t engine = i == 0 ? weights : at(brought, i - 1);
    brought.push_back(std::max(engine, at(summed, i - 2)) + bring);
    summed.push_back(std::max({at(summed, i - 1), brought.back(), at(done, i - 2), weights}) + sum);
    done.push_back(std::max({at(done, i - 1), summed.back(), at(taken, i - 2)}) + relu);
    taken.push_back(std::max(at(taken, i - 1), done.back()) + take);
  }
  return taken.back();
}

TEST(Agents, TheConvolutionTakesWhatItsRecurrencesSay) {
  const stripe::Program program = convolution();
  // Bound by each of the four in turn, and by none.
  const int rates[][4] = {{4, 512, 64, 64}, {64, 16, 64, 64}, {64, 512, 2, 64},
                          {64, 512, 64, 2}, {16, 128, 3, 12}, {17, 100, 5, 13}};
  for (const auto& [in, macs, flops, out] : rates) {
    const HardwareModel model = accelerator(in, macs, flops, out);
    auto run = simulate_part(program, *program.main(), model);
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    const uint64_t per_cycle = run->machine.groups()[0].ticks_per_cycle;
    EXPECT_EQ(run->ticks() / per_cycle, static_cast<uint64_t>(by_recurrence(in, macs, flops, out)))
        << in << " " << macs << " " << flops << " " << out;
    // Weights, and of each tile a transfer there, two operations and a transfer back.
    double tasks = 0;
    for (size_t k = 0; k < run->lowered.tasks.size(); ++k)
      if (run->lowered.graph.kinds[k].work != TaskKind::Work::join) tasks += run->lowered.tasks[k];
    EXPECT_EQ(tasks, 1 + 4 * (kHeight / kRows));
  }
}

TEST(Agents, NobodyGoesOnForEver) {
  std::string text = stripe::print(convolution());
  const std::string was = "special arrive(; free)";
  text.replace(text.find(was), was.size(), "special barrier()");
  auto program = stripe::parse({"test", text});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_THAT(
      simulate_part(*program, *program->main(), accelerator(64, 64, 64, 64)).status().message(),
      HasSubstr("role CONTROL waits for phase 0 of free, and nobody goes on any more"));
}

TEST(Agents, PhasesComeInTheirOrder) {
  std::string text = stripe::print(convolution());
  const std::string was = "out sent[s, q]";
  text.replace(text.find(was), was.size(), "out sent[s, 1 + q]");
  auto program = stripe::parse({"test", text});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_THAT(
      simulate_part(*program, *program->main(), accelerator(64, 64, 64, 64)).status().message(),
      HasSubstr("an arrival at phase 1 of sent, when 0 are complete"));
}

}  // namespace
}  // namespace stria::sim
