// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/product_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stria/rewrite/index_role.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/scalar_types.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Indices of several points that move the view.
std::set<std::string> moving(const Block& block, const Refinement& view) {
  std::set<std::string> out;
  for (const stripe::Index& index : block.idxs)
    if (index.range > 1 && std::any_of(view.access.begin(), view.access.end(),
                                       [&](const Affine& f) { return f.uses(index.name); }))
      out.insert(index.name);
  return out;
}

Refusal find_factor(const Block& block, ProductFactor& factor) {
  std::set<std::string> needed = {factor.scalar};
  for (size_t i = block.stmts.size(); i-- > 0;) {
    const stripe::Statement& stmt = block.stmts[i];
    const std::vector<std::string> outputs = scalar_outputs(stmt);
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&](const std::string& name) { return needed.count(name) > 0; }))
      continue;
    for (const std::string& name : scalar_inputs(stmt)) needed.insert(name);
    factor.statements.insert(factor.statements.begin(), i);
    factor.operations += std::holds_alternative<stripe::Intrinsic>(stmt.op);
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    if (load && !std::count(factor.views.begin(), factor.views.end(), load->from))
      factor.views.insert(factor.views.begin(), load->from);
  }
  std::set<std::string> all, most;
  for (const std::string& name : factor.views) {
    const std::set<std::string> own = moving(block, *block.find_ref(name));
    all.insert(own.begin(), own.end());
    if (!factor.main.empty() && own.size() <= most.size()) continue;
    factor.main = name;
    most = own;
  }
  if (factor.main.empty()) return "a factor is computed from no tensor";
  if (most != all)
    return fmt::format("a factor is computed from tensors of which none moves with {}",
                       fmt::join(all, ", "));
  return Refusal::none();
}

}  // namespace

Refusal product_factors(const Block& block, std::array<ProductFactor, 2>& factors) {
  if (!is_leaf(block) || block.stmts.empty()) return "it holds blocks or a special";
  const auto* store = std::get_if<stripe::Store>(&block.stmts.back().op);
  const Refinement* sum = store ? block.find_ref(store->into) : nullptr;
  if (!sum || !sum->agg || !store->at.empty()) return "it sums nothing up";
  const stripe::Intrinsic* product = nullptr;
  for (const stripe::Statement& stmt : block.stmts) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const auto* op = std::get_if<stripe::Intrinsic>(&stmt.op);
    const bool plain =
        (load && load->at.empty() && block.find_ref(load->from)->dir == RefDir::in) || op ||
        std::holds_alternative<stripe::Constant>(stmt.op) || &stmt == &block.stmts.back();
    if (!plain) return "it does more than compute one value at each point";
    if (op && std::count(op->outputs.begin(), op->outputs.end(), store->from)) product = op;
  }
  if (!product || product->name != "mul" || product->inputs[0] == product->inputs[1])
    return "it is no sum of products of two factors";
  const std::map<std::string, DataType> types = stripe::scalar_types(block);
  for (size_t i = 0; i < 2; ++i) {
    factors[i] = {};
    factors[i].scalar = product->inputs[i];
    factors[i].type = types.at(product->inputs[i]);
    STRIA_RETURN_IF_REFUSED(find_factor(block, factors[i]));
  }
  if (factors[0].main == factors[1].main) return "both of its factors are one tensor's";
  return Refusal::none();
}

Block with_loaded_factors(const Block& block, const std::array<ProductFactor, 2>& factors,
                          const std::array<DataType, 2>& types) {
  Block out = block;
  out.refs.clear();
  out.stmts.clear();
  for (const Refinement& ref : block.refs)
    if (ref.dir != RefDir::in || ref.into == factors[0].main || ref.into == factors[1].main)
      out.refs.push_back(ref);
  for (size_t i = 0; i < 2; ++i) {
    out.find_ref(factors[i].main)->shape.type = types[i];
    out.stmts.emplace_back(stripe::Load{factors[i].main, factors[i].scalar});
  }
  // The product and its store.
  for (const stripe::Statement& stmt : block.stmts) {
    const std::vector<std::string> inputs = scalar_inputs(stmt);
    const bool multiplies =
        inputs == std::vector<std::string>{factors[0].scalar, factors[1].scalar};
    const auto* op = std::get_if<stripe::Intrinsic>(&stmt.op);
    const auto* store = std::get_if<stripe::Store>(&block.stmts.back().op);
    if (&stmt == &block.stmts.back() ||
        (multiplies && op && std::count(op->outputs.begin(), op->outputs.end(), store->from)))
      out.stmts.push_back(stmt);
  }
  return out;
}

}  // namespace stria::passes
