// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/staged_statements.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "stria/base/text.h"
#include "stria/passes/staging/copies.h"
#include "stria/passes/staging/staged_kernel.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/statement_dependencies.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

class Writer {
 public:
  Writer(Block& block, const stripe::Place& place, const ScheduleOptions& options,
         const StagingPlan& plan, PassContext& context)
      : block_(block), place_(place), options_(options), plan_(plan), context_(context) {}

  void run() {
    for (size_t r = 0; r < block_.refs.size(); ++r) position_[block_.refs[r].into] = r;
    std::vector<std::string> near;  // for each stay, its buffer in the scratchpad
    for (const Stay& stay : plan_.stays)
      near.push_back(tensor_of(stay).buffer ? "" : add_buffer(stay));
    // All own buffers are found before the first one is placed, since placing changes the search.
    std::vector<std::pair<const Stay*, OwnBuffer>> own;
    for (const Stay& stay : plan_.stays)
      if (tensor_of(stay).buffer) own.emplace_back(&stay, own_buffer(stay));
    for (const auto& [stay, buffer] : own) place_own(*stay, buffer);
    std::vector<Statement> old = std::move(block_.stmts);
    block_.stmts.clear();
    std::vector<std::vector<size_t>> users(plan_.stays.size());  // for each stay
    for (const StagingAction& action : plan_.actions) {
      for (size_t s : action.stays) users[s].push_back(block_.stmts.size());
      if (action.kind == StagingAction::Kind::run) {
        Statement& stmt = old[action.kernel];
        for (size_t s : action.stays)
          if (!near[s].empty()) view_buffer(stmt, tensor_of(plan_.stays[s]).name, named(near[s]));
        block_.stmts.push_back(std::move(stmt));
      } else {
        const size_t s = action.stays[0];
        const Refinement& far = named(tensor_of(plan_.stays[s]).name);
        const Refinement& here = named(near[s]);
        const bool in = action.kind == StagingAction::Kind::bring;
        block_.stmts.emplace_back(copy_whole(in ? far : here, in ? here : far, options_.xfer_loc,
                                             in ? options_.swap_in_tags : options_.swap_out_tags));
        context_.count(in ? "brought" : "taken away");
      }
    }
    drop_unused();
    set_dependencies(users);
    context_.changed();
  }

 private:
  std::string add_buffer(const Stay& stay) {
    const Refinement& far = named(tensor_of(stay).name);
    std::string name = far.into + "_scratch";
    for (int64_t& n = suffix_[far.into]; position_.count(name); ++n)
      name = fmt::format("{}_scratch_{}", far.into, n);
    position_[name] = block_.refs.size();
    Refinement near = make_buffer(std::move(name), dense_shape(far.shape.type, far.shape.sizes()),
                                  location_of(stay));
    near.offset_bytes = stay.begin;
    near.tags.set(stripe::tag::kPlacedInScratchpad);
    block_.refs.push_back(std::move(near));
    return block_.refs.back().into;
  }

  // The block's refinement of that name.
  const Refinement& named(const std::string& name) const { return block_.refs[position_.at(name)]; }

  const ScratchpadTensor& tensor_of(const Stay& stay) const { return plan_.tensors[stay.tensor]; }

  stripe::Location location_of(const Stay& stay) const {
    stripe::Location location = options_.mem_loc;
    if (location.path.back().units.empty() && options_.num_banks > 1)
      location.path.back().units = {Affine(stay.bank)};
    return location;
  }

  OwnBuffer own_buffer(const Stay& stay) {
    const ScratchpadTensor& tensor = tensor_of(stay);
    Block& kernel = *block_.stmts[tensor.uses[0].kernel].block();
    return own_buffers(kernel, memory())[*tensor.buffer];
  }

  void place_own(const Stay& stay, const OwnBuffer& buffer) {
    if (buffer.bank < 0) buffer.ref->location = location_of(stay);
    buffer.ref->offset_bytes = stay.begin;
    buffer.ref->tags.set(stripe::tag::kPlacedInScratchpad);
    for (Statement& stmt : buffer.owner->stmts)
      locate_views(stmt, buffer.ref->into, buffer.ref->location);
  }

  // Removes temporaries of the block that never leave the scratchpad.
  void drop_unused() {
    const StatementUsers users(block_);
    std::set<std::string> scheduled;
    for (const ScratchpadTensor& tensor : plan_.tensors)
      if (!tensor.buffer) scheduled.insert(tensor.name);
    std::erase_if(block_.refs, [&](const Refinement& ref) {
      return ref.dir == RefDir::none && scheduled.count(ref.into) && users.of(ref.into).empty();
    });
  }

  // A stay also waits for all users of the stays whose bytes it takes.
  void set_dependencies(const std::vector<std::vector<size_t>>& users) {
    std::vector<std::vector<size_t>> also(block_.stmts.size());
    for (size_t s = 0; s < users.size(); ++s)
      for (size_t before : plan_.stays[s].replaces)
        for (size_t user : users[s])
          also[user].insert(also[user].end(), users[before].begin(), users[before].end());
    for (Statement& stmt : block_.stmts) stmt.deps.clear();
    stripe::StatementConflicts conflicts(place_);
    const Dependencies found = dependencies_of(block_, conflicts, also);
    block_.tags.set(stripe::tag::kDeps);
    for (size_t i = 0; i < found.size(); ++i) {
      block_.stmts[i].deps = found[i];
      context_.count("dependencies", static_cast<int64_t>(found[i].size()));
    }
    if (conflicts.undecided() > 0) context_.count("undecided", conflicts.undecided());
  }

  const std::string& memory() const { return options_.mem_loc.path.back().name; }

  Block& block_;
  const stripe::Place& place_;
  const ScheduleOptions& options_;
  const StagingPlan& plan_;
  PassContext& context_;
  std::unordered_map<std::string, size_t> position_;  // name of a refinement -> position
  std::unordered_map<std::string, int64_t> suffix_;   // tensor -> number for its next buffer
};

}  // namespace

void write_staged_statements(Block& block, const stripe::Place& place,
                             const ScheduleOptions& options, const StagingPlan& plan,
                             PassContext& context) {
  Writer(block, place, options, plan, context).run();
}

}  // namespace stria::passes
