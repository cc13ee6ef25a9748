// SPDX-License-Identifier: Apache-2.0
// Trees as one table: all rows of features go down all trees at once. A leaf leads to itself, and
// as many steps as the deepest tree has bring everybody to a leaf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/translate/node_writer.h"

namespace stria::onnx {

// How a node decides: the numbers of TreeEnsemble's attribute nodes_modes.
enum TreeMode : int64_t {
  kLessOrEqual,
  kLess,
  kGreaterOrEqual,
  kGreater,
  kEqual,
  kNotEqual,
  kMember,  // of a set of numbers
  kLeaf,    // nothing to decide
};

enum class TreeAggregate : uint8_t { average, sum, min, max };  // TreeEnsemble's numbers

struct TreeWeight {
  int64_t row = 0;     // of a leaf
  int64_t target = 0;  // or class
  double weight = 0;
};

// One element of each list for each row of the table.
struct Trees {
  std::vector<int64_t> roots;  // rows
  std::vector<int64_t> features, modes, if_true, if_false, missing_true;
  std::vector<double> splits;
  std::vector<double> members;  // `most_members` for each row; NaN is none
  int64_t most_members = 0;
  std::vector<TreeWeight> weights;
  int64_t rows() const { return static_cast<int64_t>(modes.size()); }
  // Adds a leaf or a node; what leads somewhere is set later.
  int64_t add(TreeMode mode, int64_t feature, double split, bool missing_true);
};

// The numbers of targets and classes that an ensemble may have.
constexpr int64_t kMostTargets = 1 << 20;

// The leaf at which each row of features arrives in each tree: i32 [x.rows, roots]. The splits are
// compared in the type of `x`. invalid_argument for nodes that lead back to themselves, not
// supported: trees of more than 1024 levels. Cost: linear in the rows of the table.
Result<std::string> leaves_of(NodeWriter& node, const FeatureRows& x, const Trees& trees);

// What the weights of the leaves give for each target, of x.type: [x.rows, targets]. A target that
// no leaf of a row has is 0. Not supported: leaves with several weights that would make a table of
// more than 2^28 numbers.
Result<std::string> scores_of(NodeWriter& node, const FeatureRows& x, const Trees& trees,
                              const std::string& leaves, int64_t targets, TreeAggregate aggregate);

}  // namespace stria::onnx
