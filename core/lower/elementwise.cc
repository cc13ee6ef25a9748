// SPDX-License-Identifier: Apache-2.0
// An elementwise statement becomes one kernel: a load per tensor, the expression, one store.
#include "stria/lower/element_nodes.h"
#include "stria/lower/lowering.h"
#include "stria/lower/unwritten.h"
#include "stria/stripe/tags.h"

namespace stria::lower_detail {
namespace {

using stripe::RefDir;
using tile::BoundElementwise;
using tile::BoundNode;

// The dimension of the output that dimension `d` of a tensor of rank `rank` lies on.
size_t aligned(size_t d, size_t rank, size_t out_rank) { return d + out_rank - rank; }

// Each dimension of the output is called as in the first operand that spans it and has a name for
// it.
std::vector<std::string> inherited_names(const Lowering& lowering,
                                         const BoundElementwise& elementwise) {
  const std::vector<int64_t>& sizes = lowering.tensor(elementwise.out).sizes;
  std::vector<std::string> names(sizes.size());
  for (const BoundNode& node : elementwise.nodes) {
    if (node.kind != BoundNode::Kind::load) continue;
    const std::vector<std::string>& known = lowering.known_names(node.tensor);
    for (size_t d = 0; d < known.size(); ++d) {
      size_t at = aligned(d, known.size(), sizes.size());
      if (names[at].empty() && lowering.tensor(node.tensor).sizes[d] == sizes[at])
        names[at] = known[d];
    }
  }
  return names;
}

}  // namespace

Status lower_elementwise(Lowering& lowering, const tile::BoundStatement& statement,
                         const BoundElementwise& elementwise) {
  if (!lowering.has_elements(elementwise.out)) return {};
  const tile::BoundTensor& out = lowering.written(elementwise.out);
  lowering.set_index_names(elementwise.out, inherited_names(lowering, elementwise));
  std::vector<std::string> names = lowering.index_names(elementwise.out);
  if (const std::vector<Box>* zeros = lowering.joined().zeros(elementwise.out)) {
    for (const Box& box : *zeros)
      if (!lowering.joined().is_written_again(elementwise.out, box))
        lowering.add_kernel(zero_kernel(lowering, elementwise.out, piece_of(box, names)));
    return {};
  }
  Box all;
  for (const int64_t size : lowering.tensor(elementwise.out).sizes) all.push_back({0, size - 1});
  if (lowering.joined().is_written_again(elementwise.out, all)) return {};

  stripe::Block block;
  block.comments.push_back(statement.text);
  std::vector<Affine> coordinate;  // of the output
  coordinate.reserve(names.size());
  block.idxs.reserve(names.size());
  for (size_t d = 0; d < names.size(); ++d) {
    coordinate.push_back(out.sizes[d] == 1 ? Affine(0) : Affine::of(names[d]));
    if (out.sizes[d] != 1) block.idxs.push_back({names[d], out.sizes[d], {}, {}});
  }

  ElementNodes nodes(lowering, block, out.name);
  const auto access = [&](const BoundNode& node) {
    const std::vector<int64_t>& sizes = lowering.tensor(node.tensor).sizes;
    std::vector<Affine> at;
    at.reserve(sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d)
      at.push_back(sizes[d] == 1 ? Affine(0)
                                 : coordinate[aligned(d, sizes.size(), coordinate.size())]);
    return at;
  };
  const std::string last = nodes.add(elementwise.nodes, access, coordinate);
  block.refs.push_back(lowering.element(RefDir::out, lowering.joined().place(elementwise.out),
                                        out.name, std::move(coordinate)));
  block.stmts.emplace_back(stripe::Store{last, out.name});
  block.tags = nodes.take_tags();
  lowering.add_kernel(std::move(block));
  return {};
}

}  // namespace stria::lower_detail
