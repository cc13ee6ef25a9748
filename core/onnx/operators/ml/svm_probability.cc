// SPDX-License-Identifier: Apache-2.0
// Probabilities of classes from decisions between pairs of them: the p that makes the sum over all
// pairs of (r_ji p_i - r_ij p_j)^2 least, where r_ij is the probability of i against j, found by
// moving one p after another. In the matrix Q, Q_tt is the sum of r_jt^2, and Q_tj is -r_jt r_tj.
#include <fmt/format.h>

#include "stria/onnx/operators/ml/svm_kernel.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {
namespace {

// A sweep moves each class once, by five statements. In 8000 random cases with 2 to 10 classes none
// took more than 5 sweeps; libsvm stops after 100.
constexpr int64_t kMostClasses = 64;
constexpr int64_t kSweeps = 8;

// Q as [rows, classes, classes].
Result<std::string> coupling_matrix(NodeWriter& node, const FeatureRows& x,
                                    const std::string& pairwise, int64_t classes) {
  const auto pairs = class_pairs(classes);
  const auto count = static_cast<int64_t>(pairs.size());
  // r_ij for the place (i, j): the pair's own probability above the diagonal, 1 minus it below.
  std::vector<double> up(static_cast<size_t>(count * classes * classes), 0), down = up;
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto [i, j] = pairs[p];
    const auto begin = static_cast<int64_t>(p) * classes * classes;
    up[static_cast<size_t>(begin + i * classes + j)] = 1;
    down[static_cast<size_t>(begin + j * classes + i)] = 1;
  }
  STRIA_ASSIGN(const std::string above, real_table(node, x.type, up, {count, classes, classes}));
  STRIA_ASSIGN(const std::string below, real_table(node, x.type, down, {count, classes, classes}));
  const std::string opposite = node.let(fmt::format("1.0 - {}", pairwise));
  const Sizes sizes = {x.rows, classes, classes};
  const auto spread = [&](const std::string& of, const std::string& by) {
    return contract(node, '+', {"r", "i", "j"}, sizes,
                    fmt::format("{}[r, p] * {}[p, i, j]", of, by));
  };
  const std::string r =
      node.let(fmt::format("{} + {}", spread(pairwise, above), spread(opposite, below)));
  const std::string turned =
      contract(node, '=', {"r", "i", "j"}, sizes, fmt::format("{}[r, j, i]", r));
  const std::string squares = contract(node, '+', {"r", "t", "0"}, {x.rows, classes, 1},
                                       fmt::format("{0}[r, j, t] * {0}[r, j, t]", r));
  // Off the diagonal; on it both factors are 0.
  const std::string products = node.let(fmt::format("{} * {}", r, turned));
  std::vector<double> unit(static_cast<size_t>(classes * classes), 0);
  for (int64_t t = 0; t < classes; ++t) unit[static_cast<size_t>(t * classes + t)] = 1;
  STRIA_ASSIGN(const std::string diagonal, real_table(node, x.type, unit, {classes, classes}));
  return node.let(fmt::format("{} * {} - {}", diagonal, squares, products));
}

}  // namespace

Result<std::string> coupled_probabilities(NodeWriter& node, const FeatureRows& x,
                                          const std::string& decisions, int64_t classes,
                                          const std::vector<double>& a,
                                          const std::vector<double>& b) {
  if (classes > kMostClasses)
    return node.not_supported(
        fmt::format("probabilities of {} classes; at most {}", classes, kMostClasses));
  const auto pairs = static_cast<int64_t>(a.size());
  STRIA_ASSIGN(const std::string slope, real_table(node, x.type, a, {1, pairs}));
  STRIA_ASSIGN(const std::string offset, real_table(node, x.type, b, {1, pairs}));
  const std::string sure =
      node.let(fmt::format("sigmoid(-({} * {} + {}))", decisions, slope, offset));
  constexpr double kLeast = 1e-7;
  const std::string pairwise = node.let(fmt::format("{0} < {1} ? {1} : ({0} > {2} ? {2} : {0})",
                                                    sure, number(kLeast), number(1 - kLeast)));
  STRIA_ASSIGN(const std::string q, coupling_matrix(node, x, pairwise, classes));
  const Sizes per_class = {x.rows, classes}, per_row = {x.rows, 1};
  std::vector<std::string> q_row, q_own, unit;
  for (int64_t t = 0; t < classes; ++t) {
    // Nothing comes after the last class that its row would change.
    if (t + 1 < classes)
      q_row.push_back(
          contract(node, '=', {"r", "j"}, per_class, fmt::format("{}[r, {}, j]", q, t)));
    q_own.push_back(
        contract(node, '=', {"r", "0"}, per_row, fmt::format("{}[r, {}, {}]", q, t, t)));
    std::vector<double> one(static_cast<size_t>(classes), 0);
    one[static_cast<size_t>(t)] = 1;
    STRIA_ASSIGN(std::string table, real_table(node, x.type, one, {1, classes}));
    unit.push_back(std::move(table));
  }
  const std::string limit = number(0.005 / static_cast<double>(classes));
  std::string p =
      node.let(fmt::format("{} * 0.0 + {}", q_row[0], number(1 / static_cast<double>(classes))));
  for (int64_t sweep = 0; sweep < kSweeps; ++sweep) {
    std::string qp =
        contract(node, '+', {"r", "t"}, per_class, fmt::format("{}[r, t, j] * {}[r, j]", q, p));
    std::string pqp =
        contract(node, '+', {"r", "0"}, per_row, fmt::format("{}[r, t] * {}[r, t]", p, qp));
    const std::string off = node.let(fmt::format("abs({} - {})", qp, pqp));
    const std::string most = contract(node, '>', {"r", "0"}, per_row, off + "[r, t]");
    std::string moved = p;
    for (size_t t = 0; t < static_cast<size_t>(classes); ++t) {
      const std::string own =
          contract(node, '=', {"r", "0"}, per_row, fmt::format("{}[r, {}]", qp, t));
      const std::string by = node.let(fmt::format("({} - {}) / {}", pqp, own, q_own[t]));
      const std::string all = node.let(fmt::format("1.0 + {}", by));
      moved = node.let(fmt::format("({} + {} * {}) / {}", moved, by, unit[t], all));
      if (t + 1 == static_cast<size_t>(classes)) break;
      pqp = node.let(fmt::format("({0} + {1} * ({1} * {2} + 2.0 * {3})) / {4} / {4}", pqp, by,
                                 q_own[t], own, all));
      qp = node.let(fmt::format("({} + {} * {}) / {}", qp, by, q_row[t], all));
    }
    // Rows that are near enough stay as they are.
    p = node.let(fmt::format("{} < {} ? {} : {}", most, limit, p, moved));
  }
  return p;
}

}  // namespace stria::onnx
