// SPDX-License-Identifier: Apache-2.0
// Linear models and features of ai.onnx.ml. Numbers are those of the formulas, which ONNX Runtime
// 1.32 gave, too, unless a test says otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

OneNode ml(const char* operation) { return OneNode(operation, 3, "ai.onnx.ml"); }

TEST(Linear, RegressorsMultiplyAddAndTransform) {
  const auto made = [](const char* transform) {
    return ml("LinearRegressor")
        .input({2, 2}, {1, 2, -1, 0.5})
        .set_floats("coefficients", {0.5, -1, 2, 0.25})
        .set_floats("intercepts", {0.1F, -0.2F})
        .set("targets", 2)
        .set("post_transform", transform);
  };
  expect_near(made("NONE").run(), {-1.4, 2.3, -0.9, -2.075});
  expect_near(made("LOGISTIC").run(), {0.197816, 0.908877, 0.289050, 0.111551});
  expect_near(made("SOFTMAX").run(), {0.024127, 0.975873, 0.764048, 0.235952});
  // A vector is a row; other types of numbers become floats.
  expect_near(ml("LinearRegressor").input({2}, {1, 2}).set_floats("coefficients", {1, 3}).run(),
              {7});
  expect_near(ml("LinearRegressor")
                  .input({1, 2}, {3, 4}, DataType::i64)
                  .set_floats("coefficients", {1, 3})
                  .run(),
              {15});
}

TEST(Linear, ZerosStayOutOfASoftmaxZero) {
  expect_near(ml("LinearRegressor")
                  .input({1, 1}, {1})
                  .set_floats("coefficients", {0.1F, 0, 2})
                  .set("targets", 3)
                  .set("post_transform", "SOFTMAX_ZERO")
                  .run(),
              {0.130108, 0, 0.869892});
}

TEST(Linear, ProbitIsTheApproximationOfTheInverse) {
  expect_near(ml("LinearRegressor")
                  .input({3, 1}, {0.4, 0.1, 0.8})
                  .set_floats("coefficients", {1})
                  .set("post_transform", "PROBIT")
                  .run(),
              {-0.25335, -1.28171, 0.84176});
}

TEST(Linear, ClassifiersWithARowForEachClassTakeTheLargest) {
  OneNode node = ml("LinearClassifier")
                     .input({3, 1}, {-1.5, 0.3, 0})
                     .set_floats("coefficients", {1, -1})
                     .set_floats("intercepts", {0.1F, 0})
                     .set_list("classlabels_ints", {5, 9});
  expect_near(node.run(2), {9, 5, 5, -1.4, 1.5, 0.4, -0.3, 0.1, 0});
}

TEST(Linear, ClassifiersWithOneRowScoreTheSecondClass) {
  const auto made = [](const char* transform) {
    return ml("LinearClassifier")
        .input({3, 1}, {-1.5, 0.3, 0})
        .set_floats("coefficients", {1})
        .set_list("classlabels_ints", {5, 9})
        .set("post_transform", transform)
        .run(2);
  };
  expect_near(made("NONE"), {5, 9, 5, 2.5, -1.5, 0.7, 0.3, 1, 0});
  expect_near(made("LOGISTIC"), {5, 9, 5, 0.81757, 0.18243, 0.42556, 0.57444, 0.5, 0.5});
  expect_near(made("SOFTMAX"), {5, 9, 5, 2.5, -1.5, 0.7, 0.3, 1, 0});
}

TEST(Linear, WrongAttributesAreTold) {
  const auto regressor = [](std::vector<float> coefficients, std::vector<float> intercepts,
                            int64_t targets, const char* transform = "NONE") {
    return ml("LinearRegressor")
        .input({1, 3}, {1, 2, 3})
        .set_floats("coefficients", std::move(coefficients))
        .set_floats("intercepts", std::move(intercepts))
        .set("targets", targets)
        .set("post_transform", transform)
        .failure();
  };
  EXPECT_THAT(regressor({1, 2}, {}, 1), HasSubstr("'coefficients' has 2 values for 3 features"));
  EXPECT_THAT(regressor({1, 2, 3}, {}, 2), HasSubstr("3 features and 2 targets"));
  EXPECT_THAT(regressor({1, 2, 3}, {}, 1000000000000), HasSubstr("and 1000000000000 targets"));
  EXPECT_THAT(regressor({1, 2, 3}, {}, -1), HasSubstr("attribute 'targets' is -1"));
  EXPECT_THAT(regressor({1, 2, 3}, {1, 2}, 1), HasSubstr("'intercepts' has 2 values, not 1"));
  EXPECT_THAT(regressor({1, 2, 3}, {}, 1, "TANH"), HasSubstr("'post_transform' is 'TANH'"));
  EXPECT_THAT(
      ml("LinearRegressor").input({1, 2, 1}, {1, 2}).set_floats("coefficients", {1}).failure(),
      HasSubstr("its input has rank 3, not 1 or 2"));
  const auto classifier = [](std::vector<int64_t> numbers, std::vector<std::string> texts) {
    return ml("LinearClassifier")
        .input({1, 1}, {1})
        .set_floats("coefficients", {1})
        .set_list("classlabels_ints", std::move(numbers))
        .set_strings("classlabels_strings", std::move(texts))
        .failure();
  };
  EXPECT_THAT(classifier({}, {}), HasSubstr("0 labels of classes in 'classlabels_ints' and 0"));
  EXPECT_THAT(classifier({1, 2}, {"a", "b"}), HasSubstr("2 labels of classes"));
  EXPECT_THAT(classifier({1, 2, 3}, {}), HasSubstr("rows for 1 classes, which have 3 labels"));
}

TEST(Features, ScalersMoveAndStretch) {
  const std::vector<double> x = {1, -2, 3, 0, 0, 4};
  expect_near(ml("Scaler")
                  .input({2, 3}, x)
                  .set_floats("offset", {1, 2, 3})
                  .set_floats("scale", {2, 1, 0.5})
                  .run(),
              {0, -4, 0, -2, -2, 0.5});
  expect_near(ml("Scaler")
                  .input({6}, x, DataType::i64)
                  .set_floats("offset", {1})
                  .set_floats("scale", {2})
                  .run(),
              {0, -6, 4, -2, -2, 6});
  EXPECT_THAT(ml("Scaler").input({2, 3}, x).set_floats("offset", {1, 2}).failure(),
              HasSubstr("'offset' has 2 values for 3 features"));
}

TEST(Features, NormalizersDivideRows) {
  const auto made = [](const char* norm) {
    return ml("Normalizer").input({3, 3}, {1, -2, 3, 0, 0, 0, -1, -2, -4}).set("norm", norm).run();
  };
  expect_near(made("MAX"), {1 / 3., -2 / 3., 1, 0, 0, 0, 1, 2, 4});
  expect_near(made("L1"), {1 / 6., -1 / 3., 0.5, 0, 0, 0, -1 / 7., -2 / 7., -4 / 7.});
  expect_near(made("L2"),
              {0.267261, -0.534522, 0.801784, 0, 0, 0, -0.218218, -0.436436, -0.872872});
  expect_near(ml("Normalizer").input({2}, {3, 4}).set("norm", "L2").run(), {0.6, 0.8});
  EXPECT_THAT(ml("Normalizer").input({2}, {3, 4}).set("norm", "L3").failure(),
              HasSubstr("attribute 'norm' is 'L3'"));
}

TEST(Features, ImputersReplaceOneValue) {
  expect_near(ml("Imputer")
                  .input({2, 2}, {1, kNan, kNan, 0})
                  .set_floats("imputed_value_floats", {7, 8})
                  .set_float("replaced_value_float", std::nanf(""))
                  .run(),
              {1, 8, 7, 0});
  expect_near(
      ml("Imputer").input({2, 2}, {1, kNan, 0, 0}).set_floats("imputed_value_floats", {7}).run(),
      {1, kNan, 7, 7});
  expect_near(ml("Imputer")
                  .input({1, 3}, {1, -2, 0}, DataType::i64)
                  .set_list("imputed_value_int64s", {7})
                  .set("replaced_value_int64", -2)
                  .run(),
              {1, 7, 0});
  EXPECT_THAT(
      ml("Imputer").input({1, 3}, {1, 2, 3}).set_list("imputed_value_int64s", {7}).failure(),
      HasSubstr("'imputed_value_floats' has 0 values for 3 features"));
}

TEST(Features, CategoriesBecomeColumns) {
  OneNode integers = ml("OneHotEncoder")
                         .input({2, 2}, {1, 2, 3, 9}, DataType::i64)
                         .set_list("cats_int64s", {1, 2, 3});
  expect_near(integers.run(), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  EXPECT_THAT(integers.sizes(), ElementsAre(2, 2, 3));
  // A category that stands twice is that of its last place; floats lose their fraction.
  expect_near(
      ml("OneHotEncoder").input({3}, {1.7, 2, -1}).set_list("cats_int64s", {1, 2, -1, 2}).run(),
      {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0});
  expect_near(
      ml("OneHotEncoder").input_strings({"b", "x"}).set_strings("cats_strings", {"a", "b"}).run(),
      {0, 1, 0, 0});
  EXPECT_THAT(ml("OneHotEncoder")
                  .input_strings({"b", "x"})
                  .set_strings("cats_strings", {"a", "b"})
                  .set("zeros", int64_t{0})
                  .failure(),
              HasSubstr("'x' is no category"));
  EXPECT_THAT(ml("OneHotEncoder").input({1}, {1}).failure(), HasSubstr("0 categories in"));
  EXPECT_THAT(ml("OneHotEncoder").input({1}, {1}).set_strings("cats_strings", {"a"}).failure(),
              HasSubstr("its categories are strings"));
}

TEST(Features, VectorizersPutInputsSideBySide) {
  const auto made = [](std::vector<int64_t> widths) {
    return ml("FeatureVectorizer")
        .input({2, 2}, {1, 2, 3, 4})
        .input({2, 1}, {5, 6}, DataType::i64)
        .set_list("inputdimensions", std::move(widths));
  };
  expect_near(made({2, 1}).run(), {1, 2, 5, 3, 4, 6});
  expect_near(made({3, 1}).run(), {1, 2, 0, 5, 3, 4, 0, 6});
  expect_near(made({1, 1}).run(), {1, 5, 3, 6});
  expect_near(made({}).run(), {1, 2, 5, 3, 4, 6});
  expect_near(ml("FeatureVectorizer").input({2}, {1, 2}).input({3}, {3, 4, 5}).run(),
              {1, 2, 3, 4, 5});
  EXPECT_THAT(made({1}).failure(), HasSubstr("'inputdimensions' has 1 values, not 2"));
  EXPECT_THAT(made({1000000000, 1}).failure(), HasSubstr("has 1000000000 features for input 0"));
  EXPECT_THAT(made({-1, 1}).failure(), HasSubstr("has -1 features for input 0"));
  EXPECT_THAT(ml("FeatureVectorizer").input({2, 1}, {1, 2}).input({3, 1}, {3, 4, 5}).failure(),
              HasSubstr("input 1 has 3 rows, input 0 has 2"));
}

}  // namespace
}  // namespace stria::onnx
