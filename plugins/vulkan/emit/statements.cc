// SPDX-License-Identifier: Apache-2.0
#include "emit/statements.h"

#include "emit/branch.h"
#include "stria/semtree/tree/variables.h"

namespace stria::vulkan {

using semtree::Body;
using semtree::Statement;

void Statements::add_all(const Body& body) {
  semtree::walk(body, [&](const Statement& statement) {
    std::set<int> used;
    semtree::add_used(statement, used);
    auto* store = std::get_if<semtree::Store>(&statement.op);
    if (store && store->value->kind == semtree::ExprKind::variable) used.erase(store->value->var);
    computed_with_.insert(used.begin(), used.end());
  });
  add(body);
}

void Statements::add(const Body& body) {
  for (const Statement& statement : body) {
    expressions_.forget();
    if (auto* s = std::get_if<semtree::Let>(&statement.op)) {
      expressions_.set(s->var, computed_with_.count(s->var)
                                   ? expressions_.value(s->value)
                                   : expressions_.value_to_store(s->value));
    } else if (auto* s = std::get_if<semtree::Load>(&statement.op)) {
      add(*s);
    } else if (auto* s = std::get_if<semtree::Store>(&statement.op)) {
      add(*s);
    } else if (auto* s = std::get_if<semtree::For>(&statement.op)) {
      add(*s);
    } else if (auto* s = std::get_if<semtree::If>(&statement.op)) {
      add(*s);
    } else if (auto* s = std::get_if<semtree::Barrier>(&statement.op)) {
      add_barrier(spv::Scope::Workgroup, s->parameters);
    } else if (std::holds_alternative<semtree::SubgroupBarrier>(statement.op)) {
      add_barrier(spv::Scope::Subgroup, false);
    } else if (auto* s = std::get_if<semtree::ElementLoop>(&statement.op)) {
      add(*s);
    } else if (auto* s = std::get_if<semtree::MatrixFill>(&statement.op)) {
      matrices_->add(*s);
    } else if (auto* s = std::get_if<semtree::MatrixLoad>(&statement.op)) {
      matrices_->add(*s);
    } else if (auto* s = std::get_if<semtree::MatrixStore>(&statement.op)) {
      matrices_->add(*s);
    } else if (auto* s = std::get_if<semtree::MatrixMultiply>(&statement.op)) {
      matrices_->add(*s);
    }
    // Prefetches are hints that SPIR-V cannot say. requirements.h refuses instructions.
  }
  expressions_.forget();
}

void Statements::add(const semtree::Load& load) {
  expressions_.set(load.var, matrices_->holds(load.place)
                                 ? Lanes{matrices_->load(load.place, element_)}
                                 : memory_->load(load.place));
}

void Statements::add(const semtree::Store& store) {
  const Lanes lanes = expressions_.value_to_store(store.value);
  if (matrices_->holds(store.place))
    matrices_->store(store.place, element_, lanes[0]);
  else
    memory_->store(store.place, lanes);
}

void Statements::add(const semtree::For& loop) {
  const Id lower = expressions_.scalar(loop.lower), upper = expressions_.scalar(loop.upper);
  this->loop(type_of(loop.var), lower, upper, loop.unroll, [&](Id var) {
    module_.name(var, variables_[static_cast<size_t>(loop.var)].name);
    expressions_.set(loop.var, {var});
    add(loop.body);
  });
}

// Unrolled, for matrices lie in registers, which have no subscripts.
void Statements::add(const semtree::ElementLoop& loop) {
  this->loop(DataType::u32, values_.word(0), matrices_->length(loop), true, [&](Id element) {
    element_ = element;
    add(loop.body);
  });
}

void Statements::loop(DataType type, Id lower, Id upper, bool unroll,
                      const std::function<void(Id)>& body_of) {
  const Id of = values_.type(type);
  const Id before = module_.block();
  const Id header = module_.new_id(), test = module_.new_id(), body = module_.new_id();
  const Id advance = module_.new_id(), behind = module_.new_id(), next = module_.new_id();
  module_.add(spv::Op::OpBranch, {header});
  module_.label(header);
  const Id var = module_.add(spv::Op::OpPhi, of, {lower, before, next, advance});
  const auto control = unroll ? spv::LoopControlMask::Unroll : spv::LoopControlMask::MaskNone;
  module_.add(spv::Op::OpLoopMerge, {behind, advance, static_cast<uint32_t>(control)});
  module_.add(spv::Op::OpBranch, {test});
  module_.label(test);
  const Id goes_on = values_.operation(semtree::Op::lt, type, {var, upper});
  module_.add(spv::Op::OpBranchConditional, {goes_on, body, behind});
  module_.label(body);
  body_of(var);
  module_.add(spv::Op::OpBranch, {advance});
  module_.label(advance);
  const Id one = values_.constant(Scalar::of_int(type, 1));
  module_.add_with_id(spv::Op::OpIAdd, of, next, {var, one});
  if (is_signed_integer(type)) module_.decorate(next, spv::Decoration::NoSignedWrap);
  module_.add(spv::Op::OpBranch, {header});
  module_.label(behind);
}

void Statements::add(const semtree::If& branch) {
  Branch inside(module_, expressions_.scalar(branch.condition));
  add(branch.then);
  inside.end();
  for (const int var : branch.kept) {
    const Id type = values_.type(type_of(var));
    Lanes merged;
    for (const Id lane : expressions_.variable(var))
      merged.push_back(inside.merged(type, lane, module_.undefined(type)));
    expressions_.set(var, std::move(merged));
  }
}

void Statements::add_barrier(spv::Scope of, bool parameters) {
  using Semantics = spv::MemorySemanticsMask;
  Semantics semantics = Semantics::AcquireRelease | Semantics::WorkgroupMemory |
                        Semantics::MakeAvailable | Semantics::MakeVisible;
  if (parameters) semantics = semantics | Semantics::UniformMemory;
  const Id scope = values_.word(static_cast<uint32_t>(of));
  module_.add(spv::Op::OpControlBarrier,
              {scope, scope, values_.word(static_cast<uint32_t>(semantics))});
}

}  // namespace stria::vulkan
