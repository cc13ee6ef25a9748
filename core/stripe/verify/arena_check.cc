// SPDX-License-Identifier: Apache-2.0
// In a #placed block the bytes of allocations that may be alive together in one memory are
// disjoint, and none reaches beyond its memory. allocation_lives.h says who is alive when.
#include <optional>

#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {
namespace {

class ArenaCheck {
 public:
  ArenaCheck(const Block& entry, const VerifyOptions& options, Findings& findings)
      : lives_(entry), options_(options), findings_(findings) {}

  void block(const Place& place) {
    const bool countable = lives_.copies(*place.block) != 0;
    if (!countable && (!place.parent || lives_.copies(*place.parent->block) != 0))
      findings_.add(place, "2^63 points or more may be under way together");
    for (const Refinement& ref : place.block->refs) {
      if (ref.dir != RefDir::none) continue;
      ends_.emplace_back();
      placed_by_.push_back(placing_block(place, ref));
      if (countable && placed_by_.back()) allocation(place, ref);
    }
  }

 private:
  // The last of ends_.
  void allocation(const Place& place, const Refinement& ref) {
    const size_t number = ends_.size() - 1;
    const int64_t begin = ref.offset_bytes;
    int64_t end = 0;
    if (lives_.all()[number].bytes < 0 ||
        __builtin_add_overflow(begin, lives_.all()[number].bytes, &end))
      return findings_.add(place, ref, "its arena ends at 2^63 bytes or beyond");
    ends_[number] = end;
    fits(place, ref, end);
    for (size_t other = 0; other < number; ++other) {
      if (!ends_[other] || placed_by_[other] != placed_by_[number]) continue;
      const Refinement& that = *lives_.all()[other].ref;
      if (begin >= *ends_[other] || that.offset_bytes >= end) continue;
      if (!lives_.may_be_one_memory(number, other) || !lives_.alive_together(number, other))
        continue;
      findings_.add(
          place, ref,
          fmt::format(
              "its bytes {} to {} of '{}' are also those of '{}' ({} to {}), which is alive then",
              begin, end - 1, to_string(ref.location), that.into, that.offset_bytes,
              *ends_[other] - 1));
    }
  }

  void fits(const Place& place, const Refinement& ref, int64_t end) {
    const Location& location = ref.location;
    if (!options_.memory_bytes || location.empty() || !location.path.back().owners.empty()) return;
    auto size = options_.memory_bytes->find(location.path.back().name);
    if (size != options_.memory_bytes->end() && end > size->second)
      findings_.add(place, ref,
                    fmt::format("its bytes {} to {} do not fit into '{}', which has {} bytes",
                                ref.offset_bytes, end - 1, to_string(location), size->second));
  }

  const AllocationLives lives_;
  const VerifyOptions& options_;
  Findings& findings_;
  std::vector<std::optional<int64_t>> ends_;  // by allocation so far; none: not a number
  std::vector<const Block*> placed_by_;       // by allocation so far
};

}  // namespace

void check_arenas(const Program& program, const VerifyOptions& options, Findings& findings) {
  if (!holds_placed(program.entry)) return;
  ArenaCheck check(program.entry, options, findings);
  visit_blocks(program.entry, [&](const Place& place) { check.block(place); });
}

}  // namespace stria::stripe
