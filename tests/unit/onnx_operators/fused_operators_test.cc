// SPDX-License-Identifier: Apache-2.0
// Operators that ONNX Runtime's optimizations and quantization put in place of the standard's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

OneNode fused(const char* op_type) { return OneNode(op_type, 1, "com.microsoft"); }

// Sums of 3 and -6.
OneNode convolution() {
  return fused("FusedConv").input({1, 1, 2}, {2, -7}).input({1, 1, 1}, {1}).input({1}, {1});
}

TEST(OnnxFused, ConvolutionWithActivation) {
  EXPECT_THAT(*convolution().run(), ElementsAre(3, -6));
  EXPECT_THAT(*convolution().set("activation", "Relu").run(), ElementsAre(3, 0));
  EXPECT_THAT(
      *convolution().set("activation", "LeakyRelu").set_floats("activation_params", {0.5F}).run(),
      ElementsAre(3, -3));
  EXPECT_THAT(
      *convolution().set("activation", "Clip").set_floats("activation_params", {-2, 1}).run(),
      ElementsAre(1, -2));
  EXPECT_THAT(*convolution()
                   .set("activation", "HardSigmoid")
                   .set_floats("activation_params", {0.125F, 0.25F})
                   .run(),
              ElementsAre(0.625, 0));
  EXPECT_THAT(convolution().set("activation", "Sine").failure(), HasSubstr("activation 'Sine'"));
}

TEST(OnnxFused, ConvolutionAddsBeforeItsActivation) {
  EXPECT_THAT(*convolution().input({1, 1, 2}, {-4, 10}).set("activation", "Relu").run(),
              ElementsAre(0, 4));
  EXPECT_THAT(convolution().input({1, 1, 1}, {5}).failure(),
              HasSubstr("input 3, which is added, has sizes [1, 1, 1]; the result has [1, 1, 2]"));
}

TEST(OnnxFused, GemmWithActivation) {
  const auto gemm = [] {
    // 1 * 3 + 2 * 4 = 11 and 1 * -5 + 2 * -6 = -17, and C.
    return fused("FusedGemm").input({1, 2}, {1, 2}).input({2, 2}, {3, 4, -5, -6}).set("transB", 1);
  };
  EXPECT_THAT(*gemm().run(), ElementsAre(11, -17));
  EXPECT_THAT(*gemm().input({2}, {1, 1}).set("activation", "Relu").run(), ElementsAre(12, 0));
  EXPECT_THAT(*gemm().set("activation", "LeakyRelu").set_float("activation_alpha", 0.5F).run(),
              ElementsAre(11, -8.5));
  EXPECT_THAT(*gemm().set("activation", "Tanh").run(), ElementsAre(1, -1));
  EXPECT_THAT(*gemm()
                   .set("activation", "Selu")
                   .set_float("activation_alpha", 0)
                   .set_float("activation_gamma", 2)
                   .run(),
              ElementsAre(22, 0));
  EXPECT_THAT(gemm().set("activation", "Sine").failure(), HasSubstr("activation 'Sine'"));
}

TEST(OnnxFused, RootMeanSquares) {
  const double deviation = std::sqrt(12.5);
  OneNode plain("SimplifiedLayerNormalization", 13);
  plain.input({1, 2}, {3, 4}).input({2}, {1, 10});
  EXPECT_THAT(*plain.run(2),
              Pointwise(DoubleNear(1e-5), {3 / deviation, 40 / deviation, 1 / deviation}));
  OneNode skip = fused("SkipSimplifiedLayerNormalization");
  skip.input({1, 2}, {1, 1}).input({1, 2}, {1, 2}).input({2}, {1, 10}).input({2}, {1, 1});
  EXPECT_THAT(*skip.run(), Pointwise(DoubleNear(1e-5), {3 / deviation, 40 / deviation}));
}

// Integers less their zero points: [1, 2] times [3, 4] and [-5, -6], and C.
TEST(OnnxFused, QuantizedGemm) {
  const auto gemm = [] {
    OneNode out = fused("QGemm");
    out.input({1, 2}, {11, 12}, DataType::u8).input({}, {0.5}).input({}, {10}, DataType::u8);
    out.input({2, 2}, {4, 5, -3, -4}, DataType::i8).input({2}, {2, 1});
    out.input({2}, {1, 2}, DataType::i8).input({2}, {1, 2}, DataType::i32).set("transB", 1);
    return out;
  };
  // 12 times 1, and -15 times 0.5.
  EXPECT_THAT(*gemm().run(), ElementsAre(12, -7.5));
  EXPECT_THAT(*gemm().input({}, {0.5}).input({}, {20}, DataType::u8).run(), ElementsAre(44, 5));
}

// Bytes that hold two numbers each; -1 is the last row.
TEST(OnnxFused, RowsOfAQuantizedTable) {
  const auto table = [](int64_t bits) {
    OneNode out = fused("GatherBlockQuantized");
    out.set("bits", bits).set("block_size", 2);
    out.input({2, 2}, {0x21, 0x43, 0x98, 0xba}, DataType::u8).input({2}, {-1, 0}, DataType::i64);
    return out;
  };
  EXPECT_THAT(*table(4).input({2, 2}, {1, 10, 2, 0.5}).run(),
              ElementsAre(0, 2, 1, 1.5, -7, -6, -50, -40));
  EXPECT_THAT(
      *table(4).input({2, 2}, {1, 10, 2, 0.5}).input({2, 1}, {0x10, 0xa8}, DataType::u8).run(),
      ElementsAre(0, 2, 0, 0.5, 1, 2, 20, 30));
  EXPECT_THAT(*table(8).input({2, 1}, {1, 2}).run(), ElementsAre(48, 116, -95, -61));
  EXPECT_THAT(table(4).set("gather_axis", 1).input({2, 2}, {}).failure(),
              HasSubstr("gathered along axis 1"));
}

}  // namespace
}  // namespace stria::onnx
