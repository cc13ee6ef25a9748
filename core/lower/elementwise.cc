// SPDX-License-Identifier: Apache-2.0
// An elementwise statement becomes one kernel: a load per tensor, the expression, one store.
#include <algorithm>
#include <bit>
#include <map>
#include <memory_resource>
#include <unordered_map>

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

std::string constant_name(const Scalar& value) {
  bool is_zero = is_float(value.type) ? value.f == 0 : value.i == 0;
  bool is_one = is_float(value.type) ? value.f == 1 : value.i == 1;
  return is_zero ? "zero" : is_one ? "one" : "c";
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

  // Exactly what it needs: this is most of the memory of a program of many statements.
  const auto loaded =
      std::count_if(elementwise.nodes.begin(), elementwise.nodes.end(),
                    [](const BoundNode& node) { return node.kind == BoundNode::Kind::load; });
  block.refs.reserve(static_cast<size_t>(loaded) + 1);
  block.stmts.reserve(elementwise.nodes.size() + 1);

  std::vector<std::string> tags;
  tags.reserve(elementwise.nodes.size() + 2);
  tags.insert(tags.end(), {stripe::tag::kEltwise, stripe::tag::kKernel});
  KernelScratch scratch;
  Names scalars(scratch.resource());
  scalars.fresh(out.name);  // for the last node
  // A tensor is loaded once; a constant, by type and bits, stands once.
  std::pmr::unordered_map<tile::TensorId, std::string> loads(scratch.resource());
  std::pmr::map<std::pair<DataType, uint64_t>, std::string> constants(scratch.resource());
  std::vector<std::string> values(elementwise.nodes.size());
  for (size_t i = 0; i < elementwise.nodes.size(); ++i) {
    const BoundNode& node = elementwise.nodes[i];
    bool last = i + 1 == elementwise.nodes.size();
    auto name_result = [&](const std::string& base) {
      values[i] = last ? out.name : scalars.fresh(base);
    };
    switch (node.kind) {
      case BoundNode::Kind::load: {
        auto [at, added] = loads.emplace(node.tensor, "");
        if (added) {
          const tile::BoundTensor& tensor = lowering.tensor(node.tensor);
          at->second = scalars.fresh(tensor.name);
          std::vector<Affine> access;
          access.reserve(tensor.sizes.size());
          for (size_t d = 0; d < tensor.sizes.size(); ++d)
            access.push_back(tensor.sizes[d] == 1
                                 ? Affine(0)
                                 : coordinate[aligned(d, tensor.sizes.size(), coordinate.size())]);
          block.refs.push_back(
              lowering.element(RefDir::in, node.tensor, tensor.name, std::move(access)));
          block.stmts.emplace_back(stripe::Load{tensor.name, at->second});
        }
        values[i] = at->second;
        break;
      }
      case BoundNode::Kind::constant: {
        auto [at, added] = constants.emplace(
            std::pair(node.value.type, std::bit_cast<uint64_t>(node.value.i)), "");
        if (added) {
          name_result(constant_name(node.value));
          at->second = values[i];
          block.stmts.emplace_back(stripe::Constant{values[i], node.value});
        }
        values[i] = at->second;
        break;
      }
      case BoundNode::Kind::index:
        name_result("index");
        block.stmts.emplace_back(
            stripe::LoadIndex{coordinate[static_cast<size_t>(node.axis)], values[i], node.type});
        tags.push_back(stripe::tag::kEltwiseFunction + std::string("index"));
        break;
      case BoundNode::Kind::call: {
        name_result(node.function);
        std::vector<std::string> inputs;
        inputs.reserve(node.args.size());
        for (int arg : node.args) inputs.push_back(values[static_cast<size_t>(arg)]);
        block.stmts.emplace_back(
            stripe::Intrinsic{node.function, node.operation_type, {values[i]}, std::move(inputs)});
        tags.push_back(stripe::tag::kEltwiseFunction + node.function);
        break;
      }
    }
  }
  block.refs.push_back(lowering.element(RefDir::out, lowering.joined().place(elementwise.out),
                                        out.name, std::move(coordinate)));
  block.stmts.emplace_back(stripe::Store{values.back(), out.name});
  block.tags = sorted_tags(std::move(tags));
  lowering.add_kernel(std::move(block));
  return {};
}

}  // namespace stria::lower_detail
