// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/stage_units.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "stria/pass/select_blocks.h"
#include "stria/passes/staging/copies.h"
#include "stria/passes/staging/staged_kernel.h"
#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/kernel_probe.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/statement_dependencies.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Place;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// What the options and the model say about units and memory.
struct UnitTarget {
  int64_t units = 1, memories = 1;
  int64_t bytes = std::numeric_limits<int64_t>::max() / 4;  // of a memory instance
};

Result<UnitTarget> target_of(const StageUnitsOptions& options, const HardwareModel& model) {
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/unit", options.unit));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/memory", options.memory));
  STRIA_RETURN_IF_ERROR(check_location(model, UnitUse::run, "/xfer_loc", options.xfer_loc));
  STRIA_RETURN_IF_ERROR(check_location(model, UnitUse::run, "/share_loc", options.share_loc));
  if (options.unit.empty() || options.memory.empty())
    return invalid_argument("stage_units needs /unit, that runs the parts, and /memory, beside it");
  UnitTarget out;
  if (const auto count = model.unit_count(options.unit)) out.units = *count;
  if (const MemoryUnit* memory = model.find_memory(options.memory)) {
    out.memories = memory->count;
    if (memory->size_bytes > 0) out.bytes = memory->size_bytes;
  }
  if (options.mem_KiB * 1024 > out.bytes)
    return make_error(StatusCode::out_of_range, "/mem_KiB: {}, but one '{}' has {} KiB",
                      options.mem_KiB, options.memory, static_cast<double>(out.bytes) / 1024);
  if (options.mem_KiB > 0) out.bytes = options.mem_KiB * 1024;
  return out;
}

class StagedParts {
 public:
  StagedParts(Block& host, const Place& place, PlaceNames& names, const StageUnitsOptions& options,
              const UnitTarget& target, KernelProbe& probe, PassContext& context)
      : host_(host),
        place_(place),
        names_(names),
        options_(options),
        target_(target),
        probe_(probe),
        context_(context) {}

  // After a refusal nothing has changed.
  Refusal run() {
    path_ = path_from_kernel(host_, place_);
    STRIA_RETURN_IF_REFUSED(find_parts());
    const Block before = host_;
    std::vector<Block> around;  // copies of the blocks on the path, without statements
    for (Block* block : path_) {
      around.emplace_back();
      around.back().refs = block->refs;
      around.back().location = block->location;
    }
    Refusal refusal = change();
    if (!refusal) {
      context_.count("parts", static_cast<int64_t>(parts_));
      return Refusal::none();
    }
    host_ = before;
    for (size_t level = 0; level < path_.size(); ++level) {
      path_[level]->refs = std::move(around[level].refs);
      path_[level]->location = std::move(around[level].location);
    }
    return refusal;
  }

 private:
  Refusal change() {
    STRIA_RETURN_IF_REFUSED(stage());
    if (options_.multicast) join_transfers();
    const std::optional<int64_t> depth = points_under_way();
    if (!depth) return fmt::format("what its parts work on has no room in '{}'", options_.memory);
    // Each element is complete when it is copied out, so nothing aggregates outside any more.
    for (const std::string& name : sums_) drop_aggregation(path_, name);
    locate_parts();
    stripe::StatementConflicts conflicts(place_);
    const Dependencies found = dependencies_of(host_, conflicts);
    host_.tags.set(stripe::tag::kDeps);
    for (size_t s = 0; s < found.size(); ++s) host_.stmts[s].deps = found[s];
    if (!probe_.undecided(*path_[0]))
      return "its parts cannot work in that memory: " + probe_.broken().reason();
    if (*depth > 1) overlap_points(*depth);
    return Refusal::none();
  }

  Refusal find_parts() {
    if (points_of(host_) != 1) return "it has several points";
    for (size_t level = 0; level + 1 < path_.size(); ++level)
      if (path_[level]->stmts.size() > 1) return "blocks stand beside it that would have no unit";
    std::map<std::string, int64_t> part_of;  // view -> part
    for (const Statement& stmt : host_.stmts) {
      const Block* block = stmt.block();
      const std::optional<int64_t> part =
          block ? block->tags.integer(options_.part_name) : std::nullopt;
      if (!part) return fmt::format("a statement of it is no part (#{})", options_.part_name);
      if (!block->location.empty() &&
          !(block->location == stripe::Location{{{options_.unit, {}, {}}}}))
        return "a part has another unit";
      if (names_units(*block)) return "blocks inside a part have units of their own";
      for (const Refinement& view : block->refs) {
        if (view.dir == RefDir::none) continue;
        const auto [at, added] = part_of.emplace(view.from, *part);
        if (!added && at->second != *part)
          return fmt::format("parts share the view '{}'", view.from);
      }
      ++parts_;
    }
    for (const Refinement& ref : host_.refs) {
      if (ref.dir == RefDir::none) return "it has allocations of its own";
      const auto at = part_of.find(ref.into);
      if (at != part_of.end()) views_.push_back({ref.into, at->second});
    }
    // Results come first: if one cannot be staged, the rest is in vain.
    std::stable_partition(views_.begin(), views_.end(), [&](const View& view) {
      return host_.find_ref(view.name)->dir != RefDir::in;
    });
    if (parts_ < 2) return "it has one part";
    return Refusal::none();
  }

  static bool names_units(const Block& block) {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
      const Block* inner = stmt.block();
      return inner && (!inner->location.empty() || names_units(*inner));
    });
  }

  int64_t unit_of(int64_t part) const { return part % target_.units; }
  stripe::Location memory_of(int64_t part) const {
    return {{{options_.memory, {Affine(unit_of(part) % target_.memories)}, {}}}};
  }

  // Stages the tensors of all parts. All results must be staged, since the sums of one tensor
  // belong together. Inputs may stay in global memory.
  Refusal stage() {
    for (const View& view : views_) {
      const Refinement& ref = *host_.find_ref(view.name);
      const bool result = ref.dir != RefDir::in, sums = ref.agg.has_value();
      if (Refusal refusal = copy_scratch(ref, view.part)) {
        if (result) return fmt::format("'{}': {}", view.name, refusal.reason());
        context_.skipped(view.name, refusal.reason());
      } else if (result && sums) {
        sums_.push_back(view.name);
      }
    }
    return Refusal::none();
  }

  Refusal copy_scratch(const Refinement& ref, int64_t part) {
    if (!ref.location.empty() && ref.location.path.back().name == options_.memory)
      return "it is in that memory already";
    CopySpec spec{memory_of(part), options_.xfer_loc, options_.swap_in_tags,
                  options_.swap_out_tags};
    const std::string name = ref.into;  // a new buffer may move the refinement
    if (ref.dir == RefDir::in) {
      // The second copy also copies the elements beyond the tensor, so they must not be poison.
      if (!options_.share_loc.empty()) spec.edges = stripe::tag::kZeroFill;
      return copy_in(host_, place_, names_, name, spec, context_);
    }
    if (!are_views_apart(ref)) return "another part may write the same elements";
    const Refinement* outside = outermost_view(place_, ref);
    if (ref.agg && outside && outside->agg) return "its sums go on outside of the kernel";
    return copy_out(host_, place_, name, spec, true);
  }

  // Do the host's other views of the tensor have no element in common with this one?
  bool are_views_apart(const Refinement& view) const {
    const std::vector<Interval> own = stripe::reach_of_view(host_, view, place_.box);
    for (const Refinement& other : host_.refs) {
      if (&other == &view || other.dir == RefDir::none || other.from != view.from) continue;
      const std::vector<Interval> reach = stripe::reach_of_view(host_, other, place_.box);
      bool apart = false;
      for (size_t d = 0; d < own.size() && !apart; ++d) {
        const Affine distance = view.access[d] - other.access[d];
        apart = distance.is_constant() && (distance.constant() + own[d].lower > reach[d].upper ||
                                           distance.constant() + own[d].upper < reach[d].lower);
      }
      if (!apart) return false;
    }
    return true;
  }

  // --- one transfer for all parts that read the same

  // For a copy-in block, the view that it reads. Null for all others: parts, and copy-out blocks,
  // which read an allocation of the host. Tags cannot tell them apart, since the options may give
  // none.
  const Refinement* source_of(const Block& copy) const {
    if (copy.tags.integer(options_.part_name) || copy.refs.size() < 2) return nullptr;
    const Refinement* source = host_.find_ref(copy.refs[0].from);
    return source && source->dir == RefDir::in ? source : nullptr;
  }

  bool brings_the_same(const Block& a, const Block& b) const {
    const Refinement *x = source_of(a), *y = source_of(b);
    return x->from == y->from && x->access == y->access && x->shape == y->shape && are_alike(a, b);
  }

  void join_transfers() {
    std::vector<bool> stays(host_.stmts.size(), true);
    std::vector<std::pair<size_t, Block>> shares;  // each with the statement before it
    for (size_t first = 0; first < stays.size(); ++first) {
      Block* copy = host_.stmts[first].block();
      if (!stays[first] || !source_of(*copy)) continue;
      Block joined = options_.share_loc.empty() ? *copy : copy_onward(*copy, options_.share_loc);
      for (size_t next = first + 1; next < stays.size(); ++next) {
        const Block& other = *host_.stmts[next].block();
        if (!stays[next] || !source_of(other) || !brings_the_same(*copy, other)) continue;
        const std::string view = other.refs[0].from;
        const Refinement& target = other.refs[1];
        const auto same_memory = [&](const Refinement& ref) {
          return ref.dir == RefDir::out && ref.location == target.location;
        };
        // Units that share a memory instance have copies of their own in it. Each of these keeps
        // its own transfer.
        if (std::any_of(joined.refs.begin(), joined.refs.end(), same_memory) ||
            joined.refs[0].location == target.location)
          continue;
        add_target(joined, target);
        stays[next] = false;
        std::erase_if(host_.refs, [&](const Refinement& ref) { return ref.into == view; });
        context_.count("transfers_joined");
      }
      if (options_.share_loc.empty())
        *copy = std::move(joined);
      else if (joined.refs.size() > 1)
        shares.emplace_back(first, std::move(joined));
    }
    for (size_t s = shares.size(); s-- > 0;) {
      const auto behind = static_cast<std::ptrdiff_t>(shares[s].first) + 1;
      host_.stmts.emplace(host_.stmts.begin() + behind, std::move(shares[s].second));
      stays.insert(stays.begin() + behind, true);
    }
    erase_statements(host_, stays);
  }

  // --- units and memory

  // Sets the units of the parts. Blocks around lose theirs, which would leave open which unit does
  // the transfers.
  void locate_parts() {
    for (Block* block : path_) block->location = {};
    for (Statement& stmt : host_.stmts) {
      Block& block = *stmt.block();
      if (const std::optional<int64_t> part = block.tags.integer(options_.part_name))
        block.location = {{{options_.unit, {Affine(unit_of(*part))}, {}}}};
    }
  }

  // The loop around, if there is one. It does nothing else.
  Block* loop_around() const {
    Block* around = path_.size() > 1 ? path_[path_.size() - 2] : nullptr;
    return around && points_of(*around) > 1 ? around : nullptr;
  }

  // How many points of the loop around have room; nullopt if not even one has.
  std::optional<int64_t> points_under_way() {
    std::vector<int64_t> used(static_cast<size_t>(target_.memories));
    for (const OwnBuffer& buffer : own_buffers(host_, options_.memory))
      used[static_cast<size_t>(std::max<int64_t>(0, buffer.bank))] += buffer.bytes;
    const int64_t most = *std::max_element(used.begin(), used.end());
    if (most > target_.bytes) return std::nullopt;
    const Block* loop = loop_around();
    if (!loop || most == 0) return 1;
    const int64_t depth = probe_.pipeline_depth(options_.unit);
    return std::min({depth > 0 ? depth : 2, points_of(*loop), target_.bytes / most});
  }

  // Makes the loop a pipeline, if that leaves no more questions open for the verifier than before.
  void overlap_points(int64_t depth) {
    Block& loop = *loop_around();
    if (loop.tags.has(stripe::tag::kPipeline)) return;
    const std::optional<size_t> before = probe_.undecided(*path_[0]);
    loop.tags.set(stripe::tag::kPipeline, depth);
    const std::optional<size_t> after = probe_.undecided(*path_[0]);
    if (before && after && *after <= *before)
      context_.count("loops_pipelined");
    else
      loop.tags.remove(stripe::tag::kPipeline);
  }

  Block& host_;
  const Place& place_;
  PlaceNames& names_;
  const StageUnitsOptions& options_;
  const UnitTarget& target_;
  KernelProbe& probe_;
  PassContext& context_;
  std::vector<Block*> path_;  // from the kernel to the host
  size_t parts_ = 0;
  struct View {
    std::string name;
    int64_t part = 0;
  };
  std::vector<View> views_;        // of the host, each used by one part
  std::vector<std::string> sums_;  // views whose sums accumulate in the staged copy
};

}  // namespace

void describe(StageUnitsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tag("part_name", options.part_name, "tag of its parts, whose value is their number");
  fields.unit("unit", options.unit, "execution unit of the hardware model that runs the parts");
  fields.unit("memory", options.memory, "memory unit beside it: unit n works on instance n");
  fields.add("mem_KiB", options.mem_KiB,
             "KiB of one instance; 0 = what the hardware model gives it", {0, int64_t{1} << 40});
  fields.add("xfer_loc", options.xfer_loc, "unit that runs the blocks which copy; none = not set");
  fields.add("multicast", options.multicast,
             "what several parts read is copied to all of them in one transfer");
  fields.add(
      "share_loc", options.share_loc,
      "unit that copies it from the first memory to the others; none = `xfer_loc` copies it to "
      "all");
  fields.set_tags("swap_in_tags", options.swap_in_tags, "tags of the blocks that copy in");
  fields.set_tags("swap_out_tags", options.swap_out_tags, "tags of the blocks that copy out");
}

Status stage_units(stripe::Program& program, const StageUnitsOptions& options,
                   PassContext& context) {
  STRIA_ASSIGN(const UnitTarget target, target_of(options, context.model()));
  PlaceNames names;
  std::map<const Block*, KernelProbe> probes;  // by section
  Status status;
  for_each_selected_place(program, options.reqs, [&](Block& block, const Place& place) {
    if (!status.ok()) return;
    if (place.depth < 2) return context.skipped(block.name, "it is no part of a kernel");
    const Place* section = &place;
    while (section->depth > 1) section = section->parent;
    auto probe = probes.find(section->block);
    if (probe == probes.end()) {
      Result<KernelProbe> made = KernelProbe::of(program, *section->block, context.model());
      if (!made.ok()) {
        status = made.status();
        return;
      }
      probe = probes.emplace(section->block, std::move(made).value()).first;
    }
    context.matched();
    StagedParts parts(block, place, names, options, target, probe->second, context);
    if (Refusal refusal = parts.run())
      context.skipped(block.name, refusal.reason());
    else
      context.changed();
  });
  return status;
}

}  // namespace stria::passes
