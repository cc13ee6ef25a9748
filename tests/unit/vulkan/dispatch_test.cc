// SPDX-License-Identifier: Apache-2.0
// How long dispatches may take, how they are cut, and which GPUs drive a display.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "dispatch_plan.h"
#include "dispatch_time.h"
#include "display.h"
#include "matrix_kernel.h"
#include "scripted_host.h"
#include "stria/semtree/tree/expr.h"

namespace stria::vulkan {
namespace {

using semtree::binary;
using semtree::ExprRef;
using semtree::integer;
using semtree::Op;
namespace fs = std::filesystem;

constexpr semtree::Type kIndex{DataType::i32, 1};
constexpr semtree::Type kFloat{DataType::fp32, 1};

// R[group] = sums of A, over `upper` steps from `lower` on; variables: group, lane, step, element,
// sum.
KernelCode loop_kernel(const ExprRef& lower, const ExprRef& upper) {
  KernelCode out;
  out.group_lanes = 64;
  semtree::Function& f = out.function;
  f.index_type = DataType::i32;
  f.params = {{"R", DataType::fp32, false, true, 8, 0}, {"A", DataType::fp32, true, false, 999, 1}};
  f.vars = {{"group", kIndex}, {"lane", kIndex}, {"step", kIndex}, {"a", kFloat}, {"s", kFloat}};
  f.grid = {{0, 8}};
  f.group_lanes = 64;
  f.lane_var = 1;
  semtree::For loop{2, lower, upper, {}};
  semtree::Place at;
  at.memory = 1;
  at.offset = semtree::variable(2, kIndex);
  loop.body.push_back({semtree::Load{3, at}});
  loop.body.push_back(
      {semtree::Let{4, semtree::fma(semtree::variable(3, kFloat), semtree::variable(3, kFloat),
                                    semtree::variable(3, kFloat))}});
  f.body.push_back({loop});
  return out;
}

// Loads that the loop makes in a group.
double loads(const ExprRef& lower, const ExprRef& upper) {
  return work_of_group(loop_kernel(lower, upper), GroupFacts()).bytes / 4 / 64;
}

// What a subgroup does together is shared out among its lanes.
TEST(DispatchTime, CountsWhatSubgroupsDoWithMatrices) {
  KernelCode kernel;
  kernel.function = test::MatrixKernel{}.function();
  kernel.group_lanes = kernel.function.group_lanes;
  kernel.matrix_lanes = 32;
  const GroupWork all = work_of_group(kernel, GroupFacts());
  // B, A, the bias of each subgroup, R.
  EXPECT_EQ(all.bytes, 2 * 256 * 2 + 4 * 256 * 2 + 2 * 256 * 4 + 2 * 256 * 4);
  semtree::walk(kernel.function.body, [](semtree::Statement& statement) {
    if (auto* loop = std::get_if<semtree::For>(&statement.op))
      std::erase_if(loop->body, [](const semtree::Statement& inner) {
        return std::holds_alternative<semtree::MatrixMultiply>(inner.op);
      });
  });
  // Two steps of two subgroups.
  EXPECT_EQ(all.operations - work_of_group(kernel, GroupFacts()).operations, 4 * 16 * 16 * 16);
}

TEST(DispatchTime, CountsLoopsByTheirBounds) {
  const auto number = [](int64_t value) { return integer(DataType::i32, value); };
  const ExprRef group = semtree::variable(0, kIndex), unknown = semtree::variable(3, kIndex);
  EXPECT_EQ(loads(number(0), number(10)), 10);
  EXPECT_EQ(loads(number(4), number(10)), 6);
  EXPECT_EQ(loads(number(10), number(4)), 0);
  // The last group has a smaller part: the largest counts.
  EXPECT_EQ(
      loads(number(0), binary(Op::min, number(16),
                              binary(Op::sub, number(100), binary(Op::mul, group, number(16))))),
      16);
  EXPECT_EQ(loads(binary(Op::mul, group, number(3)), number(30)), 30);
  EXPECT_EQ(loads(number(0), binary(Op::add, group, number(1))), 8);
  EXPECT_EQ(loads(number(0), binary(Op::floor_div, binary(Op::add, group, number(1)), number(2))),
            4);
  // Where nothing is known of one arm, the other is the limit; of no arm, once.
  EXPECT_EQ(loads(number(0), binary(Op::min, unknown, number(5))), 5);
  EXPECT_EQ(loads(number(0), unknown), 1);
  // A load, a multiply-add and a step of the loop, of each lane.
  EXPECT_EQ(work_of_group(loop_kernel(number(0), number(10)), GroupFacts()).operations,
            10 * 3 * 64);
}

TEST(DispatchTime, WeighsOperations) {
  const auto operations = [](const ExprRef& value) {
    KernelCode kernel;
    kernel.function.vars = {{"x", {value->type.scalar, value->type.lanes}}};
    kernel.function.body.push_back({semtree::Let{0, value}});
    return work_of_group(kernel, GroupFacts()).operations;
  };
  const ExprRef x = semtree::variable(0, kFloat);
  EXPECT_EQ(operations(binary(Op::add, x, x)), 1);
  EXPECT_EQ(operations(semtree::fma(x, x, x)), 1);
  EXPECT_EQ(operations(binary(Op::div, x, x)), 8);
  EXPECT_EQ(operations(semtree::call("exp", {x})), 32);
  EXPECT_EQ(operations(binary(Op::add, semtree::variable(0, {DataType::fp32, 4}),
                              semtree::variable(0, {DataType::fp32, 4}))),
            4);
  EXPECT_EQ(operations(semtree::convert_to(DataType::i32, x)), 1);
}

TEST(DispatchTime, DividesByTheModelsRates) {
  const Result<HardwareModel> model = load_hardware_model({"model.json",
                                                           R"({"name": "m", "clock_mhz": 1000,
           "mem_units": {"DRAM": {"count": 1, "size_KiB": 1024, "read_bytes_per_cycle": 100}},
           "exec_units": {"CU": {"count": 4, "ops_per_cycle": 32, "op": "mac"}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const ModelRates rates = rates_of(*model);
  EXPECT_EQ(rates.operations_per_ns, 128);
  EXPECT_EQ(rates.bytes_per_ns, 100);
  EXPECT_EQ(rates.units, 4);
  // The slower of the two, at a fourth of its rate.
  EXPECT_EQ(predicted_group_ns({1280, 100}, rates), 40);
  EXPECT_EQ(predicted_group_ns({128, 1000}, rates), 40);
  EXPECT_EQ(predicted_group_ns({128, 1000}, ModelRates{}), 0);
}

TEST(DispatchTime, ReadsThroughTheCacheThatHasALatency) {
  const Result<HardwareModel> model = load_hardware_model({"model.json",
                                                           R"({"name": "m", "clock_mhz": 2000,
           "mem_units": {"DRAM": {"count": 1, "size_KiB": 1024, "read_bytes_per_cycle": 100},
                         "CACHE": {"count": 1, "size_KiB": 64, "policy": "lru",
                                   "latency_cycles": 300, "read_bytes_per_cycle": 200}},
           "exec_units": {"CU": {"count": 4, "ops_per_cycle": 32, "op": "mac"}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(rates_of(*model).bytes_per_ns, 400);
}

// Every group exactly once: the numbers of groups in the pieces.
void expect_covered(const std::array<int64_t, 3>& groups, const std::vector<DispatchPiece>& all) {
  std::set<std::array<uint32_t, 3>> seen;
  for (const DispatchPiece& piece : all)
    for (uint32_t z = 0; z < piece.count[2]; ++z)
      for (uint32_t y = 0; y < piece.count[1]; ++y)
        for (uint32_t x = 0; x < piece.count[0]; ++x) {
          const std::array<uint32_t, 3> at = {piece.first[0] + x, piece.first[1] + y,
                                              piece.first[2] + z};
          EXPECT_TRUE(seen.insert(at).second);
          for (size_t d = 0; d < 3; ++d) EXPECT_LT(at[d], groups[d]);
        }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), groups[0] * groups[1] * groups[2]);
}

TEST(DispatchPlan, CutsEveryGridIntoPiecesThatCoverIt) {
  for (const std::array<int64_t, 3>& groups : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1}, {100, 1, 1}, {7, 5, 3}, {1, 25, 9}, {3, 1, 8}})
    for (const double most : {1, 2, 5, 7, 20, 35, 70, 1000}) {
      const std::vector<DispatchPiece> pieces = DispatchPlan({most, 1}).add(groups, 1);
      expect_covered(groups, pieces);
      for (size_t i = 0; i < pieces.size(); ++i) {
        EXPECT_LE(pieces[i].groups(), most);
        if (i == 0) {
          EXPECT_FALSE(pieces[i].begins_part);
        }
      }
    }
}

TEST(DispatchPlan, FillsEachPartUpToTheLimit) {
  DispatchPlan plan({100, 4});
  const auto begins = [&](const std::array<int64_t, 3>& groups, double ns) {
    std::vector<bool> out;
    for (const DispatchPiece& piece : plan.add(groups, ns)) out.push_back(piece.begins_part);
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(begins({6, 1, 1}, 10), ElementsAre(false));  // 60
  EXPECT_THAT(begins({4, 1, 1}, 10), ElementsAre(false));  // 100
  EXPECT_THAT(begins({1, 1, 1}, 1), ElementsAre(true));
  EXPECT_THAT(begins({25, 1, 1}, 10), ElementsAre(true, true, true));  // 10, 10 and 5
  EXPECT_THAT(begins({0, 1, 1}, 10), ElementsAre());
  // Never fewer groups than the device has units.
  EXPECT_THAT(begins({9, 1, 1}, 1000), ElementsAre(true, true, true));
  // Of a time that is not known nothing is cut.
  EXPECT_THAT(begins({9999, 1, 1}, 0), ElementsAre(false));
  // Without a limit there is one part.
  EXPECT_EQ(DispatchPlan({}).add({1000, 1000, 10}, 1e9).size(), 1u);
}

TEST(DispatchPlan, HasAnEnd) {
  for (const std::array<int64_t, 3>& groups :
       std::vector<std::array<int64_t, 3>>{{INT32_MAX, 1, 1},
                                           {65535, 65535, 65535},
                                           {1, 65535, 65535},
                                           {3, 1, 65535},
                                           {1025, 33, 7}}) {
    const auto pieces = DispatchPlan({1, 1}).add(groups, 1e6);
    EXPECT_LE(static_cast<int64_t>(pieces.size()), DispatchPlan::kMostPieces);
    EXPECT_GT(pieces.size(), 100u);
    double all = 0;
    for (const DispatchPiece& piece : pieces) all += piece.groups();
    EXPECT_EQ(all, static_cast<double>(groups[0]) * static_cast<double>(groups[1] * groups[2]));
  }
}

TEST(Display, IsWhereAConnectorOfTheGpuIsConnected) {
  const hal::TemporaryFolder folder;
  const fs::path connectors = folder.path() / "class";
  fs::create_directories(connectors);
  EXPECT_FALSE(drives_display("", connectors));
  EXPECT_FALSE(drives_display("", connectors / "nothing"));
  const auto add = [&](const std::string& pci, const std::string& card, const std::string& name,
                       const std::string& status) {
    const fs::path device =
        folder.path() / "devices/pci0000:00" / pci / "drm" / card / (card + "-" + name);
    fs::create_directories(device);
    std::ofstream(device / "status") << status << "\n";
    fs::create_directory_symlink(device, connectors / (card + "-" + name));
  };
  fs::create_directories(connectors / "renderD128");  // no connector
  add("0000:00:02.0", "card0", "eDP-1", "disconnected");
  add("0000:01:00.0", "card1", "HDMI-A-1", "unknown");
  EXPECT_FALSE(drives_display("", connectors));
  add("0000:01:00.0", "card1", "DP-1", "connected");
  EXPECT_TRUE(drives_display("0000:01:00.0", connectors));
  EXPECT_FALSE(drives_display("0000:00:02.0", connectors));
  EXPECT_FALSE(drives_display("0000:01:00.1", connectors));
  // Which GPU it is is not known: it may be the one.
  EXPECT_TRUE(drives_display("", connectors));
}

}  // namespace
}  // namespace stria::vulkan
