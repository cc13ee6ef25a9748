// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble: all rows go down all trees at once. Nodes and leaves are rows of one table, a leaf
// leads to itself, and as many steps as the deepest tree has bring everybody to a leaf.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

constexpr int64_t kMember = 6;  // of the modes; those before it compare with one number

struct Trees {
  std::vector<int64_t> roots, features, modes, if_true, if_false, missing_true;  // nodes, leaves
  std::vector<double> splits;
  std::vector<double> members;  // a row of `most_members` for each node or leaf; NaN is none
  int64_t most_members = 0;
  std::vector<int64_t> targets;  // of leaves; nodes have target 0 and weight 0
  std::vector<double> weights;
  int64_t depth = 0;
};

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
  size_t next = 0;
  std::vector<std::vector<double>> own(trees.modes.size());
  for (size_t n = 0; n < trees.modes.size(); ++n) {
    if (trees.modes[n] != kMember) continue;
    if (next >= sets.size()) return node.error("membership_values has too few sets");
    own[n] = sets[next++];
    trees.most_members = std::max(trees.most_members, static_cast<int64_t>(own[n].size()));
  }
  if (next == 0) return {};
  trees.most_members = std::max<int64_t>(trees.most_members, 1);
  for (std::vector<double>& set : own) {
    set.resize(static_cast<size_t>(trees.most_members), std::numeric_limits<double>::quiet_NaN());
    trees.members.insert(trees.members.end(), set.begin(), set.end());
  }
  return {};
}

// The longest way from a root to a leaf. Nodes that lead back to themselves have none.
Status find_depth(NodeWriter& node, int64_t nodes, Trees& trees) {
  std::vector<int64_t> level = trees.roots;
  for (trees.depth = 0; !level.empty(); ++trees.depth) {
    if (trees.depth > nodes) return node.error("its nodes are no trees");
    std::vector<int64_t> below;
    for (const int64_t at : level) {
      const auto n = static_cast<size_t>(at);
      for (const int64_t to : {trees.if_true[n], trees.if_false[n]})
        if (at < nodes && to < nodes) below.push_back(to);
    }
    std::sort(below.begin(), below.end());
    below.erase(std::unique(below.begin(), below.end()), below.end());
    level = std::move(below);
  }
  return {};
}

Result<Trees> trees_of(NodeWriter& node, int64_t features, int64_t targets) {
  Trees out;
  STRIA_ASSIGN(out.roots, node.integers_attribute("tree_roots"));
  STRIA_ASSIGN(out.features, node.integers_attribute("nodes_featureids"));
  STRIA_ASSIGN(out.if_true, node.integers_attribute("nodes_truenodeids"));
  STRIA_ASSIGN(out.if_false, node.integers_attribute("nodes_falsenodeids"));
  STRIA_ASSIGN(const std::vector<int64_t> true_leafs, node.integers_attribute("nodes_trueleafs"));
  STRIA_ASSIGN(const std::vector<int64_t> false_leafs, node.integers_attribute("nodes_falseleafs"));
  STRIA_ASSIGN(const std::vector<int64_t> leaf_targets, node.integers_attribute("leaf_targetids"));
  STRIA_ASSIGN(const std::vector<double> modes, numbers_of(node, "nodes_modes"));
  STRIA_ASSIGN(out.splits, numbers_of(node, "nodes_splits"));
  STRIA_ASSIGN(const std::vector<double> leaf_weights, numbers_of(node, "leaf_weights"));
  STRIA_ASSIGN(const std::vector<double> members, numbers_of(node, "membership_values"));
  const size_t nodes = out.features.size(), leaves = leaf_weights.size();
  STRIA_ASSIGN(out.missing_true, node.integers_attribute("nodes_missing_value_tracks_true",
                                                         std::vector<int64_t>(nodes, 0)));
  for (const size_t size :
       {out.if_true.size(), out.if_false.size(), true_leafs.size(), false_leafs.size(),
        modes.size(), out.splits.size(), out.missing_true.size()})
    if (size != nodes) return node.error(fmt::format("a list of {} for {} nodes", size, nodes));
  if (leaf_targets.size() != leaves)
    return node.error(fmt::format("{} targets of {} leaves", leaf_targets.size(), leaves));
  const auto outside = [](int64_t value, int64_t limit) { return value < 0 || value >= limit; };
  for (size_t n = 0; n < nodes; ++n) {
    out.modes.push_back(static_cast<int64_t>(modes[n]));
    if (outside(out.modes[n], kMember + 1) || outside(out.features[n], features))
      return node.error(fmt::format("node {}: mode {}, feature {} of {}", n, out.modes[n],
                                    out.features[n], features));
    for (const auto& [to, is_leaf] :
         {std::pair(&out.if_true[n], true_leafs[n]), std::pair(&out.if_false[n], false_leafs[n])}) {
      if (outside(*to, static_cast<int64_t>(is_leaf ? leaves : nodes)))
        return node.error(fmt::format("node {} leads to {}, which is not there", n, *to));
      if (is_leaf) *to += static_cast<int64_t>(nodes);
    }
  }
  STRIA_RETURN_IF_ERROR(add_members(node, members, out));
  out.targets.assign(nodes, 0);
  out.weights.assign(nodes, 0);
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    if (outside(leaf_targets[leaf], targets))
      return node.error(
          fmt::format("leaf {} has target {} of {}", leaf, leaf_targets[leaf], targets));
    const auto self = static_cast<int64_t>(nodes + leaf);
    out.if_true.push_back(self);
    out.if_false.push_back(self);
    for (std::vector<int64_t>* const list : {&out.features, &out.modes, &out.missing_true})
      list->push_back(0);
    out.splits.push_back(0);
    out.members.insert(out.members.end(), static_cast<size_t>(out.most_members), 0);
    out.targets.push_back(leaf_targets[leaf]);
    out.weights.push_back(leaf_weights[leaf]);
  }
  for (const int64_t root : out.roots)
    if (outside(root, static_cast<int64_t>(nodes)))
      return node.error(fmt::format("root {} of {} nodes", root, nodes));
  if (out.roots.empty()) return node.error("it has no trees");
  STRIA_RETURN_IF_ERROR(find_depth(node, static_cast<int64_t>(nodes), out));
  return out;
}

// Numbers of the input's type.
Result<std::string> real_table(NodeWriter& node, const std::vector<double>& values,
                               std::vector<int64_t> sizes) {
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, std::move(sizes), "numbers"));
  for (size_t e = 0; e < values.size(); ++e)
    store_scalar(type, out.data(), static_cast<int64_t>(e),
                 Scalar::of_float(DataType::fp64, values[e]));
  return node.constant(std::move(out));
}

// The leaf at which each row arrives in each tree: [rows, trees].
Result<std::string> leaves_of(NodeWriter& node, const std::string& x, const Trees& trees) {
  const auto count = static_cast<int64_t>(trees.targets.size());
  const int64_t rows = node.size(0, 0), columns = node.size(0, 1);
  const auto roots = static_cast<int64_t>(trees.roots.size());
  std::map<std::string, std::string> tables;
  for (const auto& [name, values] :
       {std::pair("feature", &trees.features), std::pair("mode", &trees.modes),
        std::pair("true", &trees.if_true), std::pair("false", &trees.if_false),
        std::pair("missing", &trees.missing_true)}) {
    STRIA_ASSIGN(tables[name],
                 table(node, std::vector<int32_t>(values->begin(), values->end()), {count}));
  }
  STRIA_ASSIGN(const std::string splits, real_table(node, trees.splits, {count}));
  std::string members;
  if (trees.most_members) {
    STRIA_ASSIGN(members, real_table(node, trees.members, {count, trees.most_members}));
  }
  const std::string flat = node.let(reshaped(x, {rows * columns}));
  STRIA_ASSIGN(const std::string first,
               table(node, std::vector<int32_t>(trees.roots.begin(), trees.roots.end()), {roots}));
  const std::string row = node.let(fmt::format("reshape(index({}, 0), {}, {})", x, rows, columns));
  const std::string row_begin = node.fresh();
  node.line(fmt::format("{}[r, 0 : {}, 1] = >({}[r, c]);", row_begin, rows, row));
  std::string at = node.let(fmt::format("{} * 0 + {}", row_begin, first));
  const auto of_node = [&](const std::string& name) {
    return node.let(fmt::format("gather({}, {})", name, at));
  };
  for (int64_t step = 0; step < trees.depth; ++step) {
    const std::string place =
        node.let(fmt::format("{} * {} + {}", row_begin, columns, of_node(tables["feature"])));
    const std::string value = node.let(fmt::format("gather({}, {})", flat, place));
    const std::string split = of_node(splits), mode = of_node(tables["mode"]);
    std::string holds = fmt::format(
        "{0} == 0 ? {1} <= {2} : {0} == 1 ? {1} < {2} : {0} == 2 ? {1} >= {2} : "
        "{0} == 3 ? {1} > {2} : {0} == 4 ? {1} == {2} : {1} != {2}",
        mode, value, split);
    if (!members.empty()) {
      const std::string equal = node.let(
          fmt::format("gather({}, {}) == reshape({}, {}, {}, 1)", members, at, value, rows, roots));
      const std::string any = node.fresh();
      node.line(fmt::format("{}[r, t : {}, {}] = >({}[r, t, m]);", any, rows, roots, equal));
      holds = fmt::format("{} == {} ? {} : ({})", mode, kMember, any, holds);
    }
    const std::string taken = node.let(
        fmt::format("{} != {} ? {} != 0 : ({})", value, value, of_node(tables["missing"]), holds));
    const std::string if_true = of_node(tables["true"]), if_false = of_node(tables["false"]);
    at = node.let(fmt::format("{} ? {} : {}", taken, if_true, if_false));
  }
  return at;
}

// The scores of a row, [rows, targets], after `transform`.
Result<std::string> transformed(NodeWriter& node, const std::string& scores, int64_t rows,
                                int64_t transform) {
  if (transform == 0) return scores;
  if (transform == 2) return fmt::format("sigmoid({})", scores);
  if (transform != 1 && transform != 3)
    return node.not_supported(fmt::format("post_transform {}", transform));
  const std::string top = node.fresh(), sum = node.fresh();
  node.line(fmt::format("{}[r, 0 : {}, 1] = >({}[r, t]);", top, rows, scores));
  // 3 leaves scores of zero out.
  std::string parts = fmt::format("exp({} - {})", scores, top);
  if (transform == 3) parts = fmt::format("{} == 0.0 ? 0.0 : {}", scores, parts);
  parts = node.let(parts);
  node.line(fmt::format("{}[r, 0 : {}, 1] = +({}[r, t]);", sum, rows, parts));
  return fmt::format("{0} == 0.0 ? 0.0 : {1} / {0}", sum, parts);
}

}  // namespace

Status tree_ensemble(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  if (node.rank(0) != 2) return node.error(fmt::format("its input has rank {}", node.rank(0)));
  STRIA_ASSIGN(const int64_t targets, node.integer_attribute("n_targets", 1));
  STRIA_ASSIGN(const int64_t aggregate, node.integer_attribute("aggregate_function", 1));
  STRIA_ASSIGN(const int64_t transform, node.integer_attribute("post_transform", 0));
  if (targets < 1 || aggregate < 0 || aggregate > 3)
    return node.error(fmt::format("n_targets {}, aggregate_function {}", targets, aggregate));
  STRIA_ASSIGN(const Trees trees, trees_of(node, node.size(0, 1), targets));
  const int64_t rows = node.size(0, 0);
  const auto roots = static_cast<int64_t>(trees.roots.size());
  const auto count = static_cast<int64_t>(trees.targets.size());
  STRIA_ASSIGN(const std::string leaves, leaves_of(node, x, trees));
  STRIA_ASSIGN(const std::string weights, real_table(node, trees.weights, {count}));
  STRIA_ASSIGN(
      const std::string leaf_targets,
      table(node, std::vector<int32_t>(trees.targets.begin(), trees.targets.end()), {count}));
  std::vector<int32_t> ids(static_cast<size_t>(targets));
  for (size_t t = 0; t < ids.size(); ++t) ids[t] = static_cast<int32_t>(t);
  STRIA_ASSIGN(const std::string all_targets, table(node, ids, {1, 1, targets}));
  const std::string weight = node.let(fmt::format("gather({}, {})", weights, leaves));
  const std::string target = node.let(fmt::format("gather({}, {})", leaf_targets, leaves));
  const std::string own =
      node.let(fmt::format("reshape({}, {}, {}, 1) == {}", target, rows, roots, all_targets));
  const std::string weight_column =
      node.let(fmt::format("reshape({}, {}, {}, 1)", weight, rows, roots));
  const std::string scores = node.fresh();
  const auto fold = [&](const std::string& to, char aggregation, const std::string& what) {
    node.line(
        fmt::format("{}[r, t : {}, {}] = {}({}[r, e, t]);", to, rows, targets, aggregation, what));
  };
  if (aggregate < 2) {
    fold(scores, '+', node.let(fmt::format("{} ? {} : 0.0", own, weight_column)));
    const std::string all =
        aggregate ? scores : node.let(fmt::format("{} / {}", scores, number(roots)));
    STRIA_ASSIGN(const std::string y, transformed(node, all, rows, transform));
    return node.result(0, y);
  }
  // Leaves of other targets stand aside, as the farthest number; without any leaf it is 0.
  const bool least = aggregate == 2;
  const std::string aside =
      number(least ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest());
  const std::string folded = node.fresh(), some = node.fresh();
  fold(folded, least ? '<' : '>', node.let(fmt::format("{} ? {} : {}", own, weight_column, aside)));
  fold(some, '>', own);
  node.line(fmt::format("{} = {} ? {} : 0.0;", scores, some, folded));
  STRIA_ASSIGN(const std::string y, transformed(node, scores, rows, transform));
  return node.result(0, y);
}

}  // namespace stria::onnx::operators
