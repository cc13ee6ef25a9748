// SPDX-License-Identifier: Apache-2.0
#include "events/graph_cases.h"

#include "events/random_graph.h"
#include "events/sentences.h"

namespace stria::conformance {
namespace {

struct Family {
  std::string_view name, sentence;
  Level level;
  uint32_t seeds;
  size_t executors;
  GraphOptions options;
};

}  // namespace

void add_event_graph_cases(CaseMaker& maker) {
  // Each with seeds of its own.
  const Family families[] = {
      {"plain", says::kStartsWhenAllDone, Level::right, 15, 1, {.seed = 0, .nodes = 40}},
      {"failing",
       says::kSameError,
       Level::right,
       15,
       1,
       {.seed = 1000, .nodes = 40, .failures = true}},
      {"ends",
       says::kEnd,
       Level::right,
       10,
       1,
       {.seed = 2000, .nodes = 40, .failures = true, .ends = true}},
      {"executors", says::kEventsAloneOrder, Level::robust, 15, 3, {.seed = 3000, .nodes = 80}},
      {"executors_failing",
       says::kFirstCause,
       Level::robust,
       15,
       3,
       {.seed = 4000, .nodes = 80, .failures = true, .ends = true}},
      {"mappings",
       says::kStartsWhenAllDone,
       Level::robust,
       10,
       2,
       {.seed = 5000, .nodes = 60, .mappings = true}},
      {"mappings_failing",
       says::kSameError,
       Level::robust,
       10,
       2,
       {.seed = 6000, .nodes = 60, .failures = true, .ends = true, .mappings = true}},
      {"threads",
       says::kEventsAloneOrder,
       Level::robust,
       10,
       3,
       {.seed = 7000, .nodes = 100, .failures = true, .mappings = true, .signal_threads = true}},
      {"large",
       says::kEventsAloneOrder,
       Level::robust,
       3,
       4,
       {.seed = 8000, .nodes = 1500, .failures = true, .ends = true}}};
  for (const Family& family : families)
    for (uint32_t n = 1; n <= family.seeds; ++n) {
      GraphOptions options = family.options;
      options.seed += n;
      Case& c = add_bench_case(
          maker, 'Q', fmt::format("graph.{}_{}", family.name, n), family.level, family.sentence,
          [options](const Bench& bench) -> Status { return run_graph(bench, options); },
          family.executors);
      if (options.nodes > 1000) c.limit = std::chrono::seconds(60);
    }
}

}  // namespace stria::conformance
