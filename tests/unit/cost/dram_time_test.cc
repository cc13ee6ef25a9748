// SPDX-License-Identifier: Apache-2.0
// Rows of a memory: closed forms by pattern, and random boxes beside a memory that opens row after
// row.
#include "stria/cost/block/dram_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "stria/cost/staged/kernel_shape.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

// A channel of DDR4-2400: 64 bits, 16 banks of 8 KiB in all chips of a rank.
DramRows ddr4() { return {16, 8192, 64, 64 / 19.2, 46.16, 5.25, 0, 0}; }

Walk walk(double run_bytes, std::vector<Walk::Dim> outer) {
  Walk out = walk_of_bytes(run_bytes);
  out.dims.insert(out.dims.end(), outer.begin(), outer.end());
  return out;
}

TEST(DramTime, WhatLiesTogetherMovesAtTheRateOfThePins) {
  const DramRows dram = ddr4();
  const RowWalk rows = row_walk(dram, walk_of_bytes(1 << 20));
  EXPECT_EQ(rows.bursts, 16384);
  EXPECT_EQ(rows.rows, 128);
  EXPECT_EQ(rows.banks_in_turn, 16);
  EXPECT_NEAR(dram_ns(dram, rows), (1 << 20) / 19.2, 1e-6);
  EXPECT_NEAR(dram_bytes(dram, walk_of_bytes(1 << 20)), 1 << 20, 1e-6);
  // A byte takes a burst, and what opening a row keeps other rows closed.
  EXPECT_EQ(row_walk(dram, walk_of_bytes(1)).bursts, 1);
  EXPECT_NEAR(dram_bytes(dram, walk_of_bytes(1)), 5.25 * 19.2, 1e-9);
}

TEST(DramTime, RefreshesTakeTheirPart) {
  DramRows dram = ddr4();
  dram.refresh_interval_ns = 7800;
  dram.refresh_ns = 350;
  EXPECT_NEAR(dram_bytes(dram, walk_of_bytes(1 << 20)), (1 << 20) / (1 - 350.0 / 7800), 1e-6);
}

TEST(DramTime, ABurstOfEachRowWaitsForRows) {
  const DramRows dram = ddr4();
  // Bank after bank: a row each activate_ns, since 16 banks take turns in 46.16 ns.
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{8192, 1000}}))), 1000 * 5.25, 1e-6);
  // Every second bank: 8 of them take turns.
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{16384, 1000}}))), 1000 * 46.16 / 8, 1e-6);
  // The same bank each time.
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{131072, 1000}}))), 1000 * 46.16, 1e-6);
  // Half a row more each time, and all banks are reached; a burst more, and it is the same one for
  // long.
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{131072 + 4096, 1000}}))), 1000 * 5.25, 900);
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{131072 + 64, 1000}}))), 1000 * 46.16, 400);
  // Few rows of different banks wait for none.
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{8192, 16}}))), 16 * 5.25, 1e-6);
  EXPECT_NEAR(dram_ns(dram, row_walk(dram, walk(64, {{131072, 2}}))), 2 * 46.16, 1e-6);
}

TEST(DramTime, PiecesOfBurstsTakeWholeOnes) {
  const DramRows dram = ddr4();
  EXPECT_EQ(row_walk(dram, walk(32, {{128, 64}})).bursts, 64);  // half of every other burst
  EXPECT_EQ(row_walk(dram, walk(32, {{64, 64}})).bursts, 64);   // half of each burst
  EXPECT_EQ(row_walk(dram, walk(16, {{32, 64}})).bursts, 32);   // two pieces of each
  EXPECT_EQ(row_walk(dram, walk(64, {{96, 64}})).bursts, 96);   // of 6,112 bytes
  EXPECT_EQ(row_walk(dram, walk(64, {{160, 64}})).bursts,
            64 * 1.5);  // every other one reaches over
  EXPECT_EQ(row_walk(dram, walk(100, {{128, 10}})).bursts, 20);
  EXPECT_EQ(row_walk(dram, walk(64, {{128, 64}})).rows, 1);  // all in a row
  EXPECT_EQ(row_walk(dram, walk(64, {{128, 65}})).rows, 2);
}

TEST(DramTime, WalksAreThoseOfFootprints) {
  const auto program = stripe::parse({"walk", R"(stripe 1.0
0: #program block [] ( // p
    none new@0x0 A[0, 0] i8(512:1024, 1024:1)
    none new@0x0 B[0, 0] i32(64:64, 64:1)
) {
  0: #main block [] ( // main
      in A[0, 0] i8(512:1024, 1024:1)
      out B[0, 0] i32(64:64, 64:1)
  ) {
    0: block [i:8, j:16] ( // copy
        in A[4*i, j] i8(2:1024, 1:1)
        out B[i, j] i32(1:64, 1:1)
    ) {
      0: $a = load(A)
      1: B = store($a)
    }
  }
}
)"});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const stripe::Block& copy = *program->main()->stmts[0].block();
  const Walk from = walk_of(copy, copy.refs[0]);
  ASSERT_EQ(from.dims.size(), 2u);
  EXPECT_EQ(from.dims[0].stride_bytes, 1);
  EXPECT_EQ(from.dims[0].count, 16);
  EXPECT_EQ(from.dims[1].stride_bytes, 1024);
  EXPECT_EQ(from.dims[1].count, 30);
  const Walk to = walk_of(copy, copy.refs[1]);
  EXPECT_EQ(to.element_bytes, 4);
  EXPECT_EQ(to.dims[0].stride_bytes, 4);
  EXPECT_EQ(to.dims[1].stride_bytes, 256);
  KernelShape shape(copy, {0, 1});
  for (size_t v : {size_t{0}, size_t{1}}) {
    const Walk& same = shape.walk(v, {8, 16});
    const Walk& whole = v == 0 ? from : to;
    ASSERT_EQ(same.dims.size(), whole.dims.size());
    EXPECT_EQ(same.element_bytes, whole.element_bytes);
    for (size_t d = 0; d < whole.dims.size(); ++d) {
      EXPECT_EQ(same.dims[d].stride_bytes, whole.dims[d].stride_bytes);
      EXPECT_EQ(same.dims[d].count, whole.dims[d].count);
    }
  }
}

// Bursts one after another: rows are opened ahead of time, as soon as their bank and the one before
// allow.
double opened_one_by_one(const DramRows& dram, const Walk& walk) {
  std::set<int64_t> bursts;
  std::vector<int64_t> at(walk.dims.size(), 0);
  for (bool more = true; more;) {
    int64_t address = 0;
    for (size_t d = 0; d < at.size(); ++d) address += at[d] * walk.dims[d].stride_bytes;
    const auto last = address + static_cast<int64_t>(walk.element_bytes) - 1;
    for (int64_t b = address / dram.burst_bytes; b <= last / dram.burst_bytes; ++b)
      bursts.insert(b);
    more = false;
    for (size_t d = 0; d < at.size() && !more; ++d) {
      more = ++at[d] < static_cast<int64_t>(walk.dims[d].count);
      if (!more) at[d] = 0;
    }
  }
  struct Bank {
    int64_t open = -1;
    double opened = -std::numeric_limits<double>::infinity(), idle = 0;
  };
  std::vector<Bank> banks(static_cast<size_t>(dram.banks));
  double pins = 0, opened = -std::numeric_limits<double>::infinity();
  for (const int64_t burst : bursts) {
    const int64_t row = burst * dram.burst_bytes / dram.row_bytes;
    Bank& bank = banks[static_cast<size_t>(row % dram.banks)];
    if (bank.open != row) {
      bank.opened = opened =
          std::max({0.0, opened + dram.activate_ns, bank.opened + dram.row_cycle_ns, bank.idle});
      bank.open = row;
    }
    pins = bank.idle = std::max(pins, bank.opened) + dram.burst_ns;
  }
  return pins;
}

TEST(DramTime, IsThatOfAMemoryThatOpensRowAfterRow) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int walks = 0, near = 0;
  double logs = 0;
  for (int n = 0; n < 3000; ++n) {
    DramRows dram;
    dram.banks = int64_t{1} << pick(0, 5);
    dram.burst_bytes = int64_t{16} << pick(0, 2);
    dram.row_bytes = dram.burst_bytes << pick(2, 6);
    dram.burst_ns = static_cast<double>(pick(1, 4));
    dram.row_cycle_ns = static_cast<double>(pick(10, 60));
    dram.activate_ns = static_cast<double>(pick(1, 8));
    const double run = static_cast<double>(pick(1, 3 * dram.row_bytes / 2));
    std::vector<Walk::Dim> outer;
    double span = run, bytes = run;
    for (int64_t dims = pick(0, 2); dims > 0; --dims) {
      int64_t stride = static_cast<int64_t>(span) + pick(0, 2 * dram.row_bytes);
      if (pick(0, 1)) {  // whole rows or bursts
        const int64_t whole = pick(0, 1) ? dram.row_bytes : dram.burst_bytes;
        stride = (stride + whole - 1) / whole * whole;
      }
      const auto count = static_cast<double>(pick(2, 40));
      outer.push_back({stride, count});
      span += static_cast<double>(stride) * (count - 1);
      bytes *= count;
    }
    if (bytes < 64.0 * static_cast<double>(dram.row_bytes) || bytes > 4e5) continue;
    const Walk of = walk(run, outer);
    const double closed = dram_ns(dram, row_walk(dram, of)), exact = opened_one_by_one(dram, of);
    // Runs that begin at few places differ from the mean over all.
    const double ratio = closed / exact;
    EXPECT_GT(ratio, 0.55) << n << " run " << run << " banks " << dram.banks;
    EXPECT_LT(ratio, 1.45) << n << " run " << run << " banks " << dram.banks;
    ++walks;
    near += ratio > 0.8 && ratio < 1.25;
    logs += std::log(ratio);
  }
  EXPECT_GT(walks, 300);
  EXPECT_GT(near, 0.97 * walks);
  EXPECT_NEAR(std::exp(logs / walks), 1, 0.03);
}

}  // namespace
}  // namespace stria::cost
