// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/memory_placement.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "stria/base/arena.h"
#include "stria/base/text.h"
#include "stria/pass/model_rules.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::LiveAllocation;
using stripe::Refinement;

// "SRAM" or "CLUSTER/SRAM"; "" if there is no location.
std::string memory_of(const stripe::Location& location) {
  std::vector<std::string> names;
  for (const stripe::LocationUnit& unit : location.path) names.push_back(unit.name);
  return join(names, "/");
}

bool is_in(const stripe::Location& location, const PlacedMemory& memory) {
  if (location.empty() || location.path.back().name != memory.name) return false;
  if (memory.units.empty()) return true;
  const std::vector<Affine>& units = location.path.back().units;
  return units.size() == 1 && units[0].is_constant() &&
         std::find(memory.units.begin(), memory.units.end(), units[0].constant()) !=
             memory.units.end();
}

class Placer {
 public:
  Placer(stripe::Program& program, const MemoryPlacementOptions& options, PassContext& context)
      : program_(program),
        options_(options),
        context_(context),
        lives_(program.entry),
        was_placed_(program.entry.tags.has(stripe::tag::kPlaced)) {
    stripe::visit_blocks(program.entry, [&](Block& block, const stripe::Place& place) {
      for (Refinement& ref : block.refs) {
        if (ref.dir != stripe::RefDir::none) continue;
        refs_.push_back(&ref);
        paths_.push_back(place.path());
      }
    });
  }

  // `selected`: the blocks whose allocations are placed.
  Status run(const std::set<const Block*>& selected) {
    STRIA_ASSIGN(ModelRules rules, ModelRules::of(context_.model()));
    const stripe::VerifyOptions known = rules.options(nullptr);
    if (known.memory_bytes) sizes_ = *known.memory_bytes;
    std::map<std::string, std::vector<size_t>> arenas;
    for (size_t a = 0; a < refs_.size(); ++a) {
      const LiveAllocation& allocation = lives_.all()[a];
      if (allocation.bytes < 0)
        return unsupported("{}: '{}' takes 2^63 bytes or more", paths_[a], refs_[a]->into);
      arenas[memory_of(refs_[a]->location)].push_back(a);
      const bool chosen = selected.count(allocation.owner) > 0 && in_locs(*refs_[a]);
      moves_.push_back((chosen || !was_placed_) && !is_skipped(*refs_[a]));
      if (chosen) context_.matched();
    }
    for (const auto& [memory, members] : arenas) STRIA_RETURN_IF_ERROR(place(memory, members));
    program_.entry.tags.set(stripe::tag::kPlaced);
    return {};
  }

 private:
  bool in_locs(const Refinement& ref) const {
    return options_.locs.empty() ||
           std::any_of(options_.locs.begin(), options_.locs.end(),
                       [&](const PlacedMemory& memory) { return is_in(ref.location, memory); });
  }
  bool is_skipped(const Refinement& ref) const {
    return std::any_of(options_.skip_tags.begin(), options_.skip_tags.end(),
                       [&](const std::string& tag) { return ref.tags.has(tag); });
  }

  Status place(const std::string& memory, const std::vector<size_t>& members) {
    std::vector<ArenaPiece> pieces;
    std::vector<bool> fixed;
    auto alignment = static_cast<uint64_t>(options_.alignment);
    for (size_t a : members) {
      const LiveAllocation& allocation = lives_.all()[a];
      pieces.push_back({static_cast<uint64_t>(allocation.bytes), allocation.first, allocation.last,
                        static_cast<uint64_t>(refs_[a]->offset_bytes)});
      fixed.push_back(!moves_[a]);
      if (moves_[a])
        alignment = std::lcm(alignment, static_cast<uint64_t>(byte_size(refs_[a]->shape.type)));
    }
    const bool all_stay = std::all_of(fixed.begin(), fixed.end(), [](bool stays) { return stays; });
    if (all_stay && was_placed_) return {};
    ArenaConflicts conflicts(members.size());
    for (size_t x = 0; x < members.size(); ++x) {
      for (size_t y = 0; y < x; ++y) {
        if (!lives_.may_be_one_memory(members[x], members[y]) ||
            !lives_.alive_together(members[x], members[y]))
          continue;
        conflicts.add(x, y);
        if (fixed[x] && fixed[y] && pieces[x].offset < pieces[y].offset + pieces[y].bytes &&
            pieces[y].offset < pieces[x].offset + pieces[x].bytes)
          return unsupported(
              "'{}' and '{}' are alive together in {} and both to stay, where they share bytes",
              refs_[members[y]]->into, refs_[members[x]]->into, shown(memory));
      }
    }
    if (all_stay) return {};
    const uint64_t least = peak_live_bytes(pieces, alignment, conflicts);
    const uint64_t arena = place_pieces(pieces, alignment, conflicts, fixed, least);
    STRIA_RETURN_IF_ERROR(check_size(memory, members, pieces, conflicts));
    for (size_t x = 0; x < members.size(); ++x) {
      if (fixed[x]) continue;
      Refinement& ref = *refs_[members[x]];
      const auto offset = static_cast<int64_t>(pieces[x].offset);
      if (ref.offset_bytes != offset || !was_placed_) context_.changed();
      ref.offset_bytes = offset;
    }
    context_.count(fmt::format("bytes of {}", shown(memory)), static_cast<int64_t>(arena));
    context_.note(fmt::format("{}: {} bytes, {} alive together", shown(memory), arena, least));
    return {};
  }

  static std::string shown(const std::string& memory) {
    return memory.empty() ? "no location" : memory;
  }

  // Fails if an allocation reaches beyond its memory; reports the largest one.
  Status check_size(const std::string& memory, const std::vector<size_t>& members,
                    const std::vector<ArenaPiece>& pieces, const ArenaConflicts& conflicts) const {
    std::optional<size_t> beyond;
    uint64_t end = 0, size = 0;
    for (size_t x = 0; x < members.size(); ++x) {
      const stripe::Location& location = refs_[members[x]]->location;
      if (!moves_[members[x]] || location.empty() || !location.path.back().owners.empty()) continue;
      const auto known = sizes_.find(location.path.back().name);
      if (known == sizes_.end()) continue;
      size = static_cast<uint64_t>(known->second);
      end = std::max(end, pieces[x].offset + pieces[x].bytes);
      if (pieces[x].offset + pieces[x].bytes > size &&
          (!beyond || pieces[x].bytes > pieces[*beyond].bytes))
        beyond = x;
    }
    if (!beyond) return {};
    std::vector<size_t> others;
    for (size_t x = 0; x < members.size(); ++x)
      if (conflicts.between(*beyond, x)) others.push_back(x);
    std::stable_sort(others.begin(), others.end(),
                     [&](size_t a, size_t b) { return pieces[a].bytes > pieces[b].bytes; });
    std::vector<std::string> names;
    for (size_t x : others) {
      if (names.size() == 3) {
        names.push_back(fmt::format("{} more", others.size() - 3));
        break;
      }
      names.push_back(fmt::format("'{}' ({} bytes)", refs_[members[x]]->into, pieces[x].bytes));
    }
    return unsupported(
        "{}: '{}' ({} bytes) does not fit into '{}', which has {} bytes: {} too many{}{}; it would "
        "fit with {} KiB, or with smaller tiles or types",
        paths_[members[*beyond]], refs_[members[*beyond]]->into, pieces[*beyond].bytes, memory,
        size, end - size, names.empty() ? "" : ", alive together with ", join(names, ", "),
        (end + 1023) / 1024);
  }

  stripe::Program& program_;
  const MemoryPlacementOptions& options_;
  PassContext& context_;
  const stripe::AllocationLives lives_;
  const bool was_placed_;
  std::map<std::string, int64_t> sizes_;
  // By allocation.
  std::vector<Refinement*> refs_;
  std::vector<std::string> paths_;
  std::vector<bool> moves_;
};

void describe(PlacedMemory& memory, OptionFields& fields) {
  fields.unit("name", memory.name, "memory unit of the hardware model");
  fields.add("units", memory.units, "instances of it; none = all");
}

}  // namespace

void describe(MemoryPlacementOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs,
              "tags of the blocks whose allocations get a place; their insides too");
  fields.add("locs", options.locs, "memories that are placed; none = all", describe);
  fields.add("alignment", options.alignment,
             "every place is a multiple of so many bytes, and of the size of its elements",
             {1, int64_t{1} << 30});
  fields.tags("skip_tags", options.skip_tags,
              "allocations with one of these tags stay where they are");
}

Status memory_placement(stripe::Program& program, const MemoryPlacementOptions& options,
                        PassContext& context) {
  for (size_t i = 0; i < options.locs.size(); ++i) {
    stripe::Location location;
    for (int64_t unit : options.locs[i].units)
      location.path.push_back({options.locs[i].name, {Affine(unit)}, {}});
    if (location.empty()) location.path.push_back({options.locs[i].name, {}, {}});
    STRIA_RETURN_IF_ERROR(
        check_location(context.model(), UnitUse::hold, fmt::format("/locs/{}/name", i), location));
  }
  std::set<const Block*> selected;
  stripe::visit_blocks(std::as_const(program.entry), [&](const stripe::Place& place) {
    const bool inside = place.parent && selected.count(place.parent->block) > 0;
    if (inside || place.block->tags.has_all(options.reqs)) selected.insert(place.block);
  });
  if (selected.empty()) return {};
  return Placer(program, options, context).run(selected);
}

}  // namespace stria::passes
