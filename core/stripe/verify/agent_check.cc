// SPDX-License-Identifier: Apache-2.0
// Barriers with phases, asynchronous blocks and roles (S16 to S18): what they are made of and where
// they stand. Whether a wait is missing only runs can tell: core/interp.
#include <algorithm>

#include "stria/stripe/agents.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {
namespace {

class AgentCheck {
 public:
  explicit AgentCheck(Findings& findings) : findings_(findings) {}

  // What is around the block's statements.
  struct Around {
    bool async = false;     // an asynchronous block
    bool roles = false;     // a block of roles
    bool parallel = false;  // a loop whose points have no order, below a location
    bool phases = false;    // an allocation of barriers; without one, no view is looked up
  };

  void block(const Place& place, const Around& outer) {
    const Block& block = *place.block;
    Around around = outer;
    if (!block.location.empty()) around.parallel = false;
    around.parallel |= block.tags.has(tag::kParallel);
    const bool is_async = block.tags.has(tag::kAsync);
    if (is_async) async_block(place, outer);
    if (block.tags.has(tag::kInOrder) && !is_async)
      findings_.add(place, "#in_order is for blocks that are #async");
    if (block.tags.has(tag::kRoles)) roles(place, outer);
    if (block.tags.has(tag::kRegisters)) registers(place);
    around.async |= is_async;
    around.roles |= block.tags.has(tag::kRoles);
    around.phases |= std::any_of(block.refs.begin(), block.refs.end(), holds_phases);
    for (const Refinement& ref : block.refs) {
      if (ref.tags.has(tag::kArrivals)) phases(place, ref);
      if (around.phases && ref.dir != RefDir::none && allocation(place, ref))
        view(place, ref, is_async);
    }
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      const Statement& stmt = block.stmts[i];
      if (const Block* inner = stmt.block())
        this->block({&place, inner, i, place.depth + 1, {}}, around);
      else if (is_wait(stmt) || is_arrive(stmt))
        meeting(place, i, around);
      else if (around.phases)
        touch(place, i);
    }
  }

 private:
  // The allocation of barriers that `ref` is a view of, or is; null for other memory.
  static const Refinement* allocation(const Place& place, const Refinement& ref) {
    const Refinement* view = &ref;
    for (const Place* at = &place; view->dir != RefDir::none; at = at->parent) {
      if (!at->parent) return nullptr;
      view = at->parent->block->find_ref(view->from);
    }
    return holds_phases(*view) ? view : nullptr;
  }

  void phases(const Place& place, const Refinement& ref) {
    const auto report = [&](std::string_view what) {
      findings_.add(place, ref, std::string(what));
    };
    if (ref.dir != RefDir::none) return report("#arrivals is for allocations");
    const std::optional<int64_t> count = ref.tags.integer(tag::kArrivals);
    if (!count || *count < 1 || *count > kMostArrivals)
      report(fmt::format("#arrivals is a number from 1 to {}", kMostArrivals));
    if (ref.shape.type != DataType::u64) report("a barrier with phases has the type u64");
    if (ref.shape.dims.empty() || ref.shape.dims.back().stride != 0)
      report("the last dimension counts the phases of a barrier, and has stride 0");
    if (ref.swizzle) report("barriers have no swizzle");
    if (place.depth < 2) report("a barrier is an allocation of a kernel, or of a block inside one");
  }

  void view(const Place& place, const Refinement& ref, bool is_async) {
    if (ref.agg) findings_.add(place, ref, "a barrier has no aggregation");
    if (is_async && is_written(ref) && !is_one(ref))
      findings_.add(place, ref, "an asynchronous block arrives at one phase of one barrier here");
  }

  static bool is_one(const Refinement& ref) {
    for (const Dim& dim : ref.shape.dims)
      if (dim.size != 1) return false;
    return true;
  }

  void meeting(const Place& place, size_t i, const Around& around) {
    const Special& special = *place.block->stmts[i].special();
    const bool waits = special.name == "wait";
    const std::vector<std::string>& on = waits ? special.inputs : special.outputs;
    if (on.size() != 1 || special.inputs.size() + special.outputs.size() != 1 ||
        !special.params.empty())
      return findings_.add(place, i,
                           waits ? "wait(b) has one input, a phase of a barrier"
                                 : "arrive(; b) has one output, a phase of a barrier");
    const Refinement& ref = *place.block->find_ref(on[0]);
    if (!allocation(place, ref) || ref.dir == RefDir::none || !is_one(ref))
      findings_.add(place, i,
                    fmt::format("'{}' is no view of one phase of a barrier, an allocation tagged "
                                "#arrivals",
                                on[0]));
    if (around.async)
      findings_.add(place, i, "an asynchronous block neither waits nor arrives inside");
    if (around.parallel)
      findings_.add(place, i, "it cannot stand in a loop whose points run in any order");
  }

  // Nothing else may use a barrier.
  void touch(const Place& place, size_t i) {
    const Statement& stmt = place.block->stmts[i];
    const auto check = [&](const std::string& name) {
      const Refinement* ref = place.block->find_ref(name);
      if (ref && allocation(place, *ref))
        findings_.add(place, i,
                      fmt::format("'{}' is a barrier: it is waited for and arrived at", name));
    };
    if (const auto* load = std::get_if<Load>(&stmt.op)) check(load->from);
    if (const auto* store = std::get_if<Store>(&stmt.op)) check(store->into);
    if (const Special* special = stmt.special())
      for (const auto* names : {&special->inputs, &special->outputs})
        for (const std::string& name : *names) check(name);
  }

  void async_block(const Place& place, const Around& outer) {
    if (place.block->location.empty())
      findings_.add(place, "an #async block has a location: the unit that does it");
    if (outer.async) findings_.add(place, "an #async block stands in another one");
    if (place.depth < 3) findings_.add(place, "an #async block stands in a kernel");
  }

  void roles(const Place& place, const Around& outer) {
    if (outer.async || outer.roles)
      findings_.add(place, fmt::format("#roles stands in {}",
                                       outer.async ? "an #async block" : "another #roles block"));
    if (place.depth < 3) findings_.add(place, "a #roles block stands in a kernel");
    if (outer.parallel)
      findings_.add(place, "#roles cannot stand in a loop whose points run in any order");
    for (size_t i = 0; i < place.block->stmts.size(); ++i) {
      const Block* role = place.block->stmts[i].block();
      if (!role || role->location.empty() || role->tags.has(tag::kAsync))
        findings_.add(place, i, "a role is a block with a location");
    }
  }

  void registers(const Place& place) {
    const std::optional<int64_t> count = place.block->tags.integer(tag::kRegisters);
    if (!place.parent || !place.parent->block->tags.has(tag::kRoles))
      findings_.add(place, "#registers is for roles");
    else if (!count || *count < 1)
      findings_.add(place, "#registers is the number of registers of each lane, at least 1");
  }

  static constexpr int64_t kMostArrivals = (int64_t{1} << 20) - 1;  // what mbarriers count to
  Findings& findings_;
};

}  // namespace

void check_agents(const Program& program, Findings& findings) {
  Place place;
  place.block = &program.entry;
  AgentCheck(findings).block(place, {});
}

}  // namespace stria::stripe
