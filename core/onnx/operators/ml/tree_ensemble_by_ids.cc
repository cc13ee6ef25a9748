// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleRegressor and TreeEnsembleClassifier: nodes by the numbers of trees and nodes, and
// leaves as nodes with the mode LEAF, whose weights stand in lists of their own.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "stria/onnx/operators/ml/class_scores.h"
#include "stria/onnx/operators/ml/tree_table.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// Rows of the table by tree and node.
class NodeIds {
 public:
  void add(int64_t tree, int64_t id, int64_t row) { ids_.emplace_back(tree, id, row); }
  void sort() { std::sort(ids_.begin(), ids_.end()); }
  // -1: there is none.
  int64_t row(int64_t tree, int64_t id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), std::tuple(tree, id, int64_t{0}));
    const bool found = at != ids_.end() && std::get<0>(*at) == tree && std::get<1>(*at) == id;
    return found ? std::get<2>(*at) : -1;
  }
  // The first that two nodes share; the end if none is.
  auto twice() const {
    return std::adjacent_find(ids_.begin(), ids_.end(), [](const auto& a, const auto& b) {
      return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
    });
  }
  const std::vector<std::tuple<int64_t, int64_t, int64_t>>& all() const { return ids_; }

 private:
  std::vector<std::tuple<int64_t, int64_t, int64_t>> ids_;
};

std::string text_of(int64_t tree, int64_t id) {
  return fmt::format("node {} of tree {}", id, tree);
}

struct NodeLists {
  std::vector<int64_t> trees, ids, features, if_true, if_false, missing;
  std::vector<double> values;
  std::vector<TreeMode> modes;
};

Result<TreeMode> mode_of(const NodeWriter& node, const std::string& name) {
  static constexpr std::pair<std::string_view, TreeMode> kNames[] = {
      {"BRANCH_LEQ", kLessOrEqual},
      {"BRANCH_LT", kLess},
      {"BRANCH_GTE", kGreaterOrEqual},
      {"BRANCH_GT", kGreater},
      {"BRANCH_EQ", kEqual},
      {"BRANCH_NEQ", kNotEqual},
      {"LEAF", kLeaf},
  };
  for (const auto& [known, mode] : kNames)
    if (known == name) return mode;
  return node.error(fmt::format("attribute 'nodes_modes' has '{}', which is no mode", name));
}

Result<NodeLists> node_lists(NodeWriter& node) {
  NodeLists out;
  STRIA_ASSIGN(out.ids, node.integers_attribute("nodes_nodeids"));
  const size_t count = out.ids.size();
  if (count == 0) return node.error("attribute 'nodes_nodeids' has no nodes");
  for (const auto& [name, list] :
       {std::pair("nodes_treeids", &out.trees), std::pair("nodes_featureids", &out.features),
        std::pair("nodes_truenodeids", &out.if_true),
        std::pair("nodes_falsenodeids", &out.if_false)}) {
    STRIA_ASSIGN(*list, node.integers_attribute(name));
    if (list->size() != count)
      return wrong_count(node, name, list->size(), static_cast<int64_t>(count));
  }
  STRIA_ASSIGN(out.missing, node.integers_attribute("nodes_missing_value_tracks_true"));
  if (out.missing.empty()) out.missing.assign(count, 0);
  if (out.missing.size() != count)
    return wrong_count(node, "nodes_missing_value_tracks_true", out.missing.size(),
                       static_cast<int64_t>(count));
  STRIA_ASSIGN(out.values, real_list(node, "nodes_values"));
  if (out.values.size() != count)
    return wrong_count(node, "nodes_values", out.values.size(), static_cast<int64_t>(count));
  STRIA_ASSIGN(const std::vector<std::string> modes, text_list(node, "nodes_modes"));
  if (modes.size() != count)
    return wrong_count(node, "nodes_modes", modes.size(), static_cast<int64_t>(count));
  for (const std::string& name : modes) {
    STRIA_ASSIGN(const TreeMode mode, mode_of(node, name));
    out.modes.push_back(mode);
  }
  return out;
}

// Each tree begins at the one node to which none leads.
Status add_roots(NodeWriter& node, const NodeLists& lists, const NodeIds& ids, Trees& trees) {
  std::vector<bool> led_to(lists.ids.size(), false);
  for (size_t n = 0; n < lists.ids.size(); ++n)
    if (lists.modes[n] != kLeaf)
      for (const int64_t to : {trees.if_true[n], trees.if_false[n]})
        led_to[static_cast<size_t>(to)] = true;
  // The ids are sorted: a tree's stand together.
  for (size_t begin = 0; begin < ids.all().size();) {
    const int64_t tree = std::get<0>(ids.all()[begin]);
    int64_t root = -1;
    size_t at = begin;
    for (; at < ids.all().size() && std::get<0>(ids.all()[at]) == tree; ++at) {
      const int64_t row = std::get<2>(ids.all()[at]);
      if (led_to[static_cast<size_t>(row)]) continue;
      if (root >= 0)
        return node.error(fmt::format("no node leads to {} nor to node {}: a tree has one root",
                                      text_of(tree, lists.ids[static_cast<size_t>(root)]),
                                      lists.ids[static_cast<size_t>(row)]));
      root = row;
    }
    if (root < 0)
      return node.error(
          fmt::format("tree {} has no root: its nodes lead back to themselves", tree));
    trees.roots.push_back(root);
    begin = at;
  }
  return {};
}

Status add_nodes(NodeWriter& node, int64_t columns, NodeIds& ids, Trees& trees) {
  STRIA_ASSIGN(const NodeLists lists, node_lists(node));
  for (size_t n = 0; n < lists.ids.size(); ++n) {
    const bool is_leaf = lists.modes[n] == kLeaf;
    if (!is_leaf && (lists.features[n] < 0 || lists.features[n] >= columns))
      return node.error(
          fmt::format("attribute 'nodes_featureids' has feature {} at {}; there are "
                      "{} features",
                      lists.features[n], text_of(lists.trees[n], lists.ids[n]), columns));
    ids.add(lists.trees[n], lists.ids[n],
            trees.add(lists.modes[n], is_leaf ? 0 : lists.features[n], lists.values[n],
                      lists.missing[n] != 0));
  }
  ids.sort();
  if (const auto at = ids.twice(); at != ids.all().end())
    return node.error(fmt::format("attribute 'nodes_nodeids' has {} twice",
                                  text_of(std::get<0>(*at), std::get<1>(*at))));
  for (size_t n = 0; n < lists.ids.size(); ++n) {
    if (lists.modes[n] == kLeaf) continue;
    trees.if_true[n] = ids.row(lists.trees[n], lists.if_true[n]);
    trees.if_false[n] = ids.row(lists.trees[n], lists.if_false[n]);
    const bool is_there = trees.if_true[n] >= 0;
    if (!is_there || trees.if_false[n] < 0)
      return node.error(fmt::format("attribute '{}' leads from {} to {}, which is not there",
                                    is_there ? "nodes_falsenodeids" : "nodes_truenodeids",
                                    text_of(lists.trees[n], lists.ids[n]),
                                    is_there ? lists.if_false[n] : lists.if_true[n]));
  }
  return add_roots(node, lists, ids, trees);
}

// The lists `stem`_treeids, _nodeids, _ids and _weights. Weights of nodes that are no leaves count
// for nothing: nobody ends there.
Status add_weights(NodeWriter& node, const std::string& stem, int64_t targets, const NodeIds& ids,
                   Trees& trees) {
  STRIA_ASSIGN(const std::vector<double> weights, real_list(node, stem + "_weights"));
  std::vector<int64_t> tree_of, node_of, target_of;
  for (const auto& [name, list] : {std::pair("_treeids", &tree_of), std::pair("_nodeids", &node_of),
                                   std::pair("_ids", &target_of)}) {
    STRIA_ASSIGN(*list, node.integers_attribute(stem + name));
    if (list->size() != weights.size())
      return wrong_count(node, stem + name, list->size(), static_cast<int64_t>(weights.size()));
  }
  if (weights.empty()) return node.error(fmt::format("attribute '{}_weights' is empty", stem));
  std::set<std::pair<int64_t, int64_t>> seen;
  for (size_t w = 0; w < weights.size(); ++w) {
    const int64_t row = ids.row(tree_of[w], node_of[w]);
    if (row < 0)
      return node.error(fmt::format("attribute '{}_nodeids' has {}, which is not there", stem,
                                    text_of(tree_of[w], node_of[w])));
    if (target_of[w] < 0 || target_of[w] >= targets)
      return node.error(fmt::format("attribute '{}_ids' has {} at {}; there are {}", stem,
                                    target_of[w], text_of(tree_of[w], node_of[w]), targets));
    if (trees.modes[static_cast<size_t>(row)] != kLeaf) continue;
    if (!seen.emplace(row, target_of[w]).second)
      return node.error(fmt::format("attribute '{}_ids' has {} twice at {}", stem, target_of[w],
                                    text_of(tree_of[w], node_of[w])));
    trees.weights.push_back({row, target_of[w], weights[w]});
  }
  return {};
}

Result<Trees> trees_by_ids(NodeWriter& node, const std::string& stem, int64_t columns,
                           int64_t targets) {
  Trees out;
  NodeIds ids;
  STRIA_RETURN_IF_ERROR(add_nodes(node, columns, ids, out));
  STRIA_RETURN_IF_ERROR(add_weights(node, stem, targets, ids, out));
  return out;
}

// Scores with a number for each target added.
Result<std::string> with_base(NodeWriter& node, const FeatureRows& x, const std::string& scores,
                              const std::vector<double>& base) {
  if (base.empty()) return scores;
  STRIA_ASSIGN(const std::string added,
               real_table(node, x.type, base, {1, static_cast<int64_t>(base.size())}));
  return node.let(fmt::format("{} + {}", scores, added));
}

std::string above(NodeWriter& node, const std::string& scores, int64_t column, double limit,
                  int64_t rows) {
  const std::string is_above = node.let(fmt::format("{} > {} ? 1 : 0", scores, number(limit)));
  return contract(node, '=', {"r"}, {rows}, fmt::format("{}[r, {}]", is_above, column));
}

}  // namespace

Status tree_ensemble_regressor(NodeWriter& node) {
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  STRIA_ASSIGN(const int64_t targets, node.integer_attribute("n_targets", 1));
  STRIA_ASSIGN(const PostTransform transform, post_transform(node));
  STRIA_ASSIGN(const std::string name, node.string_attribute("aggregate_function", "SUM"));
  STRIA_ASSIGN(const std::vector<double> base, real_list(node, "base_values"));
  static constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* const aggregate = std::find(std::begin(kAggregates), std::end(kAggregates), name);
  if (aggregate == std::end(kAggregates))
    return node.error(
        fmt::format("attribute 'aggregate_function' is '{}': AVERAGE, SUM, MIN or MAX", name));
  if (targets < 1 || targets > kMostTargets)
    return node.error(
        fmt::format("attribute 'n_targets' is {}: 1 to {} are possible", targets, kMostTargets));
  if (!base.empty() && static_cast<int64_t>(base.size()) != targets)
    return wrong_count(node, "base_values", base.size(), targets);
  STRIA_ASSIGN(const Trees trees, trees_by_ids(node, "target", x.columns, targets));
  STRIA_ASSIGN(const std::string leaves, leaves_of(node, x, trees));
  const auto how = static_cast<TreeAggregate>(aggregate - std::begin(kAggregates));
  STRIA_ASSIGN(const std::string folded, scores_of(node, x, trees, leaves, targets, how));
  STRIA_ASSIGN(const std::string scores, with_base(node, x, folded, base));
  return node.result(
      0, converted(transformed(node, scores, x.rows, transform), x.type, DataType::fp32));
}

Status tree_ensemble_classifier(NodeWriter& node) {
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  STRIA_ASSIGN(const ClassLabels labels, class_labels(node, "classlabels_int64s"));
  STRIA_ASSIGN(const PostTransform transform, post_transform(node));
  STRIA_ASSIGN(const std::vector<double> base, real_list(node, "base_values"));
  const int64_t classes = labels.count();
  if (classes > kMostTargets)
    return node.not_supported(fmt::format("{} classes; at most {}", classes, kMostTargets));
  STRIA_ASSIGN(const Trees trees, trees_by_ids(node, "class", x.columns, classes));
  // With two classes, weights of one of them alone are those of the second label's.
  bool one_class = classes == 2, has_negative = false;
  for (const TreeWeight& weight : trees.weights) {
    one_class &= weight.target == trees.weights[0].target;
    has_negative |= weight.weight < 0;
  }
  one_class &= !trees.weights.empty();
  const bool one_score = one_class && trees.weights[0].target == 0 && base.size() < 2;
  const int64_t targets = one_score ? 1 : classes;
  if (!base.empty() && static_cast<int64_t>(base.size()) != targets)
    return wrong_count(node, "base_values", base.size(), targets);
  STRIA_ASSIGN(const std::string leaves, leaves_of(node, x, trees));
  STRIA_ASSIGN(const std::string summed,
               scores_of(node, x, trees, leaves, targets, TreeAggregate::sum));
  STRIA_ASSIGN(const std::string scores, with_base(node, x, summed, base));
  const double limit = has_negative ? 0 : 0.5;
  std::string number, shown;
  if (one_score) {
    number = above(node, scores, 0, limit, x.rows);
    STRIA_ASSIGN(shown, two_classes(node, scores, x.type, x.rows, transform,
                                    has_negative ? Opposite::negative : Opposite::complement));
  } else {
    number = one_class && base.empty() ? above(node, scores, 1, limit, x.rows)
                                       : first_largest(node, scores, x.rows, classes);
    shown = transformed(node, scores, x.rows, transform);
  }
  STRIA_RETURN_IF_ERROR(result_labels(node, labels, number));
  return node.result(1, converted(shown, x.type, DataType::fp32));
}

}  // namespace stria::onnx::operators
