// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/staging/copy_routes.h"
#include "stria/passes/staging/memory_placement.h"
#include "stria/passes/staging/scratchpad_space.h"
#include "stria/passes/staging/scratchpad_tensors.h"
#include "stria/passes/staging/staged_kernel.h"
#include "stria/passes/staging/staged_statements.h"
#include "stria/rewrite/kernel_probe.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
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
        probe_(probe),
        context_(context),
        alignment_(options.alignment) {}

  // False if no tensor comes into the scratchpad.
  Result<bool> run() {
    tensors_ = choose_tensors(block_, place_, options_, context_);
    for (const ScratchpadTensor& tensor : tensors_)
      alignment_ = std::lcm(alignment_, byte_size(block_.find_ref(tensor.name)->shape.type));
    STRIA_ASSIGN(reach_, banks_of_kernels(block_, options_, context_.model()));
    STRIA_RETURN_IF_ERROR(stage());
    for (bool planned = false; !planned;) {
      if (tensors_.empty()) return false;
      STRIA_ASSIGN(planned, plan());
    }
    write_staged_statements(block_, place_, options_, {tensors_, space_->stays(), actions_},
                            context_);
    return true;
  }

 private:
  // --- kernels that copy parts of tensors

  // Scratchpad memory that a kernel needs for one tensor or buffer.
  struct Need {
    int64_t bytes = 0;
    std::vector<bool> banks;  // where it may lie
  };

  // Do all of them fit into empty banks? The largest comes first, and each goes into the first bank
  // with room.
  bool packs(std::vector<Need> needs) const {
    std::vector<int64_t> used(static_cast<size_t>(options_.num_banks));
    std::stable_sort(needs.begin(), needs.end(),
                     [](const Need& a, const Need& b) { return a.bytes > b.bytes; });
    return std::all_of(needs.begin(), needs.end(), [&](const Need& need) {
      for (size_t bank = 0; bank < used.size(); ++bank) {
        int64_t& end = used[bank];
        if (!need.banks[bank] || end + need.bytes > bank_bytes_) continue;
        end = aligned(end + need.bytes);
        return true;
      }
      return false;
    });
  }

  // The banks that the kernel's units reach; if `bank` is not -1, only that one.
  std::vector<bool> banks_of(int64_t bank, size_t kernel) const {
    std::vector<bool> banks = reach_[kernel];
    for (size_t b = 0; b < banks.size(); ++b)
      if (bank >= 0 && bank != static_cast<int64_t>(b)) banks[b] = false;
    return banks;
  }

  // The banks that are reached by this kernel and by the later ones that use the tensor, as far as
  // there are common ones.
  std::vector<bool> banks_of_tensor(size_t t, size_t kernel) const {
    std::vector<bool> banks = banks_of(tensors_[t].bank, kernel);
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

  std::vector<Need> own_needs(Block& kernel, size_t position) const {
    std::vector<Need> needs;
    for (const OwnBuffer& buffer : own_buffers(kernel, memory()))
      if (is_managed(buffer)) needs.push_back({buffer.bytes, banks_of(bank_of(buffer), position)});
    return needs;
  }

  // How many of the kernel's own buffers are larger than a bank.
  size_t beyond_banks(Block& kernel) const {
    const std::vector<OwnBuffer> buffers = own_buffers(kernel, memory());
    return static_cast<size_t>(
        std::count_if(buffers.begin(), buffers.end(),
                      [&](const OwnBuffer& buffer) { return buffer.bytes > bank_bytes_; }));
  }

  // Does this pass place the buffer? Not if it is larger than the options' share of a bank, since
  // memory_placement then places it beyond that share; and not if it is in an instance that the
  // options do not use.
  bool is_managed(const OwnBuffer& buffer) const {
    const std::vector<Affine>& units = options_.mem_loc.path.back().units;
    if (buffer.bytes > bank_bytes_) return false;
    if (!units.empty())
      return buffer.bank < 0 || (units[0].is_constant() && units[0].constant() == buffer.bank);
    return options_.num_banks == 1 || buffer.bank < options_.num_banks;
  }

  // If there is only one bank, it is the right one for every instance number.
  int64_t bank_of(const OwnBuffer& buffer) const {
    return options_.mem_loc.path.back().units.empty() && options_.num_banks > 1 ? buffer.bank : -1;
  }

  const std::string& memory() const { return options_.mem_loc.path.back().name; }
  int64_t aligned(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  // What autotile chose for a kernel: which tensors come tile by tile, by the names around it; how
  // many tiles are under way, 0: nothing; and how many steps of a tile that cuts reductions.
  struct Chosen {
    std::set<std::string> in_parts;
    int64_t under_way = 0, steps_under_way = 0;
  };
  static Chosen take_choice(Block& kernel) {
    Chosen out;
    out.under_way = kernel.tags.integer(stripe::tag::kTilesUnderWay).value_or(0);
    out.steps_under_way = kernel.tags.integer(stripe::tag::kStepsUnderWay).value_or(0);
    kernel.tags.remove(stripe::tag::kTilesUnderWay);
    kernel.tags.remove(stripe::tag::kStepsUnderWay);
    take_views(kernel, nullptr, out.in_parts);
    return out;
  }
  // The views that are tagged stand in the tile, which is inside the kernel. `around`: of each view
  // of the block around, the tensor behind it; null: `block` is the kernel.
  static void take_views(Block& block, const std::map<std::string, std::string>* around,
                         std::set<std::string>& out) {
    std::map<std::string, std::string> behind;
    for (Refinement& ref : block.refs) {
      const bool chosen = ref.tags.has(stripe::tag::kTileByTile);
      ref.tags.remove(stripe::tag::kTileByTile);
      if (ref.dir == RefDir::none) continue;
      const auto outer = around ? around->find(ref.from) : behind.end();
      if (around && outer == around->end()) continue;
      const std::string& tensor = around ? outer->second : ref.from;
      behind[ref.into] = tensor;
      if (chosen) out.insert(tensor);
    }
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) take_views(*inner, &behind, out);
  }

  // Makes kernels copy parts of tensors themselves: those that were chosen for it, and the largest
  // if the tensors do not fit together. Then adds the kernels' own buffers in the scratchpad to the
  // tensors, so that they get places.
  Status stage() {
    uses_of_kernels();
    for (size_t kernel = 0; kernel < block_.stmts.size(); ++kernel) {
      Block* block = block_.stmts[kernel].block();
      if (!block || by_kernel_[kernel].empty()) continue;
      const Chosen chosen = take_choice(*block);
      std::vector<Need> needs = own_needs(*block, kernel);
      for (const auto& [t, u] : by_kernel_[kernel])
        needs.push_back({tensors_[t].bytes, banks_of(tensors_[t].bank, kernel)});
      if (!packs(std::move(needs)) || !chosen.in_parts.empty())
        STRIA_RETURN_IF_ERROR(stage_kernel(kernel, *block, chosen));
      else if (chosen.under_way > 1)
        overlap_points(*block, kernel, chosen.under_way);
    }
    const size_t tensors = tensors_.size();
    for (size_t kernel = 0; kernel < block_.stmts.size() && tensors > 0; ++kernel) {
      Block* block = block_.stmts[kernel].block();
      if (!block) continue;
      const std::vector<OwnBuffer> buffers = own_buffers(*block, memory());
      for (size_t n = 0; n < buffers.size(); ++n) {
        if (!is_managed(buffers[n])) continue;
        ScratchpadTensor own;
        own.name = buffers[n].ref->into;
        own.bytes = buffers[n].bytes;
        own.buffer = n;
        own.bank = bank_of(buffers[n]);
        own.whole_at = kernel;
        own.uses.push_back({kernel, false, true, true, false});
        tensors_.push_back(std::move(own));
        alignment_ = std::lcm(alignment_, byte_size(buffers[n].ref->shape.type));
      }
    }
    return {};
  }

  // Lets the instances of the kernel's unit work on points beside each other, if the verifier has
  // no more questions then.
  void overlap_points(Block& block, size_t kernel, int64_t under_way) {
    const bool holds_blocks = std::all_of(block.stmts.begin(), block.stmts.end(),
                                          [](const Statement& stmt) { return stmt.block(); });
    const int64_t points = std::min({under_way, depth_of(block), points_of(block)});
    if (!holds_blocks || points < 2 || block.tags.has(stripe::tag::kPipeline)) return;
    if (!fits(block, kernel, by_kernel_[kernel], points, beyond_banks(block))) return;
    // Points of a block on a unit are one operation; blocks of units in a loop are many.
    Block loop = block;
    loop.tags.set(stripe::tag::kPipeline, points);
    hand_location_down(loop);
    const std::optional<size_t> before = probe_.undecided(block), after = probe_.undecided(loop);
    if (!before || !after || *after > *before) return;
    block = std::move(loop);
    context_.count("points beside each other");
  }

  Status stage_kernel(size_t kernel, Block& block, const Chosen& chosen) {
    if (points_of(block) < 2) return {};
    const CopySpec parts{options_.mem_loc, options_.xfer_loc, options_.swap_in_tags,
                         options_.swap_out_tags};
    std::vector<std::pair<size_t, size_t>> by_size = by_kernel_[kernel];
    std::stable_sort(by_size.begin(), by_size.end(), [&](const auto& a, const auto& b) {
      return tensors_[a.first].bytes > tensors_[b.first].bytes;
    });
    const auto is_chosen = [&](const auto& use) {
      return chosen.in_parts.count(tensors_[use.first].name) > 0;
    };
    std::stable_partition(by_size.begin(), by_size.end(), is_chosen);
    Block staged = block;
    if (chosen.steps_under_way > 0) split_steps(staged, chosen.steps_under_way);
    // Blocks inside a kernel without a unit have units of their own.
    const bool free = block.location.empty() && chosen.under_way > 0;
    int64_t most = std::min(free ? chosen.under_way : depth_of(block), points_of(staged));
    if (chosen.under_way > 0) most = std::min(most, chosen.under_way);
    // So many under way are worth more than to bring fewer tensors again for each tile.
    const int64_t least =
        chosen.under_way > 0 ? (most + 1) / 2 : std::min(most, depth_of_instance(block));
    const size_t beyond = beyond_banks(block);
    std::vector<std::pair<size_t, size_t>> in_parts, whole = by_size;
    // Stages the chosen tensors, and then the largest one by one, until the rest fits. If it never
    // does, fewer points are under way.
    for (const auto& [t, u] : by_size) {
      if (!is_chosen(std::pair(t, u)) && !in_parts.empty() &&
          fits(staged, kernel, whole, least, beyond))
        break;
      Block trial = staged;
      Refusal refusal = why_whole(tensors_[t], tensors_[t].uses[u]);
      if (!refusal)
        refusal = stage_tensor(trial, {&place_, kernel}, names_, tensors_[t].name, parts, context_);
      if (refusal) {
        why_whole_[kernel] =
            fmt::format("; '{}' cannot come in parts: {}", tensors_[t].name, refusal.reason());
        continue;
      }
      staged = std::move(trial);
      in_parts.emplace_back(t, u);
      std::erase(whole, std::pair(t, u));
    }
    int64_t depth = most;
    while (depth > 0 && !fits(staged, kernel, whole, depth, beyond)) --depth;
    if (Block* steps = steps_of(staged); steps && depth == 0) {
      steps->tags.remove(stripe::tag::kPipeline);
      for (depth = most; depth > 0 && !fits(staged, kernel, whole, depth, beyond);) --depth;
    }
    if (in_parts.empty() || depth == 0) return {};  // refuse() says by how much
    if (depth > 1) staged.tags.set(stripe::tag::kPipeline, depth);
    // A block on a numbered unit inside a located block would be a lane block.
    Block* const steps = steps_of(staged);
    if (steps || (!options_.xfer_loc.empty() && !options_.xfer_loc.path.back().units.empty()))
      hand_location_down(staged);
    if (steps) hand_location_down(*steps);
    // The kernel becomes a pipeline if the verifier can prove it legal, or if it leaves no more
    // questions open than without the pipeline.
    std::optional<size_t> open = probe_.undecided(staged);
    if (!open || *open > 0) {
      Block plain = staged;
      plain.tags.remove(stripe::tag::kPipeline);
      if (Block* plain_steps = steps_of(plain)) plain_steps->tags.remove(stripe::tag::kPipeline);
      const std::optional<size_t> without = probe_.undecided(plain);
      if (!without) {
        why_whole_[kernel] = "; parts of it cannot come one by one: " + probe_.broken().reason();
        return {};
      }
      if (!open || *open > *without) staged = std::move(plain);
    }
    block = std::move(staged);
    for (const auto& [t, u] : in_parts) {
      tensors_[t].uses[u].staged = true;
      STRIA_RETURN_IF_ERROR(check_route(tensors_[t].name, tensors_[t].uses[u].needs_content(),
                                        tensors_[t].uses[u].writes));
      context_.count("staged in parts");
    }
    return {};
  }

  Status check_route(const std::string& tensor, bool in, bool out) const {
    return check_routes(context_.model(), options_, block_.find_ref(tensor)->location, in, out);
  }

  // Moves the kernel's location to those inner blocks that have none.
  static void hand_location_down(Block& kernel) {
    for (Statement& stmt : kernel.stmts) {
      Block* inner = stmt.block();
      if (!inner || !inner->location.empty()) continue;
      inner->location = kernel.location;
      for (stripe::LocationUnit& unit : inner->location.path)
        for (Affine& form : unit.units) {
          std::map<std::string, Affine> own;
          for (const auto& [name, coefficient] : form.terms())
            own[name] = Affine::of(bring_in(*inner, name));
          form = form.substitute(own);
        }
    }
    kernel.location = {};
  }

  // Does the kernel fit with `depth` points under way and the tensors `whole` unstaged? `beyond`
  // own buffers are larger than a bank in any case.
  bool fits(Block& kernel, size_t position, const std::vector<std::pair<size_t, size_t>>& whole,
            int64_t depth, size_t beyond) const {
    if (depth > 1) kernel.tags.set(stripe::tag::kPipeline, depth);
    std::vector<Need> needs = own_needs(kernel, position);
    const bool larger = beyond_banks(kernel) > beyond;
    kernel.tags.remove(stripe::tag::kPipeline);
    if (larger) return false;
    for (const auto& [t, u] : whole)
      needs.push_back({tensors_[t].bytes, banks_of(tensors_[t].bank, position)});
    return packs(std::move(needs));
  }

  // Refuses a tensor that the kernel cannot use in parts.
  static Refusal why_whole(const ScratchpadTensor& tensor, const ScratchpadUse& use) {
    if (use.reads && use.writes) return "it is read and written";
    if (use.writes && !use.covers && !tensor.has_content)
      return "it is not known to be written whole";
    return Refusal::none();
  }

  // How many points the instances of the kernel's unit have under way; 2 each if the model does not
  // say.
  int64_t depth_of(const Block& kernel) const {
    const int64_t depth = depth_of_instance(kernel);
    return kernel.location.empty() ? depth : depth * probe_.instances(kernel.location.path.back());
  }
  int64_t depth_of_instance(const Block& kernel) const {
    if (kernel.location.empty()) return 2;
    const int64_t depth = probe_.pipeline_depth(kernel.location.path.back().name);
    return depth > 0 ? depth : 2;
  }

  void uses_of_kernels() {
    by_kernel_.assign(block_.stmts.size(), {});
    staged_in_.assign(block_.stmts.size(), {});
    for (size_t t = 0; t < tensors_.size(); ++t)
      for (size_t u = 0; u < tensors_[t].uses.size(); ++u) {
        const ScratchpadUse& use = tensors_[t].uses[u];
        (use.staged ? staged_in_ : by_kernel_)[use.kernel].emplace_back(t, u);
      }
  }

  // --- the order of transfers and kernels

  // False if a tensor was removed because it must stay in global memory; plan again without it.
  Result<bool> plan() {
    space_.emplace(options_.num_banks, bank_bytes_, alignment_, tensors_.size());
    actions_.clear();
    content_.clear();
    uses_of_kernels();
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
        tensors_[t].bytes, alone ? banks_of(tensors_[t].bank, kernel) : banks_of_tensor(t, kernel),
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
    return block && depth_of(*block) < 2 ? block_.stmts.size() : 0;
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
      context_.skipped(tensors_[stay.tensor].name,
                       "there is no room for it until it is written whole");
      tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(stay.tensor));
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
        (std::max(all, tensors_[t].bytes) + 1023) / 1024, why_whole_[kernel]);
  }

  Block& block_;
  const stripe::Place& place_;
  const ScheduleOptions& options_;
  const int64_t bank_bytes_;
  KernelProbe& probe_;
  PassContext& context_;
  int64_t alignment_;  // also a multiple of the size of all elements
  PlaceNames names_;
  std::vector<ScratchpadTensor> tensors_;
  // During planning: for each kernel, the tensors that it uses, each with the number of the use;
  // and for each tensor, whether global memory has its content now.
  std::vector<std::vector<std::pair<size_t, size_t>>> by_kernel_, staged_in_;
  std::vector<bool> content_;
  std::optional<ScratchpadSpace> space_;
  std::vector<std::vector<bool>> reach_;     // for each kernel, the banks that its units reach
  std::map<size_t, std::string> why_whole_;  // for messages: why a kernel's tensors stay whole
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
