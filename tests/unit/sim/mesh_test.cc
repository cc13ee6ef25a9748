// SPDX-License-Identifier: Apache-2.0
// On-chip networks (docs/semantics.md, C5 and C6): routers on the way take time, links are shared.
// Patterns of traffic whose time is known in closed form: bytes go along rows first, so that the
// busiest link is known (Dally and Towles, Principles and Practices of Interconnection Networks,
// 2004).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/check_timeline.h"
#include "engine/simulate.h"
#include "small_machine.h"
#include "stria/hwmodel/bus_ways.h"

namespace stria::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// `side` by `side` routers with a memory and a DMA engine each. A memory is beside its engine; what
// goes to other memories goes over the mesh, 16 bytes in a cycle and 3 cycles for each router.
HardwareModel mesh_model(int side) {
  std::string local, engines, memories, places;
  for (int n = 0; n < side * side; ++n) {
    const char* comma = n > 0 ? ", " : "";
    local += fmt::format(
        R"({{"sources": ["SRAM[{0}]"], "sinks": ["DMA[{0}]"], "bytes_per_cycle": 1024}}, )", n);
    engines += fmt::format("{}\"DMA[{}]\"", comma, n);
    memories += fmt::format("{}\"SRAM[{}]\"", comma, n);
    places += fmt::format("{0}\"DMA[{1}]\": {1}, \"SRAM[{1}]\": {1}", comma, n);
  }
  auto model = load_hardware_model(
      {"mesh.json", fmt::format(R"({{
    "clock_mhz": 1000,
    "mem_units": {{"SRAM": {{"count": {0}, "size_KiB": 64}}}},
    "tx_units": {{"DMA": {{"count": {0}}}}},
    "buses": [{1} {{"sources": [{2}], "sinks": [{3}], "bytes_per_cycle": 16, "latency_cycles": 3,
                    "pJ_per_byte": 2, "mesh": {{"columns": {5}, "places": {{{4}}}}}}}]}})",
                                side * side, local, engines, memories, places, side)});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

TaskKind sent(Machine& machine, int from, int to, uint64_t bytes) {
  return transfer(machine, fmt::format("SRAM[{}]", from), fmt::format("SRAM[{}]", to), bytes, from);
}

// All send at once, each to `to(node)`; nobody to itself.
uint64_t ticks_of(int side, uint64_t bytes, const std::function<int(int)>& to) {
  Machine machine = Machine::make(mesh_model(side)).value();
  TaskGraph graph;
  for (int n = 0; n < side * side; ++n) {
    if (to(n) == n) continue;
    graph.kinds.push_back(sent(machine, n, to(n), bytes));
    graph.add(static_cast<uint32_t>(graph.kinds.size()) - 1, {});
  }
  const auto timeline = simulate(machine, graph, {});
  STRIA_CHECK(timeline.ok(), "{}", timeline.status().to_string());
  EXPECT_EQ(check_timeline(machine, graph, *timeline).to_string(), Status().to_string());
  return timeline->ticks;
}

TEST(Mesh, EachRouterOnTheWayTakesItsTimeAndItsEnergy) {
  Machine machine = Machine::make(mesh_model(4)).value();
  for (const auto& [from, to, routers] :
       {std::array{0, 0, 1}, {0, 1, 2}, {0, 15, 7}, {15, 0, 7}, {3, 12, 7}, {5, 13, 3}}) {
    const TaskKind kind = sent(machine, from, to, 160);
    const Route::Way& way = kind.route.ways[static_cast<size_t>(from)];
    EXPECT_EQ(way.latency_ticks, 3u * static_cast<unsigned>(routers)) << from << " to " << to;
    double pj = 0;
    for (uint32_t channel : way.channels) pj += machine.channels()[channel].pj_per_byte;
    EXPECT_EQ(pj, 2.0 * routers);
    TaskGraph graph;
    graph.kinds = {kind};
    graph.add(0, {});
    const auto timeline = simulate(machine, graph, {});
    ASSERT_TRUE(timeline.ok());
    EXPECT_EQ(timeline->ticks, 3u * static_cast<unsigned>(routers) + 10);
  }
}

TEST(Mesh, BytesGoAlongTheRowFirst) {
  const HardwareModel model = mesh_model(3);
  const BusMap map(model);
  const auto way = BusReach(map, {"DMA", 1}).way_to({"SRAM", 6});
  ASSERT_TRUE(way.ok()) << way.status().to_string();
  std::vector<std::string> names;
  for (size_t link : *way) names.push_back(map.links()[link].name);
  EXPECT_THAT(names, ElementsAre("mesh 9: into 1", "mesh 9: 1 -> 0", "mesh 9: 0 -> 3",
                                 "mesh 9: 3 -> 6", "mesh 9: out of 6"));
}

TEST(Mesh, PatternsTakeAsLongAsTheirBusiestLink) {
  const uint64_t bytes = 16 * 4000, alone = 4000;
  const auto about = [](double cycles) {
    return testing::AllOf(testing::Ge(static_cast<uint64_t>(cycles)),
                          testing::Le(static_cast<uint64_t>(cycles * 1.02)));
  };
  for (const int side : {4, 8}) {
    const auto at = [&](int column, int row) { return row * side + column; };
    // Neighbours share nothing.
    EXPECT_THAT(ticks_of(side, bytes, [&](int n) { return at((n % side + 1) % side, n / side); }),
                about(alone));
    // The transposed place: of a row all but one turn at the same router, into the same link.
    EXPECT_THAT(ticks_of(side, bytes, [&](int n) { return at(n / side, n % side); }),
                about(static_cast<double>(alone) * (side - 1)));
    // The mirrored column: half of a row crosses its middle.
    EXPECT_THAT(ticks_of(side, bytes, [&](int n) { return at(side - 1 - n % side, n / side); }),
                about(static_cast<double>(alone) * side / 2));
    // All to one: the link out of its router.
    EXPECT_THAT(ticks_of(side, bytes, [](int) { return 5; }),
                about(static_cast<double>(alone) * (side * side - 1)));
  }
}

TEST(Mesh, BytesForSeveralMemoriesPassALinkOnce) {
  Machine machine = Machine::make(mesh_model(4)).value();
  const auto route = machine.route({"SRAM", 0}, "DMA", 0, {{"SRAM", 3}, {"SRAM", 7}, {"SRAM", 2}});
  ASSERT_TRUE(route.ok()) << route.status().to_string();
  // Beside its engine; into 0, 0 -> 1 -> 2 -> 3 -> 7, and out of three.
  EXPECT_EQ(route->ways[0].channels.size(), 1u + 1 + 4 + 3);
  EXPECT_EQ(route->ways[0].latency_ticks, 3u * 5);  // that of the farthest
}

TEST(Mesh, MistakesNameTheUnit) {
  const auto message = [](const std::string& mesh) {
    const auto model = load_hardware_model({"mesh.json", fmt::format(R"({{
      "mem_units": {{"A": {{}}, "B": {{"count": 2}}}},
      "buses": [{{"sources": ["A[0]"], "sinks": ["B[0]", "B[1]"], "mesh": {}}}]}})",
                                                                     mesh)});
    return model.status().to_string();
  };
  EXPECT_THAT(message(R"({"columns": 2, "places": {"A": 0, "B[0]": 1}})"),
              HasSubstr("/buses/0/mesh/places: 'B[1]' has no place"));
  EXPECT_THAT(message(R"({"columns": 2, "places": {"A": 0, "B[0]": 1, "C[0]": 1, "B[1]": 2}})"),
              HasSubstr("'C[0]' is no source and no sink of this bus"));
  EXPECT_THAT(message(R"({"columns": 0, "places": {"A": 0, "B[0]": 1, "B[1]": 2}})"),
              HasSubstr("/buses/0/mesh/columns"));
  EXPECT_THAT(message(R"({"columns": 2, "places": {"A": -1, "B[0]": 1, "B[1]": 2}})"),
              HasSubstr("/buses/0/mesh/places/A"));
  EXPECT_THAT(message(R"({"columns": 65536, "places": {"A": 0, "B[0]": 1, "B[1]": 65535}})"), "ok");
  EXPECT_THAT(message(R"({"columns": 65535, "places": {"A": 0, "B[0]": 1, "B[1]": 65535}})"),
              HasSubstr("a mesh has 65536 routers at most"));
  EXPECT_THAT(message(R"({"columns": 2, "places": {"A": 0, "A[0]": 1, "B[0]": 1, "B[1]": 2}})"),
              HasSubstr("'A[0]' has a place already"));
  EXPECT_THAT(message(R"({"places": {"A": 0}})"), HasSubstr("'columns' is missing"));
  EXPECT_THAT(message(R"({"columns": 2})"), HasSubstr("'places' is missing"));
}

}  // namespace
}  // namespace stria::sim
