// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble: nodes and leaves by their places in lists. What classifiers and regressors of older
// versions have, nodes by numbers, is in tree_ensemble_by_ids.cc.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/onnx/operators/ml/class_scores.h"
#include "stria/onnx/operators/ml/tree_table.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

Result<std::vector<double>> numbers_of(NodeWriter& node, std::string_view name) {
  const Attribute* const found = node.find_attribute(name);
  std::vector<double> out;
  if (!found || !found->t) return out;
  STRIA_ASSIGN(const HostTensor tensor, host_tensor_of(*found->t));
  for (int64_t e = 0; e < tensor.element_count(); ++e)
    out.push_back(load_scalar(tensor.type(), tensor.data(), e).to_double());
  return out;
}

// The sets of the nodes with mode kMember, in their order, each up to a NaN.
Status add_members(NodeWriter& node, const std::vector<double>& listed, Trees& trees) {
  std::vector<std::vector<double>> sets(1);
  for (const double value : listed) {
    if (std::isnan(value))
      sets.emplace_back();
    else
      sets.back().push_back(value);
  }
  size_t next = 0, most = 0;
  std::vector<size_t> set_of(trees.modes.size(), 0);
  for (size_t n = 0; n < trees.modes.size(); ++n) {
    if (trees.modes[n] != kMember) continue;
    if (next >= sets.size()) return node.error("attribute 'membership_values' has too few sets");
    most = std::max(most, sets[next].size());
    set_of[n] = next++;
  }
  if (next == 0) return {};
  most = std::max<size_t>(most, 1);
  // One set of many numbers would give each row as many places.
  constexpr size_t kMostPlaces = size_t{1} << 26;
  if (trees.modes.size() > kMostPlaces / most)
    return node.not_supported(
        fmt::format("sets of up to {} numbers at {} nodes", most, trees.modes.size()));
  trees.most_members = static_cast<int64_t>(most);
  for (size_t n = 0; n < trees.modes.size(); ++n) {
    std::vector<double> set;
    if (trees.modes[n] == kMember) set = sets[set_of[n]];
    set.resize(most, std::numeric_limits<double>::quiet_NaN());
    trees.members.insert(trees.members.end(), set.begin(), set.end());
  }
  return {};
}

bool outside(int64_t value, int64_t limit) { return value < 0 || value >= limit; }

// The nodes, which lead to each other and to the leaves behind them.
Status add_nodes(NodeWriter& node, int64_t features, int64_t leaves, Trees& trees) {
  STRIA_ASSIGN(const std::vector<int64_t> of, node.integers_attribute("nodes_featureids"));
  STRIA_ASSIGN(const std::vector<int64_t> if_true, node.integers_attribute("nodes_truenodeids"));
  STRIA_ASSIGN(const std::vector<int64_t> if_false, node.integers_attribute("nodes_falsenodeids"));
  STRIA_ASSIGN(const std::vector<int64_t> true_leafs, node.integers_attribute("nodes_trueleafs"));
  STRIA_ASSIGN(const std::vector<int64_t> false_leafs, node.integers_attribute("nodes_falseleafs"));
  STRIA_ASSIGN(const std::vector<double> modes, numbers_of(node, "nodes_modes"));
  STRIA_ASSIGN(const std::vector<double> splits, numbers_of(node, "nodes_splits"));
  const size_t nodes = of.size();
  STRIA_ASSIGN(
      const std::vector<int64_t> missing,
      node.integers_attribute("nodes_missing_value_tracks_true", std::vector<int64_t>(nodes, 0)));
  for (const auto& [name, size] :
       {std::pair("nodes_truenodeids", if_true.size()),
        std::pair("nodes_falsenodeids", if_false.size()),
        std::pair("nodes_trueleafs", true_leafs.size()),
        std::pair("nodes_falseleafs", false_leafs.size()), std::pair("nodes_modes", modes.size()),
        std::pair("nodes_splits", splits.size()),
        std::pair("nodes_missing_value_tracks_true", missing.size())})
    if (size != nodes)
      return node.error(
          fmt::format("attribute '{}' has {} values for the {} nodes of "
                      "'nodes_featureids'",
                      name, size, nodes));
  for (size_t n = 0; n < nodes; ++n) {
    // NaN is no mode either.
    if (!(modes[n] >= 0 && modes[n] < int64_t{kLeaf}))
      return node.error(fmt::format("attribute 'nodes_modes' of node {} is {}", n, modes[n]));
    if (outside(of[n], features))
      return node.error(fmt::format("attribute 'nodes_featureids' of node {} is {}, of {} features",
                                    n, of[n], features));
    const int64_t row =
        trees.add(static_cast<TreeMode>(modes[n]), of[n], splits[n], missing[n] != 0);
    for (const bool way : {true, false}) {
      const int64_t to = way ? if_true[n] : if_false[n];
      const bool is_leaf = (way ? true_leafs[n] : false_leafs[n]) != 0;
      const auto count = static_cast<int64_t>(nodes);
      if (outside(to, is_leaf ? leaves : count))
        return node.error(fmt::format("attribute 'nodes_{}nodeids' of node {} is {}, of {} {}",
                                      way ? "true" : "false", n, to, is_leaf ? leaves : count,
                                      is_leaf ? "leaves" : "nodes"));
      (way ? trees.if_true : trees.if_false)[static_cast<size_t>(row)] = is_leaf ? to + count : to;
    }
  }
  return {};
}

Result<Trees> trees_of(NodeWriter& node, int64_t features, int64_t targets) {
  Trees out;
  STRIA_ASSIGN(const std::vector<int64_t> leaf_targets, node.integers_attribute("leaf_targetids"));
  STRIA_ASSIGN(const std::vector<double> leaf_weights, numbers_of(node, "leaf_weights"));
  STRIA_ASSIGN(const std::vector<double> members, numbers_of(node, "membership_values"));
  if (leaf_targets.size() != leaf_weights.size())
    return node.error(
        fmt::format("attribute 'leaf_targetids' has {} values for the {} leaves of 'leaf_weights'",
                    leaf_targets.size(), leaf_weights.size()));
  STRIA_RETURN_IF_ERROR(add_nodes(node, features, static_cast<int64_t>(leaf_weights.size()), out));
  const int64_t nodes = out.rows();
  for (size_t leaf = 0; leaf < leaf_weights.size(); ++leaf) {
    if (outside(leaf_targets[leaf], targets))
      return node.error(fmt::format("attribute 'leaf_targetids' of leaf {} is {}, of {} targets",
                                    leaf, leaf_targets[leaf], targets));
    out.weights.push_back({out.add(kLeaf, 0, 0, false), leaf_targets[leaf], leaf_weights[leaf]});
  }
  STRIA_RETURN_IF_ERROR(add_members(node, members, out));
  STRIA_ASSIGN(out.roots, node.integers_attribute("tree_roots"));
  for (const int64_t root : out.roots)
    if (outside(root, nodes))
      return node.error(fmt::format("attribute 'tree_roots' has {}, of {} nodes", root, nodes));
  if (out.roots.empty()) return node.error("attribute 'tree_roots' has no trees");
  return out;
}

}  // namespace

Status tree_ensemble(NodeWriter& node) {
  FeatureRows x;
  STRIA_ASSIGN(x.name, node.tensor(0));
  if (node.rank(0) != 2) return node.error(fmt::format("its input has rank {}", node.rank(0)));
  x.rows = node.size(0, 0);
  x.columns = node.size(0, 1);
  x.type = node.type(0).type;
  STRIA_ASSIGN(const int64_t targets, node.integer_attribute("n_targets", 1));
  STRIA_ASSIGN(const int64_t aggregate, node.integer_attribute("aggregate_function", 1));
  STRIA_ASSIGN(const int64_t transform, node.integer_attribute("post_transform", 0));
  if (targets < 1 || targets > kMostTargets)
    return node.error(
        fmt::format("attribute 'n_targets' is {}, not 1 to {}", targets, kMostTargets));
  if (outside(aggregate, 4))
    return node.error(fmt::format("attribute 'aggregate_function' is {}, not 0 to 3", aggregate));
  if (outside(transform, 5))
    return node.error(fmt::format("attribute 'post_transform' is {}, not 0 to 4", transform));
  STRIA_ASSIGN(const Trees trees, trees_of(node, x.columns, targets));
  STRIA_ASSIGN(const std::string leaves, leaves_of(node, x, trees));
  STRIA_ASSIGN(const std::string scores,
               scores_of(node, x, trees, leaves, targets, static_cast<TreeAggregate>(aggregate)));
  return node.result(0, transformed(node, scores, x.rows, static_cast<PostTransform>(transform)));
}

}  // namespace stria::onnx::operators
