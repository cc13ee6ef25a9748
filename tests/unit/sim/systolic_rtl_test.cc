// SPDX-License-Identifier: Apache-2.0
// The formulas of systolic arrays (C4) against hardware: rtl/systolic_array.v, simulated edge by
// edge of its clock, gives the product that the oracle gives, and takes the cycles that the
// simulator says, over random shapes of products and arrays.
#include <gtest/gtest.h>

#include <random>

#include "Vsystolic_array.h"
#include "stria/cost/block/unit_operation.h"

namespace stria::sim {
namespace {

using Dataflow = SystolicArray::Dataflow;

struct Matrix {
  int rows, columns;
  std::vector<int> of = std::vector<int>(static_cast<size_t>(rows * columns));
  int& at(int r, int c) { return of[static_cast<size_t>(r * columns + c)]; }
};

class Hardware {
 public:
  static constexpr int kSide = 6, kLargest = 63;

  // Cycles; the product is in `c`.
  uint32_t multiply(const SystolicArray& array, Matrix& a, Matrix& b, Matrix& c) {
    write(a, top_.write_a);
    write(b, top_.write_b);
    top_.rows = static_cast<uint8_t>(array.rows);
    top_.columns = static_cast<uint8_t>(array.columns);
    top_.dataflow = static_cast<uint8_t>(array.dataflow);
    top_.m = static_cast<uint8_t>(a.rows);
    top_.n = static_cast<uint8_t>(b.columns);
    top_.k = static_cast<uint8_t>(a.columns);
    top_.start = 1;
    tick();
    top_.start = 0;
    for (int n = 0; top_.busy && n < 10'000'000; ++n) tick();
    EXPECT_FALSE(top_.busy);
    for (int r = 0; r < c.rows; ++r)
      for (int k = 0; k < c.columns; ++k) {
        place(r, k);
        top_.eval();
        c.at(r, k) = static_cast<int>(top_.result);
      }
    return top_.cycles;
  }

 private:
  void tick() {
    top_.clock = 0;
    top_.eval();
    top_.clock = 1;
    top_.eval();
  }
  void place(int row, int column) {
    top_.row = static_cast<uint8_t>(row);
    top_.column = static_cast<uint8_t>(column);
  }
  void write(Matrix& matrix, CData& port) {
    port = 1;
    for (int r = 0; r < matrix.rows; ++r)
      for (int c = 0; c < matrix.columns; ++c) {
        place(r, c);
        top_.value = static_cast<uint16_t>(matrix.at(r, c));
        tick();
      }
    port = 0;
  }
  Vsystolic_array top_;
};

class SystolicRtl : public testing::TestWithParam<Dataflow> {};

TEST_P(SystolicRtl, TakesTheCyclesOfTheFormulaAndGivesTheProduct) {
  Hardware hardware;
  std::mt19937 random(static_cast<uint32_t>(GetParam()) + 1);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
  };
  for (int shape = 0; shape < 350; ++shape) {
    const SystolicArray array{pick(1, Hardware::kSide), pick(1, Hardware::kSide), GetParam()};
    const int largest = shape % 50 == 0 ? Hardware::kLargest : 20;
    Matrix a{pick(1, largest), pick(1, largest)}, b{a.columns, pick(1, largest)};
    for (Matrix* matrix : {&a, &b})
      for (int& value : matrix->of) value = pick(-128, 127);
    Matrix c{a.rows, b.columns}, expected = c;
    for (int m = 0; m < a.rows; ++m)
      for (int n = 0; n < b.columns; ++n)
        for (int k = 0; k < a.columns; ++k) expected.at(m, n) += a.at(m, k) * b.at(k, n);
    const uint32_t cycles = hardware.multiply(array, a, b, c);
    const cost::Product product{static_cast<double>(a.rows), static_cast<double>(b.columns),
                                static_cast<double>(a.columns), 1};
    ASSERT_EQ(c.of, expected.of) << array.rows << " x " << array.columns << ", " << a.rows << " x "
                                 << a.columns << " x " << b.columns;
    ASSERT_EQ(cycles, cost::systolic_cycles(array, product))
        << array.rows << " x " << array.columns << ", " << a.rows << " x " << a.columns << " x "
        << b.columns;
  }
}

std::string name_of_dataflow(const testing::TestParamInfo<Dataflow>& info) {
  if (info.param == Dataflow::output_stationary) return "OutputStationary";
  return info.param == Dataflow::weight_stationary ? "WeightStationary" : "InputStationary";
}
INSTANTIATE_TEST_SUITE_P(Dataflows, SystolicRtl,
                         testing::Values(Dataflow::output_stationary, Dataflow::weight_stationary,
                                         Dataflow::input_stationary),
                         name_of_dataflow);

}  // namespace
}  // namespace stria::sim
