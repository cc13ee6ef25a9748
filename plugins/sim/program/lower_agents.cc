// SPDX-License-Identifier: Apache-2.0
#include "program/lower_agents.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "stria/base/text.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/tags.h"

namespace stria::sim {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// A barrier, or several beside each other, of one allocation.
struct Phases {
  std::string name;
  int64_t arrivals = 1;
  struct One {
    int64_t arrived = 0;
    std::vector<uint32_t> pending;                 // tasks behind which the arrivals stand
    std::vector<std::vector<uint32_t>> completed;  // by phase
  };
  std::map<int64_t, One> barriers;  // by the element's place
};
struct PhaseView {
  std::shared_ptr<Phases> phases;
  const Refinement* allocation = nullptr;
  std::vector<int64_t> start;
  int64_t place() const {
    int64_t out = 0;
    for (size_t d = 0; d < start.size(); ++d) out += start[d] * allocation->shape.dims[d].stride;
    return out;
  }
};

struct Frame {
  const Block* block = nullptr;
  IndexValues start, point;
  std::vector<int64_t> at;     // of each index, from its start
  std::vector<int64_t> range;  // 1: fixed
  Memories around, memories;
  std::map<std::string, PhaseView> outer, phases;  // around the block, and in it
  std::string unit;
  size_t next = 0;
  bool begun = false, at_point = false;

  // Next point that meets all constraints; false past the last one.
  bool advance() {
    if (std::any_of(range.begin(), range.end(), [](int64_t r) { return r == 0; })) return false;
    for (bool first = !begun;; first = false) {
      begun = true;
      size_t i = first ? 0 : at.size();
      if (!first) {
        while (i > 0 && ++at[i - 1] == range[i - 1]) at[--i] = 0;
        if (i == 0) return false;
      }
      point = start;
      for (size_t k = 0; k < at.size(); ++k) point[block->idxs[k].name] += at[k];
      const auto holds = [&](const Affine& form) { return value(form, point) >= 0; };
      if (std::all_of(block->constraints.begin(), block->constraints.end(), holds)) return true;
    }
  }
  static int64_t value(const Affine& form, const IndexValues& point) {
    int64_t out = form.constant();
    for (const auto& [name, coefficient] : form.terms())
      if (const auto found = point.find(name); found != point.end())
        out += coefficient * found->second;
    return out;
  }
};

struct Agent {
  std::string name;
  std::vector<Frame> stack;
  std::vector<uint32_t> after;  // tasks that have to end before what comes next
  std::vector<size_t> roles;    // that have to end first
  std::optional<PhaseView> waits;
  std::map<std::string, std::vector<uint32_t>> in_order;  // by unit: the last asynchronous block
  bool ended = false;
};

class AgentLowering {
 public:
  explicit AgentLowering(const StatementLowering& how) : how_(how) {}

  Result<Fragment> run(const Block& block, const Memories& around, const IndexValues& point,
                       const std::string& unit) {
    agents_.push_back(std::make_unique<Agent>());
    agents_[0]->name = "the kernel";
    agents_[0]->stack.push_back(frame(block, point, around, {}, unit));
    for (bool any = true; any;) {
      any = false;
      for (size_t a = 0; a < agents_.size(); ++a) {  // roles are added meanwhile
        while (!agents_[a]->ended && !is_blocked(*agents_[a])) {
          STRIA_RETURN_IF_ERROR(step(*agents_[a]));
          any = true;
          if (out_.graph.size() > kMostTasks)
            return make_error(StatusCode::out_of_range, "more than {} operations and transfers",
                              kMostTasks);
        }
      }
    }
    for (const auto& agent : agents_)
      if (!agent->ended && agent->waits)
        return invalid_argument("{} waits for phase {} of {}, and nobody goes on any more",
                                agent->name, agent->waits->start.back(),
                                agent->waits->phases->name);
    out_.exits = agents_[0]->after;
    out_.exits.insert(out_.exits.end(), loose_.begin(), loose_.end());
    return std::move(out_);
  }

 private:
  static Frame frame(const Block& block, const IndexValues& start, const Memories& around,
                     const std::map<std::string, PhaseView>& outer, const std::string& unit) {
    Frame out;
    out.block = &block;
    out.start = start;
    for (const stripe::Index& index : block.idxs) {
      out.start.try_emplace(index.name, 0);
      out.at.push_back(0);
      out.range.push_back(index.range);
    }
    out.around = around;
    out.outer = outer;
    out.unit = block.location.empty() ? unit : block.location.path.back().name;
    return out;
  }
  // Of a block inside: indices that start at others.
  static IndexValues starts(const Block& block, const IndexValues& point) {
    IndexValues out;
    for (const stripe::Index& index : block.idxs)
      out[index.name] = index.affine ? Frame::value(*index.affine, point) : 0;
    return out;
  }

  bool is_blocked(const Agent& agent) const {
    for (const size_t role : agent.roles)
      if (!agents_[role]->ended) return true;
    return agent.waits && phase(*agent.waits) == nullptr;
  }
  // What a complete phase comes after; null: it is not complete.
  static const std::vector<uint32_t>* phase(const PhaseView& view) {
    static const std::vector<uint32_t> nothing;
    if (view.start.back() < 0) return &nothing;
    const auto& completed = view.phases->barriers[view.place()].completed;
    const auto number = static_cast<size_t>(view.start.back());
    return number < completed.size() ? &completed[number] : nullptr;
  }

  void add(std::vector<uint32_t>& to, const std::vector<uint32_t>& tasks) {
    to.insert(to.end(), tasks.begin(), tasks.end());
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    constexpr size_t kFew = 16;
    if (to.size() > kFew) to = {how_.join(out_.graph, to)};
  }

  Status arrive(const PhaseView& view, const std::vector<uint32_t>& after) {
    Phases::One& barrier = view.phases->barriers[view.place()];
    if (view.start.back() != static_cast<int64_t>(barrier.completed.size()))
      return invalid_argument("an arrival at phase {} of {}, when {} are complete",
                              view.start.back(), view.phases->name, barrier.completed.size());
    add(barrier.pending, after);
    if (++barrier.arrived < view.phases->arrivals) return {};
    barrier.arrived = 0;
    barrier.completed.push_back(std::move(barrier.pending));
    barrier.pending.clear();
    return {};
  }

  Status step(Agent& agent) {
    for (const size_t role : agent.roles) add(agent.after, agents_[role]->after);
    agent.roles.clear();
    if (agent.waits) add(agent.after, *phase(*agent.waits));
    agent.waits.reset();
    Frame& top = agent.stack.back();
    if (!top.at_point) {
      if (!top.advance()) {
        agent.stack.pop_back();
        agent.ended = agent.stack.empty();
        return {};
      }
      begin_point(top);
      if (top.block->tags.has(stripe::tag::kRoles)) {
        begin_roles(agent);
        return {};
      }
    }
    if (top.next == top.block->stmts.size()) {
      top.at_point = false;
      return {};
    }
    return statement(agent, top, top.block->stmts[top.next++]);
  }

  void begin_point(Frame& top) const {
    top.at_point = true;
    top.next = 0;
    top.memories = how_.memories_of(*top.block, top.point, top.around);
    top.phases.clear();
    for (const Refinement& ref : top.block->refs) {
      if (holds_phases(ref)) {
        auto phases = std::make_shared<Phases>();
        phases->name = ref.into;
        phases->arrivals = ref.tags.integer(stripe::tag::kArrivals).value_or(1);
        top.phases[ref.into] = {std::move(phases), &ref, std::vector<int64_t>(ref.shape.rank(), 0)};
      } else if (const auto view = top.outer.find(ref.from);
                 ref.dir != RefDir::none && view != top.outer.end()) {
        PhaseView inside = view->second;
        for (size_t d = 0; d < inside.start.size(); ++d)
          inside.start[d] += Frame::value(ref.access[d], top.point);
        top.phases[ref.into] = std::move(inside);
      }
    }
  }

  Status statement(Agent& agent, Frame& top, const Statement& stmt) {
    if (is_wait(stmt)) {
      agent.waits = top.phases.at(stmt.special()->inputs[0]);
      return {};
    }
    if (is_arrive(stmt)) {
      return arrive(top.phases.at(stmt.special()->outputs[0]), agent.after);
    }
    const Block* inner = stmt.block();
    if (inner && inner->tags.has(stripe::tag::kAsync)) return begin_async(agent, top, *inner);
    if (inner && has_agents(*inner)) {
      // The frame moves when the stack grows.
      Frame next = frame(*inner, starts(*inner, top.point), top.memories, top.phases, top.unit);
      agent.stack.push_back(std::move(next));
      return {};
    }
    STRIA_ASSIGN(const Fragment task,
                 how_.lower(*top.block, stmt, top.memories, top.point, top.unit));
    agent.after = append(out_.graph, task, agent.after, kNoTask);
    return {};
  }

  // Its task begins after what its agent has done, and arrives when it ends. The machine knows
  // nothing of barriers.
  Status begin_async(Agent& agent, const Frame& top, const Block& block) {
    Block work = block;
    work.tags.remove(stripe::tag::kAsync);
    std::vector<PhaseView> signals;
    Frame inside = frame(block, starts(block, top.point), top.memories, top.phases, top.unit);
    if (!inside.advance()) return {};
    begin_point(inside);
    std::erase_if(work.refs, [&](const Refinement& ref) {
      const auto view = inside.phases.find(ref.into);
      if (view == inside.phases.end()) return false;
      if (is_written(ref)) signals.push_back(view->second);
      return true;
    });
    std::vector<uint32_t> before = agent.after;
    const bool in_order = block.tags.has(stripe::tag::kInOrder);
    if (in_order) add(before, agent.in_order[inside.unit]);
    STRIA_ASSIGN(const Fragment task, how_.lower(*top.block, Statement(std::move(work)),
                                                 top.memories, top.point, top.unit));
    const std::vector<uint32_t> exits = append(out_.graph, task, before, kNoTask);
    if (in_order) agent.in_order[inside.unit] = exits;
    for (const PhaseView& signal : signals) STRIA_RETURN_IF_ERROR(arrive(signal, exits));
    if (signals.empty()) add(loose_, exits);
    return {};
  }

  void begin_roles(Agent& agent) {
    Frame& top = agent.stack.back();
    top.next = top.block->stmts.size();
    for (const Statement& stmt : top.block->stmts) {
      const Block& role = *stmt.block();
      Frame one = frame(role, starts(role, top.point), top.memories, top.phases, top.unit);
      std::vector<size_t> located;
      for (size_t i = 0; i < role.idxs.size(); ++i)
        for (const stripe::LocationUnit& unit : role.location.path)
          for (const Affine& form : unit.units)
            if (form.uses(role.idxs[i].name) && (located.empty() || located.back() != i))
              located.push_back(i);
      for (const size_t i : located) one.range[i] = 1;
      std::vector<int64_t> at(located.size(), 0);
      for (bool more = true; more;) {
        Frame instance = one;
        for (size_t k = 0; k < located.size(); ++k)
          instance.start[role.idxs[located[k]].name] += at[k];
        agents_.push_back(std::make_unique<Agent>());
        agents_.back()->name = "role " + one.unit;
        agents_.back()->after = agent.after;
        agents_.back()->stack.push_back(std::move(instance));
        agent.roles.push_back(agents_.size() - 1);
        more = false;
        for (size_t k = located.size(); k-- > 0 && !more;) {
          more = ++at[k] < role.idxs[located[k]].range;
          if (!more) at[k] = 0;
        }
      }
    }
  }

  const StatementLowering& how_;
  Fragment out_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<uint32_t> loose_;  // asynchronous tasks that nobody waits for
};

}  // namespace

Result<Fragment> lower_agents(const Block& block, const Memories& around, const IndexValues& point,
                              const std::string& unit, const StatementLowering& how) {
  return AgentLowering(how).run(block, around, point, unit);
}

}  // namespace stria::sim
