// SPDX-License-Identifier: Apache-2.0
// Trees by numbers of nodes. Expected numbers follow from the trees by hand; ONNX Runtime 1.32 gave
// the same for all of one class or of more than two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;

// The lists of an ensemble; at first one tree: x[0] <= 0.5 leads to leaf 1, all else to leaf 2.
struct Lists {
  std::vector<int64_t> trees = {0, 0, 0}, ids = {0, 1, 2}, features = {0, 0, 0};
  std::vector<int64_t> if_true = {1, 0, 0}, if_false = {2, 0, 0}, missing = {};
  std::vector<std::string> modes = {"BRANCH_LEQ", "LEAF", "LEAF"};
  std::vector<float> values = {0.5, 0, 0};
  // Of the leaves.
  std::vector<int64_t> leaf_trees = {0, 0}, leaf_ids = {1, 2}, targets = {0, 0};
  std::vector<float> weights = {0.2F, 0.7F};
};

OneNode with_lists(const char* operation, const std::string& stem, const Lists& lists,
                   const std::vector<double>& x, DataType type = DataType::fp32) {
  OneNode out(operation, 3, "ai.onnx.ml");
  out.input({static_cast<int64_t>(x.size()), 1}, x, type)
      .set_list("nodes_treeids", lists.trees)
      .set_list("nodes_nodeids", lists.ids)
      .set_list("nodes_featureids", lists.features)
      .set_list("nodes_truenodeids", lists.if_true)
      .set_list("nodes_falsenodeids", lists.if_false)
      .set_strings("nodes_modes", lists.modes)
      .set_floats("nodes_values", lists.values)
      .set_list(stem + "_treeids", lists.leaf_trees)
      .set_list(stem + "_nodeids", lists.leaf_ids)
      .set_list(stem + "_ids", lists.targets)
      .set_floats(stem + "_weights", lists.weights);
  if (!lists.missing.empty()) out.set_list("nodes_missing_value_tracks_true", lists.missing);
  return out;
}

OneNode regressor(const Lists& lists, const std::vector<double>& x = {0.3, 0.7},
                  DataType type = DataType::fp32) {
  return with_lists("TreeEnsembleRegressor", "target", lists, x, type);
}

OneNode classifier(const Lists& lists, std::vector<int64_t> labels) {
  return with_lists("TreeEnsembleClassifier", "class", lists, {0.3, 0.7})
      .set_list("classlabels_int64s", std::move(labels));
}

TEST(Trees, EachModeBranches) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto made = [&](const char* mode, int64_t missing) {
    Lists lists;
    lists.modes[0] = mode;
    lists.missing = {missing, 0, 0};
    return regressor(lists, {0, 0.5, 1, kNan}).run();
  };
  // NaN goes where the node says, whatever the comparison.
  for (const int64_t missing : {0, 1}) {
    const double nan = missing ? 0.2 : 0.7;
    expect_near(made("BRANCH_LEQ", missing), {0.2, 0.2, 0.7, nan});
    expect_near(made("BRANCH_LT", missing), {0.2, 0.7, 0.7, nan});
    expect_near(made("BRANCH_GTE", missing), {0.7, 0.2, 0.2, nan});
    expect_near(made("BRANCH_GT", missing), {0.7, 0.7, 0.2, nan});
    expect_near(made("BRANCH_EQ", missing), {0.7, 0.2, 0.7, nan});
    expect_near(made("BRANCH_NEQ", missing), {0.2, 0.7, 0.2, nan});
  }
}

// Tree 0 is the one of Lists; tree 7 is deeper: x < 0.4 ? (x > 0.1 ? 10 : 20) : 40.
Lists two_trees() {
  Lists out;
  for (const auto& [id, mode, value, if_true, if_false] :
       {std::tuple(0, "BRANCH_LT", 0.4F, 4, 2), std::tuple(4, "BRANCH_GT", 0.1F, 5, 6),
        std::tuple(5, "LEAF", 0.F, 0, 0), std::tuple(6, "LEAF", 0.F, 0, 0),
        std::tuple(2, "LEAF", 0.F, 0, 0)}) {
    out.trees.push_back(7);
    out.ids.push_back(id);
    out.features.push_back(0);
    out.modes.emplace_back(mode);
    out.values.push_back(value);
    out.if_true.push_back(if_true);
    out.if_false.push_back(if_false);
  }
  for (const auto& [id, weight] : {std::pair(2, 40.F), std::pair(5, 10.F), std::pair(6, 20.F)}) {
    out.leaf_trees.push_back(7);
    out.leaf_ids.push_back(id);
    out.targets.push_back(0);
    out.weights.push_back(weight);
  }
  return out;
}

TEST(Trees, WeightsOfAllTreesAreFolded) {
  const auto made = [](const char* aggregate) {
    return regressor(two_trees(), {0.05, 0.3, 0.45, 0.9}).set("aggregate_function", aggregate);
  };
  expect_near(made("SUM").run(), {20.2, 10.2, 40.2, 40.7});
  expect_near(made("AVERAGE").run(), {10.1, 5.1, 20.1, 20.35});
  expect_near(made("MIN").run(), {0.2, 0.2, 0.2, 0.7});
  expect_near(made("MAX").run(), {20, 10, 40, 40});
  expect_near(made("AVERAGE").set_floats("base_values", {100}).run(),
              {110.1, 105.1, 120.1, 120.35});
}

TEST(Trees, LeavesMayHaveWeightsOfSeveralTargets) {
  Lists lists;
  lists.leaf_trees = {0, 0, 0};
  lists.leaf_ids = {1, 1, 2};
  lists.targets = {0, 2, 1};
  lists.weights = {0.2F, -0.3F, 0.7F};
  for (const char* aggregate : {"SUM", "MIN", "MAX"})
    expect_near(regressor(lists).set("n_targets", 3).set("aggregate_function", aggregate).run(),
                {0.2, 0, -0.3, 0, 0.7, 0});
  // One target for each leaf.
  lists = Lists();
  lists.targets = {1, 0};
  for (const char* aggregate : {"SUM", "MIN", "MAX"})
    expect_near(regressor(lists).set("n_targets", 2).set("aggregate_function", aggregate).run(),
                {0, 0.2, 0.7, 0});
}

TEST(Trees, NumbersOf64BitsStayThose) {
  Lists lists;
  lists.values.clear();
  const double split = 0.1 + 1e-12;
  expect_near(regressor(lists, {0.1, 0.1 + 2e-12}, DataType::fp64)
                  .set_tensor("nodes_values_as_tensor", DataType::fp64, {split, 0, 0})
                  .run(),
              {0.2, 0.7});
  EXPECT_THAT(regressor(Lists())
                  .set_tensor("nodes_values_as_tensor", DataType::fp64, {split, 0, 0})
                  .failure(),
              HasSubstr("'nodes_values' and 'nodes_values_as_tensor' are both there"));
}

TEST(Trees, SeveralClassesTakeTheLargestScore) {
  Lists lists;
  lists.leaf_trees = {0, 0, 0, 0};
  lists.leaf_ids = {1, 1, 2, 2};
  lists.targets = {0, 1, 0, 2};
  lists.weights = {0.2F, 0.8F, 0.3F, 0.7F};
  expect_near(classifier(lists, {5, 9, 7}).run(2), {9, 7, 0.2, 0.8, 0, 0.3, 0, 0.7});
  expect_near(classifier(lists, {5, 9, 7}).set_floats("base_values", {0.1F, 0.2F, 0.9F}).run(2),
              {9, 7, 0.3, 1, 0.9, 0.4, 0.2, 1.6});
  expect_near(classifier(lists, {5, 9, 7}).set("post_transform", "LOGISTIC").run(2),
              {9, 7, 0.549834, 0.689974, 0.5, 0.574443, 0.5, 0.668188});
  // With two classes, too.
  lists.targets = {0, 1, 0, 1};
  expect_near(classifier(lists, {5, 9}).run(2), {9, 9, 0.2, 0.8, 0.3, 0.7});
}

TEST(Trees, WeightsOfOneOfTwoClassesAreThoseOfTheSecond) {
  expect_near(classifier(Lists(), {5, 9}).run(2), {5, 9, 0.8, 0.2, 0.3, 0.7});
  expect_near(classifier(Lists(), {5, 9}).set("post_transform", "LOGISTIC").run(2),
              {5, 9, 0.450166, 0.549834, 0.331812, 0.668188});
  expect_near(classifier(Lists(), {5, 9}).set_floats("base_values", {0.15F}).run(2),
              {5, 9, 0.65, 0.35, 0.15, 0.85});
  Lists mixed;
  mixed.weights = {-0.2F, 0.7F};
  expect_near(classifier(mixed, {5, 9}).run(2), {5, 9, 0.2, -0.2, -0.7, 0.7});
  expect_near(classifier(mixed, {5, 9}).set("post_transform", "LOGISTIC").run(2),
              {5, 9, 0.549834, 0.450166, 0.331812, 0.668188});
  // Weights of class 1 leave class 0 at 0.
  Lists second;
  second.targets = {1, 1};
  expect_near(classifier(second, {5, 9}).run(2), {5, 9, 0, 0.2, 0, 0.7});
}

TEST(Trees, ATreeMayBeALeaf) {
  Lists lists;
  lists.trees = lists.ids = lists.features = lists.if_true = lists.if_false = {0};
  lists.modes = {"LEAF"};
  lists.values = {0};
  lists.leaf_trees = lists.leaf_ids = lists.targets = {0};
  lists.weights = {3};
  expect_near(regressor(lists).run(), {3, 3});
}

TEST(Trees, WrongListsAreTold) {
  const auto fails = [](const std::function<void(Lists&)>& change, const char* text) {
    Lists lists;
    change(lists);
    EXPECT_THAT(regressor(lists).failure(), HasSubstr(text));
  };
  fails([](Lists& l) { l.modes.pop_back(); }, "'nodes_modes' has 2 values, not 3");
  fails([](Lists& l) { l.values.push_back(1); }, "'nodes_values' has 4 values, not 3");
  fails([](Lists& l) { l.trees.pop_back(); }, "'nodes_treeids' has 2 values, not 3");
  fails([](Lists& l) { l.missing = {1}; }, "'nodes_missing_value_tracks_true' has 1 values");
  fails([](Lists& l) { l.ids.clear(); }, "'nodes_nodeids' has no nodes");
  fails([](Lists& l) { l.modes[0] = "BRANCH_XOR"; }, "'nodes_modes' has 'BRANCH_XOR'");
  fails([](Lists& l) { l.features[0] = 1; }, "has feature 1 at node 0 of tree 0; there are 1");
  fails([](Lists& l) { l.features[0] = -1; }, "has feature -1 at node 0 of tree 0");
  fails([](Lists& l) { l.if_true[0] = 1000000000000; },
        "'nodes_truenodeids' leads from node 0 of tree 0 to 1000000000000, which is not there");
  fails([](Lists& l) { l.if_false[0] = -5; }, "'nodes_falsenodeids' leads from node 0");
  fails([](Lists& l) { l.ids[2] = 1; }, "has node 1 of tree 0 twice");
  fails([](Lists& l) { l.trees[2] = 3; }, "'nodes_falsenodeids' leads from node 0 of tree 0 to 2");
  fails([](Lists& l) { l.if_false[0] = 1; }, "no node leads to node 0 of tree 0 nor to node 2");
  fails([](Lists& l) { l.if_false[0] = 0; }, "lead from the node at place 0 back to it");
  fails([](Lists& l) { l.leaf_ids[1] = 9; }, "'target_nodeids' has node 9 of tree 0");
  fails([](Lists& l) { l.targets[1] = 1; }, "'target_ids' has 1 at node 2 of tree 0; there are 1");
  fails([](Lists& l) { l.leaf_ids[1] = 1; }, "'target_ids' has 0 twice at node 1 of tree 0");
  fails([](Lists& l) { l.leaf_trees.pop_back(); }, "'target_treeids' has 1 values, not 2");
  fails([](Lists& l) { l.weights = {}, l.leaf_trees = l.leaf_ids = l.targets = {}; },
        "'target_weights' is empty");
  EXPECT_THAT(regressor(Lists()).set("n_targets", 1000000000).failure(),
              HasSubstr("'n_targets' is 1000000000"));
  EXPECT_THAT(regressor(Lists()).set("n_targets", int64_t{0}).failure(),
              HasSubstr("'n_targets' is 0"));
  EXPECT_THAT(regressor(Lists()).set("aggregate_function", "MEDIAN").failure(),
              HasSubstr("'aggregate_function' is 'MEDIAN'"));
  EXPECT_THAT(regressor(Lists()).set_floats("base_values", {1, 2}).failure(),
              HasSubstr("'base_values' has 2 values, not 1"));
  EXPECT_THAT(classifier(Lists(), {}).failure(), HasSubstr("0 labels of classes"));
}

// A chain of nodes: each leads to the next, and the last two to a leaf.
Lists chain(int64_t count, int64_t step) {
  Lists out;
  out.trees.assign(static_cast<size_t>(count) + 1, 0);
  out.features = out.if_true = out.if_false = out.trees;
  out.values.assign(out.trees.size(), 0.5F);
  out.modes.assign(out.trees.size(), "BRANCH_LEQ");
  out.modes.back() = "LEAF";
  out.ids.clear();
  for (int64_t n = 0; n <= count; ++n) {
    out.ids.push_back(n);
    out.if_true[static_cast<size_t>(n)] = std::min(n + 1, count);
    out.if_false[static_cast<size_t>(n)] = std::min(n + step, count);
  }
  out.leaf_trees = out.targets = {0};
  out.leaf_ids = {count};
  out.weights = {3};
  return out;
}

TEST(Trees, HostileTreesEndSoon) {
  // A node may be led to by two: 2^40 ways are 40 steps.
  expect_near(regressor(chain(40, 2)).run(), {3, 3});
  EXPECT_THAT(regressor(chain(300000, 2)).failure(),
              HasSubstr("trees of 300000 levels; at most 1024"));
  // Nodes 1 and 2 lead to each other, and node 0 to them.
  Lists circle;
  circle.modes = {"BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LEQ"};
  circle.if_true = {1, 2, 1};
  circle.if_false = {2, 2, 1};
  EXPECT_THAT(regressor(circle).failure(), HasSubstr("lead from the node at place 1 back to it"));
  circle.if_true[1] = 0;
  EXPECT_THAT(regressor(circle).failure(), HasSubstr("tree 0 has no root"));
}

// Of version 5: lists by places. x[0] <= 0.5 leads to leaf 0, all else to leaf 1.
TEST(Trees, TheAttributeThatIsWrongIsNamed) {
  const auto made = [](const std::string& wrong, std::vector<int64_t> list) {
    std::map<std::string, std::vector<int64_t>> lists = {
        {"nodes_featureids", {0}}, {"nodes_truenodeids", {0}}, {"nodes_falsenodeids", {1}},
        {"nodes_trueleafs", {1}},  {"nodes_falseleafs", {1}},  {"leaf_targetids", {0, 0}},
        {"tree_roots", {0}}};
    if (!wrong.empty()) lists[wrong] = std::move(list);
    OneNode out("TreeEnsemble", 5, "ai.onnx.ml");
    out.input({2, 1}, {0.3, 0.7}).set_tensor("nodes_modes", DataType::u8, {0});
    out.set_tensor("nodes_splits", DataType::fp32, {0.5});
    out.set_tensor("leaf_weights", DataType::fp32, {0.25, 0.75});
    for (const auto& [name, values] : lists) out.set_list(name, values);
    return out;
  };
  expect_near(made("", {}).run(), {0.25, 0.75});
  EXPECT_THAT(made("nodes_trueleafs", {1, 1}).failure(),
              HasSubstr("attribute 'nodes_trueleafs' has 2 values for the 1 nodes"));
  EXPECT_THAT(made("nodes_featureids", {3}).failure(),
              HasSubstr("attribute 'nodes_featureids' of node 0 is 3, of 1 features"));
  EXPECT_THAT(made("nodes_falsenodeids", {2}).failure(),
              HasSubstr("attribute 'nodes_falsenodeids' of node 0 is 2, of 2 leaves"));
  EXPECT_THAT(made("leaf_targetids", {0}).failure(),
              HasSubstr("attribute 'leaf_targetids' has 1 values for the 2 leaves"));
  EXPECT_THAT(made("leaf_targetids", {0, 1}).failure(),
              HasSubstr("attribute 'leaf_targetids' of leaf 1 is 1, of 1 targets"));
  EXPECT_THAT(made("tree_roots", {7}).failure(), HasSubstr("attribute 'tree_roots' has 7"));
  EXPECT_THAT(made("", {}).set("n_targets", int64_t{1} << 62).failure(),
              HasSubstr("attribute 'n_targets' is 4611686018427387904"));
  EXPECT_THAT(made("", {}).set("aggregate_function", 4).failure(),
              HasSubstr("attribute 'aggregate_function' is 4"));
}

}  // namespace
}  // namespace stria::onnx
