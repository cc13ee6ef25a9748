// SPDX-License-Identifier: Apache-2.0
// What the standard's cases do not reach: NaN and infinity, the ends of int64, nothing at all,
// sizes that a file only claims, sparse tensors, 16-bit floats.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evaluate_node.h"
#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = -9223372036854775808.0;  // of int64
constexpr int64_t kHuge = int64_t{1} << 40;

// Ties go by rows, whatever order places are counted in.
TEST(OnnxPool, PlacesOfTheLargest) {
  expect_near(OneNode("MaxPool", 12)
                  .input({1, 1, 2, 2}, {0, 1, 1, 0})
                  .set_list("kernel_shape", {2, 2})
                  .set("storage_order", 1)
                  .run(2),
              {1, 2});
  for (const int64_t by_columns : {0, 1})
    expect_near(OneNode("MaxPool", 12)
                    .input({1, 2, 2, 3}, {1, 2, 9, 3, 4, 5, 0, 0, 0, 0, 7, 0})
                    .set_list("kernel_shape", {2, 3})
                    .set("storage_order", by_columns)
                    .run(2),
                by_columns ? std::vector<double>{9, 7, 4, 9} : std::vector<double>{9, 7, 2, 10});
  expect_near(OneNode("MaxPool", 12)
                  .input({1, 1, 4}, {kNan, 1, 2, -kInfinity})
                  .set_list("kernel_shape", {2})
                  .run(2),
              {kNan, 2, 2, 0, 2, 2});
}

TEST(OnnxNormalization, SixteenBitFloatsAreComputedInThirtyTwo) {
  const std::vector<double> x = {100, 100.5, 101, 101.5};
  const double deviation = std::sqrt(0.3125 + 1e-5);
  for (const DataType type : {DataType::bf16, DataType::fp16}) {
    OneNode node("LayerNormalization", 17);
    node.input({1, 4}, x, type).input({4}, {1, 1, 1, 1}, type);
    std::vector<double> wanted;
    for (const double each : x) wanted.push_back((each - 100.75) / deviation);
    wanted.insert(wanted.end(), {100.75, 1 / deviation});
    expect_near(node.run(3), wanted, 4e-3);
    EXPECT_EQ(node.outputs()[0].elements->type(), type);
    EXPECT_EQ(node.outputs()[1].elements->type(), DataType::fp32);
    EXPECT_EQ(node.outputs()[2].elements->type(), DataType::fp32);
  }
  // Statistics are asked for in bf16.
  OneNode node("LayerNormalization", 17);
  node.input({1, 4}, x).input({4}, {1, 1, 1, 1}).set("stash_type", 16);
  ASSERT_TRUE(node.run(3).ok());
  EXPECT_EQ(node.outputs()[1].elements->type(), DataType::bf16);
}

// X, the vectors of a channel and the statistics have types of their own.
TEST(OnnxNormalization, BatchesOfSeveralTypes) {
  for (const auto& [type, of_vectors] :
       {std::pair(DataType::bf16, DataType::fp32), std::pair(DataType::fp32, DataType::bf16),
        std::pair(DataType::fp32, DataType::fp64), std::pair(DataType::fp64, DataType::fp16)}) {
    OneNode node("BatchNormalization", 15);
    node.input({2, 1}, {3, 5}, type);
    for (const double vector : {2, 1, 0, 8}) node.input({1}, {vector}, of_vectors);
    node.set("training_mode", 1).set_float("momentum", 0.5F);
    expect_near(node.run(3), {-1, 3, 2, 4.5}, 2e-2);
    EXPECT_EQ(node.outputs()[0].elements->type(), type);
    EXPECT_EQ(node.outputs()[1].elements->type(), of_vectors);
    EXPECT_EQ(node.outputs()[2].elements->type(), of_vectors);
  }
  OneNode mixed("RMSNormalization", 23);
  mixed.input({1, 2}, {3, 4}, DataType::fp16).input({2}, {1, 1}, DataType::fp32);
  expect_near(mixed.run(), {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}, 1e-4);
  EXPECT_EQ(mixed.outputs()[0].elements->type(), DataType::fp32);
}

TEST(OnnxNormalization, EachElementOfAnImageHasItsNumbers) {
  expect_near(OneNode("BatchNormalization", 7)
                  .input({1, 1, 2}, {3, 5})
                  .input({1, 2}, {1, 2})
                  .input({1, 2}, {0, 1})
                  .input({1, 2}, {1, 1})
                  .input({1, 2}, {4, 4})
                  .set("spatial", int64_t{0})
                  .set_float("epsilon", 0)
                  .run(),
              {1, 5});
}

TEST(OnnxValues, NanAndInfinity) {
  expect_near(OneNode("Det", 11).input({2, 2}, {1, 2, kNan, 4}).run(), {kNan});
  expect_near(OneNode("Det", 11).input({2, 2}, {1, kNan, 2, 4}).run(), {kNan});
  expect_near(OneNode("Det", 11).input({2, 2}, {1, 2, 3, 4}).run(), {-2});
  const double most = std::numeric_limits<float>::max();
  expect_near(OneNode("Clip", 7).input({2}, {kInfinity, -3}).set_float("min", -0.5F).run(),
              {most, -0.5});
  expect_near(OneNode("Clip", 6)
                  .input({2}, {kInfinity, -kInfinity})
                  .set_float("max", std::numeric_limits<float>::infinity())
                  .run(),
              {kInfinity, -most});
  const float least = -std::numeric_limits<float>::infinity();
  for (const DataType type : {DataType::fp16, DataType::fp32, DataType::fp64})
    expect_near(OneNode("Pad", 7)
                    .input({1}, {5}, type)
                    .set_list("pads", {1, 0})
                    .set_float("value", least)
                    .run(),
                {-kInfinity, 5});
}

std::shared_ptr<const TensorData> wide(const char* name, int64_t value) {
  return initializer(name, ElementType::i64, {}, std::vector<int64_t>{value});
}

TEST(OnnxValues, EndsOfInt64) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    const auto made = evaluate_node(
        "Range", 11, {}, {wide("start", start), wide("limit", limit), wide("delta", delta)});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? elements<int64_t>(*made) : std::vector<int64_t>();
  };
  constexpr int64_t kFar = int64_t{1} << 62, kFirst = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(range(kFar, kFar + 5, 2), ElementsAre(kFar, kFar + 2, kFar + 4));
  EXPECT_THAT(range((int64_t{1} << 53), (int64_t{1} << 53) + 3, 1), testing::SizeIs(3));
  EXPECT_THAT(range(kFirst, std::numeric_limits<int64_t>::max(), kFar),
              ElementsAre(kFirst, -kFar, 0, kFar));
  EXPECT_THAT(range(5, 0, kFirst), ElementsAre(5));
  EXPECT_THAT(range(0, 5, -1), ElementsAre());
  OneNode slice("Slice", 13);
  slice.input({5}, {0, 1, 2, 3, 4}).input({1}, {3}, DataType::i64).input({1}, {7}, DataType::i64);
  slice.input({1}, {0}, DataType::i64).input({1}, {kLeast}, DataType::i64);
  expect_near(slice.run(), {});
  expect_near(OneNode("EyeLike", 9)
                  .input({1, 2}, {7, 7})
                  .set("k", std::numeric_limits<int64_t>::min())
                  .run(),
              {0, 0});
}

TEST(OnnxValues, SlicesOfNothingAreAllTheSame) {
  expect_near(OneNode("Unique", 11).input({2, 0}, {}).set("axis", int64_t{0}).run(4), {0, 0, 0, 2});
}

TEST(OnnxValues, TensorFlowsNearestPixel) {
  expect_near(OneNode("Resize", 11)
                  .input({2}, {10, 20})
                  .input({0}, {})
                  .input({1}, {2})
                  .set("coordinate_transformation_mode", "tf_half_pixel_for_nn")
                  .run(),
              {10, 20, 20, 20});
}

// A number in a file is no reason to fill the memory.
TEST(OnnxLimits, TablesThatAFileOnlyClaims) {
  const auto huge = static_cast<double>(kHuge);
  EXPECT_THAT(OneNode("Resize", 13)
                  .input({2}, {1, 2})
                  .no_input()
                  .input({1}, {1e9})
                  .set("mode", "linear")
                  .failure(),
              HasSubstr("needs a table of 2000000000 * 2 elements, more than 67108864"));
  EXPECT_THAT(OneNode("Resize", 13)
                  .input({2}, {1, 2})
                  .no_input()
                  .no_input()
                  .input({1}, {huge}, DataType::i64)
                  .failure(),
              HasSubstr("needs a table"));
  EXPECT_THAT(OneNode("Resize", 18)
                  .input({2}, {1, 2})
                  .input({2}, {0, 1e12})
                  .input({1}, {1e-9})
                  .set("mode", "linear")
                  .set("antialias", 1)
                  .set("coordinate_transformation_mode", "tf_crop_and_resize")
                  .failure(),
              HasSubstr("a scale of 9.9"));
  EXPECT_THAT(OneNode("Upsample", 9).input({2}, {1, 2}).input({1}, {1e9}).failure(),
              HasSubstr("needs a table"));
  EXPECT_THAT(OneNode("Split", 18).input({2}, {1, 2}).set("num_outputs", int64_t{0}).failure(),
              HasSubstr("0 parts for 1 outputs"));
  // A roi far away, and one that is nowhere.
  for (const double far : {8e10, 1e30, kNan})
    EXPECT_THAT(OneNode("Resize", 13)
                    .input({2}, {1, 2})
                    .input({2}, {0, far}, DataType::fp64)
                    .no_input()
                    .input({1}, {9}, DataType::i64)
                    .set("mode", "linear")
                    .set("coordinate_transformation_mode", "tf_crop_and_resize")
                    .failure(),
                HasSubstr(far == 8e10 ? "it was translated" : "a roi or a scale by which"));
  EXPECT_THAT(OneNode("AffineGrid", 20)
                  .input({1, 2, 3}, {1, 0, 0, 0, 1, 0})
                  .input({4}, {1, 1, huge, 2}, DataType::i64)
                  .failure(),
              HasSubstr("needs a table"));
  EXPECT_THAT(OneNode("MaxRoiPool", 1)
                  .input({1, 1, 2, 2}, {1, 2, 3, 4})
                  .input({1, 5}, {0, 0, 0, 1, 1})
                  .set_list("pooled_shape", {kHuge, 1})
                  .failure(),
              HasSubstr("needs a table"));
  for (const char* attribute : {"output_height", "sampling_ratio"})
    EXPECT_THAT(OneNode("RoiAlign", 16)
                    .input({1, 1, 2, 2}, {1, 2, 3, 4})
                    .input({1, 4}, {0, 0, 1, 1})
                    .input({1}, {0}, DataType::i64)
                    .set(attribute, kHuge)
                    .failure(),
                HasSubstr("needs a table"));
  OneNode mel("MelWeightMatrix", 17);
  mel.input({}, {huge}, DataType::i64).input({}, {16}, DataType::i64);
  mel.input({}, {8192}, DataType::i64).input({}, {0}).input({}, {4096});
  EXPECT_THAT(mel.failure(), HasSubstr("needs a table"));
  EXPECT_THAT(OneNode("SpaceToDepth", 13)
                  .input({1, int64_t{1} << 40, 0, 0}, {})
                  .set("blocksize", int64_t{1} << 15)
                  .when_run()
                  .failure(),
              HasSubstr("elements leave 64 bits"));
  for (const char* op : {"DepthToSpace", "SpaceToDepth"})
    EXPECT_THAT(OneNode(op, 11)
                    .input({1, 4, 2, 2}, std::vector<double>(16))
                    .set("blocksize", int64_t{1} << 32)
                    .failure(),
                HasSubstr("a block of size 4294967296; 1 to 32768"));
  EXPECT_THAT(OneNode("LRN", 13)
                  .input({1, 1}, {1})
                  .set("size", std::numeric_limits<int64_t>::max())
                  .failure(),
              HasSubstr("size is 9223372036854775807"));
}

std::shared_ptr<SparseTensorData> sparse(const char* name, std::vector<int64_t> dims,
                                         std::vector<int64_t> index_dims,
                                         const std::vector<int64_t>& indices,
                                         const std::vector<float>& values) {
  auto out = std::make_shared<SparseTensorData>();
  out->values = *vector_input(name, ElementType::fp32, values);
  out->indices = *initializer("", ElementType::i64, std::move(index_dims), indices);
  out->dims = std::move(dims);
  return out;
}

// Depths, parts and empty reductions need no tables.
TEST(OnnxLimits, WhatNeedsNone) {
  OneNode one_hot("OneHot", 11);
  one_hot.input({2}, {-1, 1}).input({}, {3}, DataType::i64).input({2}, {5, 7});
  expect_near(one_hot.set("axis", int64_t{0}).run(), {5, 5, 5, 7, 7, 5});
  expect_near(OneNode("Split", 18).input({5}, {1, 2, 3, 4, 5}).set("num_outputs", 3).run(3),
              {1, 2, 3, 4, 5});
  expect_near(OneNode("Split", 18).input({2}, {1, 2}).set("num_outputs", kHuge).run(), {1});
  expect_near(OneNode("ReduceMax", 20)
                  .input({0, 3}, {}, DataType::i32)
                  .set("keepdims", int64_t{0})
                  .input({1}, {0}, DataType::i64)
                  .run(),
              {-2147483648.0, -2147483648.0, -2147483648.0});
  // An axis that stays has no table, however long it is.
  OneNode resize("Resize", 13);
  resize.input({int64_t{1} << 27, 0}, {}).no_input().input({2}, {1, 2}).set("mode", "linear");
  expect_near(resize.run(), {});
  EXPECT_THAT(resize.sizes(), ElementsAre(int64_t{1} << 27, 0));
  // In fp32, as its runtimes.
  OneNode pixel("Resize", 11);
  pixel.input({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
      .input({0}, {})
      .input({1}, {static_cast<double>(1.7F)});
  pixel.set("coordinate_transformation_mode", "tf_half_pixel_for_nn").set("nearest_mode", "floor");
  const auto got = pixel.run();
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[8], 5);
}

Node copy_of(std::string from, std::string to) {
  Node out;
  out.op_type = "Identity";
  out.inputs = {std::move(from)};
  out.outputs = {std::move(to)};
  return out;
}

Node loop_of_no_rounds(const Graph& body, std::vector<std::string> outputs) {
  Node out;
  out.op_type = "Loop";
  out.inputs = {"none"};
  out.outputs = std::move(outputs);
  out.attributes.emplace_back();
  out.attributes[0].name = "body";
  out.attributes[0].type = Attribute::Type::g;
  out.attributes[0].g = std::make_shared<const Graph>(body);
  return out;
}

// Loops of no rounds in one another: each graph is translated once, not once for each result.
TEST(OnnxLimits, LoopsOfNoRoundsInLoops) {
  Graph body;
  for (int depth = 0; depth < 12; ++depth) {
    Graph outer;
    outer.inputs = {{"round", {}}, {"go_on", {}}};
    outer.nodes = {copy_of("go_on", "goes_on")};
    outer.outputs = {{"goes_on", {}}};
    std::vector<std::string> made;
    for (int k = 0; k < 4; ++k) made.push_back(fmt::format("v{}_{}", depth, k));
    for (const std::string& name : made) outer.outputs.push_back({name, {}});
    if (depth == 0)
      for (const std::string& name : made) outer.nodes.push_back(copy_of("x", name));
    else
      outer.nodes.push_back(loop_of_no_rounds(body, made));
    body = outer;
  }
  Model model;
  model.opsets[""] = 21;
  model.graph.nodes = {loop_of_no_rounds(body, {"a", "b", "c", "d"})};
  model.graph.initializers = {wide("none", 0),
                              vector_input("x", ElementType::fp32, std::vector<float>{1, 2})};
  model.graph.outputs = {{"a", {}}};
  const auto made = evaluate_model(model);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->at(0).type.sizes.size(), 13U);
}

// What computes with sizes may take them to fit in 64 bits, beside a size of 0, too.
TEST(OnnxLimits, SizesOfInputsBeyondSixtyFourBits) {
  Model model;
  model.opsets[""] = 21;
  model.graph.nodes = {copy_of("x", "y")};
  ValueInfo x{"x", {ValueType::Kind::tensor, ElementType::fp32, {}, nullptr}};
  x.type.dims = std::vector<Dimension>{{kHuge, ""}, {kHuge, ""}, {0, ""}};
  model.graph.inputs = {x};
  model.graph.outputs = {{"y", {}}};
  TranslateOptions options;
  options.evaluate = TileEvaluator();
  const auto made = translate(model, options);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("whose bytes leave 64 bits"));
}

TEST(OnnxSparse, InitializersAndConstants) {
  Model model;
  model.opsets[""] = 21;
  Node constant;
  constant.op_type = "Constant";
  constant.outputs = {"c"};
  constant.attributes.emplace_back();
  constant.attributes[0].name = "sparse_value";
  constant.attributes[0].type = Attribute::Type::sparse_tensor;
  constant.attributes[0].sparse = sparse("", {2, 3}, {2, 2}, {0, 2, 1, 0}, {5, 7});
  Node add;
  add.op_type = "Add";
  add.inputs = {"s", "c"};
  add.outputs = {"y"};
  model.graph.nodes = {constant, add};
  model.graph.sparse_initializers = {sparse("s", {2, 3}, {2}, {1, 5}, {2, 3})};
  // An initialiser is the default of an input.
  model.graph.inputs = {{"s", {ValueType::Kind::tensor, ElementType::fp32, {}, nullptr}}};
  model.graph.outputs = {{"y", {}}};
  const auto made = evaluate_model(model);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(made->at(0).type.sizes, ElementsAre(2, 3));
  EXPECT_THAT(numbers(made->at(0)), ElementsAre(0, 2, 5, 7, 0, 3));
  EXPECT_THAT(initializer_bytes(model.graph), ElementsAre(std::pair("s", 2 * 4 + 2 * 8)));
  model.graph.sparse_initializers = {sparse("s", {kHuge, 3}, {1}, {1}, {2})};
  const auto refused = evaluate_model(model);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("sparse tensor 's' has 3298534883328 elements, more than 268435456"));
}

}  // namespace
}  // namespace stria::onnx
