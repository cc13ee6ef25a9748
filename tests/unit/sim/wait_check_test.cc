// SPDX-License-Identifier: Apache-2.0
// Dependencies looked at in timelines with repeats, against all tasks written out one by one: what
// the one finds wrong the other does.
#include "engine/wait_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/simulate.h"
#include "random_graph.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

// Every task of the graph without loops, against every one that it waits for.
bool right_one_by_one(const TaskGraph& graph, const Timeline& timeline) {
  const Unrolled unrolled = unroll(graph, 100'000).value();
  const TaskGraph& flat = unrolled.graph;
  const std::vector<TaskRecord> all = timeline.all();
  std::vector<uint64_t> end(flat.size());
  size_t at = 0;
  for (size_t node = 0; node < flat.size(); ++node) {
    uint64_t ready = 0;
    for (uint32_t w = flat.first_wait[node]; w < flat.first_wait[node + 1]; ++w)
      ready = std::max(ready, end[flat.waits[w]]);
    end[node] = ready;
    if (unrolled.number[node] == UINT64_MAX) continue;
    if (at >= all.size() || all[at].number != unrolled.number[node] ||
        all[at].kind != flat.kind[node] || all[at].start < ready)
      return false;
    end[node] = all[at++].end;
  }
  return at == all.size();
}

Status checked(const TaskGraph& graph, const Timeline& timeline) {
  WaitCheck check(graph);
  const Status status = check.add(timeline);
  return status.ok() ? check.finish() : status;
}

TEST(WaitCheck, FindsWhatOneByOneIsWrong) {
  size_t right = 0, wrong = 0, repeats = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    const RandomGraph made = random_graph(seed);
    if (numbers_of(made.graph).value() > 10'000) continue;
    const Timeline timeline = simulate(made.machine, made.graph).value();
    ASSERT_TRUE(right_one_by_one(made.graph, timeline)) << seed;
    const Status status = checked(made.graph, timeline);
    ASSERT_TRUE(status.ok()) << seed << ": " << status.to_string();
    RandomNumbers random(seed);
    for (int n = 0; n < 20; ++n) {
      Timeline other = timeline;
      TaskRecord& task = other.tasks[random.pick(0, other.tasks.size() - 1)];
      const uint64_t by = random.pick(1, 20);
      switch (other.repeats.empty() ? random.pick(0, 2) : random.pick(0, 6)) {
        case 0: task.start -= std::min(task.start, by); break;
        case 1: task.end += random.pick(0, 1); break;
        case 2: task.number += random.pick(0, 1); break;
        case 3: other.repeats[0].times -= 1; break;
        case 4: other.repeats.back().steps[0] += 1; break;
        case 5: {
          // All of the period a little earlier, in its later times alone.
          Repeat& repeat = other.repeats[random.pick(0, other.repeats.size() - 1)];
          repeat.shift -= std::min(repeat.shift - 1, by);
          break;
        }
        default: {
          const Repeat& repeat = other.repeats[random.pick(0, other.repeats.size() - 1)];
          TaskRecord& inside = other.tasks[random.pick(repeat.first, repeat.last - 1)];
          inside.start -= std::min(inside.start, by);
          ++repeats;
        }
      }
      const Status found = checked(made.graph, other);
      if (right_one_by_one(made.graph, other)) {
        ++right;
        // Only that it does not come in the order of its ends.
        EXPECT_TRUE(found.ok() || found.to_string().find("stands behind") != std::string::npos ||
                    found.to_string().find("not ended") != std::string::npos ||
                    found.to_string().find("made room") != std::string::npos)
            << seed << ": " << found.to_string();
      } else {
        ++wrong;
        EXPECT_FALSE(found.ok()) << seed << ", change " << n;
      }
    }
  }
  std::printf("%zu changes are no fault, %zu are, %zu inside of repeats\n", right, wrong, repeats);
  EXPECT_GE(right, 500u);
  EXPECT_GE(wrong, 1000u);
  EXPECT_GE(repeats, 200u);
}

// One tick too early, in a task that stands for half a billion.
TEST(WaitCheck, ATickTooEarlyInABillionPoints) {
  Machine machine = small_machine();
  TaskGraph body;
  body.add(0, {});
  body.add(1, {0});
  TaskGraph graph;
  graph.kinds = {transfer(machine, "DRAM[0]", "SRAM[0]", 3200, 0),
                 operation(machine, "CONV", 150, 0)};
  graph.add_loop({std::make_shared<const TaskGraph>(body), 1'000'000'000, 2, {}}, {});
  Timeline timeline = simulate(machine, graph).value();
  ASSERT_EQ(timeline.repeats.size(), 1u);
  WaitCheck check(graph);
  EXPECT_TRUE(check.add(timeline).ok());
  EXPECT_TRUE(check.finish().ok());
  EXPECT_LT(check.looked_at(), 100u);
  Repeat& repeat = timeline.repeats[0];
  --repeat.shift;
  EXPECT_FALSE(checked(graph, timeline).ok());
  ++repeat.shift;
  // A load comes as soon as there is room for it.
  TaskRecord& load =
      timeline.tasks[timeline.tasks[repeat.first].kind == 0 ? repeat.first : repeat.first + 1];
  ASSERT_EQ(load.kind, 0u);
  --load.start;
  EXPECT_THAT(checked(graph, timeline).to_string(), HasSubstr("may begin at"));
  ++load.start;
  --repeat.times;
  EXPECT_FALSE(checked(graph, timeline).ok());
  repeat.times += 2;
  EXPECT_FALSE(checked(graph, timeline).ok());
}

}  // namespace
}  // namespace stria::sim
