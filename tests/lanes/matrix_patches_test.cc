// SPDX-License-Identifier: Apache-2.0
// What plugins/vulkan makes of matrices that cannot go straight to tensors: it gives what they
// should, and each of its barriers is needed.
#include "emit/matrix_patches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "product_run.h"
#include "stria/semtree/tree/tree.h"

namespace stria::lanes {
namespace {

using test::MatrixKernel;
using testing::HasSubstr;

vulkan::Features device() {
  vulkan::Features out;
  for (const DataType sum : {DataType::fp32, DataType::fp16})
    out.matrices.push_back({16, 16, 16, DataType::fp16, DataType::fp16, sum});
  return out;
}

int64_t subgroup_barriers(const semtree::Function& function) {
  int64_t out = 0;
  semtree::walk(function.body, [&](const semtree::Statement& statement) {
    out += std::holds_alternative<semtree::SubgroupBarrier>(statement.op);
  });
  return out;
}

void expect_right(ProductRun& run, uint64_t seed) {
  EXPECT_EQ(run.message(seed), "");
  EXPECT_EQ(run.wrong(), "");
  EXPECT_EQ(run.counts.products, 4);
  EXPECT_EQ(run.counts.stores, MatrixKernel::kRows * MatrixKernel::kColumns);
}

constexpr std::array kTypes = {std::array{DataType::fp16, DataType::fp32, DataType::fp32},
                               std::array{DataType::fp16, DataType::fp32, DataType::fp16},
                               std::array{DataType::i8, DataType::i32, DataType::i32},
                               std::array{DataType::i8, DataType::i32, DataType::fp32},
                               std::array{DataType::bf16, DataType::fp32, DataType::bf16}};

TEST(MatrixPatches, GiveTheSameAtAnyOffset) {
  for (const int64_t subgroup : {4, 8, 16, 32, 64, 128})
    for (const bool columns : {false, true})
      for (const auto& [operand, sum, result] : kTypes) {
        SCOPED_TRACE(fmt::format("{} lanes, columns: {}, {}", subgroup, columns, name_of(result)));
        ProductRun run({subgroup, operand, sum, result, columns}, 3);
        run.function = vulkan::through_patches(run.function, device(), subgroup, true);
        EXPECT_EQ(subgroup_barriers(run.function), 6);
        expect_right(run, static_cast<uint64_t>(subgroup));
      }
}

// Nothing is read or written where rows or columns end. A whole matrix goes straight.
TEST(MatrixPatches, MoveWhatIsThere) {
  for (const int64_t rows : {32, 27, 16, 9})
    for (const int64_t columns_there : {16, 13, 1})
      for (const bool columns : {false, true})
        for (const auto& [operand, sum, result] : kTypes)
          for (const bool any_offset : {false, true}) {
            SCOPED_TRACE(fmt::format("{} x {}, columns: {}, {}", rows, columns_there, columns,
                                     name_of(result)));
            ProductRun run({8, operand, sum, result, columns, rows, columns_there}, 3);
            run.function = vulkan::through_patches(run.function, device(), 8, any_offset);
            EXPECT_EQ(run.message(1), "");
            EXPECT_EQ(run.wrong(), "");
            EXPECT_EQ(run.counts.stores, rows * columns_there);
          }
}

TEST(MatrixPatches, ConvertOnTheWay) {
  vulkan::Features rounds = device(), flushes = device();
  rounds.of16 = {true, true, false};
  flushes.of16 = {true, false, true};
  for (const auto& [features, barriers] :
       {std::pair{rounds, int64_t{0}}, std::pair{flushes, int64_t{2}}})
    for (const int64_t subgroup : {8, 32}) {
      ProductRun run({.subgroup = subgroup, .result = DataType::fp16});
      run.function = vulkan::through_patches(run.function, features, subgroup, false);
      EXPECT_EQ(subgroup_barriers(run.function), barriers);
      expect_right(run, 5);
    }
}

// Of a subgroup: the one of this number. False: there are not so many.
bool remove_barrier(semtree::Body& body, int& which) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (auto* loop = std::get_if<semtree::For>(&body[i].op))
      if (remove_barrier(loop->body, which)) return true;
    if (!std::holds_alternative<semtree::SubgroupBarrier>(body[i].op) || which-- > 0) continue;
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

// Those between a matrix and its tensor. Behind them, the next barrier of the group will do, or the
// lanes of this run hold the same elements of the next matrix; a device promises neither.
TEST(MatrixPatches, NeedTheirBarriers) {
  const semtree::Function right =
      vulkan::through_patches(MatrixKernel{.subgroup = 8}.function(), device(), 8, true);
  std::vector<int> races;
  for (int which = 0; which < 6; ++which) {
    ProductRun run({.subgroup = 8}, 1);
    run.function = right;
    int left = which;
    ASSERT_TRUE(remove_barrier(run.function.body, left));
    const std::string found = run.message();
    if (found.empty()) continue;
    EXPECT_THAT(found, HasSubstr("with no barrier between that orders it"));
    races.push_back(which);
  }
  EXPECT_THAT(races, testing::ElementsAre(0, 2, 4));
}

// Each subgroup writes where others may still read what was staged.
TEST(MatrixPatches, LieOverWhatIsStagedBehindABarrierOnly) {
  const MatrixKernel kernel{.subgroup = 8, .result = DataType::bf16};
  const semtree::Function right = vulkan::through_patches(kernel.function(), device(), 8, false);
  ASSERT_TRUE(right.arrays.back().overlaid);
  ProductRun run(kernel);
  run.function = right;
  expect_right(run, 1);
  const auto is_barrier = [](const semtree::Statement& statement) {
    return std::holds_alternative<semtree::Barrier>(statement.op);
  };
  ProductRun early(kernel);
  semtree::Body& body = early.function.body;
  early.function = right;
  const auto barrier = std::find_if(body.begin(), body.end(), is_barrier);
  ASSERT_NE(barrier, body.end());
  body.erase(barrier);
  auto& loop = std::get<semtree::For>(
      std::find_if(body.begin(), body.end(), [](const semtree::Statement& statement) {
        return std::holds_alternative<semtree::For>(statement.op);
      })->op);
  ASSERT_TRUE(is_barrier(loop.body.back()));
  loop.body.pop_back();  // the next step would wait for those that read
  EXPECT_NE(early.message() + early.wrong(), "");
}

}  // namespace
}  // namespace stria::lanes
