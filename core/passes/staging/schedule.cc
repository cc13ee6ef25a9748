// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/staging/copy_routes.h"
#include "stria/passes/staging/kernel_stager.h"
#include "stria/passes/staging/memory_placement.h"
#include "stria/passes/staging/scratchpad_space.h"
#include "stria/passes/staging/scratchpad_tensors.h"
#include "stria/passes/staging/staged_statements.h"
#include "stria/rewrite/kernel_probe.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

class Scheduler {
 public:
  Scheduler(Block& block, const stripe::Place& place, const ScheduleOptions& options,
            int64_t bank_bytes, KernelProbe& probe, PassContext& context)
      : block_(block),
        place_(place),
        options_(options),
        bank_bytes_(bank_bytes),
        context_(context),
        alignment_(options.alignment),
        stager_({block, place, options, bank_bytes, probe, context}, tensors_, reach_, alignment_) {
  }

  // False if no tensor comes into the scratchpad.
  Result<bool> run() {
    tensors_ = choose_tensors(block_, place_, options_, context_);
    for (const ScratchpadTensor& tensor : tensors_)
      alignment_ = std::lcm(alignment_, byte_size(block_.find_ref(tensor.name)->shape.type));
    STRIA_ASSIGN(reach_, banks_of_kernels(block_, options_, context_.model()));
    STRIA_RETURN_IF_ERROR(stager_.run());
    for (bool planned = false; !planned;) {
      if (tensors_.empty()) return false;
      STRIA_ASSIGN(planned, plan());
    }
    stager_.report();
    write_staged_statements(block_, place_, options_, {tensors_, space_->stays(), actions_},
                            context_);
    return true;
  }

 private:
  // The banks that are reached by this kernel and by the later ones that use the tensor, as far as
  // there are common ones.
  std::vector<bool> banks_of_tensor(size_t t, size_t kernel) const {
    std::vector<bool> banks = stager_.banks_of(tensors_[t].bank, kernel);
    for (auto use = first_use(t, kernel); use != tensors_[t].uses.end(); ++use) {
      if (use->staged || reach_[use->kernel] == reach_[kernel]) continue;
      std::vector<bool> fewer = banks;
      for (size_t b = 0; b < banks.size(); ++b) fewer[b] = banks[b] && reach_[use->kernel][b];
      if (std::find(fewer.begin(), fewer.end(), true) == fewer.end()) break;
      banks = std::move(fewer);
    }
    return banks;
  }

  std::vector<ScratchpadUse>::const_iterator first_use(size_t t, size_t kernel) const {
    const std::vector<ScratchpadUse>& uses = tensors_[t].uses;
    return std::lower_bound(uses.begin(), uses.end(), kernel,
                            [](const ScratchpadUse& use, size_t k) { return use.kernel < k; });
  }

  // Those of kernels that copy parts are apart.
  void find_uses() {
    by_kernel_.assign(block_.stmts.size(), {});
    staged_in_.assign(block_.stmts.size(), {});
    for (size_t t = 0; t < tensors_.size(); ++t)
      for (size_t u = 0; u < tensors_[t].uses.size(); ++u) {
        const ScratchpadUse& use = tensors_[t].uses[u];
        (use.staged ? staged_in_ : by_kernel_)[use.kernel].emplace_back(t, u);
      }
  }

  Status check_route(const std::string& tensor, bool in, bool out) const {
    return check_routes(context_.model(), options_, block_.find_ref(tensor)->location, in, out);
  }

  // --- the order of transfers and kernels

  // False if a tensor was removed because it must stay in global memory; plan again without it.
  Result<bool> plan() {
    space_.emplace(options_.num_banks, bank_bytes_, alignment_, tensors_.size());
    actions_.clear();
    content_.clear();
    find_uses();
    for (const ScratchpadTensor& tensor : tensors_) content_.push_back(tensor.has_content);
    for (size_t kernel = 0; kernel < block_.stmts.size(); ++kernel) {
      for (const auto& [t, u] : staged_in_[kernel]) use_global(t, tensors_[t].uses[u], kernel);
      STRIA_ASSIGN(const bool stands, make_room(kernel));
      if (!stands) return false;
      StagingAction run{StagingAction::Kind::run, kernel, {}};
      std::vector<size_t> results;
      for (const auto& [t, u] : by_kernel_[kernel]) {
        const ScratchpadUse& use = tensors_[t].uses[u];
        const size_t s = *space_->find(t);
        Stay& stay = space_->stay(s);
        run.stays.push_back(s);
        stay.last_use = kernel;
        stay.pinned = !tensors_[t].has_content && kernel < tensors_[t].whole_at;
        if (!use.writes) continue;
        stay.dirty = true;
        content_[t] = false;
        const auto& uses = tensors_[t].uses;
        if (tensors_[t].is_result &&
            std::none_of(uses.begin() + static_cast<std::ptrdiff_t>(u) + 1, uses.end(),
                         [](const ScratchpadUse& later) { return later.writes; }))
          results.push_back(s);
      }
      actions_.push_back(std::move(run));
      for (size_t s : results) take_away(s, kernel);
    }
    for (const StagingAction& action : actions_)
      if (action.kind != StagingAction::Kind::run)
        STRIA_RETURN_IF_ERROR(check_route(tensors_[space_->stays()[action.stays[0]].tensor].name,
                                          action.kind == StagingAction::Kind::bring,
                                          action.kind == StagingAction::Kind::take_away));
    return true;
  }

  // A kernel uses the tensor in global memory.
  void use_global(size_t t, const ScratchpadUse& use, size_t kernel) {
    const std::optional<size_t> s = space_->find(t);
    if (s && space_->stay(*s).dirty && use.needs_content()) take_away(*s, kernel);
    if (!use.writes) return;
    if (s) space_->leave(*s);
    content_[t] = true;
  }

  void take_away(size_t s, size_t kernel) {
    actions_.push_back({StagingAction::Kind::take_away, kernel, {s}});
    space_->stay(s).dirty = false;
    content_[space_->stay(s).tensor] = true;
  }

  // The next kernel, from this one on, that needs the content of the stay.
  std::optional<size_t> next_use(size_t s, size_t kernel) const {
    const size_t t = space_->stays()[s].tensor;
    const auto use = first_use(t, kernel);
    if (use == tensors_[t].uses.end() || !use->needs_content()) return std::nullopt;
    return use->kernel;
  }

  void evict(size_t s, size_t kernel) {
    if (space_->stays()[s].dirty && next_use(s, kernel)) take_away(s, kernel);
    space_->leave(s);
  }

  // Brings the tensor into the scratchpad; false if there is no room. With `alone`, all other
  // tensors have been evicted, and any bank will do, so that the tensor has the room that packs()
  // counts.
  bool enter(size_t t, size_t kernel, const std::set<size_t>& fixed, bool alone) {
    auto may_go = [&](size_t s) {
      const Stay& stay = space_->stays()[s];
      return !stay.pinned && fixed.count(stay.tensor) == 0;
    };
    std::vector<int64_t> crowd(static_cast<size_t>(options_.num_banks));
    // A unit reads from several banks at once, so a kernel's tensors should be in different ones.
    for (const auto& [tensor, u] : by_kernel_[kernel])
      if (const std::optional<size_t> s = space_->find(tensor); s && !alone)
        ++crowd[static_cast<size_t>(space_->stays()[*s].bank)];
    const auto place = space_->place(
        tensors_[t].bytes,
        alone ? stager_.banks_of(tensors_[t].bank, kernel) : banks_of_tensor(t, kernel),
        alone ? block_.stmts.size() : recent_from(kernel), crowd, may_go,
        [&](size_t s) { return next_use(s, kernel); });
    if (!place) return false;
    for (size_t s : place->evicted) evict(s, kernel);
    const size_t s = space_->enter(t, *place, tensors_[t].bytes, kernel);
    for (const auto& [tensor, u] : by_kernel_[kernel])
      if (tensor == t && tensors_[t].uses[u].needs_content() && content_[t])
        actions_.push_back({StagingAction::Kind::bring, kernel, {s}});
    return true;
  }

  // From which kernel on a use counts as recent. A unit that works on one point at a time waits for
  // the transfer in any case, so for it no use counts. Otherwise all do, and transfers overlap as
  // many kernels as there is room for. That is more than the unit's depth asks for, and evens out
  // kernels and transfers of different lengths.
  size_t recent_from(size_t kernel) const {
    const Block* block = block_.stmts[kernel].block();
    return block && stager_.depth_of(*block) < 2 ? block_.stmts.size() : 0;
  }

  Result<bool> make_room(size_t kernel) {
    std::set<size_t> needed;
    std::vector<size_t> order;
    for (const auto& [t, u] : by_kernel_[kernel])
      if (needed.insert(t).second) order.push_back(t);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return tensors_[a].bytes > tensors_[b].bytes; });
    ScratchpadSpace::Memory before = space_->remember();
    const std::vector<bool> content = content_;
    const size_t actions = actions_.size();
    bool fits = true;
    for (size_t t : order) {
      const std::optional<size_t> s = space_->find(t);
      if (s && !reach_[kernel][static_cast<size_t>(space_->stays()[*s].bank)]) {
        if (space_->stays()[*s].pinned)
          fits = false;
        else
          evict(*s, kernel);
      }
    }
    for (size_t t : order)
      if (fits && !space_->find(t)) fits = enter(t, kernel, needed, false);
    if (fits) return true;
    // Tries again after everything has been evicted.
    space_->restore(std::move(before));
    content_ = content;
    actions_.resize(actions);
    const std::vector<size_t> here = space_->here();
    for (size_t s : here)
      if (!space_->stays()[s].pinned) evict(s, kernel);
    std::set<size_t> fixed;
    for (size_t t : order) {
      if (!space_->find(t) && !enter(t, kernel, fixed, true)) return refuse(t, order, kernel);
      fixed.insert(t);
    }
    return true;
  }

  Result<bool> refuse(size_t t, const std::vector<size_t>& needed, size_t kernel) {
    for (size_t s : space_->here()) {
      const Stay& stay = space_->stays()[s];
      if (!stay.pinned) continue;
      // There is no room for it until it is written whole. (Its kernels then work on parts of it,
      // or in global memory, so that it is not pinned again.)
      STRIA_RETURN_IF_ERROR(stager_.part(stay.tensor));
      return false;
    }
    // The list is sorted by size, so the first tensor makes the most room. A kernel's own buffer
    // cannot move to global memory.
    const auto largest =
        std::find_if(needed.begin(), needed.end(), [&](size_t n) { return !tensors_[n].buffer; });
    if (options_.allow_global && largest != needed.end()) {
      context_.skipped(tensors_[*largest].name,
                       fmt::format("{} has no room for it beside what else the kernel needs",
                                   options_.mem_loc.path.back().name));
      context_.count("left far");
      tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(*largest));
      return false;
    }
    int64_t all = 0;
    std::vector<std::string> others;
    for (size_t n : needed) {
      all += (tensors_[n].bytes + alignment_ - 1) / alignment_ * alignment_;
      if (n != t)
        others.push_back(fmt::format("'{}' ({} bytes)", tensors_[n].name, tensors_[n].bytes));
    }
    const int64_t beyond = std::max(
        {tensors_[t].bytes - bank_bytes_, all - options_.num_banks * bank_bytes_, int64_t{0}});
    const Block* block = block_.stmts[kernel].block();
    const std::string name =
        block && !block->name.empty() ? block->name : fmt::format("statement {}", kernel);
    return unsupported(
        "{}: '{}' ({} bytes) does not fit into '{}', {} of {} bytes{}{}: {}; it would fit with "
        "banks "
        "of {} KiB, or with the kernel cut into smaller tiles, whose parts come one by one{}",
        name, tensors_[t].name, tensors_[t].bytes, options_.mem_loc.path.back().name,
        options_.num_banks == 1 ? "1 bank" : fmt::format("{} banks", options_.num_banks),
        bank_bytes_, others.empty() ? "" : ", together with ", join(others, ", "),
        beyond > 0 ? fmt::format("{} bytes too many", beyond) : "no bank has that much left",
        (std::max(all, tensors_[t].bytes) + 1023) / 1024, stager_.why_whole(kernel));
  }

  Block& block_;
  const stripe::Place& place_;
  const ScheduleOptions& options_;
  const int64_t bank_bytes_;
  PassContext& context_;
  int64_t alignment_;  // also a multiple of the size of all elements
  std::vector<ScratchpadTensor> tensors_;
  // During planning: for each kernel, the tensors that it uses, each with the number of the use;
  // and for each tensor, whether global memory has its content now.
  std::vector<std::vector<std::pair<size_t, size_t>>> by_kernel_, staged_in_;
  std::vector<bool> content_;
  std::optional<ScratchpadSpace> space_;
  std::vector<std::vector<bool>> reach_;  // for each kernel, the banks that its units reach
  KernelStager stager_;
  std::vector<StagingAction> actions_;
};

// Bytes of a bank; or an error if the options contradict each other or the model.
Result<int64_t> bank_bytes(const ScheduleOptions& options, const HardwareModel& model) {
  STRIA_RETURN_IF_ERROR(check_location(model, UnitUse::hold, "/mem_loc", options.mem_loc));
  STRIA_RETURN_IF_ERROR(check_location(model, UnitUse::run, "/xfer_loc", options.xfer_loc));
  if (options.mem_loc.empty())
    return invalid_argument("/mem_loc: schedule needs the memory that tensors are copied into");
  const stripe::LocationUnit& unit = options.mem_loc.path.back();
  if (!unit.units.empty() && options.num_banks > 1)
    return invalid_argument("/num_banks: {} banks, but /mem_loc names one of '{}'",
                            options.num_banks, unit.name);
  const MemoryUnit* memory = model.find_memory(unit.name);
  if (memory && options.num_banks > memory->count)
    return make_error(StatusCode::out_of_range,
                      "/num_banks: {}, but the hardware model has {} of '{}'", options.num_banks,
                      memory->count, unit.name);
  int64_t bytes = std::numeric_limits<int64_t>::max() / 4;
  if (memory && memory->size_bytes > 0) bytes = memory->size_bytes;
  if (options.mem_KiB * 1024 > bytes)
    return make_error(StatusCode::out_of_range, "/mem_KiB: {}, but one '{}' has {} KiB",
                      options.mem_KiB, unit.name, static_cast<double>(bytes) / 1024);
  return options.mem_KiB > 0 ? options.mem_KiB * 1024 : bytes;
}

}  // namespace

void describe(ScheduleOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("mem_loc", options.mem_loc, "memory unit that tensors are copied into");
  fields.add("mem_KiB", options.mem_KiB,
             "KiB of one bank; 0 = what the hardware model gives one instance",
             {0, int64_t{1} << 40});
  fields.add("alignment", options.alignment, "every place is a multiple of so many bytes",
             {1, int64_t{1} << 30});
  fields.add("xfer_loc", options.xfer_loc, "unit that runs the blocks which copy; none = not set");
  fields.add("allow_out_of_range_accesses", options.allow_out_of_range_accesses,
             "also copy in tensors that are read beyond their end (`#clamp`, `#zero_fill`)");
  fields.add("num_banks", options.num_banks, "instances of the memory that are used, from 0",
             {1, 1 << 20});
  fields.add(
      "allow_global", options.allow_global,
      "if the scratchpad cannot hold a kernel's tensors together, the largest stays in global "
      "memory; false = that is an error");
  fields.formerly("leave_far");
  fields.set_tags("swap_in_tags", options.swap_in_tags, "tags of the blocks that copy in");
  fields.set_tags("swap_out_tags", options.swap_out_tags, "tags of the blocks that copy out");
}

Status schedule(stripe::Program& program, const ScheduleOptions& options, PassContext& context) {
  STRIA_ASSIGN(const int64_t bytes, bank_bytes(options, context.model()));
  Status status;
  bool scheduled = false;
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    if (!status.ok()) return;
    if (place.depth != 1 || !block.idxs.empty()) {
      context.skipped(block.name, "it is not a list of kernels");
      return;
    }
    Result<KernelProbe> probe = KernelProbe::of(program, block, context.model());
    const Result<bool> done = probe.ok()
                                  ? Scheduler(block, place, options, bytes, *probe, context).run()
                                  : Result<bool>(probe.status());
    if (done.ok())
      scheduled = scheduled || *done;
    else
      status = done.status();
  });
  STRIA_RETURN_IF_ERROR(status);
  if (!scheduled) return {};
  // #placed is a promise about all memories.
  MemoryPlacementOptions rest;
  rest.alignment = options.alignment;
  rest.skip_tags = {stripe::tag::kPlacedInScratchpad};
  program.entry.tags.set(stripe::tag::kPlaced);  // skipped allocations have their places
  PassContext around(context.model());
  STRIA_RETURN_IF_ERROR(memory_placement(program, rest, around));
  stripe::visit_blocks(program.entry, [](Block& block, const stripe::Place&) {
    for (Refinement& ref : block.refs)
      if (ref.dir == RefDir::none) ref.tags.remove(stripe::tag::kPlacedInScratchpad);
  });
  return {};
}

}  // namespace stria::passes
