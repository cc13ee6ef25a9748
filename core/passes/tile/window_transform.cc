// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/window_transform.h"
#include "stria/stripe/tags.h"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Makes the values of a leaf, and the statements that compute them.
class Terms {
 public:
  Terms(DataType type, std::vector<stripe::Statement>& stmts) : type_(type), stmts_(stmts) {}

  std::string sum(const std::string& a, const std::string& b) { return made("add", {a, b}); }
  std::string difference(const std::string& a, const std::string& b) { return made("sub", {a, b}); }

  // The sum of coefficients[i] * values[i]; "" if all coefficients are 0. Terms with coefficient 1
  // come first, so that a term with coefficient -1 is one subtraction.
  std::string combined(const std::vector<double>& coefficients,
                       const std::vector<std::string>& values) {
    std::string out;
    for (size_t i = 0; i < values.size(); ++i)
      if (coefficients[i] == 1) out = out.empty() ? values[i] : sum(out, values[i]);
    for (size_t i = 0; i < values.size(); ++i) {
      const double c = coefficients[i];
      if (c == 0 || c == 1) continue;
      if (c == -1 && !out.empty()) {
        out = difference(out, values[i]);
      } else {
        const std::string term = made("mul", {constant(c), values[i]});
        out = out.empty() ? term : sum(out, term);
      }
    }
    return out;
  }

  // matrix * values. If two rows in sequence differ only in the signs of some columns, the two
  // partial sums that they share are computed once.
  std::vector<std::string> product(const Matrix& matrix, const std::vector<std::string>& values) {
    std::vector<std::string> out;
    for (size_t row = 0; row < matrix.size(); ++row) {
      if (row + 1 < matrix.size() && mirrored(matrix[row], matrix[row + 1])) {
        std::vector<double> same = matrix[row], turned = matrix[row];
        for (size_t i = 0; i < same.size(); ++i)
          (matrix[row][i] == matrix[row + 1][i] ? turned : same)[i] = 0;
        const std::string even = combined(same, values), odd = combined(turned, values);
        out.push_back(sum(even, odd));
        out.push_back(difference(even, odd));
        ++row;
      } else {
        out.push_back(combined(matrix[row], values));
      }
    }
    return out;
  }

 private:
  // Are the rows equal except for signs, with some signs equal and some not?
  static bool mirrored(const std::vector<double>& a, const std::vector<double>& b) {
    bool same = false, turned = false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] && a[i] != -b[i]) return false;
      same = same || (a[i] == b[i] && a[i] != 0);
      turned = turned || a[i] != b[i];
    }
    return same && turned;
  }
  std::string constant(double value) {
    std::string& name = constants_[value];
    if (name.empty()) {
      name = fmt::format("c{}", constants_.size() - 1);
      stmts_.emplace_back(stripe::Constant{name, Scalar::of_float(type_, value)});
    }
    return name;
  }
  std::string made(const char* operation, std::vector<std::string> inputs) {
    std::string name = fmt::format("v{}", count_++);
    stmts_.emplace_back(stripe::Intrinsic{operation, type_, {name}, std::move(inputs)});
    return name;
  }

  const DataType type_;
  std::vector<stripe::Statement>& stmts_;
  std::map<double, std::string> constants_;
  int count_ = 0;
};

// The kernel's view of the tensor: one window at each point.
Refinement outer_view(const WindowView& view, RefDir dir, const char* name,
                      const std::array<size_t, 2>& size) {
  Refinement out;
  out.dir = dir;
  out.from = view.tensor.into;
  out.into = name;
  out.access = view.tensor.access;
  out.shape = view.tensor.shape;
  out.location = view.tensor.location;
  for (size_t w = 0; w < 2; ++w) out.shape.dims[view.dims[w]].size = static_cast<int64_t>(size[w]);
  return out;
}

// The leaf's view of one element of the window.
Refinement element(const Refinement& outer, const WindowView& view, std::array<size_t, 2> at,
                   const std::array<size_t, 2>& size) {
  Refinement out = outer;
  out.from = outer.into;
  out.into = fmt::format("{}_{}_{}", outer.into, at[0], at[1]);
  out.access.assign(out.access.size(), Affine());
  for (Dim& dim : out.shape.dims) dim.size = 1;
  for (size_t w = 0; w < 2; ++w)
    out.access[view.dims[w]] = static_cast<int64_t>(view.backward[w] ? size[w] - 1 - at[w] : at[w]);
  return out;
}

}  // namespace

const ShortFilter& short_filter(int64_t tile) {
  static const ShortFilter two = {
      {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
      {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
      {{1, 1, 1, 0}, {0, 1, -1, 1}},
  };
  static const ShortFilter four = {
      {{4, 0, -5, 0, 1, 0},
       {0, -4, -4, 1, 1, 0},
       {0, 4, -4, -1, 1, 0},
       {0, -2, -1, 2, 1, 0},
       {0, 2, -1, -2, 1, 0},
       {0, 4, 0, -5, 0, 1}},
      {{1.0 / 4, 0, 0},
       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
       {1.0 / 24, 1.0 / 12, 1.0 / 6},
       {1.0 / 24, -1.0 / 12, 1.0 / 6},
       {0, 0, 1}},
      {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
  };
  return tile == 2 ? two : four;
}

Block window_transform(std::string name, const WindowView& from, const WindowView& to,
                       const std::array<Matrix, 2>& by, std::vector<stripe::Index> outer,
                       std::vector<SharedIndex> shared) {
  const std::array<size_t, 2> read = {by[0][0].size(), by[1][0].size()};
  const std::array<size_t, 2> written = {by[0].size(), by[1].size()};
  Block kernel, leaf;
  kernel.name = std::move(name);
  kernel.tags = {stripe::tag::kKernel, stripe::tag::kWinograd};
  kernel.idxs = std::move(outer);
  kernel.refs = {outer_view(from, RefDir::in, "source", read),
                 outer_view(to, RefDir::out, "target", written)};
  if (kernel.idxs.empty() && shared.size() > 1) {
    const SharedIndex& index = shared.front();
    kernel.idxs.push_back({index.name, index.range, {}, {}});
    for (const auto& [ref, dim] : {std::pair(0, index.from_dim), std::pair(1, index.to_dim)}) {
      kernel.refs[static_cast<size_t>(ref)].access[dim] = Affine::of(index.name);
      kernel.refs[static_cast<size_t>(ref)].shape.dims[dim].size = 1;
    }
    shared.erase(shared.begin());
  }
  const Refinement& source = kernel.refs[0];
  const Refinement& target = kernel.refs[1];
  for (const SharedIndex& index : shared) leaf.idxs.push_back({index.name, index.range, {}, {}});

  Terms terms(source.shape.type, leaf.stmts);
  std::vector<std::vector<std::string>> values(read[0]);
  for (size_t row = 0; row < read[0]; ++row)
    for (size_t column = 0; column < read[1]; ++column) {
      Refinement view = element(source, from, {row, column}, read);
      for (const SharedIndex& index : shared) view.access[index.from_dim] = Affine::of(index.name);
      values[row].push_back(fmt::format("x{}_{}", row, column));
      leaf.stmts.emplace_back(stripe::Load{view.into, values[row].back()});
      leaf.refs.push_back(std::move(view));
    }
  // by[0] * values, one column after the other.
  std::vector<std::vector<std::string>> left(written[0], std::vector<std::string>(read[1]));
  for (size_t column = 0; column < read[1]; ++column) {
    std::vector<std::string> of_column;
    for (const std::vector<std::string>& row : values) of_column.push_back(row[column]);
    const std::vector<std::string> made = terms.product(by[0], of_column);
    for (size_t row = 0; row < written[0]; ++row) left[row][column] = made[row];
  }
  for (size_t row = 0; row < written[0]; ++row) {
    const std::vector<std::string> made = terms.product(by[1], left[row]);
    for (size_t column = 0; column < written[1]; ++column) {
      Refinement view = element(target, to, {row, column}, written);
      for (const SharedIndex& index : shared) view.access[index.to_dim] = Affine::of(index.name);
      leaf.stmts.emplace_back(stripe::Store{made[column], view.into});
      leaf.refs.push_back(std::move(view));
    }
  }
  kernel.stmts.emplace_back(std::move(leaf));
  return kernel;
}

}  // namespace stria::passes
