// SPDX-License-Identifier: Apache-2.0
// Support vector machines. Expected numbers are those of ONNX Runtime 1.32 for the same node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;

const std::vector<double> kRows = {-1.5, 0.2, 0.3, 1, 0, 0, 0.7, -1, 2, 0.5};

OneNode classifier(const char* kernel, const char* transform = "NONE") {
  return OneNode("SVMClassifier", 1, "ai.onnx.ml")
      .input({5, 2}, kRows)
      .set("kernel_type", kernel)
      .set_floats("kernel_params", {0.5, 0.25, 2})
      .set("post_transform", transform);
}

OneNode two_classes(const char* kernel, const char* transform = "NONE") {
  return classifier(kernel, transform)
      .set_floats("support_vectors", {1, 0.5, -1, 0.3F})
      .set_list("vectors_per_class", {1, 1})
      .set_floats("coefficients", {1, -1})
      .set_floats("rho", {0.1F})
      .set_list("classlabels_ints", {5, 9});
}

OneNode three_classes(const char* transform = "NONE") {
  return classifier("RBF", transform)
      .set_floats("support_vectors", {1, 0.5, -1, 0.3F, 0, 1})
      .set_list("vectors_per_class", {1, 1, 1})
      .set_floats("coefficients", {1, -1, 0.5, 0.5, -0.5, 0.2F})
      .set_floats("rho", {0.1F, 0.2F, 0.3F})
      .set_list("classlabels_ints", {5, 9, 7});
}

TEST(Svm, KernelsDecideBetweenTwoClasses) {
  expect_near(two_classes("RBF").run(2), {9, 5, 5, 5, 5, 0.73609, -0.73609, -0.45452, 0.45452,
                                          -0.05542, 0.05542, -0.3091, 0.3091, -0.69564, 0.69564});
  expect_near(two_classes("LINEAR").run(2),
              {9, 5, 5, 5, 5, 2.86, -2.86, -0.9, 0.9, -0.1, 0.1, -1.3, 1.3, -4.2, 4.2});
  expect_near(two_classes("POLY").run(2),
              {9, 5, 5, 5, 5, 0.7584, -0.7584, -0.46, 0.46, -0.1, 0.1, -0.16, 0.16, -1.535, 1.535});
  expect_near(two_classes("SIGMOID").run(2), {9, 5, 5, 5, 5, 1.09581, -1.09581, -0.42675, 0.42675,
                                              -0.1, 0.1, -0.68129, 0.68129, -1.56809, 1.56809});
}

TEST(Svm, ScoresOfTwoClassesAreTransformed) {
  expect_near(two_classes("RBF", "LOGISTIC").run(2),
              {9, 5, 5, 5, 5, 0.67614, 0.32386, 0.38829, 0.61171, 0.48615, 0.51385, 0.42333,
               0.57667, 0.33278, 0.66722});
  expect_near(two_classes("RBF", "SOFTMAX").run(2),
              {9, 5, 5, 5, 5, 1.73609, -0.73609, 0.54548, 0.45452, 0.94458, 0.05542, 0.6909, 0.3091,
               0.30436, 0.69564});
}

TEST(Svm, PairsOfClassesVote) {
  expect_near(
      three_classes().run(2),
      {5,       5,       5,      5,       5,      -0.73609, 0.33887, -0.0919, 0.45452, 1.02337,
       0.32309, 0.05542, 0.7709, 0.13139, 0.3091, 0.40815,  0.27055, 0.69564, 0.56298, 0.31844});
}

TEST(Svm, ProbabilitiesAreCoupled) {
  expect_near(two_classes("RBF").set_floats("prob_a", {-1.2F}).set_floats("prob_b", {0.3F}).run(2),
              {9, 5, 5, 5, 5, 0.23445, 0.76555, 0.56095, 0.43905, 0.44179, 0.55821, 0.51772,
               0.48228, 0.62913, 0.37087});
  const std::vector<double> wanted = {5,       5,       5,       5,       5,       0.23056, 0.37871,
                                      0.39073, 0.46196, 0.31522, 0.22282, 0.36877, 0.35043, 0.2808,
                                      0.36055, 0.33006, 0.30939, 0.43997, 0.27737, 0.28266};
  expect_near(three_classes()
                  .set_floats("prob_a", {-1.2F, -1.2F, -1.2F})
                  .set_floats("prob_b", {0.3F, 0.3F, 0.3F})
                  .run(2),
              wanted);
}

TEST(Svm, WithoutVectorsARowOfCoefficientsScoresAClass) {
  expect_near(classifier("LINEAR")
                  .set_floats("coefficients", {1, -0.5, 0.3F, 0.2F, 0.7F, 0.7F})
                  .set_floats("rho", {0.1F})
                  .set_list("classlabels_ints", {5, 9, 7})
                  .run(2),
              {9,    7,   5,   5,   5,   -1.5, -0.31, -0.81, -0.1, 0.39,
               1.01, 0.1, 0.1, 0.1, 1.3, 0.11, -0.11, 1.85,  0.8,  1.85});
}

OneNode regressor() {
  return OneNode("SVMRegressor", 1, "ai.onnx.ml")
      .input({5, 2}, kRows)
      .set_floats("kernel_params", {0.5, 0.25, 2})
      .set_floats("coefficients", {1, -1})
      .set_floats("rho", {0.1F});
}

TEST(Svm, RegressorsSumKernels) {
  const std::vector<float> vectors = {1, 0.5, -1, 0.3F};
  const auto made = [&] {
    return regressor()
        .set("kernel_type", "RBF")
        .set("n_supports", 2)
        .set_floats("support_vectors", vectors);
  };
  expect_near(made().run(), {-0.73609, 0.45452, 0.05542, 0.3091, 0.69564});
  expect_near(made().set("one_class", 1).run(), {-1, 1, 1, 1, 1});
  expect_near(regressor().run(), {-1.6, -0.6, 0.1, 1.8, 1.6});
}

TEST(Svm, FarFeaturesKeepTheirDistances) {
  // |x - v|^2 = 0.25 and 1, 10000 away from 0.
  expect_near(OneNode("SVMRegressor", 1, "ai.onnx.ml")
                  .input({1, 1}, {10000.5})
                  .set("kernel_type", "RBF")
                  .set_floats("kernel_params", {1, 0, 3})
                  .set_floats("coefficients", {1, 2})
                  .set_floats("rho", {0})
                  .set("n_supports", 2)
                  .set_floats("support_vectors", {10000, 10001.5})
                  .run(),
              {0.7788008 + 2 * 0.3678794});
}

TEST(Svm, WrongAttributesAreTold) {
  EXPECT_THAT(classifier("COSINE").failure(), HasSubstr("'kernel_type' is 'COSINE'"));
  EXPECT_THAT(OneNode("SVMRegressor", 1, "ai.onnx.ml")
                  .input({1, 1}, {1})
                  .set("kernel_type", "RBF")
                  .failure(),
              HasSubstr("'kernel_params' has 0 values, not 3"));
  const auto two = [](std::vector<int64_t> per_class, std::vector<float> vectors,
                      std::vector<float> coefficients, std::vector<float> rho) {
    return classifier("RBF")
        .set_list("vectors_per_class", std::move(per_class))
        .set_floats("support_vectors", std::move(vectors))
        .set_floats("coefficients", std::move(coefficients))
        .set_floats("rho", std::move(rho))
        .set_list("classlabels_ints", {5, 9})
        .failure();
  };
  EXPECT_THAT(two({1}, {1, 2, 3, 4}, {1, 1}, {1}), HasSubstr("'vectors_per_class' has 1 values"));
  EXPECT_THAT(two({1, -1}, {1, 2, 3, 4}, {1, 1}, {1}), HasSubstr("'vectors_per_class' has -1"));
  EXPECT_THAT(two({1, int64_t{1} << 62}, {1, 2, 3, 4}, {1, 1}, {1}),
              HasSubstr("'vectors_per_class' has 4611686018427387904"));
  EXPECT_THAT(two({1, 1}, {1, 2, 3}, {1, 1}, {1}), HasSubstr("3 numbers for 2 vectors of 2"));
  EXPECT_THAT(two({1, 1}, {1, 2, 3, 4}, {1}, {1}), HasSubstr("'coefficients' has 1 values, not 2"));
  EXPECT_THAT(two({1, 1}, {1, 2, 3, 4}, {1, 1}, {1, 2}), HasSubstr("'rho' has 2 values, not 1"));
  EXPECT_THAT(two_classes("RBF").set_floats("prob_a", {1}).failure(),
              HasSubstr("'prob_b' has 0 values, not 1"));
  EXPECT_THAT(regressor().set("n_supports", 3).failure(), HasSubstr("'n_supports' is 3"));
  EXPECT_THAT(regressor().set("n_supports", -3).failure(), HasSubstr("'n_supports' is -3"));
}

}  // namespace
}  // namespace stria::onnx
