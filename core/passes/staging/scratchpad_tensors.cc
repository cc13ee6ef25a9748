// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/scratchpad_tensors.h"

#include <map>

#include "stria/base/refusal.h"
#include "stria/passes/staging/copies.h"
#include "stria/poly/solver_budget.h"
#include "stria/rewrite/must_write.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Limit of the solver's work for one block, to find out what is completely written.
constexpr int64_t kSolverSteps = 400'000'000;

bool reads_beyond(const Refinement& ref) {
  return ref.tags.has(stripe::tag::kClamp) || ref.tags.has(stripe::tag::kZeroFill);
}

// Calls visit(block, view) for the block's views of `name`, a refinement around it, and for the
// views of these inside.
template <typename Visit>
void each_view(const Block& block, const std::string& name, const Visit& visit) {
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none || ref.from != name) continue;
    visit(block, ref);
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) each_view(*inner, ref.into, visit);
  }
}

// Do only blocks on transfer units touch the tensor in the kernel?
bool transfers_itself(const Block& kernel, const std::string& name, const HardwareModel& model) {
  auto moves = [&](const Block& block) {
    return !block.location.empty() && model.find_transfer(block.location.path.back().name);
  };
  if (moves(kernel)) return true;
  for (const Refinement& ref : kernel.refs) {
    if (ref.dir == RefDir::none || ref.from != name) continue;
    for (const Statement& stmt : kernel.stmts) {
      const Block* inner = stmt.block();
      if (inner && find_view(*inner, ref.into) && !transfers_itself(*inner, ref.into, model))
        return false;
      if (uses_itself(stmt, ref.into)) return false;
    }
  }
  return true;
}

class TensorChooser {
 public:
  TensorChooser(const Block& block, const stripe::Place& place, const ScheduleOptions& options,
                PassContext& context)
      : block_(block), place_(place), options_(options), context_(context) {}

  std::vector<ScratchpadTensor> run() {
    std::vector<ScratchpadTensor> tensors;
    SolverBudget budget(kSolverSteps);
    const StatementUsers users(block_);
    std::map<std::string, int64_t> views;  // outer tensor -> number of views
    for (const Refinement& ref : block_.refs)
      if (ref.dir != RefDir::none) ++views[ref.from];
    for (const Refinement& ref : block_.refs) {
      const std::vector<size_t>& statements = users.of(ref.into);
      if (statements.empty()) continue;
      context_.matched();
      ScratchpadTensor tensor;
      const Refusal refusal = ref.dir != RefDir::none && views[ref.from] > 1
                                  ? Refusal("the block has several views of it")
                                  : why_global(ref, statements);
      if (refusal) {
        context_.skipped(ref.into, refusal.reason());
        continue;
      }
      describe_uses(ref, statements, tensor);
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

 private:
  Refusal why_global(const Refinement& ref, const std::vector<size_t>& statements) const {
    const auto& path = ref.location.path;
    if (!path.empty() && path.back().name == options_.mem_loc.path.back().name)
      return "it is in the scratchpad already";
    if (!path.empty() && !path.back().owners.empty()) return "lanes hold it";
    if (ref.agg) return "the block adds to it";
    for (const Dim& dim : ref.shape.dims)
      if (dim.size < 1) return "it has no elements";
    if (reads_beyond(ref)) return "the block reads it beyond its end";
    bool beyond = false, itself = true;
    for (size_t i : statements) {
      const Block* kernel = block_.stmts[i].block();
      if (!kernel) return "a statement that is no block uses it";
      each_view(*kernel, ref.into,
                [&](const Block&, const Refinement& view) { beyond |= reads_beyond(view); });
      itself = itself && transfers_itself(*kernel, ref.into, context_.model());
    }
    if (itself) return "its kernels transfer it themselves";
    if (beyond && !options_.allow_out_of_range_accesses) return "it is read beyond its end";
    // "Beyond the end" means beyond the allocation (S10), which may be larger than the block's
    // view.
    if (beyond && ref.dir != RefDir::none) {
      const Refinement* whole = place_.parent->block->find_ref(ref.from);
      if (!whole || whole->shape.sizes() != ref.shape.sizes())
        return "it is read beyond its end, and is part of another";
    }
    return Refusal::none();
  }

  void describe_uses(const Refinement& ref, const std::vector<size_t>& statements,
                     ScratchpadTensor& tensor) const {
    tensor.name = ref.into;
    tensor.bytes = dense_shape(ref.shape.type, ref.shape.sizes()).span_bytes();
    tensor.has_content = ref.dir == RefDir::in || ref.dir == RefDir::inout;
    tensor.is_result = is_written(ref);
    const IntegerSet all = all_elements(ref.shape);
    std::optional<IntegerSet> written;
    bool whole = tensor.has_content;
    for (size_t i : statements) {
      ScratchpadUse use{i};
      for (const Refinement& view : block_.stmts[i].block()->refs) {
        if (view.dir == RefDir::none || view.from != ref.into) continue;
        use.reads = use.reads || view.dir != RefDir::out;
        use.writes = use.writes || view.dir != RefDir::in;
      }
      if (!whole && use.reads) tensor.until_whole = ScratchpadTensor::Until::parts;
      if (use.writes && !use.reads) {
        auto part = must_write(block_, block_.stmts[i], ref.into);
        use.covers = part.ok() && is_whole(all, *part);
        // What cannot be told is not counted on.
        if (!whole && part.ok()) {
          auto both = written ? written->unite(*part) : std::move(part);
          if (both.ok()) written = std::move(*both);
          whole = use.covers || (written && is_whole(all, *written));
          if (whole) tensor.whole_at = i;
        }
      }
      tensor.uses.push_back(use);
    }
    if (whole) return;
    tensor.whole_at = ScratchpadTensor::kNever;
    tensor.until_whole = ScratchpadTensor::Until::parts;
  }

  static bool is_whole(const IntegerSet& all, const IntegerSet& written) {
    const Result<bool> whole = all.is_subset_of(written);
    return whole.ok() && *whole;
  }

  const Block& block_;
  const stripe::Place& place_;
  const ScheduleOptions& options_;
  PassContext& context_;
};

}  // namespace

std::vector<ScratchpadTensor> choose_tensors(const Block& block, const stripe::Place& place,
                                             const ScheduleOptions& options, PassContext& context) {
  return TensorChooser(block, place, options, context).run();
}

}  // namespace stria::passes
