// SPDX-License-Identifier: Apache-2.0
// gather and scatter (rules M13, M14): one kernel each, whose load or store lets a scalar choose
// the row; before a scatter one that zeroes its rows.
#include "stria/lower/lowering.h"
#include "stria/stripe/tags.h"

namespace stria::lower_detail {
namespace {

using stripe::RefDir;

// Gives `block` an index for each dimension of more than one element; the coordinates.
std::vector<Affine> loop_over(const std::vector<std::string>& names,
                              const std::vector<int64_t>& sizes, stripe::Block& block) {
  std::vector<Affine> at;
  for (size_t d = 0; d < sizes.size(); ++d) {
    at.push_back(sizes[d] == 1 ? Affine(0) : Affine::of(names[d]));
    if (sizes[d] != 1) block.idxs.push_back({names[d], sizes[d], {}, {}});
  }
  return at;
}

// A view of all rows of a tensor at a place in each, for a scalar to choose one.
stripe::Refinement rows(const Lowering& lowering, RefDir dir, tile::TensorId id, std::string into,
                        std::vector<Affine> place) {
  place.insert(place.begin(), Affine(0));
  stripe::Refinement ref = lowering.element(dir, id, std::move(into), std::move(place));
  ref.shape.dims[0].size = lowering.shape(id).dims[0].size;
  return ref;
}

// "row" chosen, "" elsewhere.
stripe::ChosenCoordinates row(const std::string& scalar, size_t rank) {
  stripe::ChosenCoordinates at(rank);
  at[0] = scalar;
  return at;
}

void add_zero(Lowering& lowering, tile::TensorId id) {
  const tile::BoundTensor& out = lowering.tensor(id);
  stripe::Block block;
  block.tags = sorted_tags({stripe::tag::kKernel, stripe::tag::kZero});
  block.comments.push_back(fmt::format("{} = 0", out.name));
  std::vector<Affine> at = loop_over(lowering.index_names(id), out.sizes, block);
  block.refs.push_back(lowering.element(RefDir::out, id, out.name, std::move(at)));
  block.stmts.emplace_back(
      stripe::Constant{"zero", convert(Scalar::of_int(DataType::i32, 0), out.type)});
  block.stmts.emplace_back(stripe::Store{"zero", out.name});
  lowering.add_kernel(std::move(block));
}

}  // namespace

Status lower_gather(Lowering& lowering, const tile::BoundStatement& statement,
                    const tile::BoundGather& gather) {
  if (!lowering.has_elements(gather.out)) return {};
  const tile::BoundTensor& out = lowering.tensor(gather.out);
  const size_t index_rank = lowering.tensor(gather.index).sizes.size();
  std::vector<std::string> names = lowering.known_names(gather.index);
  const std::vector<std::string>& columns = lowering.known_names(gather.from);
  names.insert(names.end(), columns.begin() + 1, columns.end());
  lowering.set_index_names(gather.out, std::move(names));

  stripe::Block block;
  block.comments.push_back(statement.text);
  block.tags = sorted_tags({stripe::tag::kGather, stripe::tag::kKernel});
  const std::vector<Affine> at = loop_over(lowering.index_names(gather.out), out.sizes, block);
  const auto middle = at.begin() + static_cast<std::ptrdiff_t>(index_rank);
  Names refs;
  const std::string to = refs.fresh(out.name);
  const std::string from = refs.fresh(lowering.tensor(gather.from).name);
  const std::string index = refs.fresh(lowering.tensor(gather.index).name);
  block.refs.push_back(rows(lowering, RefDir::in, gather.from, from, {middle, at.end()}));
  block.refs.push_back(lowering.element(RefDir::in, gather.index, index, {at.begin(), middle}));
  block.refs.push_back(lowering.element(RefDir::out, gather.out, to, at));
  block.stmts.emplace_back(stripe::Load{index, index});
  block.stmts.emplace_back(stripe::Load{from, to, row(index, lowering.shape(gather.from).rank())});
  block.stmts.emplace_back(stripe::Store{to, to});
  lowering.add_kernel(std::move(block));
  return {};
}

Status lower_scatter(Lowering& lowering, const tile::BoundStatement& statement,
                     const tile::BoundScatter& scatter) {
  if (!lowering.has_elements(scatter.out)) return {};
  const tile::BoundTensor& out = lowering.tensor(scatter.out);
  const tile::BoundTensor& from_tensor = lowering.tensor(scatter.from);
  const size_t index_rank = lowering.tensor(scatter.index).sizes.size();
  const std::vector<std::string>& known = lowering.known_names(scatter.from);
  std::vector<std::string> columns = {""};
  columns.insert(columns.end(), known.begin() + static_cast<std::ptrdiff_t>(index_rank),
                 known.end());
  lowering.set_index_names(scatter.out, std::move(columns));
  add_zero(lowering, scatter.out);
  if (!lowering.has_elements(scatter.from)) return {};

  stripe::Block block;
  block.comments.push_back(statement.text);
  block.tags = sorted_tags({stripe::tag::kKernel, stripe::tag::kScatter});
  const std::vector<Affine> at =
      loop_over(lowering.index_names(scatter.from), from_tensor.sizes, block);
  const auto middle = at.begin() + static_cast<std::ptrdiff_t>(index_rank);
  Names refs;
  const std::string to = refs.fresh(out.name);
  const std::string from = refs.fresh(from_tensor.name);
  const std::string index = refs.fresh(lowering.tensor(scatter.index).name);
  block.refs.push_back(lowering.element(RefDir::in, scatter.from, from, at));
  block.refs.push_back(lowering.element(RefDir::in, scatter.index, index, {at.begin(), middle}));
  block.refs.push_back(rows(lowering, RefDir::inout, scatter.out, to, {middle, at.end()}));
  block.refs.back().agg = stripe::Aggregation{stripe::AggOp::add, out.type};
  block.stmts.emplace_back(stripe::Load{index, index});
  block.stmts.emplace_back(stripe::Load{from, from});
  block.stmts.emplace_back(stripe::Store{from, to, row(index, out.sizes.size())});
  lowering.add_kernel(std::move(block));
  return {};
}

}  // namespace stria::lower_detail
