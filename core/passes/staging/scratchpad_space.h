// SPDX-License-Identifier: Apache-2.0
// The banks of a scratchpad while `schedule` processes statements one after the other: where each
// tensor lies, which are evicted if there is no room, and which ones a new tensor must wait for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace stria::passes {

// One stay of a tensor in a bank.
struct Stay {
  size_t tensor = 0;
  int64_t bank = 0, begin = 0, end = 0;  // bytes, begin aligned
  bool dirty = false;                    // global memory does not have its content
  bool pinned = false;                   // may not be evicted: not completely written yet
  bool gone = false;                     // evicted
  size_t last_use = 0;                   // the last kernel that used it
  std::vector<size_t> replaces;          // the stays that had its bytes before
};

class ScratchpadSpace {
  // Bytes with the stay that has them, or had them last, if there is one.
  struct Part {
    int64_t begin = 0, end = 0;
    std::optional<size_t> stay;
  };

 public:
  ScratchpadSpace(int64_t banks, int64_t bank_bytes, int64_t alignment, size_t tensors)
      : bank_bytes_(bank_bytes),
        alignment_(alignment),
        parts_(static_cast<size_t>(banks), {Part{0, bank_bytes, std::nullopt}}),
        stay_of_(tensors) {}

  const std::vector<Stay>& stays() const { return stays_; }
  Stay& stay(size_t number) { return stays_[number]; }
  // The stays that are not gone, oldest first.
  const std::vector<size_t>& here() const { return here_; }
  // The present stay of the tensor; nullopt if it is not in the scratchpad.
  std::optional<size_t> find(size_t tensor) const { return stay_of_[tensor]; }

  // Finds a place for `bytes` in one of the `allowed` banks, and the stays that must be evicted for
  // it; nullopt if there is none. Stays that `may_go` refuses are never evicted. Of several places
  // the pass prefers, in this order: one that evicts no stay with a further use (`next_use` gives
  // the kernel); one whose evicted stays are used again as late as possible; one whose bytes have
  // been unused for longest, counting kernels from `recent_from` on, so that a transfer need not
  // wait for the kernels before; the bank with the smallest number in `crowd`; the lowest bank and
  // address.
  struct Place {
    int64_t bank = 0, begin = 0;
    std::vector<size_t> evicted;  // stays
  };
  template <typename MayGo, typename NextUse>
  std::optional<Place> place(int64_t bytes, const std::vector<bool>& allowed, size_t recent_from,
                             const std::vector<int64_t>& crowd, const MayGo& may_go,
                             const NextUse& next_use) const;

  // Begins a stay. The place's evicted stays must have left.
  size_t enter(size_t tensor, const Place& place, int64_t bytes, size_t kernel);
  void leave(size_t number);

  // The state that restore() returns to.
  struct Memory {
    size_t stays = 0;
    std::vector<size_t> here;
    std::vector<bool> dirty;  // for each of `here`
    std::vector<std::vector<Part>> parts;
  };
  Memory remember() const;
  void restore(Memory memory);

  // How many parts place() has looked at so far.
  int64_t work() const { return work_; }

 private:
  int64_t aligned(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  int64_t bank_bytes_, alignment_;
  std::vector<Stay> stays_;
  std::vector<size_t> here_;
  std::vector<std::vector<Part>> parts_;  // for each bank, all of its bytes in order
  std::vector<std::optional<size_t>> stay_of_;
  mutable int64_t work_ = 0;
};

template <typename MayGo, typename NextUse>
std::optional<ScratchpadSpace::Place> ScratchpadSpace::place(
    int64_t bytes, const std::vector<bool>& allowed, size_t recent_from,
    const std::vector<int64_t>& crowd, const MayGo& may_go, const NextUse& next_use) const {
  struct Rank {
    bool costs = false;  // a stay with a further use is evicted
    size_t sooner = 0;   // how soon it is used again: smaller is later
    size_t recent = 0;   // the last kernel that used these bytes, + 1
    int64_t crowd = 0;
    int64_t bank = 0, begin = 0;
    auto tied() const { return std::tie(costs, sooner, recent, crowd, bank, begin); }
  };
  std::optional<Place> best;
  Rank best_rank;
  for (size_t bank = 0; bank < parts_.size(); ++bank) {
    if (!allowed[bank]) continue;
    const std::vector<Part>& parts = parts_[bank];
    for (size_t first = 0; first < parts.size(); ++first) {
      const int64_t begin = aligned(parts[first].begin), end = begin + bytes;
      if (end > bank_bytes_) break;
      if (begin >= parts[first].end) continue;  // the place belongs to the next part
      Place place{static_cast<int64_t>(bank), begin, {}};
      Rank rank{false, 0, 0, crowd[bank], place.bank, begin};
      bool possible = true;
      // Each further part can only make the rank worse, so the loop ends early.
      for (size_t p = first; possible && p < parts.size() && parts[p].begin < end; ++p) {
        ++work_;
        if (!parts[p].stay) continue;
        const size_t s = *parts[p].stay;
        const Stay& stay = stays_[s];
        if (stay.last_use >= recent_from) rank.recent = std::max(rank.recent, stay.last_use + 1);
        if (!stay.gone) {
          possible = may_go(s);
          if (place.evicted.empty() || place.evicted.back() != s) place.evicted.push_back(s);
          if (const std::optional<size_t> next = next_use(s)) {
            rank.costs = true;
            rank.sooner = std::max(rank.sooner, ~*next);
          }
        }
        possible = possible && (!best || rank.tied() < best_rank.tied());
      }
      if (!possible || (best && best_rank.tied() <= rank.tied())) continue;
      best = std::move(place);
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace stria::passes
