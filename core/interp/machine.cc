// SPDX-License-Identifier: Apache-2.0
// Who goes on, and what orders whom. What statements do to memory is in machine_memory.cc.
#include "stria/interp/machine.h"

#include <algorithm>

#include "stria/type/tensor_shape.h"

namespace stria::interp {
namespace {

// A release: what the agent does from here on is not known to those who acquire what it knew.
void release(Agent& agent) { ++agent.clock[static_cast<size_t>(agent.id)]; }

template <typename... Args>
Status wrong_moment(fmt::format_string<Args...> format, Args&&... args) {
  return make_error(StatusCode::failed_precondition, format, std::forward<Args>(args)...);
}

}  // namespace

Machine::Machine(const BlockPlan& kernel, std::shared_ptr<const Activation> around,
                 const InterpOptions& options, const Interleaving& how)
    : kernel_(kernel), around_(std::move(around)), options_(options), how_(how) {}

Agent& Machine::begin(const BlockPlan& block, std::shared_ptr<const Activation> outer,
                      const std::vector<int64_t>& fixed, std::string name, const Agent* by) {
  auto agent = std::make_unique<Agent>();
  agent->id = static_cast<int>(agents_.size());
  agent->root = agent->id;
  agent->is_async = block.is_async;
  agent->name = std::move(name);
  if (by != nullptr) agent->clock = by->clock;
  agent->clock.resize(std::max(agent->clock.size(), agents_.size() + 1), 0);
  agent->clock[agents_.size()] = 1;
  agent->priority = first_priority(how_, agent->id, agent->is_async);
  agent->stack.push_back(enter(block, std::move(outer), fixed));
  agents_.push_back(std::move(agent));
  return *agents_.back();
}

Status Machine::run() {
  Agent* current = &begin(kernel_, around_, {}, "the kernel", nullptr);
  while ((current = pick(current)) != nullptr) {
    ++steps_;
    STRIA_ASSIGN(const Went went, step(*current));
    if (went == Went::ended) STRIA_RETURN_IF_ERROR(end(*current));
    if (went != Went::on) continue;
    while (next_switch_ < how_.switches.size() && how_.switches[next_switch_] <= steps_) {
      ++next_switch_;
      current->priority = --lowest_ - (int64_t{1} << 50);
    }
  }
  for (const auto& agent : agents_)
    if (!agent->ended) return stuck();
  return poison_;
}

Agent* Machine::pick(Agent* current) {
  Agent* best = nullptr;
  const bool sticks = how_.seed == 0 && !how_.late;
  if (sticks && !current->ended && !is_blocked(*current)) return current;
  for (const auto& agent : agents_)
    if (!agent->ended && (best == nullptr || agent->priority > best->priority) &&
        !is_blocked(*agent))
      best = agent.get();
  return best;
}

bool Machine::is_blocked(const Agent& agent) const {
  if (agent.after >= 0 && !agents_[static_cast<size_t>(agent.after)]->ended) return true;
  for (const int one : agent.joins)
    if (!agents_[static_cast<size_t>(one)]->ended) return true;
  if (agent.waits == nullptr) return false;
  return agent.waits->view.memory->barriers[agent.waits->view.offset].complete <=
         agent.waits->phase;
}

// What others have done before is known from here on.
Status Machine::pass(Agent& agent) {
  if (agent.after >= 0) join(agent.clock, agents_[static_cast<size_t>(agent.after)]->clock);
  agent.after = -1;
  for (const int one : agent.joins) join(agent.clock, agents_[static_cast<size_t>(one)]->clock);
  agent.joins.clear();
  if (agent.waits == nullptr) return {};
  const PhaseBarrier& barrier = agent.waits->view.memory->barriers[agent.waits->view.offset];
  if (barrier.complete != agent.waits->phase + 1)
    return wrong_moment("{} waits in block {} for phase {} of {}, when phase {} is complete",
                        agent.name, agent.stack.back()->where(), agent.waits->phase,
                        agent.waits->name, barrier.complete - 1);
  join(agent.clock, barrier.done);
  agent.waits = nullptr;
  return {};
}

Status Machine::stuck() const {
  std::vector<std::string> waits;
  for (const auto& agent : agents_) {
    if (agent->ended || agent->waits == nullptr) continue;
    const PhaseBarrier& barrier = agent->waits->view.memory->barriers[agent->waits->view.offset];
    waits.push_back(fmt::format(
        "{}, in block {}, for phase {} of {}, which has {} of {} arrivals at "
        "phase {}",
        agent->name, agent->stack.back()->where(), agent->waits->phase, agent->waits->name,
        barrier.arrived, agent->waits->view.memory->arrivals, barrier.complete));
  }
  return wrong_moment("nobody goes on any more: {}", fmt::join(waits, "; "));
}

Result<Machine::Went> Machine::step(Agent& agent) {
  STRIA_RETURN_IF_ERROR(pass(agent));
  Activation& top = *agent.stack.back();
  if (!top.at_point) {
    if (!top.advance()) {
      STRIA_RETURN_IF_ERROR(leave(agent));
      return agent.stack.empty() ? Went::ended : Went::on;
    }
    STRIA_RETURN_IF_ERROR(begin_point(agent, top));
  }
  while (top.next < top.plan->stmts.size()) {
    const StmtPlan& stmt = top.plan->stmts[top.next++];
    switch (stmt.op) {
      case Op::load: STRIA_RETURN_IF_ERROR(load(agent, top, stmt)); continue;
      case Op::store: STRIA_RETURN_IF_ERROR(store(agent, top, stmt)); continue;
      case Op::zero:
      case Op::copy: STRIA_RETURN_IF_ERROR(whole_view(agent, top, stmt)); continue;
      case Op::barrier: continue;
      case Op::intrinsic:
        top.scalars[static_cast<size_t>(stmt.into)] =
            call(stmt, top.scalars.data(), options_.flushed, events_);
        continue;
      case Op::load_index:
        top.scalars[static_cast<size_t>(stmt.into)] = exactly<TypedValue>(convert(
            Scalar::of_int(DataType::i64, top.forms[static_cast<size_t>(stmt.form)]), stmt.type));
        continue;
      case Op::constant:
        top.scalars[static_cast<size_t>(stmt.into)] = exactly<TypedValue>(stmt.constant);
        continue;
      case Op::wait: {
        STRIA_ASSIGN(agent.waited, phase_of(top, static_cast<size_t>(stmt.ref), false));
        agent.waits = &agent.waited;
        return is_blocked(agent) ? Went::waits : Went::on;
      }
      case Op::arrive: {
        STRIA_ASSIGN(const PhaseOf at, phase_of(top, static_cast<size_t>(stmt.ref), true));
        STRIA_RETURN_IF_ERROR(arrive(agent, at));
        return Went::on;
      }
      case Op::block: {
        const BlockPlan& child = *top.plan->children[static_cast<size_t>(stmt.child)];
        if (child.is_async)
          begin_async(agent, top, child);
        else
          agent.stack.push_back(enter(child, agent.stack.back(), {}));
        return Went::on;
      }
    }
  }
  STRIA_RETURN_IF_ERROR(end_point(agent, top));
  return Went::on;
}

Status Machine::begin_point(Agent& agent, Activation& top) {
  top.at_point = true;
  top.next = 0;
  for (size_t r = 0; r < top.plan->refs.size(); ++r) {
    const RefPlan& ref = top.plan->refs[r];
    if (ref.parent < 0) {
      auto memory = std::make_shared<SharedMemory>();
      memory->own = Buffer::allocate(ref.shape, false);
      memory->buffer = &memory->own;
      memory->name = ref.name;
      memory->arrivals = ref.arrivals;
      top.views[r].memory = std::move(memory);
      top.views[r].aggregating = nullptr;
    }
    top.views[r].offset = top.bases[r] + top.forms[static_cast<size_t>(ref.offset_form)];
  }
  // An asynchronous block says at its first point where it will arrive.
  if (agent.is_async && agent.stack.size() == 1 && agent.arrives_at.empty())
    for (size_t r = 0; r < top.plan->refs.size(); ++r)
      if (top.plan->refs[r].arrivals > 0 && top.plan->refs[r].parent >= 0 &&
          top.plan->refs[r].dir != stripe::RefDir::in) {
        STRIA_ASSIGN(PhaseOf at, phase_of(top, r, true));
        agent.arrives_at.push_back(std::move(at));
      }
  if (top.plan->is_roles) {
    begin_roles(agent, top);
    top.next = top.plan->stmts.size();
  }
  return {};
}

Status Machine::end_point(Agent& agent, Activation& top) {
  for (size_t r = 0; r < top.plan->refs.size(); ++r)
    if (top.plan->refs[r].parent < 0)
      STRIA_RETURN_IF_ERROR(top.views[r].memory->end(agents_, agent, *top.plan));
  top.at_point = false;
  return {};
}

// Aggregations that the block has opened round what they have kept.
Status Machine::leave(Agent& agent) {
  const Activation& top = *agent.stack.back();
  for (const int slot : top.plan->aggregations) {
    const SharedView& view = top.views[static_cast<size_t>(slot)];
    Buffer& buffer = *view.memory->buffer;
    if (view.aggregating->widened)
      for (const int64_t offset : view.aggregating->touched)
        store_scalar(buffer.type, buffer.data, offset,
                     load_scalar(view.aggregating->agg.type, view.aggregating->running.data(),
                                 offset - buffer.lowest));
  }
  agent.stack.pop_back();
  return {};
}

Status Machine::end(Agent& agent) {
  agent.ended = true;
  for (const PhaseOf& at : agent.arrives_at) STRIA_RETURN_IF_ERROR(arrive(agent, at));
  return {};
}

// Each statement is a role, and each value of the indices in its location one of its own (S18).
void Machine::begin_roles(Agent& agent, const Activation& top) {
  std::vector<int> roles;
  for (const auto& child : top.plan->children) {
    std::vector<int64_t> fixed(child->idxs.size(), -1);
    for (size_t i = 0; i < fixed.size(); ++i)
      if (child->idxs[i].located) fixed[i] = 0;
    for (bool more = true; more;) {
      std::string name = "role " + (child->unit.empty() ? child->name : child->unit);
      bool any = true;
      for (size_t i = 0; i < fixed.size(); ++i) {
        any &= child->idxs[i].range > 0;
        if (fixed[i] >= 0) name += fmt::format(" {}={}", child->idxs[i].name, fixed[i]);
      }
      if (!any) break;
      roles.push_back(begin(*child, agent.stack.back(), fixed, std::move(name), &agent).id);
      more = false;
      for (size_t i = fixed.size(); i-- > 0 && !more;) {
        if (fixed[i] < 0) continue;
        more = ++fixed[i] < child->idxs[i].range;
        if (!more) fixed[i] = 0;
      }
    }
  }
  release(agent);
  agent.joins = std::move(roles);
}

void Machine::begin_async(Agent& agent, const Activation& top, const BlockPlan& block) {
  auto around = std::make_shared<Activation>(top);
  Agent& begun = begin(block, around, {}, "", &agent);
  begun.name = "asynchronous " + block.name;
  const std::string where = around->where();
  if (const size_t at = where.find(" at "); at != std::string::npos) begun.name += where.substr(at);
  begun.root = agent.root;
  release(agent);
  if (!block.in_order) return;
  const auto [last, first] =
      last_in_order_.try_emplace(fmt::format("{}/{}", agent.root, block.unit), begun.id);
  if (first) return;
  begun.after = last->second;
  last->second = begun.id;
}

Result<PhaseOf> Machine::phase_of(const Activation& top, size_t slot, bool arrives) const {
  const RefPlan& ref = top.plan->refs[slot];
  PhaseOf out;
  out.view = top.views[slot];
  const SharedMemory& memory = *out.view.memory;
  const std::vector<Dim>& dims = memory.buffer->shape->dims;
  const std::vector<int64_t> at = top.coordinates(slot);
  if (at.size() != dims.size() || dims.empty() || dims.back().stride != 0)
    return invalid_argument(
        "block {}: {} is no phase of a barrier: phases are the last dimension, "
        "of stride 0, and views keep the rank",
        top.plan->name, ref.name);
  out.phase = at.back();
  out.name = memory.name;
  for (size_t d = 0; d + 1 < dims.size(); ++d)
    out.name += fmt::format("{}{}", d == 0 ? "[" : ", ", at[d]);
  if (dims.size() > 1) out.name += "]";
  bool inside = memory.buffer->holds(out.view.offset) && out.phase < dims.back().size &&
                out.phase >= (arrives ? 0 : -1);
  for (size_t d = 0; d + 1 < dims.size(); ++d) inside &= at[d] >= 0 && at[d] < dims[d].size;
  if (!inside)
    return invalid_argument("block {}: phase {} of {} does not exist: {}", top.where(), out.phase,
                            out.name,
                            to_string(memory.buffer->type, memory.buffer->shape->sizes()));
  return out;
}

Status Machine::arrive(Agent& agent, const PhaseOf& at) {
  PhaseBarrier& barrier = at.view.memory->barriers[at.view.offset];
  if (at.phase != barrier.complete)
    return wrong_moment("{} arrives at phase {} of {}, {}", agent.name, at.phase, at.name,
                        at.phase < barrier.complete
                            ? "which is complete"
                            : fmt::format("when phase {} is not complete", barrier.complete));
  join(barrier.pending, agent.clock);
  release(agent);
  if (++barrier.arrived < at.view.memory->arrivals) return {};
  ++barrier.complete;
  barrier.arrived = 0;
  join(barrier.done, barrier.pending);
  barrier.pending.clear();
  return {};
}

}  // namespace stria::interp
