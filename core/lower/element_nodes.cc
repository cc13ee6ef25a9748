// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/element_nodes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory_resource>

#include "stria/stripe/tags.h"

namespace stria::lower_detail {
namespace {

using tile::BoundNode;

std::string constant_name(const Scalar& value) {
  bool is_zero = is_float(value.type) ? value.f == 0 : value.i == 0;
  bool is_one = is_float(value.type) ? value.f == 1 : value.i == 1;
  return is_zero ? "zero" : is_one ? "one" : "c";
}

}  // namespace

std::string ElementNodes::add(const std::vector<BoundNode>& nodes,
                              const std::function<std::vector<Affine>(const BoundNode&)>& access,
                              const std::vector<Affine>& coordinates) {
  // Exactly what it needs: this is most of the memory of a program of many statements.
  const auto loaded = std::count_if(nodes.begin(), nodes.end(), [](const BoundNode& node) {
    return node.kind == BoundNode::Kind::load;
  });
  block_.refs.reserve(static_cast<size_t>(loaded) + 1);
  block_.stmts.reserve(nodes.size() + 1);
  tags_.reserve(nodes.size() + 2);
  tags_.insert(tags_.end(), {stripe::tag::kEltwise, stripe::tag::kKernel});
  KernelScratch scratch;
  Names scalars(scratch.resource());
  Names views(scratch.resource());
  scalars.fresh(result_);  // for the last node
  views.fresh(result_);
  // An element is loaded once; a constant, by type and bits, stands once.
  std::pmr::map<std::pair<tile::TensorId, int>, std::string> loads(scratch.resource());
  std::pmr::map<std::pair<DataType, uint64_t>, std::string> constants(scratch.resource());
  std::vector<std::string> values(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const BoundNode& node = nodes[i];
    bool last = i + 1 == nodes.size();
    auto name_result = [&](const std::string& base) {
      values[i] = last ? result_ : scalars.fresh(base);
    };
    switch (node.kind) {
      case BoundNode::Kind::load: {
        auto [at, added] = loads.emplace(std::pair(node.tensor, node.axis), "");
        if (added) {
          const std::string& name = lowering_.tensor(node.tensor).name;
          at->second = scalars.fresh(name);
          const std::string view = views.fresh(name);
          block_.refs.push_back(
              lowering_.element(stripe::RefDir::in, node.tensor, view, access(node)));
          block_.stmts.emplace_back(stripe::Load{view, at->second});
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
          block_.stmts.emplace_back(stripe::Constant{values[i], node.value});
        }
        values[i] = at->second;
        break;
      }
      case BoundNode::Kind::index:
        name_result("index");
        block_.stmts.emplace_back(
            stripe::LoadIndex{coordinates[static_cast<size_t>(node.axis)], values[i], node.type});
        tags_.push_back(stripe::tag::kEltwiseFunction + std::string("index"));
        break;
      case BoundNode::Kind::call: {
        name_result(node.function);
        std::vector<std::string> inputs;
        inputs.reserve(node.args.size());
        for (int arg : node.args) inputs.push_back(values[static_cast<size_t>(arg)]);
        block_.stmts.emplace_back(
            stripe::Intrinsic{node.function, node.operation_type, {values[i]}, std::move(inputs)});
        tags_.push_back(stripe::tag::kEltwiseFunction + node.function);
        break;
      }
    }
  }
  return values.back();
}

}  // namespace stria::lower_detail
