// SPDX-License-Identifier: Apache-2.0
// Models with tens of thousands of units, buses and instructions: what they take grows with their
// size, and not with its square.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "stria/hwmodel/bus_ways.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/machine_roles.h"

namespace stria {
namespace {

// `count` entries, made by their number.
std::string entries(int count, const std::function<std::string(int)>& entry) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i > 0 ? ",\n" : "") + entry(i);
  return out;
}

std::string model_with(const std::string& memories, const std::string& executors,
                       const std::string& transfers, const std::string& buses) {
  return "{\"clock_mhz\": 1000,\n\"mem_units\": {\"DRAM\": {\"count\": 1, \"size_KiB\": 64}" +
         memories + "},\n\"exec_units\": {\"CORE\": {\"count\": 1" + executors +
         "}},\n\"tx_units\": {\"DMA\": {\"count\": 1000000}" + transfers + "},\n\"buses\": [" +
         buses + "]}\n";
}

struct Kind {
  const char* name;
  std::string (*text)(int count);
};

const Kind kKinds[] = {
    {"buses",
     [](int count) {
       return model_with(
           "", "", "", entries(count, [](int i) {
             return fmt::format(
                 R"({{"sources": ["DMA[{}]"], "sinks": ["DMA[{}]"], "bytes_per_cycle": 4}})", i,
                 i + 1);
           }));
     }},
    {"ends",
     [](int count) {
       return model_with("", "", "",
                         "{\"sources\": [\"DRAM\"], \"bytes_per_cycle\": 4, \"sinks\": [" +
                             entries(count, [](int i) { return fmt::format("\"DMA[{}]\"", i); }) +
                             "]}");
     }},
    {"memories",
     [](int count) {
       const auto entry = [](int i) {
         return fmt::format(R"("M{}": {{"size_KiB": 64, "source": {{"size_KiB": "sysfs"}}}})", i);
       };
       return model_with(",\n" + entries(count, entry), "", "", "");
     }},
    {"transfers",
     [](int count) {
       const auto entry = [](int i) { return fmt::format(R"("T{}": {{"count": 2}})", i); };
       return model_with("", "", ",\n" + entries(count, entry), "");
     }},
    {"rates",
     [](int count) {
       const auto memory = [](int i) { return fmt::format(R"("M{}": {{"size_KiB": 64}})", i); };
       const auto rate = [](int i) { return fmt::format("\"M{}\": 1", i); };
       return model_with(
           ",\n" + entries(count, memory),
           ", \"rates\": {\"fp32\": {\"read_bytes_per_cycle\": {" + entries(count, rate) + "}}}",
           "", "");
     }},
    {"instructions",
     [](int count) {
       const auto entry = [](int i) {
         return fmt::format(
             R"("I{}": {{"cycles": 1, "idxs": [{{"name": "m", "size": 16}}],
                "operands": {{"A": {{"type": "fp32", "home": "DRAM", "dims": ["m"]}}}}}})",
             i);
       };
       return model_with("", ", \"instructions\": {" + entries(count, entry) + "}", "", "");
     }},
    {"indices", [](int count) {
       const auto index = [](int i) { return fmt::format(R"({{"name": "m{}", "size": 2}})", i); };
       const auto dim = [](int i) { return fmt::format("\"m{}\"", i); };
       return model_with("",
                         ", \"instructions\": {\"I\": {\"idxs\": [" + entries(count, index) +
                             "], \"operands\": {\"A\": {\"type\": \"fp32\", \"home\": \"DRAM\", "
                             "\"dims\": [" +
                             entries(count, dim) + "]}}}}",
                         "", "");
     }}};

// Memories of which each has a transfer unit of its own.
std::string many_scratchpads(int count) {
  const auto memory = [](int i) { return fmt::format(R"("M{}": {{"size_KiB": {}}})", i, 9 + i); };
  const auto unit = [](int i) { return fmt::format(R"("T{}": {{"count": 1}})", i); };
  const auto ways = [](int i) {
    return fmt::format(
        R"({{"sources": ["DRAM"], "sinks": ["T{0}"], "bytes_per_cycle": 4}},
           {{"sources": ["T{0}"], "sinks": ["DRAM", "M{0}"], "bytes_per_cycle": 4}},
           {{"sources": ["M{0}"], "sinks": ["T{0}"], "bytes_per_cycle": 4}})",
        i);
  };
  std::string out = model_with(",\n" + entries(count, memory), "", ",\n" + entries(count, unit),
                               entries(count, ways));
  const std::string small = "\"size_KiB\": 64}";
  return out.replace(out.find(small), small.size(), "\"size_KiB\": 999999}");
}

// Of this process's time, in seconds.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Of work(n): four times as much work takes four times as long, a square sixteen times.
void expect_linear(int count, const std::function<void(int)>& work) {
  const double less = seconds_of([&] { work(count); });
  const double more = seconds_of([&] { work(4 * count); });
  EXPECT_LT(more, 9 * less + 0.02) << less << " s for " << count;
}

class LargeModels : public testing::TestWithParam<Kind> {};

TEST_P(LargeModels, TakeTimeByTheirSize) {
  expect_linear(4000, [&](int count) {
    const auto model = load_hardware_model({"large.json", GetParam().text(count)});
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_FALSE(model->explain().empty());
    for (const MemoryUnit& unit : model->memories) EXPECT_EQ(model->find_memory(unit.name), &unit);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, LargeModels, testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

// Every pipeline asks for them.
TEST(LargeModels, HaveRolesThatAreFoundByTheirSize) {
  expect_linear(1000, [&](int count) {
    const auto model = load_hardware_model({"large.json", many_scratchpads(count)});
    ASSERT_TRUE(model.ok()) << model.status().message();
    const MachineRoles roles = roles_of(*model);
    EXPECT_EQ(roles.main, "DRAM");
    EXPECT_EQ(roles.scratchpad, "M0");
    EXPECT_EQ(roles.transfer, "T0");
  });
}

TEST(LargeModels, HaveWaysThatAreFoundByTheirSize) {
  expect_linear(8000, [&](int count) {
    const auto model = load_hardware_model({"large.json", kKinds[0].text(count)});
    ASSERT_TRUE(model.ok()) << model.status().message();
    const BusMap map(*model);
    const auto way = BusReach(map, {"DMA", 0}).way_to({"DMA", count});
    ASSERT_TRUE(way.ok()) << way.status().message();
    EXPECT_EQ(way->size(), static_cast<size_t>(count));
    // What is near takes no time that the rest of the model asks for.
    for (int i = 0; i < count; ++i) {
      const UnitInstance next{"DMA", i + 1};
      EXPECT_TRUE(BusReach(map, {"DMA", i}, &next).way_to(next).ok());
    }
  });
}

}  // namespace
}  // namespace stria
