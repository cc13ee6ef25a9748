// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/ml/tree_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {
namespace {

// A step is up to eight statements.
constexpr int64_t kMostLevels = 1024;
constexpr int64_t kMostNumbers = int64_t{1} << 28;

Result<std::string> rows_table(NodeWriter& node, const std::vector<int64_t>& rows) {
  return table(node, std::vector<int32_t>(rows.begin(), rows.end()),
               {static_cast<int64_t>(rows.size())});
}

// A row that leads back to itself. `before` counts the ways to each row that come from a circle.
int64_t place_in_circle(const Trees& trees, const std::vector<int64_t>& before) {
  std::vector<int64_t> from(before.size(), -1);
  int64_t at = -1;
  for (size_t n = 0; n < before.size(); ++n) {
    if (before[n] == 0) continue;
    at = static_cast<int64_t>(n);
    for (const int64_t to : {trees.if_true[n], trees.if_false[n]})
      if (trees.modes[n] != kLeaf) from[static_cast<size_t>(to)] = at;
  }
  // Backwards, each of these comes from another one: so many steps end in the circle.
  for (size_t step = 0; step < before.size(); ++step) at = from[static_cast<size_t>(at)];
  return at;
}

// The most steps from a node to a leaf. Each node is looked at once, when all that lead to it have
// been: those in a circle never are.
Result<int64_t> steps_of(NodeWriter& node, const Trees& trees) {
  const size_t count = trees.modes.size();
  std::vector<int64_t> before(count, 0), step(count, 0), open;
  for (size_t n = 0; n < count; ++n)
    if (trees.modes[n] != kLeaf)
      for (const int64_t to : {trees.if_true[n], trees.if_false[n]})
        ++before[static_cast<size_t>(to)];
  for (size_t n = 0; n < count; ++n)
    if (before[n] == 0) open.push_back(static_cast<int64_t>(n));
  int64_t out = 0;
  for (size_t done = 0; done < open.size(); ++done) {
    const auto n = static_cast<size_t>(open[done]);
    out = std::max(out, step[n]);
    if (trees.modes[n] == kLeaf) continue;
    for (const int64_t each : {trees.if_true[n], trees.if_false[n]}) {
      const auto to = static_cast<size_t>(each);
      step[to] = std::max(step[to], step[n] + 1);
      if (--before[to] == 0) open.push_back(each);
    }
  }
  if (open.size() != count)
    return node.error(
        fmt::format("its nodes are no trees: attributes 'nodes_truenodeids' and "
                    "'nodes_falsenodeids' lead from the node at place {} back to it",
                    place_in_circle(trees, before)));
  if (out > kMostLevels)
    return node.not_supported(
        fmt::format("trees of {} levels; at most {} are possible", out, kMostLevels));
  return out;
}

// The parameters that the steps read. Empty where all nodes are alike.
struct StepTables {
  std::string features, splits, modes, if_true, if_false, missing_true, members;
  std::set<int64_t> used_modes;
  bool has_nan_rule = false;  // a comparison alone does not send NaN the right way
};

Result<StepTables> step_tables(NodeWriter& node, const FeatureRows& x, const Trees& trees) {
  StepTables out;
  bool missing = false;
  for (size_t n = 0; n < trees.modes.size(); ++n) {
    if (trees.modes[n] == kLeaf) continue;
    out.used_modes.insert(trees.modes[n]);
    missing |= trees.missing_true[n] != 0;
  }
  STRIA_ASSIGN(out.features, rows_table(node, trees.features));
  STRIA_ASSIGN(out.if_true, rows_table(node, trees.if_true));
  STRIA_ASSIGN(out.if_false, rows_table(node, trees.if_false));
  STRIA_ASSIGN(out.splits, real_table(node, x.type, trees.splits, {trees.rows()}));
  if (out.used_modes.size() > 1) {
    STRIA_ASSIGN(out.modes, rows_table(node, trees.modes));
  }
  out.has_nan_rule = missing || out.used_modes.contains(kNotEqual);
  if (missing) {
    STRIA_ASSIGN(out.missing_true, rows_table(node, trees.missing_true));
  }
  if (out.used_modes.contains(kMember)) {
    STRIA_ASSIGN(out.members,
                 real_table(node, x.type, trees.members, {trees.rows(), trees.most_members}));
  }
  return out;
}

// Whether each row of features goes the way of `true` at the nodes `at`, [x.rows, roots].
std::string condition(NodeWriter& node, const FeatureRows& x, int64_t roots,
                      const StepTables& tables, const std::string& at, const std::string& value) {
  const auto of_node = [&](const std::string& name) {
    return node.let(fmt::format("gather({}, {})", name, at));
  };
  static constexpr const char* kSigns[] = {"<=", "<", ">=", ">", "==", "!="};
  const std::string split = of_node(tables.splits);
  std::string mode, holds;
  if (!tables.modes.empty()) mode = of_node(tables.modes);
  for (const int64_t each : tables.used_modes) {
    std::string one;
    if (each == kMember) {
      const std::string equal = node.let(fmt::format("gather({}, {}) == {}", tables.members, at,
                                                     reshaped(value, {x.rows, roots, 1})));
      one = contract(node, '>', {"r", "t"}, {x.rows, roots}, equal + "[r, t, m]");
    } else {
      one = fmt::format("{} {} {}", value, kSigns[each], split);
    }
    holds = holds.empty() ? one : fmt::format("{} == {} ? {} : ({})", mode, each, one, holds);
  }
  if (!tables.has_nan_rule) return holds;
  const std::string missing = tables.missing_true.empty() ? "0" : of_node(tables.missing_true);
  return fmt::format("{0} != {0} ? {1} != 0 : ({2})", value, missing, holds);
}

}  // namespace

int64_t Trees::add(TreeMode mode, int64_t feature, double split, bool missing) {
  const int64_t row = rows();
  modes.push_back(mode);
  features.push_back(feature);
  splits.push_back(split);
  missing_true.push_back(missing ? 1 : 0);
  if_true.push_back(row);
  if_false.push_back(row);
  return row;
}

Result<std::string> leaves_of(NodeWriter& node, const FeatureRows& x, const Trees& trees) {
  STRIA_ASSIGN(const int64_t steps, steps_of(node, trees));
  const auto roots = static_cast<int64_t>(trees.roots.size());
  STRIA_ASSIGN(const std::string first, rows_table(node, trees.roots));
  const std::string row = node.let(fmt::format("index({}, 0)", x.name));
  const std::string row_begin = node.let(fmt::format(
      "{} * {}", contract(node, '>', {"r", "0"}, {x.rows, 1}, row + "[r, c]"), x.columns));
  std::string at = node.let(fmt::format("{} * 0 + {}", row_begin, first));
  if (steps == 0) return at;
  STRIA_ASSIGN(const StepTables tables, step_tables(node, x, trees));
  const std::string flat = node.let(reshaped(x.name, {x.rows * x.columns}));
  const auto of_node = [&](const std::string& name) {
    return node.let(fmt::format("gather({}, {})", name, at));
  };
  for (int64_t step = 0; step < steps; ++step) {
    const std::string place = node.let(fmt::format("{} + {}", row_begin, of_node(tables.features)));
    const std::string value = node.let(fmt::format("gather({}, {})", flat, place));
    const std::string taken = node.let(condition(node, x, roots, tables, at, value));
    const std::string if_true = of_node(tables.if_true), if_false = of_node(tables.if_false);
    at = node.let(fmt::format("{} ? {} : {}", taken, if_true, if_false));
  }
  return at;
}

Result<std::string> scores_of(NodeWriter& node, const FeatureRows& x, const Trees& trees,
                              const std::string& leaves, int64_t targets, TreeAggregate aggregate) {
  const auto roots = static_cast<int64_t>(trees.roots.size());
  const auto count = static_cast<size_t>(trees.rows());
  const bool sums = aggregate == TreeAggregate::sum || aggregate == TreeAggregate::average;
  const bool least = aggregate == TreeAggregate::min;
  // Where a leaf has no weight of a target it stands aside: as 0 in sums, else as the last number.
  const double aside = sums    ? 0
                       : least ? std::numeric_limits<float>::max()
                               : std::numeric_limits<float>::lowest();
  std::vector<int64_t> weights_of(count, 0);
  int64_t most = 0;
  for (const TreeWeight& weight : trees.weights)
    most = std::max(most, ++weights_of[static_cast<size_t>(weight.row)]);
  std::string each;  // [rows, roots, targets]
  if (most > 1) {
    if (trees.rows() > kMostNumbers / targets)
      return node.not_supported(
          fmt::format("leaves with weights of several of {} targets in a table of {} nodes",
                      targets, trees.rows()));
    std::vector<double> weights(count * static_cast<size_t>(targets), aside);
    for (const TreeWeight& weight : trees.weights)
      weights[static_cast<size_t>(weight.row * targets + weight.target)] = weight.weight;
    STRIA_ASSIGN(const std::string all, real_table(node, x.type, weights, {trees.rows(), targets}));
    each = node.let(fmt::format("gather({}, {})", all, leaves));
  } else {
    std::vector<double> weights(count, aside);
    std::vector<int64_t> target_of(count, -1);
    for (const TreeWeight& weight : trees.weights) {
      weights[static_cast<size_t>(weight.row)] = weight.weight;
      target_of[static_cast<size_t>(weight.row)] = weight.target;
    }
    STRIA_ASSIGN(const std::string all, real_table(node, x.type, weights, {trees.rows()}));
    const std::string weight = node.let(fmt::format("gather({}, {})", all, leaves));
    const std::string column = node.let(reshaped(weight, {x.rows, roots, 1}));
    each = column;
    if (targets > 1) {
      std::vector<int32_t> ids(static_cast<size_t>(targets));
      for (size_t t = 0; t < ids.size(); ++t) ids[t] = static_cast<int32_t>(t);
      STRIA_ASSIGN(const std::string wanted, table(node, ids, {1, 1, targets}));
      STRIA_ASSIGN(const std::string own_target, rows_table(node, target_of));
      const std::string target = node.let(fmt::format("gather({}, {})", own_target, leaves));
      each = node.let(fmt::format("{} == {} ? {} : {}", reshaped(target, {x.rows, roots, 1}),
                                  wanted, column, typed(aside, x.type)));
    }
  }
  const char aggregation = sums ? '+' : least ? '<' : '>';
  const std::string folded =
      contract(node, aggregation, {"r", "t"}, {x.rows, targets}, each + "[r, e, t]");
  if (aggregate == TreeAggregate::sum) return folded;
  if (aggregate == TreeAggregate::average)
    return node.let(fmt::format("{} / {}", folded, number(static_cast<double>(roots))));
  return node.let(fmt::format("{0} == {1} ? 0.0 : {0}", folded, typed(aside, x.type)));
}

}  // namespace stria::onnx
