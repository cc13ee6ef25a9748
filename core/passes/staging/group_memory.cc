// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/group_memory.h"

#include <map>
#include <optional>

#include "stria/base/arena.h"
#include "stria/pass/machine_option.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/lane_blocks.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Refinement;
using stripe::Statement;

// No group shares so much; the sums of such numbers are small enough.
constexpr int64_t kMostBytes = int64_t{1} << 40;

// How a kernel's allocations lie in the memory.
struct Layout {
  std::vector<int64_t> offsets;  // bytes, in program order
  int64_t apart = 0;             // bytes of all if none shared any
  int64_t together = 0;          // bytes of all, with these offsets
};

class GroupPlacer {
 public:
  // `size_bytes`: of the memory; 0: not known.
  GroupPlacer(const Block& kernel, const GroupMemoryOptions& options, int64_t size_bytes)
      : options_(options), size_bytes_(size_bytes) {
    around_.stmts.push_back({kernel});
  }

  // The bytes saved; nullopt: fewer than asked for.
  std::optional<int64_t> run() {
    Layout best = layout();
    if (best.offsets.size() < 2) return std::nullopt;
    // If the memory cannot hold them apart, each byte counts.
    if (size_bytes_ > 0 && best.apart > size_bytes_) min_bytes_ = 1;
    while (add_barrier(best)) ++barriers_;
    const int64_t saved = best.apart - best.together;
    if (saved < min_bytes_) return std::nullopt;
    size_t next = 0;
    stripe::visit_blocks(kernel(), [&](Block& block, const stripe::Place&) {
      for (Refinement& ref : block.refs)
        if (is_member(ref)) ref.offset_bytes = best.offsets[next++];
    });
    kernel().tags.set(stripe::tag::kPlaced, options_.memory);
    return saved;
  }

  Block& kernel() { return *around_.stmts[0].block(); }
  int64_t barriers() const { return barriers_; }

 private:
  bool is_member(const Refinement& ref) const {
    return ref.dir == stripe::RefDir::none && !ref.location.empty() &&
           ref.location.path.back().name == options_.memory;
  }

  Layout layout() const {
    const stripe::AllocationLives lives(around_);
    const auto alignment = static_cast<uint64_t>(options_.alignment);
    Layout out;
    // By element type: numbers among `lives`, and among the members.
    std::map<DataType, std::vector<std::pair<size_t, size_t>>> types;
    for (size_t a = 0; a < lives.all().size(); ++a) {
      const stripe::LiveAllocation& allocation = lives.all()[a];
      if (!is_member(*allocation.ref)) continue;
      if (allocation.bytes < 0 || allocation.bytes > kMostBytes) return {};
      types[allocation.ref->shape.type].emplace_back(a, out.offsets.size());
      out.offsets.push_back(0);
    }
    for (const auto& [type, members] : types) {
      std::vector<ArenaPiece> pieces;
      ArenaConflicts conflicts(members.size());
      for (size_t x = 0; x < members.size(); ++x) {
        const stripe::LiveAllocation& allocation = lives.all()[members[x].first];
        const auto bytes = static_cast<uint64_t>(allocation.bytes);
        pieces.push_back({bytes, allocation.first, allocation.last, 0});
        out.apart += static_cast<int64_t>((bytes + alignment - 1) / alignment * alignment);
        for (size_t y = 0; y < x; ++y)
          if (lives.alive_together(members[x].first, members[y].first)) conflicts.add(x, y);
      }
      const uint64_t least = peak_live_bytes(pieces, alignment, conflicts);
      const uint64_t arena = place_pieces(pieces, alignment, conflicts,
                                          std::vector<bool>(members.size(), false), least);
      for (size_t x = 0; x < members.size(); ++x)
        out.offsets[members[x].second] = out.together + static_cast<int64_t>(pieces[x].offset);
      out.together += static_cast<int64_t>((arena + alignment - 1) / alignment * alignment);
    }
    return out;
  }

  // Adds the barrier between statements of the kernel that saves most, if it saves enough.
  bool add_barrier(Layout& best) {
    if (!stripe::holds_lane_blocks(kernel()) || kernel().tags.has(stripe::tag::kDeps)) return false;
    const Block before = kernel();
    Block after = before;
    int64_t most = best.together - min_bytes_;  // bytes with the barrier
    bool added = false;
    for (size_t i = 1; i < before.stmts.size(); ++i) {
      if (is_barrier(before.stmts[i - 1]) || is_barrier(before.stmts[i])) continue;
      stripe::Special barrier;
      barrier.name = "barrier";
      kernel() = before;
      kernel().stmts.emplace(kernel().stmts.begin() + static_cast<std::ptrdiff_t>(i),
                             stripe::Box<stripe::Special>(std::move(barrier)));
      Layout found = layout();
      if (found.together > most) continue;
      most = found.together - 1;
      best = std::move(found);
      after = kernel();
      added = true;
    }
    kernel() = std::move(after);
    return added;
  }

  const GroupMemoryOptions& options_;
  const int64_t size_bytes_;
  int64_t min_bytes_ = options_.min_bytes;
  Block around_;  // holds the kernel, as a program does
  int64_t barriers_ = 0;
};

}  // namespace

void describe(GroupMemoryOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.unit("memory", options.memory, "memory unit that the lanes of a group share");
  fields.add("alignment", options.alignment,
             "every place is a multiple of so many bytes; 0 = the calibration of the model says",
             {0, int64_t{1} << 20});
  fields.add("min_bytes", options.min_bytes,
             "a barrier is added only if it saves so many bytes; the kernel stays as it is if all "
             "saves fewer",
             {1, int64_t{1} << 40});
}

Status group_memory(stripe::Program& program, const GroupMemoryOptions& given,
                    PassContext& context) {
  GroupMemoryOptions options = given;
  options.alignment = or_machines(given.alignment, context.model().group_facts().local_piece_bytes);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const MemoryUnit* memory = context.model().find_memory(options.memory);
  for (Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    for (Statement& stmt : section->stmts) {
      Block* kernel = stmt.block();
      if (!kernel || !kernel->tags.has_all(options.reqs)) continue;
      context.matched();
      if (program.entry.tags.has(stripe::tag::kPlaced) || kernel->tags.has(stripe::tag::kPlaced)) {
        context.skipped(kernel->name, "it is #placed already");
        continue;
      }
      GroupPlacer placer(*kernel, options, memory ? memory->size_bytes : 0);
      const std::optional<int64_t> saved = placer.run();
      if (!saved) continue;
      *kernel = std::move(placer.kernel());
      context.note(fmt::format("{}: {} bytes of {} saved, with {} more barriers", kernel->name,
                               *saved, options.memory, placer.barriers()));
      context.count("bytes_saved", *saved);
      context.count("barriers_added", placer.barriers());
      context.changed();
    }
  }
  return {};
}

}  // namespace stria::passes
