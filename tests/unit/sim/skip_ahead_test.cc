// SPDX-License-Identifier: Apache-2.0
// Loops that are skipped ahead against the same loops in full, on generated graphs: every task at
// the same tick on the same instance, for the same reason. And how much may be skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "engine/check_timeline.h"
#include "engine/cycle_oracle.h"
#include "engine/peak_energy.h"
#include "engine/simulate.h"
#include "random_graph.h"

namespace stria::sim {
namespace {

Timeline run(const RandomGraph& made, BusModel buses, bool skip_ahead) {
  auto out = simulate(made.machine, made.graph, {buses, 256, skip_ahead});
  EXPECT_TRUE(out.ok()) << out.status().to_string();
  return std::move(out).value();
}

TEST(SkipAhead, EveryTaskIsWhereItIsInTheFullRun) {
  size_t skipped = 0, nested = 0, compared = 0;
  uint64_t records = 0, tasks = 0;
  for (const BusModel buses : {BusModel::fluid, BusModel::burst})
    for (uint32_t n = 1; n <= 401; ++n) {
      const uint32_t seed = n <= 400 ? n : 2158;  // bursts are late there and catch up
      const RandomGraph made = random_graph(seed);
      const uint64_t count = numbers_of(made.graph).value();
      if (count > 40'000) continue;
      const Timeline full = run(made, buses, false), fast = run(made, buses, true);
      ++compared;
      skipped += !fast.repeats.empty();
      for (size_t r = 1; r < fast.repeats.size(); ++r)
        nested += fast.repeats[r].first <= fast.repeats[r - 1].first;
      records += fast.tasks.size();
      tasks += full.tasks.size();
      ASSERT_TRUE(full.repeats.empty());
      ASSERT_EQ(fast.ticks, full.ticks) << seed;
      ASSERT_EQ(fast.events, full.events) << seed;
      ASSERT_TRUE(fast.all() == full.all()) << seed;
      // And what reports are made of.
      for (const Timeline* timeline : {&full, &fast}) {
        const Status status = check_timeline(made.machine, made.graph, *timeline);
        ASSERT_TRUE(status.ok()) << seed << ": " << status.to_string();
      }
      const auto a = unit_times(made.machine, made.graph, full),
                 b = unit_times(made.machine, made.graph, fast);
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].ticks, b[i].ticks) << seed;
        ASSERT_EQ(a[i].tasks, b[i].tasks) << seed;
      }
      for (const uint64_t window : {uint64_t{1}, uint64_t{100}, uint64_t{1000}})
        if (window <= full.ticks) {
          ASSERT_EQ(most_energy(made.graph, full, window), most_energy(made.graph, fast, window))
              << seed;
        }
    }
  std::printf(
      "%zu of %zu graphs were skipped ahead, %zu repeats hold others; %llu records of %llu\n",
      skipped, compared, nested, static_cast<unsigned long long>(records),
      static_cast<unsigned long long>(tasks));
  EXPECT_GE(compared, 600u);
  EXPECT_GE(skipped, compared / 2);
  EXPECT_GE(nested, 20u);
  EXPECT_LT(records, tasks / 2);
}

// In pieces, however small: the same sums, and every rule is still looked at.
TEST(SkipAhead, PiecesAreTheWhole) {
  size_t pieces = 0;
  for (const BusModel buses : {BusModel::fluid, BusModel::burst})
    for (uint32_t seed = 1; seed <= 150; ++seed) {
      const RandomGraph made = random_graph(seed);
      if (numbers_of(made.graph).value() > 20'000) continue;
      const Timeline whole = run(made, buses, seed % 2 == 0);
      TimelineCheck check(made.machine, made.graph);
      PeakEnergy energy(made.graph, 100);
      const auto all = simulate(made.machine, made.graph, {buses, 256, seed % 3 > 0, 29},
                                [&](Timeline&& piece, uint64_t horizon) {
                                  ++pieces;
                                  energy.add(piece, horizon);
                                  return check.add(piece, horizon);
                                });
      ASSERT_TRUE(all.ok()) << seed << ": " << all.status().to_string();
      const Status status = check.finish(all->ticks);
      ASSERT_TRUE(status.ok()) << seed << ": " << status.to_string();
      ASSERT_EQ(all->ticks, whole.ticks) << seed;
      ASSERT_EQ(all->events, whole.events) << seed;
      if (whole.ticks >= 100) {
        ASSERT_EQ(energy.most(), most_energy(made.graph, whole, 100)) << seed;
      }
      const auto times = unit_times(made.machine, made.graph, whole);
      for (size_t i = 0; i < times.size(); ++i)
        ASSERT_EQ(check.times().instances()[i].ticks, times[i].ticks) << seed;
    }
  EXPECT_GE(pieces, 3000u);
}

// The same graph with its points one after another, as a graph without loops.
TEST(SkipAhead, LoopsAreWhatTheyAreUnrolled) {
  size_t compared = 0;
  for (const BusModel buses : {BusModel::fluid, BusModel::burst})
    for (uint32_t seed = 1; seed <= 200; ++seed) {
      const RandomGraph made = random_graph(seed);
      auto unrolled = unroll(made.graph, 10'000);
      if (!unrolled.ok()) continue;
      ++compared;
      const std::vector<TaskRecord> loops = run(made, buses, true).all();
      RandomGraph flat{made.machine, std::move(unrolled->graph)};
      std::vector<TaskRecord> one_by_one = run(flat, buses, true).all();
      for (TaskRecord& task : one_by_one) task.number = unrolled->number[task.number];
      ASSERT_EQ(loops.size(), one_by_one.size()) << seed;
      for (size_t t = 0; t < loops.size(); ++t)
        ASSERT_TRUE(loops[t] == one_by_one[t])
            << seed << ": task " << loops[t].number << " at " << loops[t].start << " to "
            << loops[t].end << ", waited for " << name_of(loops[t].waited) << "; unrolled "
            << one_by_one[t].start << " to " << one_by_one[t].end << ", "
            << name_of(one_by_one[t].waited);
    }
  EXPECT_GE(compared, 250u);
}

// Reasons, and times where nothing is shared in part, are also those of the oracle.
TEST(SkipAhead, TheOracleGivesTheSameReasons) {
  size_t same = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    const RandomGraph made = random_graph(seed);
    if (numbers_of(made.graph).value() > 200) continue;
    auto slow = simulate_by_cycles(made.machine, made.graph, 1'000'000);
    ASSERT_TRUE(slow.ok()) << slow.status().to_string();
    same += slow->all() == run(made, BusModel::fluid, true).all();
  }
  std::printf("%zu graphs are the same to the tick\n", same);
  EXPECT_GE(same, 10u);
}

// Load, compute and store of a billion tiles: in closed form, and at once.
TEST(SkipAhead, ABillionPointsTakeNoTime) {
  for (const BusModel buses : {BusModel::fluid, BusModel::burst})
    for (const uint64_t depth : {1, 2, 1024}) {
      Machine machine = small_machine();
      TaskGraph body;
      body.add(0, {});
      body.add(1, {0});
      body.add(2, {1});
      TaskGraph graph;
      graph.kinds = {transfer(machine, "DRAM[0]", "SRAM[0]", 3200, 0),
                     operation(machine, "CONV", 80, 0),
                     transfer(machine, "SRAM[0]", "DRAM[0]", 960, 0)};
      constexpr uint64_t kPoints = 1'000'000'000;
      graph.add_loop({std::make_shared<const TaskGraph>(body), kPoints, depth, {}}, {});
      const auto begin = std::chrono::steady_clock::now();
      auto timeline = simulate(machine, graph, {buses});
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      ASSERT_TRUE(timeline.ok()) << timeline.status().to_string();
      const uint64_t expected = depth == 1   ? kPoints * 210
                                : depth == 2 ? kPoints / 2 * 210 + 100
                                             : 210 + (kPoints - 1) * 100;
      EXPECT_EQ(timeline->ticks, expected);
      EXPECT_EQ(timeline->events, kPoints * 6);
      EXPECT_LT(timeline->tasks.size(), 20'000u);
      TimelineCheck check(machine, graph);
      Status status = check.add(*timeline, timeline->ticks);
      if (status.ok()) status = check.finish(timeline->ticks);
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_LT(check.looked_at(), 40'000u);
      std::printf("a billion points, %llu at once: %.3f ms\n",
                  static_cast<unsigned long long>(depth), seconds * 1e3);
    }
}

// What does not end meanwhile does not keep a loop from being skipped.
TEST(SkipAhead, ALongOperationBesideALoop) {
  Machine machine = small_machine();
  TaskGraph body;
  body.add(0, {});
  TaskGraph graph;
  graph.kinds = {operation(machine, "DSP", 7, 0), operation(machine, "CONV", 1'000'000'003, 1)};
  graph.add(1, {});
  graph.add_loop({std::make_shared<const TaskGraph>(body), 1'000'000'000, 1, {}}, {});
  auto timeline = simulate(machine, graph);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(timeline->ticks, 7'000'000'000u);
  EXPECT_LT(timeline->tasks.size(), 100u);
}

TEST(SkipAhead, SaysWhatIsBeyondTheClock) {
  Machine machine = small_machine();
  TaskGraph body;
  body.add(0, {});
  TaskGraph graph;
  graph.kinds = {operation(machine, "DSP", 1'000'000'000, 0)};
  graph.add_loop({std::make_shared<const TaskGraph>(body), 1'000'000'000, 1, {}}, {});
  EXPECT_THAT(simulate(machine, graph).status().to_string(), testing::HasSubstr("2^53 ticks"));
  graph.loops[0].points = uint64_t{1} << 54;
  EXPECT_THAT(simulate(machine, graph).status().to_string(),
              testing::HasSubstr("more than 2^53 operations"));
}

}  // namespace
}  // namespace stria::sim
