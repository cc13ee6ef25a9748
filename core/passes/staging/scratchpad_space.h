// SPDX-License-Identifier: Apache-2.0
// The banks of a scratchpad while statements are scheduled one after the other: which tensor lies
// where, who goes when there is no room, and whom a newcomer has to wait for.
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
  bool pinned = false;                   // not written whole yet
  bool gone = false;
  size_t last_use = 0;           // kernel
  std::vector<size_t> replaces;  // the stays that had its bytes last
};

class ScratchpadSpace {
  // Bytes that one stay had last, or has; or nobody.
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
  // Those that are not gone, the oldest first.
  const std::vector<size_t>& here() const { return here_; }
  // The stay of the tensor now; nothing if it is not near.
  std::optional<size_t> find(size_t tensor) const { return stay_of_[tensor]; }

  // Where `bytes` fit if others go, in `only` or in any bank (-1). The stays that `may_go` refuses
  // stay. Of those that still have a use the one used last goes first: `next_use` gives the kernel,
  // or none. Of bytes that kernels from `recent_from` on have used those left alone for longest are
  // taken, so that a transfer does not wait for the kernels before; then those in the bank with the
  // least of `crowd`, by bank; of others the lowest. Nothing if there is no room even so.
  struct Place {
    int64_t bank = 0, begin = 0;
    std::vector<size_t> evicted;  // stays
  };
  template <typename MayGo, typename NextUse>
  std::optional<Place> place(int64_t bytes, const std::vector<bool>& allowed, size_t recent_from,
                             const std::vector<int64_t>& crowd, const MayGo& may_go,
                             const NextUse& next_use) const;

  // The place's evicted stays must be gone.
  size_t enter(size_t tensor, const Place& place, int64_t bytes, size_t kernel);
  void leave(size_t number);

  // What is needed to take back all that is done after.
  struct Memory {
    size_t stays = 0;
    std::vector<size_t> here;
    std::vector<bool> dirty;  // of these
    std::vector<std::vector<Part>> parts;
  };
  Memory remember() const;
  void restore(Memory memory);

  // Parts looked at by place() so far.
  int64_t work() const { return work_; }

 private:
  int64_t aligned(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  int64_t bank_bytes_, alignment_;
  std::vector<Stay> stays_;
  std::vector<size_t> here_;
  std::vector<std::vector<Part>> parts_;  // by bank, all of its bytes in order
  std::vector<std::optional<size_t>> stay_of_;
  mutable int64_t work_ = 0;
};

template <typename MayGo, typename NextUse>
std::optional<ScratchpadSpace::Place> ScratchpadSpace::place(
    int64_t bytes, const std::vector<bool>& allowed, size_t recent_from,
    const std::vector<int64_t>& crowd, const MayGo& may_go, const NextUse& next_use) const {
  struct Rank {
    bool costs = false;  // something with a later use goes
    size_t sooner = 0;   // how soon it is used: smaller is later
    size_t recent = 0;   // the last kernel that used these bytes, +1
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
      if (begin >= parts[first].end) continue;  // the next part's
      Place place{static_cast<int64_t>(bank), begin, {}};
      Rank rank{false, 0, 0, crowd[bank], place.bank, begin};
      bool possible = true;
      // A longer look only makes it worse.
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
