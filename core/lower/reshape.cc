// SPDX-License-Identifier: Apache-2.0
// A reshape is a copy between coordinates of the same row-major position, which loops express.
#include <algorithm>

#include "stria/lower/lowering.h"
#include "stria/lower/piece_product.h"
#include "stria/poly/integer_set.h"
#include "stria/stripe/tags.h"

namespace stria::lower_detail {
namespace {

using stripe::RefDir;

// Dimensions of both shapes with the same number of elements: the position within them is the same.
struct SamePositions {
  std::vector<size_t> out_dims, in_dims;
};

std::vector<SamePositions> split(const std::vector<int64_t>& out, const std::vector<int64_t>& in,
                                 bool all_elements) {
  std::vector<SamePositions> groups;
  if (!all_elements) {
    groups.emplace_back();
    for (size_t d = 0; d < out.size(); ++d) groups[0].out_dims.push_back(d);
    for (size_t d = 0; d < in.size(); ++d) groups[0].in_dims.push_back(d);
    return groups;
  }
  size_t o = 0, i = 0;
  while (o < out.size() || i < in.size()) {
    SamePositions group;
    int64_t out_count = 1, in_count = 1;
    do {
      if (o < out.size() && (out_count <= in_count || i == in.size())) {
        out_count *= out[o];
        group.out_dims.push_back(o++);
      } else {
        in_count *= in[i];
        group.in_dims.push_back(i++);
      }
    } while (out_count != in_count);
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<ReshapeSets> find_sets(const std::vector<int64_t>& out, const std::vector<int64_t>& in,
                              bool all_elements, const std::vector<std::string>& out_names) {
  Names names;
  for (const std::string& name : out_names) names.fresh(name);
  ReshapeSets sets;
  sets.pieces.emplace_back();
  for (const SamePositions& group : split(out, in, all_elements)) {
    std::vector<std::pair<std::string, Interval>> box;
    Affine difference;
    int64_t stride = 1;
    for (size_t d : group.out_dims) {
      box.emplace_back(out_names[d], Interval{0, out[d] - 1});
      sets.order.push_back(d);
    }
    for (size_t k = group.out_dims.size(); k-- > 0; stride *= out[group.out_dims[k]])
      difference.add_term(out_names[group.out_dims[k]], stride);
    for (size_t d : group.in_dims) {
      box.emplace_back(names.fresh(fmt::format("r{}", d + 1)), Interval{0, in[d] - 1});
      sets.order.push_back(out.size() + d);
    }
    stride = 1;
    for (size_t k = group.in_dims.size(); k-- > 0; stride *= in[group.in_dims[k]])
      difference.add_term(box[group.out_dims.size() + k].first, -stride);
    IntegerSet positions = IntegerSet::box(box);
    positions.add_eq(difference);
    STRIA_ASSIGN(std::vector<SetPiece> part, positions.pieces());
    STRIA_RETURN_IF_ERROR(check_piece_count({sets.pieces.size(), part.size()}));
    sets.pieces = product(sets.pieces, part);
  }
  return sets;
}

}  // namespace

Status lower_reshape(Lowering& lowering, const tile::BoundStatement& statement,
                     const tile::BoundReshape& reshape) {
  const tile::TensorId from = reshape.from, to = reshape.out;
  if (!lowering.has_elements(to)) return {};
  const tile::BoundTensor& in = lowering.tensor(from);
  const tile::BoundTensor& out = lowering.tensor(to);
  const std::vector<std::string> names = lowering.index_names(to);
  const bool all_elements =
      lowering.shape(to).element_count() == lowering.shape(from).element_count();
  std::map<std::string, ReshapeSets>& known = lowering.known_sets().reshapes;
  const std::string key = fmt::format("{} {} {} {}", all_elements, fmt::join(names, ","),
                                      fmt::join(out.sizes, ","), fmt::join(in.sizes, ","));
  auto found = known.find(key);
  if (found == known.end()) {
    STRIA_ASSIGN(ReshapeSets sets, lowering.set_work().needed([&] {
      return find_sets(out.sizes, in.sizes, all_elements, names);
    }));
    found = known.emplace(key, std::move(sets)).first;
  }
  const auto& [pieces, order] = found->second;

  for (const SetPiece& piece : pieces) {
    std::vector<Affine> at(order.size());
    for (size_t i = 0; i < order.size(); ++i) at[order[i]] = piece.point[i];
    auto middle = at.begin() + static_cast<long>(out.sizes.size());
    stripe::Block block;
    block.comments.push_back(statement.text);
    block.tags = sorted_tags({stripe::tag::kCopy, stripe::tag::kKernel, stripe::tag::kReshape});
    for (const SetPiece::Index& index : piece.indices)
      block.idxs.push_back({index.name, index.range, {}, {}});
    block.constraints = piece.constraints;
    block.refs.push_back(lowering.element(RefDir::in, from, in.name, {middle, at.end()}));
    block.refs.push_back(lowering.element(RefDir::out, to, out.name, {at.begin(), middle}));
    block.stmts.emplace_back(stripe::Load{in.name, in.name});
    block.stmts.emplace_back(stripe::Store{in.name, out.name});
    lowering.add_kernel(std::move(block));
  }
  return {};
}

}  // namespace stria::lower_detail
