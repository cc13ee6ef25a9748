// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft, for which the standard has no cases. Values are ONNX Runtime's where
// it has a kernel for processors, else counted by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kHuge = int64_t{1} << 62;

OneNode microsoft(const char* op_type) { return OneNode(op_type, 1, "com.microsoft"); }

OneNode quantized_attention(int64_t heads) {
  OneNode out = microsoft("QAttention");
  out.set("num_heads", heads).input({1, 2, 2}, {1, 2, 3, 5}, DataType::u8);
  out.input({2, 6}, {4, 5, 6, 7, 8, 9, 3, 2, 5, 6, 7, 1}, DataType::u8);
  return out.input({6}, {0.5, 0, 0, 0, 1, 2}).input({}, {0.5}).input({}, {0.25});
}

TEST(OnnxMicrosoft, AttentionOfSmallIntegers) {
  const auto zero = [](OneNode node) {
    return node.input({}, {1}, DataType::u8).input({}, {4}, DataType::u8);
  };
  expect_near(zero(quantized_attention(1).no_input()).run(), {2.41989, 1.68646, 2.03585, 1.66387});
  expect_near(zero(quantized_attention(2).input({1}, {2}, DataType::i32)).run(),
              {2.61027, 1.67592, 2.4375, 1.65564});
  EXPECT_THAT(quantized_attention(kHuge).failure(), HasSubstr("num_heads 4611686018427387904"));
  EXPECT_THAT(quantized_attention(3).failure(), HasSubstr("do not make num_heads 3 heads"));
}

TEST(OnnxMicrosoft, PoolsWithChannelsLast) {
  std::vector<double> pixels;
  for (int e = 0; e < 18; ++e) pixels.push_back(e);
  const auto pool = [&] {
    return microsoft("NhwcMaxPool").input({1, 3, 3, 2}, pixels, DataType::u8);
  };
  EXPECT_THAT(*pool()
                   .set_list("kernel_shape", {2, 2})
                   .set_list("strides", {2, 2})
                   .set_list("pads", {0, 0, 1, 1})
                   .run(),
              ElementsAre(8, 9, 10, 11, 14, 15, 16, 17));
  EXPECT_THAT(pool().set_list("kernel_shape", {kHuge, 2}).failure(), HasSubstr("the most 1073"));
  EXPECT_THAT(
      pool().set_list("kernel_shape", {2, 2}).set_list("pads", {kHuge, 0, kHuge, 0}).failure(),
      HasSubstr("pads are [4611686018427387904"));
  EXPECT_THAT(*microsoft("QLinearAveragePool")
                   .input({1, 2, 2, 1}, {2, 4, 6, 8}, DataType::u8)
                   .input({}, {1})
                   .input({}, {0}, DataType::u8)
                   .input({}, {0.5})
                   .input({}, {1}, DataType::u8)
                   .set("channels_last", 1)
                   .set_list("kernel_shape", {2, 2})
                   .set_list("pads", {1, 1, 0, 0})
                   .run(),
              ElementsAre(5, 7, 9, 11));
}

TEST(OnnxMicrosoft, ConvolutionsWithChannelsLast) {
  EXPECT_THAT(*microsoft("QLinearConv")
                   .input({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6}, DataType::u8)
                   .input({}, {0.5})
                   .input({}, {1}, DataType::u8)
                   .input({1, 2, 2, 1}, {2, 1, 1, 3}, DataType::u8)
                   .input({}, {1})
                   .input({}, {0}, DataType::u8)
                   .input({}, {0.5})
                   .input({}, {2}, DataType::u8)
                   .set("channels_last", 1)
                   .run(),
              ElementsAre(14, 28));
  // Pixels [1, 2] and [3, 4], two channels from one pixel each.
  EXPECT_THAT(*microsoft("NhwcConv")
                   .input({1, 1, 2, 2}, {1, 2, 3, 4})
                   .input({2, 1, 1, 2}, {1, 10, 0, 1})
                   .input({2}, {100, 200})
                   .run(),
              ElementsAre(121, 202, 143, 204));
  // Weights of a window of two, whose channels stand second.
  const auto fused = [] {
    return microsoft("NhwcFusedConv")
        .input({1, 1, 2, 2}, {1, 2, 3, 4})
        .input({1, 2, 1, 2}, {1, 10, 0, -10})
        .no_input();
  };
  EXPECT_THAT(*fused().run(), ElementsAre(-9));
  EXPECT_THAT(*fused().input({1, 1, 1, 1}, {5}).set("activation", "Relu").run(), ElementsAre(0));
  EXPECT_THAT(fused().input({1, 1, 1, 2}, {5, 5}).failure(),
              HasSubstr("input 3, which is added, has sizes [1, 1, 1, 2]; the result has"));
}

TEST(OnnxMicrosoft, TransposedConvolutionWithPads) {
  const auto conv = [](std::vector<double> pads) {
    return microsoft("ConvTransposeWithDynamicPads")
        .input({1, 1, 2}, {1, 2})
        .input({1, 1, 3}, {1, 10, 100})
        .input({2}, pads, DataType::i64)
        .input({1}, {0.5});
  };
  EXPECT_THAT(*conv({1, 0}).run(), ElementsAre(12.5, 120.5, 200.5));
  EXPECT_THAT(conv({1, -1}).failure(), HasSubstr("pads are [1, -1], the least is 0"));
  EXPECT_THAT(conv({0, 0}).set("group", kHuge).failure(), HasSubstr("group is"));
}

// Two groups of two channels at two places.
TEST(OnnxMicrosoft, NormalizationOfGroups) {
  expect_near(microsoft("GroupNorm")
                  .input({1, 2, 1, 4}, {1, 3, 0, 2, 1, 3, 0, 2})
                  .input({4}, {1, 2, 1, 1})
                  .input({4}, {0, 0, 5, -1})
                  .set("groups", 2)
                  .set("activation", int64_t{0})
                  .run(),
              {-1, 2, 4, 0, -1, 2, 4, 0});
  // One number is added to a channel of an image; the bias takes it away again.
  OneNode skip = microsoft("SkipGroupNorm");
  skip.input({1, 2, 1, 2}, {1, 3, 1, 3}).input({2}, {1, 1}).input({2}, {0, 1});
  skip.input({1, 2}, {7, 8}).input({2}, {-7, -8}).set("groups", 1).set("activation", 1);
  const double low = -1 / (1 + std::exp(1.0)), high = 2 / (1 + std::exp(-2.0));
  expect_near(skip.run(2), {low, high, low, high, 1, 3, 1, 3});
}

TEST(OnnxMicrosoft, WrongGroups) {
  const auto norm = [](int64_t groups, int64_t activation) {
    return microsoft("GroupNorm")
        .input({1, 1, 1, 4}, {1, 2, 3, 4})
        .input({4}, {1, 1, 1, 1})
        .input({4}, {0, 0, 0, 0})
        .set("groups", groups)
        .set("activation", activation)
        .failure();
  };
  EXPECT_THAT(norm(3, 0), HasSubstr("attribute 'groups' is 3"));
  EXPECT_THAT(norm(kHuge, 0), HasSubstr("attribute 'groups' is 4611686018427387904"));
  EXPECT_THAT(norm(2, 2), HasSubstr("attribute 'activation' is 2"));
}

TEST(OnnxMicrosoft, BiasAndWhatIsAdded) {
  EXPECT_THAT(*microsoft("BiasAdd")
                   .input({1, 2, 2}, {1, 2, 3, 4})
                   .input({2}, {10, 20})
                   .input({1, 2, 2}, {100, 100, 200, 200})
                   .run(),
              ElementsAre(111, 122, 213, 224));
  // 2 * gelu(1) and -4 * gelu(-1).
  expect_near(microsoft("BiasSplitGelu").input({1, 2, 2}, {1, 0, -5, -2}).input({2}, {1, 1}).run(),
              {2 * 0.8413447, -4 * -0.1586553});
  EXPECT_THAT(microsoft("BiasSplitGelu").input({1, 3}, {}).input({3}, {}).failure(),
              HasSubstr("[1, 3] with a bias of [3]"));
  expect_near(microsoft("GemmFastGelu")
                  .input({1, 2}, {1, 2})
                  .input({2, 2}, {1, 0, 0, -0.5})
                  .input({2}, {0, 0})
                  .run(),
              {0.8411920, -0.1588080});
}

TEST(OnnxMicrosoft, Inverse) {
  expect_near(microsoft("Inverse").input({2, 2}, {0, 2, 4, 1}).run(), {-0.125, 0.25, 0.5, 0});
  EXPECT_THAT(microsoft("Inverse").input({2, 3}, {}).failure(), HasSubstr("square matrices"));
}

TEST(OnnxMicrosoft, PartsOfAnImage) {
  const auto crop = [](std::vector<double> rois, std::vector<double> sizes) {
    const auto count = static_cast<int64_t>(rois.size() / 4);
    return microsoft("CropAndResize")
        .input({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8})
        .input({count, 4}, rois)
        .input({count}, std::vector<double>(static_cast<size_t>(count), 0), DataType::i32)
        .input({2}, sizes, DataType::i32);
  };
  expect_near(
      crop({0, 0, 0.5, 1, 0.5, 0.5, 1.5, 1}, {2, 2}).set_float("extrapolation_value", -1).run(),
      {0, 2, 3, 5, 4, 5, -1, -1});
  // The middle of a row and a column; halves go up.
  EXPECT_THAT(*crop({0.25, 0.3, 0.25, 0.3}, {1, 1}).set("mode", "nearest").run(), ElementsAre(4));
  EXPECT_THAT(crop({0, 0, 1, 1}, {0, 2}).failure(), HasSubstr("crop_size is [0, 2]"));
  EXPECT_THAT(crop({0, 0, 1, 1}, {2, 2}).set("mode", "cubic").failure(), HasSubstr("'cubic'"));
}

TEST(OnnxMicrosoft, DistancesOfRows) {
  const auto distances = [](const char* metric) {
    return microsoft("CDist")
        .input({2, 2}, {0, 0, 3, 4})
        .input({2, 2}, {3, 4, 0, 1})
        .set("metric", metric);
  };
  expect_near(distances("euclidean").run(), {5, 1, 0, 4.24264});
  expect_near(distances("sqeuclidean").run(), {25, 1, 0, 18});
  EXPECT_THAT(distances("cosine").failure(), HasSubstr("attribute 'metric' is 'cosine'"));
}

TEST(OnnxMicrosoft, WeightsOfBitsandbytes) {
  const auto product = [](std::vector<double> bytes, double scale) {
    return microsoft("MatMulBnb4")
        .input({2, 2}, {1, 0, 0, 1})
        .input({2}, bytes, DataType::u8)
        .input({1}, {scale})
        .set("K", 2)
        .set("N", 2);
  };
  expect_near(product({0x1f, 0x80}, 2).set("quant_type", 1).set("block_size", 16).run(),
              {-1.39239, 0.15916, 2, -2});
  expect_near(product({0x1f, 0x84}, 3).set("quant_type", int64_t{0}).set("block_size", 16).run(),
              {0.015625, 0, -0.75, 1});
  expect_near(product({0x1f, 0x80}, 2)
                  .set("quant_type", 1)
                  .set("block_size", 16)
                  .set("transB", int64_t{0})
                  .run(),
              {-1.39239, 2, 0.15916, -2});
  EXPECT_THAT(product({0, 0}, 1).set("quant_type", 1).set("block_size", 24).failure(),
              HasSubstr("block_size is 24"));
  EXPECT_THAT(product({0, 0}, 1).set("quant_type", 2).set("block_size", 16).failure(),
              HasSubstr("quant_type is 2"));
}

TEST(OnnxMicrosoft, EmbeddingsOfSmallIntegers) {
  OneNode node = microsoft("QEmbedLayerNormalization");
  node.input({1, 2}, {1, 0}, DataType::i32).no_input();
  node.input({2, 2}, {3, 5, 7, 1}, DataType::u8).input({2, 2}, {1, 2, 4, 2}, DataType::u8);
  node.no_input().input({2}, {3, 4}, DataType::u8).input({2}, {1, 2}, DataType::u8).no_input();
  node.input({}, {0.5}).input({}, {1}).no_input().input({}, {0.5}).input({}, {2});
  node.input({}, {1}, DataType::u8).input({}, {2}, DataType::u8).no_input();
  node.input({}, {1}, DataType::u8).input({}, {0}, DataType::u8);
  expect_near(node.run(2), {3, 2.5, 3, 2.5, 0});
}

TEST(OnnxMicrosoft, IntegersOfAllWidths) {
  EXPECT_THAT(*microsoft("MatMulInteger16")
                   .input({1, 2}, {3000, -3000}, DataType::i16)
                   .input({2, 1}, {2000, 1000}, DataType::i16)
                   .run(),
              ElementsAre(3000000));
  EXPECT_THAT(*microsoft("MulInteger")
                   .input({2}, {1, 255}, DataType::u8)
                   .input({}, {3}, DataType::u8)
                   .input({2}, {200, 0}, DataType::u8)
                   .input({}, {10}, DataType::u8)
                   .run(),
              ElementsAre(-380, -2520));
}

TEST(OnnxMicrosoft, FormsOfStandardOperators) {
  OneNode unique = microsoft("Unique");
  EXPECT_THAT(*unique.input({5}, {2, 1, 1, 3, 2}).run(3),
              ElementsAre(2, 1, 3, 0, 1, 1, 2, 0, 2, 2, 1));
  EXPECT_THAT(*microsoft("Range").input({}, {3}).input({}, {6}).run(), ElementsAre(3, 4, 5));
  EXPECT_THAT(*microsoft("Pad").input({2}, {1, 2}).input({2}, {1, 0}, DataType::i64).run(),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(microsoft("Pad")
                  .input({2}, {1, 2})
                  .input({2}, {static_cast<double>(kHuge), 0}, DataType::i64)
                  .failure(),
              HasSubstr("axis 0 has a pad of 4611686018427387904"));
  OneNode dims = microsoft("ExpandDims");
  dims.input({2, 3}, {1, 2, 3, 4, 5, 6}).input({}, {-1}, DataType::i32);
  EXPECT_TRUE(dims.run().ok());
  EXPECT_EQ(dims.sizes(), (std::vector<int64_t>{2, 3, 1}));
  EXPECT_THAT(microsoft("ExpandDims").input({2}, {}).input({}, {2}, DataType::i32).failure(),
              HasSubstr("axis 2 of a tensor of rank 2"));
}

// Its axis is the last one in every version; before version 13 all behind it would be one with it.
TEST(OnnxMicrosoft, QLinearSoftmaxOfOldVersions) {
  const auto softmax = [](int64_t opset) {
    OneNode node("QLinearSoftmax", 1, "com.microsoft");
    node.input({1, 2, 2}, {100, 100, 100, 100}, DataType::u8).input({}, {0.1});
    node.input({}, {100}, DataType::u8).input({}, {1.0 / 256}).input({}, {0}, DataType::u8);
    return node.set("opset", opset);
  };
  expect_near(softmax(13).run(), {128, 128, 128, 128});
  expect_near(softmax(11).run(), {128, 128, 128, 128});
  expect_near(softmax(11).set("axis", 1).run(), {64, 64, 64, 64});
}

}  // namespace
}  // namespace stria::onnx
