// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/plan.h"

#include <cmath>
#include <map>
#include <string_view>

#include "stria/base/text.h"
#include "stria/interp/flat_plan.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/parser.h"

namespace stria::interp {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using Names = std::map<std::string, int, std::less<>>;

// One block while its plan is made.
struct Scope {
  BlockPlan* plan = nullptr;
  Names idxs, refs, scalars;
  std::vector<Affine> forms;
  std::vector<double> reach;  // of each index: largest |value|
};

// Every affine form stays below this at every point, so that no sum of a few of them overflows.
constexpr double kLargestForm = 1e15;

std::vector<std::string> keys(const Names& names) {
  std::vector<std::string> out;
  for (const auto& [name, slot] : names) out.push_back(name);
  return out;
}

Result<int> find(const Names& names, const std::string& name, std::string_view kind,
                 const Scope& scope) {
  if (auto it = names.find(name); it != names.end()) return it->second;
  return invalid_argument("block {}: no {} '{}'{}", scope.plan->name, kind, name,
                          did_you_mean(name, keys(names)));
}

// Largest |value| of the form over the block's indices, which all exist.
double reach_of(const Scope& scope, const Affine& affine) {
  double reach = std::fabs(static_cast<double>(affine.constant()));
  for (const auto& [name, coefficient] : affine.terms())
    reach += std::fabs(static_cast<double>(coefficient)) *
             scope.reach[static_cast<size_t>(scope.idxs.find(name)->second)];
  return reach;
}

Result<int> add_form(Scope& scope, const Affine& affine) {
  for (const auto& [name, coefficient] : affine.terms())
    STRIA_RETURN_IF_ERROR(
        find(scope.idxs, name, "index", scope).status().with_context(affine.to_string()));
  if (reach_of(scope, affine) > kLargestForm)
    return invalid_argument("block {}: {} grows beyond {:g}", scope.plan->name, affine.to_string(),
                            kLargestForm);
  scope.forms.push_back(affine);
  return static_cast<int>(scope.forms.size()) - 1;
}

Result<int> define(Scope& scope, const std::string& name, DataType type) {
  const int slot = static_cast<int>(scope.plan->scalars.size());
  if (!scope.scalars.emplace(name, slot).second)
    return invalid_argument("block {}: ${} is set twice", scope.plan->name, name);
  scope.plan->scalars.push_back(type);
  return slot;
}

class PlanMaker {
 public:
  Result<Plan> make(const Block& root) {
    STRIA_ASSIGN(plan_.root, block(root, nullptr, root.name.empty() ? "program" : root.name));
    return std::move(plan_);
  }

 private:
  Result<std::unique_ptr<BlockPlan>> block(const Block& in, Scope* parent, std::string name);
  Status indices(const Block& in, Scope& scope, Scope* parent);
  Status ref(const Refinement& in, Scope& scope, const Scope* parent);
  Status aggregation(const Refinement& in, RefPlan& out, const Scope& scope, const Scope* parent);
  Status choices(const stripe::ChosenCoordinates& at, const RefPlan& ref, const Scope& scope,
                 std::vector<Choice>& out);
  Status op(const stripe::Load& in, Scope& scope, StmtPlan& out);
  Status op(const stripe::Store& in, Scope& scope, StmtPlan& out);
  Status op(const stripe::LoadIndex& in, Scope& scope, StmtPlan& out);
  Status op(const stripe::Constant& in, Scope& scope, StmtPlan& out);
  Status op(const stripe::Intrinsic& in, Scope& scope, StmtPlan& out);
  Status op(const stripe::Box<stripe::Special>& in, Scope& scope, StmtPlan& out);
  Status op(const stripe::Box<Block>& in, Scope& scope, StmtPlan& out);

  Plan plan_;
};

Result<std::unique_ptr<BlockPlan>> PlanMaker::block(const Block& in, Scope* parent,
                                                    std::string name) {
  auto plan = std::make_unique<BlockPlan>();
  Scope scope{.plan = plan.get()};
  plan->name = std::move(name);
  plan->id = plan_.block_count++;
  plan->depth = parent ? parent->plan->depth + 1 : 0;
  if (plan->depth >= stripe::kMaxDepth)
    return invalid_argument("block {}: nested deeper than {}", plan->name, stripe::kMaxDepth);
  plan->is_async = in.tags.has(stripe::tag::kAsync);
  plan->in_order = in.tags.has(stripe::tag::kInOrder);
  plan->is_roles = in.tags.has(stripe::tag::kRoles);
  plan->concurrent = plan->is_async || plan->is_roles;
  plan->is_section = in.tags.has(stripe::tag::kMain) || in.tags.has(stripe::tag::kPrologue);
  STRIA_RETURN_IF_ERROR(indices(in, scope, parent));
  for (const stripe::LocationUnit& unit : in.location.path) {
    plan->unit += (plan->unit.empty() ? "" : "/") + unit.name;
    for (const Affine& number : unit.units)
      for (BlockPlan::Index& index : plan->idxs)
        index.located |= number.coefficient(index.name) != 0;
  }
  for (const Affine& constraint : in.constraints)
    STRIA_RETURN_IF_ERROR(add_form(scope, constraint).status());
  plan->constraint_count = static_cast<int>(in.constraints.size());
  for (const Refinement& one : in.refs) STRIA_RETURN_IF_ERROR(ref(one, scope, parent));
  for (const stripe::Statement& stmt : in.stmts) {
    StmtPlan out;
    // Points run one after the other here, so that all there is to wait for has been done.
    if (is_barrier(stmt))
      out.op = Op::barrier;
    else
      STRIA_RETURN_IF_ERROR(
          std::visit([&](const auto& op_in) { return op(op_in, scope, out); }, stmt.op));
    plan->stmts.push_back(out);
  }
  for (const StmtPlan& stmt : plan->stmts)
    plan->concurrent |= stmt.op == Op::wait || stmt.op == Op::arrive;
  for (const auto& child : plan->children) plan->concurrent |= child->concurrent;
  const size_t forms = scope.forms.size();
  plan->constants.resize(forms);
  plan->coefficients.assign(forms * in.idxs.size(), 0);
  for (size_t f = 0; f < forms; ++f) {
    plan->constants[f] = scope.forms[f].constant();
    for (const auto& [index, coefficient] : scope.forms[f].terms())
      plan->coefficients[static_cast<size_t>(scope.idxs[index]) * forms + f] = coefficient;
  }
  plan->flat = make_flat_plan(*plan);
  return plan;
}

Status PlanMaker::indices(const Block& in, Scope& scope, Scope* parent) {
  BlockPlan& plan = *scope.plan;
  for (const stripe::Index& index : in.idxs) {
    if (!scope.idxs.emplace(index.name, static_cast<int>(plan.idxs.size())).second)
      return invalid_argument("block {}: index '{}' is declared twice", plan.name, index.name);
    if (index.range < 0)
      return invalid_argument("block {}: index '{}' has range {}", plan.name, index.name,
                              index.range);
    BlockPlan::Index out{index.name, index.range, -1};
    if (index.affine && !(index.affine->is_constant() && index.affine->constant() == 0)) {
      if (!parent)
        return invalid_argument("block {}: index '{}' starts at {}, but there is no outer block",
                                plan.name, index.name, index.affine->to_string());
      auto form = add_form(*parent, *index.affine);
      if (!form)
        return form.status().with_context(
            fmt::format("index '{}' of block {}", index.name, plan.name));
      out.start_form = *form;
    }
    const double start = out.start_form < 0 ? 0 : reach_of(*parent, *index.affine);
    scope.reach.push_back(start + static_cast<double>(index.range));
    if (scope.reach.back() > kLargestForm)
      return invalid_argument("block {}: index '{}' grows beyond {:g}", plan.name, index.name,
                              kLargestForm);
    plan.idxs.push_back(std::move(out));
  }
  return {};
}

Status PlanMaker::aggregation(const Refinement& in, RefPlan& out, const Scope& scope,
                              const Scope* parent) {
  const std::optional<stripe::Aggregation>& outer =
      out.parent < 0 ? std::nullopt : parent->plan->refs[static_cast<size_t>(out.parent)].agg;
  auto text = [](const stripe::Aggregation& agg) {
    return fmt::format("{}.{}", stripe::name_of(agg.op), name_of(agg.type));
  };
  if (in.dir == RefDir::none || in.dir == RefDir::in) {
    if (in.agg)
      return invalid_argument("block {}: refinement {}: an `{}` refinement has no aggregation ({})",
                              scope.plan->name, in.into, stripe::name_of(in.dir), text(*in.agg));
    out.agg = outer;  // a view of running values
    return {};
  }
  if (outer && (!in.agg || *in.agg != *outer))
    return invalid_argument("block {}: refinement {} has aggregation {}, but {} around it has {}",
                            scope.plan->name, in.into, in.agg ? text(*in.agg) : "none", in.from,
                            text(*outer));
  out.agg = in.agg;
  out.opens_aggregation = in.agg && !outer;
  out.from_identity =
      out.opens_aggregation
          ? in.dir == RefDir::out
          : outer && parent->plan->refs[static_cast<size_t>(out.parent)].from_identity;
  if (out.opens_aggregation) {
    out.aggregation = plan_.aggregation_count++;
    scope.plan->aggregations.push_back(static_cast<int>(scope.plan->refs.size()));
  }
  return {};
}

Status PlanMaker::ref(const Refinement& in, Scope& scope, const Scope* parent) {
  BlockPlan& plan = *scope.plan;
  const int slot = static_cast<int>(plan.refs.size());
  if (!scope.refs.emplace(in.into, slot).second)
    return invalid_argument("block {}: refinement {} is declared twice", plan.name, in.into);
  RefPlan out;
  out.name = in.into;
  out.dir = in.dir;
  out.shape = in.shape;
  if (in.access.size() != in.shape.dims.size())
    return invalid_argument("block {}: refinement {} has {} access forms for {} dimensions",
                            plan.name, in.into, in.access.size(), in.shape.dims.size());
  double span = 1;
  for (const Dim& dim : in.shape.dims) {
    if (dim.size < 0)
      return invalid_argument("block {}: refinement {} has size {}", plan.name, in.into, dim.size);
    span += static_cast<double>(dim.size) * std::fabs(static_cast<double>(dim.stride));
  }
  if (span > kLargestForm)
    return invalid_argument("block {}: refinement {} spans more than {:g} elements", plan.name,
                            in.into, kLargestForm);
  if (in.dir == RefDir::none) {
    if (!in.from.empty())
      return invalid_argument("block {}: allocation {} is made from {}", plan.name, in.into,
                              in.from);
    out.allocation = plan_.allocation_count++;
    plan.allocations.push_back(slot);
  } else {
    if (!parent)
      return invalid_argument("block {}: refinement {} is a view, but there is no outer block",
                              plan.name, in.into);
    auto from = find(parent->refs, in.from, "refinement", *parent);
    if (!from) return from.status().with_context(fmt::format("{} in block {}", in.into, plan.name));
    out.parent = *from;
    const RefPlan& outer = parent->plan->refs[static_cast<size_t>(*from)];
    if (outer.shape.type != in.shape.type)
      return invalid_argument("block {}: refinement {} is {}, but {} is {}", plan.name, in.into,
                              name_of(in.shape.type), in.from, name_of(outer.shape.type));
    if (outer.dir == RefDir::in && in.dir != RefDir::in)
      return invalid_argument("block {}: refinement {} writes, but {} around it is only read",
                              plan.name, in.into, in.from);
  }
  if (out.parent >= 0)
    out.arrivals = parent->plan->refs[static_cast<size_t>(out.parent)].arrivals;
  else if (in.tags.has(stripe::tag::kArrivals))
    out.arrivals = in.tags.integer(stripe::tag::kArrivals).value_or(0);
  STRIA_ASSIGN(out.offset_form, add_form(scope, in.flat_access()));
  // Clamping looks at coordinates, which add up along the chain of views.
  if (in.tags.has(stripe::tag::kClamp)) out.out_of_range = OutOfRange::poison;
  if (in.tags.has(stripe::tag::kZeroFill)) out.out_of_range = OutOfRange::zero;
  if (parent && out.parent >= 0 && out.out_of_range == OutOfRange::error)
    out.out_of_range = parent->plan->refs[static_cast<size_t>(out.parent)].out_of_range;
  if (out.out_of_range != OutOfRange::error && in.dir != RefDir::in)
    return invalid_argument(
        "block {}: refinement {}: only `in` refinements may be #clamp or #zero_fill", plan.name,
        in.into);
  for (const Affine& form : in.access) {
    Coordinate coordinate{form.constant(), std::vector<int64_t>(plan.idxs.size())};
    for (const auto& [index, coefficient] : form.terms())
      coordinate.coefficients[static_cast<size_t>(scope.idxs[index])] = coefficient;
    out.coordinates.push_back(std::move(coordinate));
  }
  STRIA_RETURN_IF_ERROR(aggregation(in, out, scope, parent));
  plan.refs.push_back(std::move(out));
  return {};
}

Status PlanMaker::choices(const stripe::ChosenCoordinates& at, const RefPlan& ref,
                          const Scope& scope, std::vector<Choice>& out) {
  if (at.empty()) return {};
  if (at.size() != ref.shape.rank())
    return invalid_argument("block {}: {} has {} dimensions, but {} coordinates are given",
                            scope.plan->name, ref.name, ref.shape.rank(), at.size());
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d].empty()) continue;
    STRIA_ASSIGN(const int slot, find(scope.scalars, at[d], "scalar", scope));
    const DataType type = scope.plan->scalars[static_cast<size_t>(slot)];
    if (!is_integer(type))
      return invalid_argument("block {}: ${} is {}; a coordinate of {} is an integer",
                              scope.plan->name, at[d], name_of(type), ref.name);
    out.push_back({slot, ref.shape.dims[d].size, ref.shape.dims[d].stride});
  }
  return {};
}

Status PlanMaker::op(const stripe::Load& in, Scope& scope, StmtPlan& out) {
  out.op = Op::load;
  STRIA_ASSIGN(out.ref, find(scope.refs, in.from, "refinement", scope));
  const RefPlan& ref = scope.plan->refs[static_cast<size_t>(out.ref)];
  out.type = ref.shape.type;
  STRIA_RETURN_IF_ERROR(choices(in.at, ref, scope, out.chosen));
  for (const Choice& choice : out.chosen)
    if (choice.size == 0)
      return invalid_argument("block {}: the view {} has no element to clamp a coordinate to",
                              scope.plan->name, in.from);
  if (!out.chosen.empty() && ref.out_of_range != OutOfRange::error)
    return invalid_argument("block {}: {} clamps already; no scalar chooses its coordinates",
                            scope.plan->name, in.from);
  STRIA_ASSIGN(out.into, define(scope, in.into, out.type));
  return {};
}

Status PlanMaker::op(const stripe::Store& in, Scope& scope, StmtPlan& out) {
  out.op = Op::store;
  STRIA_ASSIGN(out.from[0], find(scope.scalars, in.from, "scalar", scope));
  out.operands = 1;
  STRIA_ASSIGN(out.ref, find(scope.refs, in.into, "refinement", scope));
  const RefPlan& ref = scope.plan->refs[static_cast<size_t>(out.ref)];
  if (ref.dir == RefDir::in)
    return invalid_argument("block {}: store into {}, which is only read", scope.plan->name,
                            in.into);
  STRIA_RETURN_IF_ERROR(choices(in.at, ref, scope, out.chosen));
  if (!out.chosen.empty() && ref.agg && ref.from_identity)
    return invalid_argument(
        "block {}: the aggregation of {} starts at its identity, but a scalar chooses the element",
        scope.plan->name, in.into);
  out.type = ref.agg ? ref.agg->type : ref.shape.type;
  if (ref.agg) out.builtin = find_builtin(stripe::name_of(ref.agg->op));
  out.operand_types[0] = out.type;
  out.converts[0] = scope.plan->scalars[static_cast<size_t>(out.from[0])] != out.type;
  return {};
}

Status PlanMaker::op(const stripe::LoadIndex& in, Scope& scope, StmtPlan& out) {
  out.op = Op::load_index;
  out.type = in.type;
  STRIA_ASSIGN(out.form, add_form(scope, in.from));
  STRIA_ASSIGN(out.into, define(scope, in.into, in.type));
  return {};
}

Status PlanMaker::op(const stripe::Constant& in, Scope& scope, StmtPlan& out) {
  out.op = Op::constant;
  out.type = in.value.type;
  out.constant = in.value;
  STRIA_ASSIGN(out.into, define(scope, in.into, out.type));
  return {};
}

Status PlanMaker::op(const stripe::Intrinsic& in, Scope& scope, StmtPlan& out) {
  const std::string& block_name = scope.plan->name;
  out.op = Op::intrinsic;
  out.type = in.type;
  out.builtin = find_builtin(in.name);
  if (!out.builtin || out.builtin->types == TypeRule::cast)
    return unsupported("block {}: no intrinsic '{}'{}", block_name, in.name,
                       did_you_mean(in.name, builtin_names()));
  if (static_cast<int>(in.inputs.size()) != out.builtin->arity || in.outputs.size() != 1)
    return invalid_argument("block {}: {} takes {} operands and gives one result, got {} and {}",
                            block_name, in.name, out.builtin->arity, in.inputs.size(),
                            in.outputs.size());
  if (!allows(*out.builtin, in.type))
    return invalid_argument("block {}: {}.{}: the builtin does not exist for that type", block_name,
                            in.name, name_of(in.type));
  out.operands = static_cast<uint8_t>(out.builtin->arity);
  for (size_t i = 0; i < out.operands; ++i) {
    STRIA_ASSIGN(out.from[i], find(scope.scalars, in.inputs[i], "scalar", scope));
    out.operand_types[i] = operand_type(*out.builtin, in.type, static_cast<int>(i));
    out.converts[i] = scope.plan->scalars[static_cast<size_t>(out.from[i])] != out.operand_types[i];
  }
  out.counts_zero_divisor = !is_float(in.type) && (in.name == "div" || in.name == "mod");
  STRIA_ASSIGN(out.into, define(scope, in.outputs[0], result_type(*out.builtin, in.type)));
  return {};
}

Status PlanMaker::op(const stripe::Box<stripe::Special>& special, Scope& scope, StmtPlan& out) {
  const stripe::Special& in = *special;
  const std::string& block_name = scope.plan->name;
  if (in.name == "wait" || in.name == "arrive") {
    const bool waits = in.name == "wait";
    const std::vector<std::string>& on = waits ? in.inputs : in.outputs;
    if (on.size() != 1 || in.inputs.size() + in.outputs.size() != 1)
      return invalid_argument("block {}: special {} takes one phase of a barrier, as its {}",
                              block_name, in.name, waits ? "input" : "output");
    out.op = waits ? Op::wait : Op::arrive;
    STRIA_ASSIGN(out.ref, find(scope.refs, on[0], "refinement", scope));
    const RefPlan& ref = scope.plan->refs[static_cast<size_t>(out.ref)];
    if (ref.arrivals <= 0)
      return invalid_argument(
          "block {}: special {}: {} is no phase of a barrier: no allocation "
          "tagged #arrivals=N",
          block_name, in.name, on[0]);
    return {};
  }
  const bool copy = in.name == "copy";
  if (!copy && in.name != "zero")
    return unsupported("block {}: no special '{}'{}", block_name, in.name,
                       did_you_mean(in.name, {"zero", "copy", "barrier", "wait", "arrive"}));
  if (in.outputs.size() != 1 || in.inputs.size() != (copy ? 1u : 0u))
    return invalid_argument("block {}: special {} takes {} inputs and 1 output, got {} and {}",
                            block_name, in.name, copy ? 1 : 0, in.inputs.size(), in.outputs.size());
  out.op = copy ? Op::copy : Op::zero;
  STRIA_ASSIGN(out.ref, find(scope.refs, in.outputs[0], "refinement", scope));
  const RefPlan& ref = scope.plan->refs[static_cast<size_t>(out.ref)];
  if (ref.dir == RefDir::in || ref.agg)
    return invalid_argument("block {}: special {} writes {}, which {}", block_name, in.name,
                            in.outputs[0], ref.agg ? "has an aggregation" : "is only read");
  out.type = ref.shape.type;
  if (copy) {
    STRIA_ASSIGN(out.source, find(scope.refs, in.inputs[0], "refinement", scope));
    const RefPlan& source = scope.plan->refs[static_cast<size_t>(out.source)];
    if (source.shape.sizes() != ref.shape.sizes())
      return invalid_argument("block {}: special copy of {} to {}", block_name,
                              to_string(source.shape.type, source.shape.sizes()),
                              to_string(ref.shape.type, ref.shape.sizes()));
  }
  return {};
}

Status PlanMaker::op(const stripe::Box<Block>& in, Scope& scope, StmtPlan& out) {
  out.op = Op::block;
  out.child = static_cast<int>(scope.plan->children.size());
  std::string name = in->name;
  if (name.empty()) name = fmt::format("{}/{}", scope.plan->name, scope.plan->stmts.size());
  STRIA_ASSIGN(auto child, block(*in, &scope, std::move(name)));
  scope.plan->children.push_back(std::move(child));
  return {};
}

}  // namespace

Result<Plan> make_plan(const Block& root) { return PlanMaker().make(root); }

}  // namespace stria::interp
