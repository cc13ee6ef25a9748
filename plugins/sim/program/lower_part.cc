// SPDX-License-Identifier: Apache-2.0
#include "program/lower_part.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "engine/unit_times.h"
#include "program/held_views.h"
#include "program/lower_agents.h"
#include "stria/base/text.h"
#include "stria/cost/block/dram_time.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/tags.h"

namespace stria::sim {
namespace {

// Where the model speaks of the unit: "slides.json:24".
std::string place_of(const HardwareModel& model, const ExecutionUnit& unit) {
  const std::string at = "/exec_units/" + unit.name + "/";
  for (auto field = model.origins().lower_bound(at);
       field != model.origins().end() && field->first.starts_with(at); ++field)
    if (!field->second.place.empty()) return field->second.place;
  return model.name;
}

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;
using Point = IndexValues;

constexpr double kMostPoints = 9007199254740992;

// As many as ticks can be counted.
constexpr double kMostTicks = 9007199254740992;

class Lowering {
 public:
  Lowering(Machine& machine, LoweredPart& out) : machine_(machine), out_(out) {}

  Status run(const Block& part) {
    std::vector<uint32_t> exit;  // of each statement
    Memories memories;
    for (const Refinement& ref : part.refs) memories[ref.into] = view_of(part, ref, {}, nullptr);
    const bool by_deps = part.tags.has(stripe::tag::kDeps);
    for (size_t s = 0; s < part.stmts.size(); ++s) {
      statement_ = static_cast<uint32_t>(s);
      const Statement& stmt = part.stmts[s];
      out_.statements.push_back(name_of_statement(stmt, s));
      out_.is_transfer.push_back(stmt.block() && is_transfer(*stmt.block()));
      Result<Fragment> fragment = lower(part, stmt, memories, {}, general_unit());
      if (!fragment.ok()) return fragment.status().with_context(out_.statements.back());
      std::vector<uint32_t> before;
      if (by_deps)
        for (int64_t dep : stmt.deps) before.push_back(exit[static_cast<size_t>(dep)]);
      else if (s > 0)
        before.push_back(exit[s - 1]);
      exit.push_back(joined(out_.graph, append(out_.graph, *fragment, before, kNoTask)));
      if (out_.graph.size() > kMostTasks)
        return make_error(StatusCode::out_of_range, "{}: more than {} operations and transfers",
                          out_.statements.back(), kMostTasks);
    }
    return {};
  }

 private:
  static std::string name_of_statement(const Statement& stmt, size_t position) {
    if (const auto* special = stmt.special())
      return fmt::format("{} {}", special->name, join(special->outputs, ", "));
    const Block* block = stmt.block();
    if (!block) return fmt::format("statement {}", position);
    if (!block->name.empty()) return block->name;
    if (const std::string moved = name_of_transfer(*block); !moved.empty()) return moved;
    const std::string result = first_of(*block, RefDir::out);
    return fmt::format("statement_{}{}{}", position, result.empty() ? "" : " ", result);
  }
  static std::string first_of(const Block& block, RefDir dir) {
    for (const Refinement& ref : block.refs)
      if (ref.dir == dir) return ref.from;
    return "";
  }
  // A name as "swap_in A", by the tensor that is there before and after; "" without the tags of the
  // pass `schedule`.
  static std::string name_of_transfer(const Block& block) {
    if (block.tags.has(stripe::tag::kSwapIn)) return "swap_in " + first_of(block, RefDir::in);
    return block.tags.has(stripe::tag::kSwapOut) ? "swap_out " + first_of(block, RefDir::out) : "";
  }

  bool is_transfer(const Block& block) const {
    return !block.location.empty() &&
           machine_.model().find_transfer(block.location.path.back().name) != nullptr;
  }
  std::string unit_of(const Block& block, const std::string& around) const {
    return block.location.empty() ? around : block.location.path.back().name;
  }
  // The unit that runs blocks without a location: the slowest one that is no systolic array, if
  // there is one.
  std::string general_unit() const {
    const auto rank = [](const ExecutionUnit& unit) {
      const bool by_macs = unit.operation == ExecutionUnit::Operation::mac;
      return std::pair(unit.systolic.has_value(), unit.ops_per_cycle * (by_macs ? 2 : 1));
    };
    const auto& units = machine_.model().executors;
    const auto found = std::min_element(
        units.begin(), units.end(),
        [&](const ExecutionUnit& a, const ExecutionUnit& b) { return rank(a) < rank(b); });
    return found == units.end() ? "" : found->name;
  }
  // Does the block hold transfers, blocks of another unit, or blocks of several instances of this
  // one?
  bool holds_steps(const Block& block, const std::string& unit) const {
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block())
        if (is_transfer(*inner) || unit_of(*inner, unit) != unit || is_spread(*inner) ||
            is_pipeline(*inner) || names_instance(*inner) ||
            holds_steps(*inner, unit_of(*inner, unit)))
          return true;
    return false;
  }

  static bool names_instance(const Block& block) {
    return !block.location.empty() && !block.location.path.back().units.empty();
  }
  // Points that any instances of the unit take at once, as cores take parts of a kernel.
  static bool is_spread(const Block& block) {
    return block.tags.has(stripe::tag::kParallel) && !block.location.empty() &&
           !block.stmts.empty() &&
           std::all_of(block.stmts.begin(), block.stmts.end(),
                       [](const Statement& stmt) { return stmt.block() != nullptr; });
  }

  // Points under way at once, each of which is an operation: the blocks inside say where they run.
  static bool is_pipeline(const Block& block) {
    return block.location.empty() && block.tags.integer(stripe::tag::kPipeline).value_or(1) > 1 &&
           std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
             return stmt.block() && !stmt.block()->location.empty();
           });
  }

  // --- pieces of graphs

  uint32_t joined(TaskGraph& graph, const std::vector<uint32_t>& tasks) {
    if (tasks.size() == 1) return tasks[0];
    if (join_ == kNoTask) {
      join_ = static_cast<uint32_t>(out_.graph.kinds.size());
      out_.graph.kinds.push_back({});
      out_.counts.emplace_back();
    }
    return graph.add(join_, tasks);
  }
  Fragment alone(uint32_t kind) {
    Fragment out;
    out.graph.add(kind, {});
    out.exits = {0};
    return out;
  }
  uint32_t add_kind(TaskKind kind, KindCounts counts) {
    kind.statement = statement_;
    kind.pj = counts.pj_operations + counts.pj_memories + counts.pj_moving;
    out_.graph.kinds.push_back(std::move(kind));
    out_.counts.push_back(std::move(counts));
    return static_cast<uint32_t>(out_.graph.kinds.size()) - 1;
  }

  // --- statements

  Result<Fragment> lower(const Block& around, const Statement& stmt, const Memories& memories,
                         const Point& point, const std::string& unit) {
    if (const auto* special = stmt.special()) return lower_special(around, *special, memories);
    const Block* block = stmt.block();
    if (!block) return unsupported("a statement that is no block stands beside blocks");
    Point inside;
    for (const stripe::Index& index : block->idxs)
      inside[index.name] = index.affine ? value_at(*index.affine, point) : 0;
    if (has_agents(*block)) return lower_agents(*block, memories, inside, unit, statements_);
    if (is_transfer(*block)) return lower_transfer(*block, memories, inside);
    const std::string own = unit_of(*block, unit);
    if (holds_steps(*block, own) || is_spread(*block) || is_pipeline(*block))
      return lower_loop(*block, memories, inside, own);
    return lower_operation(*block, memories, inside, own);
  }

  Result<Fragment> lower_special(const Block& around, const stripe::Special& special,
                                 const Memories& memories) {
    if (special.outputs.empty()) return Fragment();  // a barrier: order alone
    const auto at = [&](const std::string& name) {
      const auto found = memories.find(name);
      return found == memories.end() ? UnitInstance() : found->second.memory;
    };
    const UnitInstance to = at(special.outputs[0]);
    const UnitInstance from = special.inputs.empty() ? to : at(special.inputs[0]);
    for (const auto* names : {&special.inputs, &special.outputs})
      if (!names->empty() && at((*names)[0]).name.empty()) return in_no_memory((*names)[0]);
    const Refinement* ref = around.find_ref(special.outputs[0]);
    if (!ref)
      return not_found("'{}' names '{}', which is not there", special.name, special.outputs[0]);
    Status why;
    for (const TransferUnit& unit : machine_.model().transfers) {
      Result<Route> route = machine_.route(from, unit.name, -1, {to});
      if (!route.ok()) {
        if (why.ok()) why = route.status();
        continue;
      }
      const auto bytes = static_cast<double>(ref->shape.span_bytes());
      const cost::Walk walk = cost::walk_of_bytes(bytes);
      return transfer(unit, std::move(*route), special.name, {from, {bytes, bytes, 1}, walk},
                      {{to, {bytes, bytes, 1}, walk}});
    }
    return why.ok() ? unsupported("'{}': the hardware model has no transfer unit", special.name)
                    : why;
  }

  static Status in_no_memory(const std::string& name) {
    return invalid_argument("'{}' is in no memory: no pass has given it a location", name);
  }

  struct Side {
    UnitInstance memory;
    cost::Footprint footprint;
    cost::Walk walk;
  };

  Result<Fragment> lower_transfer(const Block& block, const Memories& memories,
                                  const Point& point) {
    const stripe::LocationUnit& at = block.location.path.back();
    const TransferUnit& unit = *machine_.model().find_transfer(at.name);
    const bool any = at.units.size() != 1;
    const int64_t instance = any ? -1 : value_at(at.units[0], point);
    if (!any && (instance < 0 || instance >= unit.count))
      return make_error(StatusCode::out_of_range,
                        "it runs on '{}[{}]', but the hardware model has {} of '{}'", unit.name,
                        instance, unit.count, unit.name);
    std::optional<Side> from;
    std::vector<Side> to;
    std::string name;
    for (const Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none) continue;
      const Side side{memory_of(ref, point, &memories), cost::footprint_of(block, ref),
                      cost::walk_of(block, ref)};
      if (side.memory.name.empty()) return in_no_memory(ref.from);
      if (ref.dir == RefDir::in) {
        if (from)
          return unsupported("a transfer on '{}' reads '{}' and '{}': it can bring one", unit.name,
                             name, ref.from);
        from = side;
        name = ref.from;
      } else {
        to.push_back(side);
      }
    }
    if (!from || to.empty())
      return unsupported("a block on '{}' does not bring something from one memory to another",
                         unit.name);
    std::vector<UnitInstance> sinks;
    for (const Side& side : to) {
      sinks.push_back(side.memory);
      // What leaves one memory arrives at each of the others.
      if (side.footprint.bytes != from->footprint.bytes)
        return invalid_argument("a transfer on '{}' reads {} bytes of '{}' and writes {}",
                                unit.name, from->footprint.bytes, name, side.footprint.bytes);
    }
    STRIA_ASSIGN(Route route, machine_.route(from->memory, unit.name, instance, sinks));
    if (const std::string moved = name_of_transfer(block); !moved.empty()) name = moved;
    return transfer(unit, std::move(route), name, *from, to);
  }

  Result<Fragment> transfer(const TransferUnit& unit, Route route, const std::string& name,
                            const Side& from, const std::vector<Side>& to) {
    TaskKind kind;
    kind.work = TaskKind::Work::transfer;
    kind.name = name;
    kind.group = route.group;
    kind.instance = route.instance;
    KindCounts counts;
    // A memory that moves lines moves whole ones.
    double bytes = from.footprint.bytes;
    const auto count = [&](const Side& side, bool writes) {
      count_access(machine_.model(), side.memory, side.footprint, side.footprint.bytes, writes, 1,
                   counts, &bytes);
      if (const std::optional<uint32_t> rows = machine_.rows(side.memory))
        kind.flows.push_back(
            {{*rows}, whole_bytes(cost::dram_bytes(dram_of(side.memory), side.walk))});
    };
    count(from, false);
    for (const Side& side : to) count(side, true);
    kind.bytes = static_cast<uint64_t>(bytes);
    counts.pj_moving += bytes * unit.pj_per_byte;
    for (const Route::Way& way : route.ways) {
      if (way.channels.empty()) continue;
      for (uint32_t channel : way.channels)
        counts.pj_moving += bytes * machine_.channels()[channel].pj_per_byte;
      break;
    }
    kind.route = std::move(route);
    return alone(add_kind(std::move(kind), std::move(counts)));
  }

  const DramRows& dram_of(const UnitInstance& memory) const {
    return *machine_.model().find_memory(memory.name)->dram;
  }
  static uint64_t whole_bytes(double bytes) {
    return static_cast<uint64_t>(std::ceil(std::min(bytes - 1e-6, kMostTicks)));
  }

  // --- loops

  Result<Fragment> lower_loop(const Block& block, Memories memories, Point point,
                              const std::string& unit) {
    double points = 1;
    bool moves = false;  // locations inside differ from point to point
    std::set<std::string> names;
    for (const stripe::Index& index : block.idxs) {
      points *= static_cast<double>(index.range);
      if (index.range > 1) names.insert(index.name);
    }
    moves = location_uses(block, names);
    if (points < 1) return Fragment();
    if (points > kMostPoints)
      return make_error(StatusCode::out_of_range, "a loop of {:.0f} points, 2^53 is the most",
                        points);
    const auto count = static_cast<uint64_t>(points);
    const bool allocates = std::any_of(block.refs.begin(), block.refs.end(),
                                       [](const Refinement& r) { return r.dir == RefDir::none; });
    uint64_t depth = static_cast<uint64_t>(
        std::max<int64_t>(1, block.tags.integer(stripe::tag::kPipeline).value_or(1)));
    if (block.tags.has(stripe::tag::kParallel) && !allocates) depth = count;
    const bool in_order = sums_over_points(block, names);
    if (moves && count > 1)
      return lower_points(block, memories, point, unit, count, depth, in_order);
    STRIA_ASSIGN(Points body, lower_point(block, memories, point, unit, in_order));
    if (count == 1 || body.fragment.graph.size() == 0) return std::move(body.fragment);
    Loop loop{std::make_shared<const TaskGraph>(std::move(body.fragment.graph)), count, depth,
              std::move(body.carried)};
    Fragment out;
    out.graph.add_loop(std::move(loop), {});
    out.exits = {0};
    return out;
  }

  // One point, and what it waits for in the point before.
  struct Points {
    Fragment fragment;
    std::vector<Loop::Carried> carried;
  };
  Result<Points> lower_point(const Block& block, const Memories& memories, const Point& point,
                             const std::string& unit, bool in_order) {
    Memories own;
    for (const Refinement& ref : block.refs) own[ref.into] = view_of(block, ref, point, &memories);
    Points out;
    TaskGraph& graph = out.fragment.graph;
    std::vector<std::vector<uint32_t>> exits;
    std::vector<bool> waited(block.stmts.size(), false);
    for (size_t s = 0; s < block.stmts.size(); ++s) {
      const std::vector<std::string> sums = continued_sums(block, s, own);
      std::optional<Memories> changed;
      if (!sums.empty()) changed = own;
      for (const std::string& name : sums)
        changed->at(name).points = std::numeric_limits<double>::infinity();
      STRIA_ASSIGN(const Fragment step,
                   lower(block, block.stmts[s], changed ? *changed : own, point, unit));
      std::vector<uint32_t> before;
      const auto wait_for = [&](size_t of) {
        waited[of] = true;
        before.insert(before.end(), exits[of].begin(), exits[of].end());
      };
      if (block.tags.has(stripe::tag::kDeps))
        for (int64_t dep : block.stmts[s].deps) wait_for(static_cast<size_t>(dep));
      else if (s > 0)
        wait_for(s - 1);
      const auto first = static_cast<uint32_t>(graph.size());
      exits.push_back(append(graph, step, before, kNoTask));
      // Sums into one target are added in the order of the points.
      const Block* of = block.stmts[s].block();
      if (!in_order || !of || is_transfer(*of) || step.graph.size() == 0) continue;
      exits.back() = {joined(graph, exits.back())};
      for (uint32_t node = 0; node < step.graph.size(); ++node)
        if (step.graph.first_wait[node] == step.graph.first_wait[node + 1])
          out.carried.push_back({first + node, exits.back()[0]});
    }
    for (size_t s = 0; s < exits.size(); ++s)
      if (!waited[s])
        out.fragment.exits.insert(out.fragment.exits.end(), exits[s].begin(), exits[s].end());
    return out;
  }

  // Points that differ in where they run, or in what they touch, stand one after another.
  Result<Fragment> lower_points(const Block& block, const Memories& memories, const Point& point,
                                const std::string& unit, uint64_t count, uint64_t depth,
                                bool in_order) {
    Fragment out;
    std::vector<uint32_t> ends;
    std::vector<int64_t> at(block.idxs.size(), 0);
    uint32_t room = kNoTask;
    uint32_t last = 0;  // the first node of the point before
    for (uint64_t p = 0; p < count; ++p) {
      Point here = point;
      for (size_t i = 0; i < at.size(); ++i) here[block.idxs[i].name] += at[i];
      STRIA_ASSIGN(Points one, lower_point(block, memories, here, unit, in_order));
      if (one.fragment.graph.size() == 0) return Fragment();
      if (p >= depth) {
        const uint32_t end = ends[p - depth];
        room = room == kNoTask || room == end ? end : joined(out.graph, {end, room});
      }
      const auto first = static_cast<uint32_t>(out.graph.size());
      // All points have the same statements, and so the same nodes in other places.
      if (p > 0)
        for (Loop::Carried& carried : one.carried) carried.before += last;
      else
        one.carried.clear();
      const std::vector<uint32_t> exits =
          append(out.graph, one.fragment,
                 room == kNoTask ? std::vector<uint32_t>() : std::vector<uint32_t>{room}, room,
                 one.carried);
      last = first;
      ends.push_back(joined(out.graph, exits));
      if (out.graph.size() > kMostTasks)
        return make_error(StatusCode::out_of_range,
                          "more than {} operations and transfers of points that differ",
                          kMostTasks);
      for (size_t i = at.size(); i > 0; --i) {
        if (++at[i - 1] < block.idxs[i - 1].range) break;
        at[i - 1] = 0;
      }
    }
    for (uint64_t p = count > depth ? count - depth : 0; p < count; ++p)
      out.exits.push_back(ends[p]);
    return out;
  }

  static bool uses_any(const stripe::Location& location, const std::set<std::string>& names) {
    for (const stripe::LocationUnit& unit : location.path)
      for (const Affine& form : unit.units)
        for (const auto& [name, coefficient] : form.terms())
          if (names.count(name)) return true;
    return false;
  }
  // Does the location of something inside, or of a refinement of the block, depend on these
  // indices?
  static bool location_uses(const Block& block, const std::set<std::string>& names) {
    for (const Refinement& ref : block.refs)
      if (uses_any(ref.location, names)) return true;
    for (const Statement& stmt : block.stmts) {
      const Block* inner = stmt.block();
      if (!inner) continue;
      std::set<std::string> seen;
      for (const stripe::Index& index : inner->idxs)
        if (index.affine)
          for (const auto& [name, coefficient] : index.affine->terms())
            if (names.count(name)) seen.insert(index.name);
      if (!seen.empty() && (uses_any(inner->location, seen) || location_uses(*inner, seen)))
        return true;
    }
    return false;
  }
  // Do several points add to the same elements?
  static bool sums_over_points(const Block& block, const std::set<std::string>& names) {
    for (const Refinement& ref : block.refs) {
      if (!ref.agg || ref.dir == RefDir::in) continue;
      for (const std::string& name : names)
        if (!moves_with(ref, name)) return true;
    }
    return false;
  }

  // --- operations

  Result<Fragment> lower_operation(const Block& block, const Memories& memories, Point point,
                                   const std::string& unit) {
    if (unit.empty())
      return unsupported("it runs nowhere: the hardware model has no execution unit");
    STRIA_ASSIGN(const uint32_t group, machine_.execution_group(unit));
    // The indices that say which instance a point runs on.
    std::set<std::string> spread;
    double parts = 1;
    const std::vector<Affine>* units = nullptr;
    if (!block.location.empty()) units = &block.location.path.back().units;
    if (units && units->size() == 1)
      for (const auto& [name, coefficient] : (*units)[0].terms())
        if (const stripe::Index* index = block.find_index(name); index && index->range > 1) {
          spread.insert(name);
          parts *= static_cast<double>(index->range);
        }
    if (parts > 1e6) return unsupported("{:.0f} parts on instances of '{}'", parts, unit);
    Fragment out;
    std::vector<int64_t> at(spread.size(), 0);
    for (;;) {
      size_t s = 0;
      Point here = point;
      for (const std::string& name : spread) here[name] += at[s++];
      int64_t instance = -1;
      if (units && units->size() == 1) instance = value_at((*units)[0], here);
      if ((units && units->size() == 1 && instance < 0) ||
          instance >= static_cast<int64_t>(machine_.groups()[group].count))
        return make_error(StatusCode::out_of_range,
                          "it runs on '{}[{}]', but the hardware model has {} of '{}'", unit,
                          instance, machine_.groups()[group].count, unit);
      STRIA_ASSIGN(const uint32_t kind,
                   operation_kind(block, memories, here, group, instance, spread));
      out.exits.push_back(out.graph.add(kind, {}));
      size_t i = 0;
      for (const std::string& name : spread) {
        if (++at[i] < block.find_index(name)->range) break;
        at[i++] = 0;
      }
      if (i == spread.size()) return out;
    }
  }

  Result<uint32_t> operation_kind(const Block& block, const Memories& memories, const Point& point,
                                  uint32_t group, int64_t instance,
                                  const std::set<std::string>& fixed) {
    const ExecutionUnit& unit = *machine_.model().find_executor(machine_.groups()[group].unit);
    const cost::BlockWork work = cost::work_of(block, fixed);
    const Result<double> known = cost::operation_cycles(unit, work);
    if (!known.ok()) return known.status().with_context(place_of(machine_.model(), unit));
    const double cycles = *known;
    const auto ticks = static_cast<double>(machine_.groups()[group].ticks_per_cycle);
    if (cycles * ticks + unit.overhead_cycles * ticks > kMostTicks)
      return make_error(StatusCode::out_of_range, "an operation on '{}' takes more than 2^53 ticks",
                        unit.name);
    TaskKind kind;
    kind.work = TaskKind::Work::operation;
    kind.name = block.name.empty() ? out_.statements[statement_] : block.name;
    kind.group = group;
    kind.instance = static_cast<int32_t>(instance);
    kind.compute_ticks = static_cast<uint64_t>(std::ceil(cycles - 1e-9) * ticks);
    kind.overhead_ticks = static_cast<uint64_t>(std::ceil(unit.overhead_cycles * ticks - 1e-9));
    KindCounts counts;
    counts.operations = work.operations;
    for (const auto& [operation, times] : work.operations) {
      const double pj = cost::operation_pj(unit, operation);
      if (pj >= 0)
        counts.pj_operations += pj * times;
      else
        counts.unpriced[operation] += times;
    }
    Flows flows;
    for (const Refinement& ref : block.refs) {
      const auto accesses = work.accesses.find(ref.into);
      if (ref.dir == RefDir::none || accesses == work.accesses.end()) continue;
      const UnitInstance memory = memory_of(ref, point, &memories);
      if (memory.name.empty()) return in_no_memory(ref.from);
      const cost::Footprint footprint = cost::footprint_of(block, ref, fixed);
      // Points that add to the same elements: 0 if the operation alone does.
      double before = points_before(ref, &memories);
      for (const std::string& name : fixed)
        if (ref.agg && !moves_with(ref, name))
          before = std::max(1.0, before) * static_cast<double>(block.find_index(name)->range);
      if (is_global(memory, unit.name)) {
        STRIA_RETURN_IF_ERROR(global_operand(ref, memory, accesses->second, footprint,
                                             cost::walk_of(block, ref), before, counts, flows));
        continue;
      }
      // The unit keeps what it needs of an operand.
      const cost::OperandBytes bytes = cost::operand_bytes(unit, work, ref, footprint);
      const auto move = [&](double moved, bool writes, PortUse use, double part) {
        if (moved <= 0 || part <= 0) return;
        count_access(machine_.model(), memory, footprint, moved, writes, part, counts, nullptr);
        if (const int32_t port = machine_.ports(memory).of(use); port >= 0)
          flows.beside[static_cast<uint32_t>(port)] += moved * conflicts_of(block, ref, memory);
      };
      move(bytes.read, false, cost::read_use(work, block, ref), 1);
      move(bytes.sums_inside, false, PortUse::sums, 1);
      // All points of a loop take the same time. The first one of a sum has nothing to read.
      move(bytes.sums_before, false, PortUse::sums, before > 0 ? 1 - 1 / before : 0);
      move(bytes.written, true, PortUse::results, 1);
    }
    for (const auto& [port, bytes] : flows.beside)
      kind.flows.push_back({{port}, static_cast<uint64_t>(std::ceil(std::min(bytes, kMostTicks)))});
    for (const auto& [channels, bytes] : flows.from_global)
      kind.flows.push_back({channels, static_cast<uint64_t>(std::ceil(bytes))});
    return add_kind(std::move(kind), std::move(counts));
  }

  struct Flows {
    std::map<uint32_t, double> beside;                    // bytes by port
    std::map<std::vector<uint32_t>, double> from_global;  // bytes by channels
  };

  // (C8) Each access moves on its own. The first one to an element that starts here reads nothing.
  Status global_operand(const Refinement& ref, const UnitInstance& memory,
                        const cost::BlockWork::Accesses& accesses, const cost::Footprint& touched,
                        const cost::Walk& walk, double before, KindCounts& counts, Flows& flows) {
    const auto element = static_cast<double>(byte_size(ref.shape.type));
    for (const bool writes : {false, true}) {
      double times = writes ? accesses.stores : accesses.loads, part = 1;
      if (ref.agg && !writes) {
        const double starts = std::min(times, touched.bytes / element);
        if (before > 1)
          part = 1 - starts / before / times;
        else
          times -= starts;
      }
      if (times <= 0) continue;
      double moved = times * element;
      count_access(machine_.model(), memory, {moved, element, times}, moved, writes, part, counts,
                   &moved);
      STRIA_ASSIGN(std::vector<uint32_t> channels, machine_.global_channels(memory, writes));
      for (uint32_t channel : channels)
        counts.pj_moving += part * moved * machine_.channels()[channel].pj_per_byte;
      flows.from_global[std::move(channels)] += moved;
      // Each access is a burst. Rows are opened as often as the elements are gone through.
      if (const std::optional<uint32_t> rows = machine_.rows(memory)) {
        const DramRows& dram = dram_of(memory);
        cost::RowWalk all = cost::row_walk(dram, walk);
        all.bursts = times * std::ceil(element / static_cast<double>(dram.burst_bytes));
        all.rows *= std::max(1.0, times * element / touched.bytes);
        flows.beside[*rows] += cost::dram_ns(dram, all) * dram.bytes_per_ns();
      }
      counts.global_operands[fmt::format("{} in {}", ref.from, to_string(memory))] += moved;
    }
    return {};
  }

  // Is the memory a global one for the unit? A unit on buses is beside the memories that a bus
  // joins it to; all others are global. A unit on no bus is beside all memories but the largest,
  // where programs' tensors are.
  bool is_global(const UnitInstance& memory, const std::string& unit) const {
    const HardwareModel& model = machine_.model();
    if (model.buses.empty()) return false;
    const auto has = [&](const std::vector<UnitInstance>& ends, auto is) {
      return std::any_of(ends.begin(), ends.end(), is);
    };
    const auto is_unit = [&](const UnitInstance& end) { return end.name == unit; };
    const auto is_memory = [&](const UnitInstance& end) { return end == memory; };
    if (machine_.on_buses(unit))
      return std::none_of(model.buses.begin(), model.buses.end(), [&](const Bus& bus) {
        return (has(bus.sources, is_unit) && has(bus.sinks, is_memory)) ||
               (has(bus.sources, is_memory) && has(bus.sinks, is_unit));
      });
    const auto main = std::max_element(
        model.memories.begin(), model.memories.end(),
        [](const MemoryUnit& a, const MemoryUnit& b) { return a.size_bytes < b.size_bytes; });
    return model.memories.size() > 1 && main->name == memory.name;
  }

  // How many times as long the banks take, since elements that are needed together share a bank.
  double conflicts_of(const Block& block, const Refinement& ref, const UnitInstance& at) const {
    const MemoryUnit* memory = machine_.model().find_memory(at.name);
    if (!memory || memory->banks <= 1) return 1;
    return cost::bank_conflicts(cost::inner_stride_bytes(block, ref.into), memory->banks,
                                memory->bank_bytes);
  }

  Machine& machine_;
  LoweredPart& out_;
  const StatementLowering statements_{
      [this](const Block& around, const Statement& stmt, const Memories& memories,
             const Point& point,
             const std::string& unit) { return lower(around, stmt, memories, point, unit); },
      [](const Block& block, const Point& point, const Memories& around) {
        Memories own;
        for (const Refinement& ref : block.refs)
          own[ref.into] = view_of(block, ref, point, &around);
        return own;
      },
      [this](TaskGraph& graph, const std::vector<uint32_t>& tasks) {
        return joined(graph, tasks);
      }};
  uint32_t statement_ = 0;
  uint32_t join_ = kNoTask;
};

}  // namespace

Result<LoweredPart> lower_part(Machine& machine, const Block& part) {
  LoweredPart out;
  STRIA_RETURN_IF_ERROR(Lowering(machine, out).run(part));
  STRIA_RETURN_IF_ERROR(numbers_of(out.graph).status());
  for (uint64_t count : tasks_of_kinds(out.graph)) out.tasks.push_back(static_cast<double>(count));
  out.global_operands.resize(out.statements.size());
  for (size_t k = 0; k < out.tasks.size(); ++k) {
    for (const auto& [operation, count] : out.counts[k].unpriced)
      out.unpriced[operation] += out.tasks[k] * count;
    for (const auto& [operand, bytes] : out.counts[k].global_operands)
      out.global_operands[out.graph.kinds[k].statement][operand] += out.tasks[k] * bytes;
  }
  return out;
}

}  // namespace stria::sim
