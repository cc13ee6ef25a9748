// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/hold_fetches.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The memory behind a refinement.
struct Memory {
  std::string tensor;   // of the program, for an argument of the kernel; else empty
  bool shared = false;  // the lanes of a group share it
};
using Scope = std::map<std::string, Memory>;  // by the name in a block

bool has_barrier(const Statement& statement) {
  const Block* inner = statement.block();
  return is_barrier(statement) ||
         (inner && std::any_of(inner->stmts.begin(), inner->stmts.end(), has_barrier));
}

bool is_lane_block(const Block& block) {
  return !block.location.empty() && numbers_units(block.location);
}

// Is its memory held by lanes, in slots or as matrices (S12, S15)?
bool is_distributed(const Refinement& allocation) {
  return std::any_of(allocation.location.path.begin(), allocation.location.path.end(),
                     [](const stripe::LocationUnit& unit) { return !unit.owners.empty(); });
}

Scope scope_of(const Block& block, const Scope& around, bool inside_lanes) {
  Scope out;
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) {
      out[ref.into] = {"", !inside_lanes && !is_distributed(ref)};
    } else if (const auto of = around.find(ref.from); of != around.end()) {
      out[ref.into] = of->second;
    }
  }
  return out;
}

Scope scope_of_kernel(const Block& kernel, const TensorNames& around) {
  Scope out;
  for (const Refinement& ref : kernel.refs)
    out[ref.into] = ref.dir == RefDir::none ? Memory{"", !is_distributed(ref)}
                                            : Memory{around.of(ref.from), false};
  return out;
}

class FetchCheck {
 public:
  // Collects the tensors that the loop writes.
  void add_written(const Block& block, const Scope& scope) {
    for (const Refinement& ref : block.refs)
      if (is_written(ref))
        if (const auto of = scope.find(ref.into); of != scope.end())
          written_.insert(of->second.tensor);
  }

  Refusal check(const Block& block, const Scope& around, bool inside_lanes) {
    inside_lanes = inside_lanes || is_lane_block(block);
    if (const Refusal loop = why_a_loop(block)) return loop;
    if (block.tags.has(stripe::tag::kStencil)) return "its fetch runs an instruction";
    const Scope scope = scope_of(block, around, inside_lanes);
    for (const Refinement& ref : block.refs)
      if (ref.tags.has(stripe::tag::kFetch)) return "its fetch asks for memory ahead";
    for (const Statement& statement : block.stmts) {
      if (const Block* inner = statement.block())
        STRIA_RETURN_IF_REFUSED(check(*inner, scope, inside_lanes));
      if (statement.special()) return "its fetch runs a special";
      if (const auto* load = std::get_if<stripe::Load>(&statement.op))
        STRIA_RETURN_IF_REFUSED(check_load(load->from, scope));
      if (const auto* store = std::get_if<stripe::Store>(&statement.op)) {
        const Refinement* ref = block.find_ref(store->into);
        if (ref && ref->agg) return fmt::format("its fetch adds to '{}'", store->into);
        const auto to = scope.find(store->into);
        if (to == scope.end() || !to->second.shared)
          return fmt::format("its fetch stores to '{}', which lanes do not share", store->into);
      }
    }
    return Refusal::none();
  }

  bool loads() const { return loads_; }

 private:
  static Refusal why_a_loop(const Block& block) {
    if (block.tags.has(stripe::tag::kUnroll) || block.tags.has(stripe::tag::kVector))
      return Refusal::none();
    for (const stripe::Index& index : block.idxs) {
      const bool of_lanes = std::any_of(
          block.location.path.begin(), block.location.path.end(), [&](const auto& unit) {
            return std::any_of(unit.units.begin(), unit.units.end(),
                               [&](const Affine& form) { return form.uses(index.name); });
          });
      if (index.range > 1 && !of_lanes)
        return fmt::format("its fetch has the loop {}:{}", index.name, index.range);
    }
    return Refusal::none();
  }

  Refusal check_load(const std::string& name, const Scope& scope) {
    loads_ = true;
    const auto from = scope.find(name);
    if (from == scope.end() || from->second.tensor.empty())
      return fmt::format("its fetch loads '{}', which is no argument of the kernel", name);
    if (written_.count(from->second.tensor))
      return fmt::format("its points write '{}', which its fetch loads", name);
    return Refusal::none();
  }

  std::set<std::string> written_;
  bool loads_ = false;
};

// `around`: of the loop.
Refusal why_not_held(const Block& loop, const Scope& around, bool inside_lanes) {
  const Scope scope = scope_of(loop, around, inside_lanes);
  FetchCheck fetch;
  fetch.add_written(loop, scope);
  const auto first_barrier = std::find_if(loop.stmts.begin(), loop.stmts.end(), has_barrier);
  if (first_barrier == loop.stmts.end()) return "its points meet no barrier";
  for (auto statement = loop.stmts.begin(); statement != first_barrier; ++statement) {
    const Block* inner = statement->block();
    if (inner == nullptr) return "its fetch stands in no block";
    STRIA_RETURN_IF_REFUSED(fetch.check(*inner, scope, inside_lanes));
  }
  if (!fetch.loads()) return "it fetches nothing";
  return Refusal::none();
}

class Holder {
 public:
  Holder(const std::string& kernel, PassContext& context) : kernel_(kernel), context_(context) {}

  void visit(Block& block, const Scope& scope, bool inside_lanes) {
    for (Statement& statement : block.stmts) {
      Block* inner = statement.block();
      if (inner == nullptr) continue;
      const bool in_lanes = inside_lanes || is_lane_block(*inner);
      if (inner->tags.integer(stripe::tag::kPipeline).value_or(1) > 1) try_loop(*inner, scope);
      visit(*inner, scope_of(*inner, scope, in_lanes), in_lanes);
    }
  }

 private:
  void try_loop(Block& loop, const Scope& around) {
    if (loop.tags.has(stripe::tag::kHold)) return;
    Refusal refusal = loop.tags.has(stripe::tag::kOneCopy)
                          ? Refusal("its lanes hold what they fetch already (#one_copy)")
                          : why_not_held(loop, around, is_lane_block(loop));
    if (refusal)
      return context_.skipped(fmt::format("{}: {}", kernel_, loop.name), refusal.reason());
    loop.tags.set(stripe::tag::kHold);
    context_.count("fetches_held");
    context_.changed();
  }

  const std::string& kernel_;
  PassContext& context_;
};

}  // namespace

void describe(HoldFetchesOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
}

Status hold_fetches(stripe::Program& program, const HoldFetchesOptions& options,
                    PassContext& context) {
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    Holder(kernel.name, context).visit(kernel, scope_of_kernel(kernel, around), false);
    return Status();
  });
}

}  // namespace stria::passes
