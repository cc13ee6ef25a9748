// SPDX-License-Identifier: Apache-2.0
// Attention: what does not fit, and the operators of com.microsoft, for which there are no cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

TEST(OnnxAttention, WrongHeads) {
  EXPECT_THAT(OneNode("Attention", 23)
                  .input({1, 3, 2, 4}, {})
                  .input({1, 2, 5, 4}, {})
                  .input({1, 2, 5, 4}, {})
                  .failure(),
              HasSubstr("3 heads of queries, 2 of keys"));
  EXPECT_THAT(OneNode("Attention", 23)
                  .input({1, 2, 4}, {})
                  .input({1, 2, 4}, {})
                  .input({1, 2, 4}, {})
                  .failure(),
              HasSubstr("does not hold 0 heads"));
  EXPECT_THAT(OneNode("Attention", 23)
                  .input({1, 1, 2, 4}, {})
                  .input({1, 1, 5, 4}, {})
                  .input({1, 1, 5, 4}, {})
                  .input({2, 6}, {})
                  .failure(),
              HasSubstr("a mask of [2, 6] for scores of [1, 1, 2, 5]"));
}

OneNode microsoft(const std::string& op_type) {
  OneNode out(op_type, 1, "com.microsoft");
  out.set("num_heads", 1);
  return out;
}

// With queries of 0 all keys that are seen weigh the same.
TEST(OnnxMicrosoft, MultiHeadAttentionByLength) {
  OneNode node = microsoft("MultiHeadAttention");
  node.input({1, 1, 1}, {0}).input({1, 3, 1}, {1, 2, 3}).input({1, 3, 1}, {1, 3, 8}).no_input();
  node.input({1}, {2}, DataType::i32);
  EXPECT_THAT(*node.run(), Pointwise(DoubleNear(1e-5), {2.0}));
}

TEST(OnnxMicrosoft, PackedQueriesKeysAndValues) {
  OneNode node = microsoft("MultiHeadAttention");
  // [batch, length, heads, 3, size]: queries 0, keys 5 and 7, values 1 and 9.
  node.input({1, 2, 1, 3, 1}, {0, 5, 1, 0, 7, 9}).set("unidirectional", 1);
  EXPECT_THAT(*node.run(), Pointwise(DoubleNear(1e-5), {1.0, 5.0}));
}

TEST(OnnxMicrosoft, KeysThatHoldValues) {
  OneNode node = microsoft("MultiHeadAttention");
  node.input({1, 1, 1}, {0}).input({1, 2, 1, 2, 1}, {5, 1, 7, 9});
  EXPECT_THAT(*node.run(), Pointwise(DoubleNear(1e-5), {5.0}));
}

TEST(OnnxMicrosoft, AttentionKeepsThePast) {
  OneNode node = microsoft("Attention");
  // Weights make queries of 0, and keys and values of the input and twice the input.
  node.input({1, 1, 1}, {3}).input({1, 3}, {0, 1, 2}).input({3}, {0, 0, 0}).no_input();
  node.input({2, 1, 1, 1, 1}, {7, 10});
  EXPECT_THAT(*node.run(2), Pointwise(DoubleNear(1e-5), {8.0, 7.0, 3.0, 10.0, 6.0}));
}

// Two rows with past keys of their own: two, and one with a place behind it that holds anything.
OneNode grouped() {
  OneNode node("GroupQueryAttention", 1, "com.microsoft");
  node.set("num_heads", 2).set("kv_num_heads", 1);
  node.input({2, 1, 2}, {0, 0, 0, 0}).input({2, 1, 1}, {5, 5}).input({2, 1, 1}, {6, 8});
  node.input({2, 1, 2, 1}, {5, 5, 5, 7}).input({2, 1, 2, 1}, {1, 2, 4, 99});
  node.input({2}, {2, 1}, DataType::i32).input({}, {3}, DataType::i32);
  return node;
}

TEST(OnnxMicrosoft, GroupedQueriesOfRowsOfSeveralLengths) {
  EXPECT_THAT(*grouped().run(3),
              Pointwise(DoubleNear(1e-5), {3.0, 3.0, 6.0, 6.0,               // means of the values
                                           5.0, 5.0, 5.0, 5.0, 5.0, 0.0,     // keys
                                           1.0, 2.0, 6.0, 4.0, 8.0, 0.0}));  // values
  // The last two of three, and both of two.
  EXPECT_THAT(*grouped().set("local_window_size", 2).run(),
              Pointwise(DoubleNear(1e-5), {4.0, 4.0, 6.0, 6.0}));
}

TEST(OnnxMicrosoft, APackedPromptIsTurned) {
  OneNode node("GroupQueryAttention", 1, "com.microsoft");
  node.set("num_heads", 1).set("kv_num_heads", 1).set("do_rotary", 1);
  // Two places, each with a query, a key and a value of two elements; the second is turned by 90
  // degrees.
  node.input({1, 2, 6}, {0, 0, 1, 2, 3, 4, 0, 0, 1, 2, 5, 8}).no_input().no_input().no_input();
  node.no_input().input({1}, {1}, DataType::i32).input({}, {2}, DataType::i32);
  node.input({2, 1}, {1, 0}).input({2, 1}, {0, 1});
  EXPECT_THAT(*node.run(2), Pointwise(DoubleNear(1e-5), {3.0, 4.0, 4.0, 6.0,  // values
                                                         1.0, 2.0, -2.0, 1.0}));
}

TEST(OnnxMicrosoft, GroupedQueriesThatAreNotSupported) {
  EXPECT_THAT(grouped().set("smooth_softmax", 1).failure(), HasSubstr("smooth_softmax"));
  EXPECT_THAT(grouped().set("local_window_size", 2).set("sliding_window_cache", 1).failure(),
              HasSubstr("sliding_window_cache with 3 keys for a window of 2"));
}

TEST(OnnxMicrosoft, GroupedQueriesThatAreWrong) {
  const auto made = [](int64_t q, int64_t kv) {
    OneNode node("GroupQueryAttention", 1, "com.microsoft");
    node.set("num_heads", q).set("kv_num_heads", kv);
    return node.input({1, 2, 4}, {}).input({1, 2, 4}, {}).input({1, 2, 4}, {}).failure();
  };
  EXPECT_THAT(made(2, 0), HasSubstr("attribute 'kv_num_heads' is 0"));
  EXPECT_THAT(made(2, 4), HasSubstr("'num_heads' is 2, no multiple of 'kv_num_heads', 4"));
  EXPECT_THAT(made(3, 1), HasSubstr("3 heads, which attribute 'num_heads' says"));
  EXPECT_THAT(made(int64_t{3} << 60, 3), HasSubstr("which attribute 'num_heads' says"));
  EXPECT_THAT(grouped().set("local_window_size", -2).failure(),
              HasSubstr("attribute 'local_window_size' is -2"));
  EXPECT_THAT(grouped().set_float("softcap", -1).failure(), HasSubstr("attribute 'softcap' is -1"));
}

TEST(OnnxMicrosoft, RotaryEmbeddingFromAPlaceOn) {
  OneNode node("RotaryEmbedding", 1, "com.microsoft");
  // A table for 0, 90 and 180 degrees.
  node.input({1, 2, 2}, {1, 2, 3, 4}).input({1}, {1}, DataType::i64);
  node.input({3, 1}, {1, 0, -1}).input({3, 1}, {0, 1, 0});
  EXPECT_THAT(*node.run(), Pointwise(DoubleNear(1e-6), {-2.0, 1.0, -3.0, -4.0}));
}

TEST(OnnxMicrosoft, MasksThatAreNotKnown) {
  OneNode node = microsoft("MultiHeadAttention");
  node.input({1, 1, 1}, {}).input({1, 3, 1}, {}).input({1, 3, 1}, {}).no_input();
  node.input({5}, {}, DataType::i32);
  EXPECT_THAT(node.failure(), HasSubstr("do not support:\n  MultiHeadAttention"));
}

TEST(OnnxRotary, OddPairs) {
  EXPECT_THAT(OneNode("RotaryEmbedding", 23)
                  .input({1, 1, 2, 4}, {})
                  .input({1, 2, 2}, {})
                  .input({1, 2, 2}, {})
                  .set("rotary_embedding_dim", 3)
                  .failure(),
              HasSubstr("3 of 4 elements cannot be turned in pairs"));
}

}  // namespace
}  // namespace stria::onnx
