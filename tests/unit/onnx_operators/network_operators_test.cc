// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools, normalizations, recurrences and transforms: wrong sizes and old versions.
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

TEST(OnnxConvolution, GroupsOfSeveralChannels) {
  OneNode conv("Conv", 11);
  // Two groups of two channels to one: 1 + 2 and 3 + 4, times the weights.
  conv.input({1, 4, 1}, {1, 2, 3, 4}).input({2, 2, 1}, {1, 1, 1, 10}).input({2}, {0.5, -1});
  EXPECT_THAT(*conv.set("group", 2).run(), ElementsAre(3.5, 42));
}

TEST(OnnxConvolution, WrongSizes) {
  const auto conv = [] { return OneNode("Conv", 11).input({1, 4, 5}, {}); };
  EXPECT_THAT(conv().input({3, 2, 3}, {}).set("group", 2).failure(),
              HasSubstr("4 channels to 3 in 2 groups"));
  EXPECT_THAT(conv().input({2, 2, 3}, {}).failure(), HasSubstr("weights for 2 channels"));
  EXPECT_THAT(conv().input({2, 4, 6}, {}).failure(), HasSubstr("spans 6 elements on 5"));
  EXPECT_THAT(conv().input({2, 4, 3}, {}).set_list("strides", {0}).failure(),
              HasSubstr("the least is 1"));
  EXPECT_THAT(conv().input({2, 4, 3}, {}).set_list("pads", {1}).failure(),
              HasSubstr("2 numbers are needed"));
  EXPECT_THAT(conv().input({2, 4, 3}, {}).set_list("kernel_shape", {2}).failure(),
              HasSubstr("its weights have [3]"));
  EXPECT_THAT(conv().input({2, 4, 3}, {}).set("auto_pad", "SAME").failure(),
              HasSubstr("auto_pad is 'SAME'"));
  EXPECT_THAT(conv().input({2, 4, 3}, {}).input({3}, {}).failure(),
              HasSubstr("its bias has [3] elements for 2 channels"));
  EXPECT_THAT(OneNode("MaxPool", 12).input({1, 1, 5}, {}).failure(), HasSubstr("no kernel_shape"));
  EXPECT_THAT(OneNode("MaxPool", 12).input({1, 5}, {}).failure(), HasSubstr("rank 2"));
}

TEST(OnnxPool, AveragesLeaveOutWhatIsNotThere) {
  const auto pool = [] {
    return OneNode("AveragePool", 11)
        .input({1, 1, 3}, {3, 6, 9})
        .set_list("kernel_shape", {3})
        .set_list("pads", {1, 1});
  };
  EXPECT_THAT(*pool().run(), ElementsAre(4.5, 6, 7.5));
  EXPECT_THAT(*pool().set("count_include_pad", 1).run(), ElementsAre(3, 6, 5));
  // The second window begins on the last element and reaches two beyond the padding.
  OneNode cut = pool().set_list("strides", {3}).set("ceil_mode", 1);
  EXPECT_THAT(*cut.set("count_include_pad", 1).run(), ElementsAre(3, 4.5));
  // Each window would have 2^90 elements.
  const int64_t most = 0x3fffffff, half = 0x20000000;
  EXPECT_THAT(OneNode("AveragePool", 11)
                  .input({1, 1, 1, 1, 1}, {1})
                  .set_list("kernel_shape", {most, most, most})
                  .set_list("pads", {half, half, half, half, half, half})
                  .set("count_include_pad", 1)
                  .failure(),
              HasSubstr("kernel_shape: its windows have too many elements"));
}

TEST(OnnxPool, TheNormOfTheFirstVersionIsAFloat) {
  const auto pool = [](float p) {
    OneNode out("GlobalLpPool", 1);
    return out.input({1, 1, 2}, {3, 4}).set_float("p", p);
  };
  EXPECT_THAT(*pool(2).run(), ElementsAre(5));
  EXPECT_THAT(pool(2.5).failure(), HasSubstr("p is 2.5"));
}

TEST(OnnxNormalization, GroupsHadScalesOfTheirOwn) {
  OneNode groups("GroupNormalization", 18);
  groups.input({1, 4, 1}, {-1, 1, -5, 5}).input({2}, {1, 10}).input({2}, {0, 1});
  EXPECT_THAT(*groups.set("num_groups", 2).run(),
              Pointwise(DoubleNear(1e-4), {-1.0, 1.0, -9.0, 11.0}));
  EXPECT_THAT(OneNode("GroupNormalization", 21).input({1, 3, 1}, {}).set("num_groups", 2).failure(),
              HasSubstr("3 channels do not make 2 groups"));
}

TEST(OnnxNormalization, SkipLayerNormalization) {
  OneNode skip("SkipLayerNormalization", 1, "com.microsoft");
  skip.input({1, 2}, {1, 2}).input({1, 2}, {1, 4}).input({2}, {3, 3}).input({2}, {0, 1});
  EXPECT_THAT(*skip.run(), Pointwise(DoubleNear(1e-5), {-3.0, 4.0}));
}

TEST(OnnxNormalization, EmbedLayerNormalizationCountsTheMask) {
  OneNode embed("EmbedLayerNormalization", 1, "com.microsoft");
  embed.input({1, 2}, {1, 0}, DataType::i32).no_input();
  embed.input({2, 2}, {5, 9, 2, 4}).input({2, 2}, {0, 0, 1, 1}).no_input();
  embed.input({2}, {1, 1}).input({2}, {0, 0}).input({1, 2}, {1, 0}, DataType::i32);
  EXPECT_THAT(*embed.run(3),
              Pointwise(DoubleNear(1e-5), {-1.0, 1.0, -1.0, 1.0, 1.0, 2.0, 4.0, 6.0, 10.0}));
}

TEST(OnnxRecurrent, ASequenceKeepsItsStateBehindItsEnd) {
  OneNode rnn("RNN", 14);
  rnn.input({3, 1, 1}, {1, 2, 4}).input({1, 1, 1}, {1}).input({1, 1, 1}, {1}).no_input();
  rnn.input({1}, {2}, DataType::i32).set("hidden_size", 1).set("direction", "reverse");
  EXPECT_THAT(*rnn.run(2),
              Pointwise(DoubleNear(1e-6), {std::tanh(1 + std::tanh(2.0)), std::tanh(2.0), 0.0,
                                           std::tanh(1 + std::tanh(2.0))}));
}

TEST(OnnxRecurrent, WrongNodes) {
  const auto rnn = [] {
    return OneNode("RNN", 14).input({3, 1, 1}, {}).input({1, 1, 1}, {}).input({1, 1, 1}, {});
  };
  EXPECT_THAT(rnn().set("direction", "sideways").failure(), HasSubstr("'sideways'"));
  EXPECT_THAT(rnn().set("direction", "bidirectional").failure(), HasSubstr("2 directions"));
  EXPECT_THAT(rnn().input({1, 3}, {}).failure(), HasSubstr("not those of 1 directions"));
}

TEST(OnnxSignal, WrongTransforms) {
  const auto dft = [] { return OneNode("DFT", 17).input({1, 4, 1}, {}); };
  EXPECT_THAT(dft().set("axis", 2).failure(), HasSubstr("axis is that of the parts"));
  EXPECT_THAT(dft().input({}, {0}, DataType::i64).failure(), HasSubstr("a transform of 0 points"));
  EXPECT_THAT(dft().input({}, {99999}, DataType::i64).failure(),
              HasSubstr("99999 points; at most 16384"));
}

// Inputs 0 and 255 become u8 without a rest, and so do states of zero: the first step is that of
// LSTM with the weights that the integers stand for.
TEST(Recurrent, DynamicQuantizeLstmIsLstmOfItsWeights) {
  const std::vector<double> w = {10, -20, 30, 40, 5, 60, -70, 80};  // [1, 2, 4]
  const std::vector<double> transposed = {10, 5, -20, 60, 30, -70, 40, 80};
  constexpr double kScale = 1.0 / 8192;
  std::vector<double> real, none(4, 0.0);
  for (const double each : transposed) real.push_back(each * kScale);
  const std::vector<double> x = {255, 0}, bias = {0.1, 0.2, 0.3, 0.4, 0, 0, 0, 0};
  const auto plain = OneNode("LSTM", 14)
                         .input({1, 1, 2}, x)
                         .input({1, 4, 2}, real)
                         .input({1, 4, 1}, none)
                         .input({1, 8}, bias)
                         .set("hidden_size", 1)
                         .run(3);
  const auto quantized = OneNode("DynamicQuantizeLSTM", 1, "com.microsoft")
                             .input({1, 1, 2}, x)
                             .input({1, 2, 4}, w, DataType::i8)
                             .input({1, 1, 4}, none, DataType::i8)
                             .input({1, 8}, bias)
                             .no_input()
                             .no_input()
                             .no_input()
                             .no_input()
                             .input({1}, {kScale})
                             .input({1}, {0}, DataType::i8)
                             .input({1}, {kScale})
                             .input({1}, {0}, DataType::i8)
                             .set("hidden_size", 1)
                             .run(3);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  ASSERT_TRUE(quantized.ok()) << quantized.status().message();
  for (size_t e = 0; e < plain->size(); ++e) EXPECT_NEAR((*quantized)[e], (*plain)[e], 1e-6);
  EXPECT_NE((*plain)[0], 0);
}

}  // namespace
}  // namespace stria::onnx
