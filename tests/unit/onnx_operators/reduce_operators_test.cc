// SPDX-License-Identifier: Apache-2.0
// Reductions, softmaxes and matrices, where the standard's cases do not reach: old versions, wrong
// axes, sizes beyond a limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

TEST(OnnxReduce, AxesWereAnAttribute) {
  OneNode sum("ReduceSum", 11);
  sum.input({2, 3}, {1, 2, 3, 4, 5, 6}).set_list("axes", {-1}).set("keepdims", int64_t{0});
  EXPECT_THAT(*sum.run(), ElementsAre(6, 15));
  EXPECT_THAT(sum.sizes(), ElementsAre(2));
  OneNode norm("ReduceL2", 13);
  norm.input({2, 2}, {3, 4, 6, 8}).set_list("axes", {1});
  EXPECT_THAT(*norm.run(), ElementsAre(5, 10));
  EXPECT_THAT(norm.sizes(), ElementsAre(2, 1));
}

TEST(OnnxReduce, IntegersKeepTheirType) {
  OneNode mean("ReduceMean", 13);
  mean.input({4}, {-1, -2, -2, -2}, DataType::i32);
  EXPECT_THAT(*mean.run(), ElementsAre(-1));  // -7 / 4, truncated
  OneNode largest("ReduceMax", 13);
  largest.input({3}, {-7, 100, 3}, DataType::i8);
  EXPECT_THAT(*largest.run(), ElementsAre(100));
}

TEST(OnnxReduce, SumsOfHalvesAreWide) {
  // The squares, 90000 each, are beyond fp16.
  OneNode norm("ReduceL2", 13);
  norm.input({4}, {300, 300, 300, 300}, DataType::fp16);
  EXPECT_THAT(*norm.run(), ElementsAre(600));
}

TEST(OnnxReduce, LogSumExpOfInfinities) {
  OneNode all("ReduceLogSumExp", 13);
  all.input({2, 2}, {-INFINITY, -INFINITY, 1, INFINITY}).set_list("axes", {1});
  EXPECT_THAT(*all.run(), ElementsAre(-INFINITY, INFINITY));
}

TEST(OnnxReduce, ExtremesOfNoIntegersAreTheirLimits) {
  const auto extreme = [](const char* name, DataType type) {
    OneNode node(name, 20);
    return *node.input({0, 2}, {}, type).input({1}, {0}, DataType::i64).run();
  };
  EXPECT_THAT(extreme("ReduceMax", DataType::i8), ElementsAre(-128, -128));
  EXPECT_THAT(extreme("ReduceMin", DataType::i8), ElementsAre(127, 127));
  EXPECT_THAT(extreme("ReduceMax", DataType::u8), ElementsAre(0, 0));
  EXPECT_THAT(extreme("ReduceMin", DataType::u8), ElementsAre(255, 255));
  const double most = std::ldexp(1.0, 63);
  EXPECT_THAT(extreme("ReduceMax", DataType::i64), ElementsAre(-most, -most));
  EXPECT_THAT(extreme("ReduceMin", DataType::u64), ElementsAre(2 * most, 2 * most));
}

TEST(OnnxReduce, WrongAxes) {
  EXPECT_THAT(OneNode("ReduceSum", 11).input({2, 3}, {}).set_list("axes", {2}).failure(),
              HasSubstr("axis 2 of a tensor of rank 2"));
  EXPECT_THAT(OneNode("ReduceSum", 11).input({2, 3}, {}).set_list("axes", {1, -1}).failure(),
              HasSubstr("axis 1 stands twice"));
  EXPECT_THAT(OneNode("ArgMax", 13).input({2, 0}, {}).set("axis", 1).failure(),
              HasSubstr("axis 1 has no elements"));
}

TEST(OnnxReduce, ArgMaxTakesTheFirstNaN) {
  OneNode at("ArgMax", 13);
  at.input({5}, {1, 9, NAN, 3, NAN});
  EXPECT_THAT(*at.run(), ElementsAre(2));
}

TEST(OnnxReduce, LongCumulationsAreTheSameSums) {
  std::vector<double> ones(700, 1), up(700), down(700);
  std::iota(up.begin(), up.end(), 1);
  for (size_t i = 0; i < down.size(); ++i) down[i] = static_cast<double>(699 - i);
  OneNode forward("CumSum", 14);
  forward.input({700}, ones).input({}, {0}, DataType::i64);
  EXPECT_EQ(*forward.run(), up);
  OneNode backward("CumSum", 14);
  backward.input({700}, ones).input({}, {0}, DataType::i64);
  backward.set("reverse", 1).set("exclusive", 1);
  EXPECT_EQ(*backward.run(), down);
  OneNode product("CumProd", 26);
  std::vector<double> factors(700, 1);
  factors[300] = 3;
  std::vector<double> products(700, 1);
  std::fill(products.begin() + 301, products.end(), 3);
  product.input({700}, factors).input({}, {0}, DataType::i64).set("exclusive", 1);
  EXPECT_EQ(*product.run(), products);
}

TEST(OnnxSoftmax, OverAllAxesBehindBeforeVersion13) {
  const std::vector<double> zeros(8, 0);
  EXPECT_THAT(*OneNode("Softmax", 11).input({2, 2, 2}, zeros).run(),
              ElementsAre(0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(*OneNode("Softmax", 13).input({2, 2, 2}, zeros).run(),
              ElementsAre(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(*OneNode("Hardmax", 11).input({1, 2, 2}, {1, 7, 7, 0}).run(),
              ElementsAre(0, 1, 0, 0));
}

TEST(OnnxMatrix, DetOfAPermutationHasItsSign) {
  EXPECT_THAT(*OneNode("Det", 11).input({3, 3}, {0, 0, 2, 3, 0, 0, 0, 5, 0}).run(),
              ElementsAre(30));
  EXPECT_THAT(*OneNode("Det", 11).input({2, 2}, {0, 2, 3, 0}).run(), ElementsAre(-6));
  EXPECT_THAT(*OneNode("Det", 11).input({3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1}).run(),
              Pointwise(DoubleNear(1e-6), {0.0}));
}

TEST(OnnxMatrix, EinsumOfThreeOperands) {
  OneNode chain("Einsum", 12);
  chain.input({1, 2}, {1, 2}).input({2, 2}, {1, 2, 3, 4}).input({2, 1}, {1, 10});
  EXPECT_THAT(*chain.set("equation", "ij, jk, kl -> il").run(), ElementsAre(107));
}

TEST(OnnxMatrix, WrongOperands) {
  EXPECT_THAT(OneNode("MatMul", 13).input({2, 3}, {}).input({2, 3}, {}).failure(),
              HasSubstr("[2, 3] and [2, 3] are no matrices that can be multiplied"));
  EXPECT_THAT(OneNode("Gemm", 13).input({2, 3}, {}).input({2, 3}, {}).failure(),
              HasSubstr("products of 3 by 2 elements"));
  EXPECT_THAT(OneNode("Einsum", 12).input({2, 3}, {}).set("equation", "ij->k").failure(),
              HasSubstr("a result that no operand has"));
  EXPECT_THAT(OneNode("Einsum", 12).input({2, 3}, {}).set("equation", "ijk").failure(),
              HasSubstr("'ijk' for a tensor of rank 2"));
  EXPECT_THAT(OneNode("Det", 11).input({2, 3}, {}).failure(), HasSubstr("square"));
}

}  // namespace
}  // namespace stria::onnx
