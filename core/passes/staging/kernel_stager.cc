// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/kernel_stager.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "stria/base/text.h"
#include "stria/pass/tensor_names.h"
#include "stria/passes/staging/copy_routes.h"
#include "stria/passes/staging/staged_kernel.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

class KernelStager::Impl {
 public:
  Impl(const Around& around, std::vector<ScratchpadTensor>& tensors,
       const std::vector<std::vector<bool>>& reach, int64_t& alignment)
      : block_(around.block),
        place_(around.place),
        options_(around.options),
        bank_bytes_(around.bank_bytes),
        probe_(around.probe),
        context_(around.context),
        tensors_(tensors),
        reach_(reach),
        alignment_(alignment) {}

  Status run() {
    find_uses();
    unstaged_.resize(block_.stmts.size());
    for (size_t kernel = 0; kernel < block_.stmts.size(); ++kernel) {
      Block* block = block_.stmts[kernel].block();
      if (!block || by_kernel_[kernel].empty()) continue;
      unstaged_[kernel].chosen = take_choice(*block);
      if (meets_partial(kernel)) unstaged_[kernel].block = *block;
    }
    for (ScratchpadTensor& tensor : tensors_) follow_most_work(tensor);
    for (size_t kernel = 0; kernel < block_.stmts.size(); ++kernel)
      if (Block* block = block_.stmts[kernel].block(); block && !by_kernel_[kernel].empty())
        STRIA_RETURN_IF_ERROR(stage_anew(kernel, *block));
    STRIA_RETURN_IF_ERROR(stage_mixed());
    add_own_buffers();
    return {};
  }

  Status part(size_t tensor) {
    tensors_[tensor].until_whole = Until::parts;
    tensors_[tensor].tried_near = true;
    std::erase_if(tensors_, [](const ScratchpadTensor& other) { return other.buffer; });
    find_uses();
    STRIA_RETURN_IF_ERROR(stage_mixed());
    add_own_buffers();
    return {};
  }

  void report() const {
    std::map<std::string, std::string> far;
    for (const Unstaged& kernel : unstaged_) {
      if (kernel.beside_each_other) context_.count("points beside each other");
      if (kernel.in_parts > 0) context_.count("staged in parts", kernel.in_parts);
      far.insert(kernel.far.begin(), kernel.far.end());
    }
    for (const auto& [tensor, reason] : far)
      context_.skipped(tensor, "kernels write parts of it where it is: " + reason);
  }

  std::vector<bool> banks_of(int64_t bank, size_t kernel) const {
    std::vector<bool> banks = reach_[kernel];
    for (size_t b = 0; b < banks.size(); ++b)
      if (bank >= 0 && bank != static_cast<int64_t>(b)) banks[b] = false;
    return banks;
  }

  int64_t depth_of(const Block& kernel) const {
    const int64_t depth = depth_of_instance(kernel);
    return kernel.location.empty() ? depth : depth * probe_.instances(kernel.location.path.back());
  }
  std::string why_whole(size_t kernel) const {
    const auto found = why_whole_.find(kernel);
    return found == why_whole_.end() ? "" : found->second;
  }

 private:
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

  using Until = ScratchpadTensor::Until;

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
  // A kernel before it was staged, and what came of it.
  struct Unstaged {
    Chosen chosen;
    std::optional<Block> block;  // if it may be staged anew
    bool beside_each_other = false;
    int64_t in_parts = 0;
    std::map<std::string, std::string> far;  // tensors that stay in global memory, and why
  };
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

  // Where several kernels write a tensor, room decides, and what was chosen for the kernel with the
  // most work: the others may only fill an edge.
  void follow_most_work(ScratchpadTensor& tensor) const {
    if (tensor.until_whole != Until::either || tensor.has_content) return;
    const Unstaged* most = nullptr;
    double most_work = -1;
    size_t kernels = 0;
    for (const ScratchpadUse& use : tensor.uses) {
      if (!tensor.is_partial(use.kernel)) continue;
      ++kernels;
      const double work = work_of(*unstaged_[use.kernel].block);
      if (work > most_work) most = &unstaged_[use.kernel];
      most_work = std::max(work, most_work);
    }
    if (kernels < 2) return;
    if (most->chosen.in_parts.count(tensor.name) > 0 || tensor.bytes > bank_bytes_)
      tensor.until_whole = Until::parts;
    else if (may_be_near(tensor))
      tensor.until_whole = Until::near;
  }

  // Do all kernels fit that work on the tensor until it is whole?
  bool may_be_near(const ScratchpadTensor& tensor) const {
    return std::all_of(tensor.uses.begin(), tensor.uses.end(), [&](const ScratchpadUse& use) {
      if (!tensor.is_partial(use.kernel)) return true;
      Block block = *unstaged_[use.kernel].block;
      return packs(needs_of(block, use.kernel));
    });
  }

  // Stages kernels anew until they agree about each tensor that is not whole yet.
  Status stage_mixed() {
    for (std::set<size_t> kernels = mixed(); !kernels.empty(); kernels = mixed())
      for (size_t kernel : kernels) {
        Block& block = *block_.stmts[kernel].block();
        block = *unstaged_[kernel].block;
        for (const auto& [t, u] : by_kernel_[kernel]) tensors_[t].uses[u].staged = false;
        STRIA_RETURN_IF_ERROR(stage_anew(kernel, block));
      }
    return {};
  }

  Status stage_anew(size_t kernel, Block& block) {
    Unstaged& state = unstaged_[kernel];
    state.beside_each_other = false;
    state.in_parts = 0;
    state.far.clear();
    why_whole_.erase(kernel);
    const bool in_parts =
        !state.chosen.in_parts.empty() ||
        std::any_of(by_kernel_[kernel].begin(), by_kernel_[kernel].end(),
                    [&](const auto& use) { return is_until(use.first, kernel, Until::parts); });
    if (in_parts || !packs(needs_of(block, kernel)))
      STRIA_RETURN_IF_ERROR(stage_kernel(kernel, block, state.chosen));
    else if (state.chosen.under_way > 1)
      state.beside_each_other = overlap_points(block, kernel, state.chosen.under_way);
    return {};
  }

  std::vector<Need> needs_of(Block& block, size_t kernel) const {
    std::vector<Need> needs = own_needs(block, kernel);
    for (const auto& [t, u] : by_kernel_[kernel])
      needs.push_back({tensors_[t].bytes, banks_of(tensors_[t].bank, kernel)});
    return needs;
  }

  bool is_until(size_t t, size_t kernel, Until how) const {
    return tensors_[t].is_partial(kernel) && tensors_[t].until_whole == how;
  }
  bool meets_partial(size_t kernel) const {
    return std::any_of(by_kernel_[kernel].begin(), by_kernel_[kernel].end(),
                       [&](const auto& use) { return tensors_[use.first].is_partial(kernel); });
  }

  // The kernels that must be staged anew, since they do not use a tensor as the others do. If one
  // of them copies parts, all do; if one cannot, and there is room, all work on it near.
  std::set<size_t> mixed() {
    std::set<size_t> kernels;
    for (ScratchpadTensor& tensor : tensors_) {
      if (tensor.has_content || tensor.buffer) continue;
      std::set<size_t> near, parts;
      for (const ScratchpadUse& use : tensor.uses)
        if (tensor.is_partial(use.kernel)) (use.staged ? parts : near).insert(use.kernel);
      if (tensor.until_whole == Until::either && !parts.empty()) tensor.until_whole = Until::parts;
      const bool is_far = std::any_of(parts.begin(), parts.end(), [&](size_t kernel) {
        return unstaged_[kernel].far.count(tensor.name) > 0;
      });
      if (is_far && tensor.whole_at != ScratchpadTensor::kNever && !tensor.tried_near &&
          may_be_near(tensor))
        tensor.until_whole = Until::near;
      if (tensor.until_whole == Until::parts) kernels.merge(near);
      if (tensor.until_whole == Until::near) kernels.merge(parts);
    }
    return kernels;
  }

  void add_own_buffers() {
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
  }

  static bool holds_blocks(const Block& kernel) {
    return std::all_of(kernel.stmts.begin(), kernel.stmts.end(),
                       [](const Statement& stmt) { return stmt.block(); });
  }

  // Lets the instances of the kernel's unit work on points beside each other, if the verifier has
  // no more questions then.
  bool overlap_points(Block& block, size_t kernel, int64_t under_way) {
    const int64_t points = std::min({under_way, depth_of(block), points_of(block)});
    if (!holds_blocks(block) || points < 2 || block.tags.has(stripe::tag::kPipeline)) return false;
    if (!fits(block, kernel, by_kernel_[kernel], points, beyond_banks(block))) return false;
    // Points of a block on a unit are one operation; blocks of units in a loop are many.
    Block loop = block;
    loop.tags.set(stripe::tag::kPipeline, points);
    hand_location_down(loop);
    const std::optional<size_t> before = probe_.undecided(block), after = probe_.undecided(loop);
    if (!before || !after || *after > *before) return false;
    block = std::move(loop);
    return true;
  }

  // Tensors that may not come as a whole and cannot come in parts stay in global memory.
  Status stage_kernel(size_t kernel, Block& block, const Chosen& chosen) {
    STRIA_RETURN_IF_ERROR(stage_parts(kernel, block, chosen));
    for (const auto& [t, u] : by_kernel_[kernel]) {
      ScratchpadUse& use = tensors_[t].uses[u];
      if (use.staged || !is_until(t, kernel, Until::parts)) continue;
      use.staged = true;
      unstaged_[kernel].far.emplace(tensors_[t].name, "its parts find no room");
    }
    return {};
  }

  Status stage_parts(size_t kernel, Block& block, const Chosen& chosen) {
    const auto must = [&](const auto& use) { return is_until(use.first, kernel, Until::parts); };
    const bool any_must = std::any_of(by_kernel_[kernel].begin(), by_kernel_[kernel].end(), must);
    if (points_of(block) < 2 && !any_must) return {};
    const CopySpec parts{options_.mem_loc, options_.xfer_loc, options_.swap_in_tags,
                         options_.swap_out_tags};
    std::vector<std::pair<size_t, size_t>> by_size = by_kernel_[kernel];
    std::stable_sort(by_size.begin(), by_size.end(), [&](const auto& a, const auto& b) {
      return tensors_[a.first].bytes > tensors_[b.first].bytes;
    });
    const auto is_chosen = [&](const auto& use) {
      return chosen.in_parts.count(tensors_[use.first].name) > 0 || must(use);
    };
    std::stable_partition(by_size.begin(), by_size.end(), is_chosen);
    Block staged = block;
    // A kernel that is one operation becomes the only point of a kernel.
    if (any_must && !holds_blocks(block)) split_block(staged, {});
    // Only the last point that adds to a part can copy it out.
    if (chosen.steps_under_way > 0 || (any_must && adds_from_point_to_point(staged)))
      split_steps(staged, chosen.steps_under_way);
    // Blocks inside a kernel without a unit have units of their own.
    const bool free = block.location.empty() && chosen.under_way > 0;
    int64_t most = std::min(free ? chosen.under_way : depth_of(block), points_of(staged));
    if (chosen.under_way > 0) most = std::min(most, chosen.under_way);
    // So many under way are worth more than to bring fewer tensors again for each tile.
    const int64_t least =
        chosen.under_way > 0 ? (most + 1) / 2 : std::min(most, depth_of_instance(block));
    const size_t beyond = beyond_banks(block);
    const bool crowded = !packs(needs_of(block, kernel));
    std::vector<std::pair<size_t, size_t>> in_parts, whole = by_size;
    // Stages the chosen tensors, and then the largest one by one, until the rest fits. If it never
    // does, fewer points are under way.
    for (const auto& [t, u] : by_size) {
      if (!is_chosen(std::pair(t, u)) && !in_parts.empty() &&
          fits(staged, kernel, whole, least, beyond))
        break;
      if (is_until(t, kernel, Until::near)) continue;
      Block trial = staged;
      // To copy in what is written anyway is worth it only for what cannot come as a whole.
      const Refusal refusal = stage_tensor(trial, {&place_, kernel}, names_, tensors_[t].name,
                                           parts, crowded || must(std::pair(t, u)), context_);
      if (refusal) {
        why_whole_[kernel] =
            fmt::format("; '{}' cannot come in parts: {}", tensors_[t].name, refusal.reason());
        if (must(std::pair(t, u))) {
          unstaged_[kernel].far[tensors_[t].name] = refusal.reason();
          std::erase(whole, std::pair(t, u));
        }
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
      const std::string& name = tensors_[t].name;
      const bool in = std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
        return ref.from == name && (ref.dir == RefDir::in || ref.dir == RefDir::inout);
      });
      STRIA_RETURN_IF_ERROR(check_route(name, in, tensors_[t].uses[u].writes));
      ++unstaged_[kernel].in_parts;
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

  // Of one instance.
  int64_t depth_of_instance(const Block& kernel) const {
    if (kernel.location.empty()) return 2;
    const int64_t depth = probe_.pipeline_depth(kernel.location.path.back().name);
    return depth > 0 ? depth : 2;
  }

  void find_uses() {
    by_kernel_.assign(block_.stmts.size(), {});
    for (size_t t = 0; t < tensors_.size(); ++t)
      for (size_t u = 0; u < tensors_[t].uses.size(); ++u)
        by_kernel_[tensors_[t].uses[u].kernel].emplace_back(t, u);
  }

  Block& block_;
  const stripe::Place& place_;
  const ScheduleOptions& options_;
  const int64_t bank_bytes_;
  KernelProbe& probe_;
  PassContext& context_;
  std::vector<ScratchpadTensor>& tensors_;
  const std::vector<std::vector<bool>>& reach_;
  int64_t& alignment_;
  PlaceNames names_;
  // For each kernel, the tensors that it uses, each with the number of the use.
  std::vector<std::vector<std::pair<size_t, size_t>>> by_kernel_;
  std::vector<Unstaged> unstaged_;           // by kernel
  std::map<size_t, std::string> why_whole_;  // by kernel
};

KernelStager::KernelStager(const Around& around, std::vector<ScratchpadTensor>& tensors,
                           const std::vector<std::vector<bool>>& reach, int64_t& alignment)
    : impl_(std::make_unique<Impl>(around, tensors, reach, alignment)) {}
KernelStager::~KernelStager() = default;
Status KernelStager::run() { return impl_->run(); }
Status KernelStager::part(size_t tensor) { return impl_->part(tensor); }
void KernelStager::report() const { impl_->report(); }
std::vector<bool> KernelStager::banks_of(int64_t bank, size_t kernel) const {
  return impl_->banks_of(bank, kernel);
}
int64_t KernelStager::depth_of(const Block& kernel) const { return impl_->depth_of(kernel); }
std::string KernelStager::why_whole(size_t kernel) const { return impl_->why_whole(kernel); }

}  // namespace stria::passes
