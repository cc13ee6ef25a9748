// SPDX-License-Identifier: Apache-2.0
// The time of a product on matrix units: by hand, and the shortest one among all tiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/cost/workgroup/matrix_time.h"

namespace stria::cost {
namespace {

GroupRates rates() {
  GroupRates out;
  out.units = 4;
  out.multiply_adds = 128;
  out.most_lanes = 1024;
  out.most_group_lanes = 256;
  out.registers = 262144;
  out.lane_registers = 1024;
  out.local_bytes = 32768;
  out.bank_bytes = 128;
  out.global_latency = 400;
  out.global_bytes = 24;
  return out;
}

MatrixUnit unit() {
  return {.rows = 16, .columns = 16, .depth = 16, .subgroup_lanes = 32, .multiply_adds = 256};
}

MatrixProduct product(int64_t rows, int64_t columns, int64_t depth) {
  return {.rows = rows, .columns = columns, .depth = depth};
}

// Nothing but one tile of 16 x 16 x 16 fits it, on one subgroup.
MatrixProduct small(int64_t count) {
  MatrixProduct out = product(16, 16, 16);
  out.count = count;
  out.passes = 9;
  return out;
}

TEST(MatrixTime, FewGroupsByHand) {
  const auto tile = shortest_matrix_tile(small(10), unit(), rates());
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rows, 16);
  EXPECT_EQ(tile->columns, 16);
  EXPECT_EQ(tile->depth, 16);
  EXPECT_EQ(tile->group_lanes, 32);
  EXPECT_EQ(tile->groups, 10);
  EXPECT_EQ(tile->steps, 9);
  // Operands of 2 * 256 elements of 2 bytes; 16 rows of each are 16 bytes longer.
  EXPECT_EQ(tile->local_bytes, 1024 + 2 * 16 * 16);
  // Four units share ten groups: three beside each other at most.
  EXPECT_EQ(tile->beside, 3);
  // multiplying  16^3 multiply-adds, 256 in a cycle: 16; of one subgroup 64, of three 64 / 3
  // loading      1024 bytes, banks of 128 bytes                             8
  // storing      1024 bytes, twice, as rows have 32 bytes; and 60           76
  // waiting      400, and 1024 bytes staged by one subgroup                 408
  // alone        max(408, 64 + 8) + 76                                      484
  // beside       3 * (8 + 76 + 0.8 * 64 / 3)                                303.2
  // step         the largest of 484, 303.2 and 3 * 1024 / 24                484
  EXPECT_EQ(tile->step_cycles, 484);
  // group        2 * 400 + 9 * 484 + 1.5 * 3 * 1024 bytes of results / 24   5348
  EXPECT_DOUBLE_EQ(tile->cycles, 5348);
}

TEST(MatrixTime, RoundsOfGroupsByHand) {
  GroupRates four = rates();
  four.unit_local_bytes = 4 * 1536;  // local memory for four groups
  const auto tile = shortest_matrix_tile(small(100), unit(), four);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->beside, 4);
  // step of four groups: 4 * (8 + 76 + 0.8 * 16) is less than what one takes
  EXPECT_EQ(tile->step_cycles, 484);
  // Six rounds of 16 groups, and four groups that have a unit each.
  const double four_groups = 800 + 9 * 484 + 1.5 * 4 * 1024.0 / 24;
  const double one = 800 + 9 * 484 + 1.5 * 1024.0 / 24;
  EXPECT_DOUBLE_EQ(tile->cycles, 6 * four_groups + one);
}

TEST(MatrixTime, FetchingByHand) {
  GroupRates slow = rates();
  slow.global_bytes = 2;
  const auto tile = shortest_matrix_tile(small(10), unit(), slow);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->step_cycles, 3 * 1024 / 2);
}

TEST(MatrixTime, RowsAreLongerAlongWhatIsContiguous) {
  MatrixUnit deep = unit();
  deep.depth = 32;
  MatrixProduct one_tile = product(16, 16, 32);
  one_tile.left_along_depth = true;
  one_tile.right_along_depth = true;
  // Rows of the left operand, columns of the right one: 16 each are 16 bytes longer.
  EXPECT_EQ(shortest_matrix_tile(one_tile, deep, rates())->local_bytes, 2048 + 16 * (16 + 16));
  // 32 columns of the left operand: the depth.
  one_tile.left_along_depth = false;
  EXPECT_EQ(shortest_matrix_tile(one_tile, deep, rates())->local_bytes, 2048 + 16 * (32 + 16));
  one_tile.right_along_depth = false;
  EXPECT_EQ(shortest_matrix_tile(one_tile, deep, rates())->local_bytes, 2048 + 16 * (32 + 32));
}

// Which subgroup has an element is a bit of its coordinate, so that parts are powers of two.
TEST(MatrixTime, PartsOfPowersOfTwo) {
  MatrixProduct many = product(96, 16, 16);
  many.count = 1000;
  GroupRates few_registers = rates();
  // One subgroup holds 32 rows in 320 bytes of a lane, and 48 in 384. Of 96, two would hold 48 each
  // in 376.
  few_registers.lane_registers = 380;
  const auto tile = shortest_matrix_tile(many, unit(), few_registers);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rows / tile->row_subgroups, 32) << to_string(*tile);
}

// The header's formula for one tile; infinite if it does not fit.
double cycles_of(const MatrixProduct& p, const MatrixUnit& u, const GroupRates& r, int64_t rows,
                 int64_t columns, int64_t depth, int64_t down, int64_t across) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const int64_t lanes = down * across * u.subgroup_lanes;
  const int64_t left = rows * depth * p.left_bytes, right = columns * depth * p.right_bytes;
  const int64_t longer =
      (p.left_along_depth ? rows : depth) + (p.right_along_depth ? columns : depth);
  const int64_t local_bytes = left + right + 16 * longer;
  const int64_t part_rows = rows / down, part_columns = columns / across;
  const auto power_of_two = [](int64_t n) { return (n & (n - 1)) == 0; };
  if (part_rows > 128 || part_columns > 128) return kNever;
  // Which part has an element is said by bits of its coordinate.
  if ((down > 1 && !power_of_two(part_rows)) || (across > 1 && !power_of_two(part_columns)))
    return kNever;
  // What lanes load of a step, they hold until the step before is done.
  const int64_t fetched =
      rows * depth * p.left_fetched_bytes + columns * depth * p.right_fetched_bytes;
  const int64_t held = rows * depth * (p.left_in_vectors ? p.left_fetched_bytes : 4) +
                       columns * depth * (p.right_in_vectors ? p.right_fetched_bytes : 4);
  const auto shared_out = [](int64_t n) {
    int64_t power = 1;
    while (power < n) power *= 2;
    return power;
  };
  if (shared_out(depth) * ((p.left_in_vectors ? 0 : shared_out(rows)) +
                           (p.right_in_vectors ? 0 : shared_out(columns))) >
      64 * lanes)
    return kNever;
  const int64_t lane_bytes =
      (part_rows * part_columns * p.sum_bytes + part_rows * u.depth * p.left_bytes +
       u.columns * u.depth * p.right_bytes) /
          u.subgroup_lanes +
      std::max(left + right, held) / lanes + 160;
  if (lanes > r.most_group_lanes || lane_bytes > r.lane_registers || local_bytes > r.local_bytes)
    return kNever;
  double beside = std::min<double>(r.most_lanes / lanes, r.registers / (lanes * lane_bytes));
  if (r.unit_local_bytes > 0) beside = std::min<double>(beside, r.unit_local_bytes / local_bytes);
  if (beside < 1) return kNever;
  const auto parts = [](int64_t whole, int64_t size) { return (whole + size - 1) / size; };
  const double groups =
      static_cast<double>(p.count * parts(p.rows, rows) * parts(p.columns, columns));
  const double steps = static_cast<double>(p.passes * parts(p.depth, depth));
  beside = std::min(beside, std::ceil(groups / r.units));
  const auto group = [&](double c) {
    // Lanes share out the vectors of a row evenly if there is a power of two of them.
    const int64_t left_row = (p.left_along_depth ? depth : rows) * p.left_bytes;
    const int64_t right_row = (p.right_along_depth ? depth : columns) * p.right_bytes;
    const bool even = left_row % 16 == 0 && right_row % 16 == 0 && power_of_two(left_row / 16) &&
                      power_of_two(right_row / 16);
    const double macs = static_cast<double>(rows * columns * depth);
    const double subgroups = static_cast<double>(down * across);
    const double banks = static_cast<double>(r.bank_bytes);
    const double loading = static_cast<double>(left * across + right * down) / banks;
    // Rows that do not fill all banks are stored in two turns.
    const double storing =
        static_cast<double>(left_row % r.bank_bytes ? 2 * left : left) / banks +
        static_cast<double>(right_row % r.bank_bytes ? 2 * right : right) / banks + 60 +
        (static_cast<double>(rows * depth * p.left_operations +
                             columns * depth * p.right_operations) +
         20.7 * static_cast<double>((p.left_in_vectors ? 0 : rows * depth) +
                                    (p.right_in_vectors ? 0 : columns * depth))) /
            r.multiply_adds;
    const double waiting = r.global_latency + static_cast<double>(fetched) / banks / subgroups;
    const double alone =
        std::max(waiting, macs / u.multiply_adds * std::max(1.0, 4 / subgroups) + loading) +
        storing;
    const double multiplying = macs / u.multiply_adds * std::max(1.0, 4 / (c * subgroups));
    const double together = c * (std::max(multiplying, loading + storing) +
                                 0.8 * std::min(multiplying, loading + storing));
    const double fetching = c * static_cast<double>(fetched) / r.global_bytes;
    return 2 * r.global_latency + steps * (even ? 1 : 2) * std::max({alone, together, fetching}) +
           c * (1.5 * static_cast<double>(rows * columns * p.sum_bytes) / r.global_bytes +
                (p.sum_in_vectors ? 0
                                  : 20.7 * static_cast<double>(rows * columns) / r.multiply_adds));
  };
  const double rounds = std::floor(groups / (r.units * beside));
  const double rest = groups - rounds * r.units * beside;
  return rounds * group(beside) + (rest > 0 ? group(std::ceil(rest / r.units)) : 0);
}

TEST(MatrixTime, ShortestOfAllTiles) {
  std::vector<MatrixProduct> products = {product(256, 256, 256),  product(48, 96, 80),
                                         product(1024, 64, 512),  product(16, 2048, 32),
                                         product(208, 336, 1024), product(512, 512, 48)};
  for (size_t i = 0; i < products.size(); ++i) {
    products[i].count = static_cast<int64_t>(1 + 7 * (i % 3));
    products[i].passes = i % 2 ? 9 : 1;
    products[i].right_along_depth = i % 2;
  }
  // Ends that tiles do not meet, and elements that lanes move one by one.
  products.push_back(product(197, 1000, 147));
  products.push_back(product(20, 64, 500));
  products.back().left_in_vectors = products.back().sum_in_vectors = false;
  products.push_back(product(64, 30, 64));
  products.back().right_in_vectors = false;
  // Lanes load more than they stage, or less, and compute.
  products[1].left_fetched_bytes = 6;
  products[1].left_operations = 3;
  products[2].right_fetched_bytes = 1;
  products[2].right_operations = 1;
  for (const MatrixProduct& p : products) {
    double best = std::numeric_limits<double>::infinity();
    for (int64_t rows = 16; rows < std::min<int64_t>(p.rows + 16, 257); rows += 16)
      for (int64_t columns = 16; columns < std::min<int64_t>(p.columns + 16, 257); columns += 16)
        for (int64_t depth = 16; depth < std::min<int64_t>(p.depth + 16, 129); depth += 16)
          for (int64_t down = 1; down <= 8; ++down)
            for (int64_t across = 1; across <= 8; ++across) {
              // A size that matrices divide is divided by tiles.
              if ((p.rows % 16 == 0 && p.rows % rows) ||
                  (p.columns % 16 == 0 && p.columns % columns) ||
                  (p.depth % 16 == 0 && p.depth % depth))
                continue;
              if (rows % (16 * down) || columns % (16 * across)) continue;
              if ((down & (down - 1)) || (across & (across - 1))) continue;
              best =
                  std::min(best, cycles_of(p, unit(), rates(), rows, columns, depth, down, across));
            }
    const auto tile = shortest_matrix_tile(p, unit(), rates());
    ASSERT_TRUE(tile);
    EXPECT_DOUBLE_EQ(tile->cycles, best) << to_string(*tile);
    EXPECT_DOUBLE_EQ(tile->cycles,
                     cycles_of(p, unit(), rates(), tile->rows, tile->columns, tile->depth,
                               tile->row_subgroups, tile->column_subgroups))
        << to_string(*tile);
  }
}

struct Measured {
  int64_t rows, columns, depth;
  int64_t tile_rows, tile_columns, tile_depth, down, across;
  double us;  // with the launch
};

// Kernels on a GPU of 132 units: one group for itself, with four subgroups and with two; several
// beside each other; many rounds; short rows; nothing but latency; mostly results.
TEST(MatrixTime, NearWhatWasMeasured) {
  GroupRates gpu = rates();
  gpu.units = 132;
  gpu.most_lanes = 2048;
  gpu.local_bytes = 49152;
  gpu.unit_local_bytes = 98304;
  gpu.global_latency = 470;
  constexpr double kClock = 1925, kLaunch = 2.8;
  const MatrixUnit wide{
      .rows = 16, .columns = 8, .depth = 16, .subgroup_lanes = 32, .multiply_adds = 1276};
  for (const Measured& m : {Measured{128, 2560, 2560, 64, 64, 64, 2, 2, 19.3},
                            Measured{128, 2560, 2560, 64, 64, 128, 2, 2, 18.3},
                            Measured{2176, 128, 2560, 64, 64, 64, 1, 2, 19.7},
                            Measured{2048, 1152, 1408, 64, 128, 32, 1, 2, 40.2},
                            Measured{2048, 1152, 1408, 64, 64, 64, 2, 2, 42.3},
                            Measured{4096, 4096, 4096, 128, 128, 64, 2, 2, 408.5},
                            Measured{1024, 1024, 1024, 64, 128, 64, 1, 4, 13.5},
                            Measured{512, 128, 3968, 32, 32, 128, 2, 2, 16.6},
                            Measured{640, 128, 3968, 32, 32, 64, 1, 1, 26.2},
                            Measured{2048, 3200, 384, 128, 128, 64, 2, 2, 31.2}}) {
    const std::vector<MatrixTile> tiles =
        matrix_tiles(product(m.rows, m.columns, m.depth), wide, gpu, 100000);
    const auto at = std::find_if(tiles.begin(), tiles.end(), [&](const MatrixTile& tile) {
      return tile.rows == m.tile_rows && tile.columns == m.tile_columns &&
             tile.depth == m.tile_depth && tile.row_subgroups == m.down &&
             tile.column_subgroups == m.across;
    });
    ASSERT_TRUE(at != tiles.end()) << m.us;
    EXPECT_NEAR((at->cycles / kClock + kLaunch) / m.us, 1, 0.12) << to_string(*at);
  }
}

TEST(MatrixTime, NothingFits) {
  const MatrixProduct whole = product(64, 64, 64);
  ASSERT_TRUE(shortest_matrix_tile(whole, unit(), rates()));
  MatrixUnit no_rate = unit();
  no_rate.multiply_adds = 0;
  EXPECT_FALSE(shortest_matrix_tile(whole, no_rate, rates()));
  GroupRates less = rates();
  less.local_bytes = 1535;  // the smallest tile takes 1536
  EXPECT_FALSE(shortest_matrix_tile(whole, unit(), less));
  less = rates();
  less.unit_local_bytes = 1535;
  EXPECT_FALSE(shortest_matrix_tile(whole, unit(), less));
  // One tile is all that there is: 256 bytes of a lane's registers.
  less = rates();
  less.lane_registers = 255;
  EXPECT_FALSE(shortest_matrix_tile(small(10), unit(), less));
  less.lane_registers = 256;
  EXPECT_TRUE(shortest_matrix_tile(small(10), unit(), less));
  less.registers = 256 * 32 - 1;
  EXPECT_FALSE(shortest_matrix_tile(small(10), unit(), less));
  less = rates();
  less.most_group_lanes = 31;
  EXPECT_FALSE(shortest_matrix_tile(whole, unit(), less));
  less = rates();
  less.most_lanes = 31;
  EXPECT_FALSE(shortest_matrix_tile(whole, unit(), less));
}

TEST(MatrixTime, FasterUnitsNeverTakeLonger) {
  for (const MatrixProduct& p : {product(1024, 1024, 1024), product(64, 512, 4096), small(1000)}) {
    double before = std::numeric_limits<double>::infinity();
    MatrixUnit faster = unit();
    for (double multiply_adds = 16; multiply_adds <= 8192; multiply_adds *= 2) {
      faster.multiply_adds = multiply_adds;
      const auto tile = shortest_matrix_tile(p, faster, rates());
      ASSERT_TRUE(tile);
      EXPECT_LE(tile->cycles, before) << multiply_adds;
      before = tile->cycles;
    }
    // And slow ones decide.
    faster.multiply_adds = 16;
    EXPECT_GT(shortest_matrix_tile(p, faster, rates())->cycles, before);
  }
}

}  // namespace
}  // namespace stria::cost
