// SPDX-License-Identifier: Apache-2.0
// The banks of a near memory while statements are scheduled one after the other: which tensor lies
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
  bool dirty = false;                    // far memory does not have its content
  bool pinned = false;                   // not written whole yet
  bool gone = false;
  size_t last_use = 0;           // kernel
  std::vector<size_t> replaces;  // earlier stays in whose bytes it lies
};

class NearSpace {
 public:
  NearSpace(int64_t banks, int64_t bank_bytes, int64_t alignment)
      : banks_(banks), bank_bytes_(bank_bytes), alignment_(alignment) {}

  const std::vector<Stay>& stays() const { return stays_; }
  Stay& stay(size_t number) { return stays_[number]; }
  // The stay of the tensor now; nothing if it is not near.
  std::optional<size_t> find(size_t tensor) const;

  // Where `bytes` fit if others go, in `only` or in any bank (-1). The stays that `may_go` refuses
  // stay. Of those that still have a use the one used last goes first: `next_use` gives the kernel,
  // or none. Of bytes that kernels from `recent_from` on have used those left alone for longest are
  // taken, so that a transfer does not wait for the kernels before; of others the lowest. Nothing
  // if there is no room even so.
  struct Place {
    int64_t bank = 0, begin = 0;
    std::vector<size_t> evicted;  // stays
  };
  template <typename MayGo, typename NextUse>
  std::optional<Place> place(int64_t bytes, int64_t only, size_t recent_from, const MayGo& may_go,
                             const NextUse& next_use) const;

  // The place's evicted stays must be gone.
  size_t enter(size_t tensor, const Place& place, int64_t bytes, size_t kernel);
  void leave(size_t number);

 private:
  int64_t aligned(int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  int64_t banks_, bank_bytes_, alignment_;
  std::vector<Stay> stays_;
  std::vector<size_t> here_;    // that are not gone
  std::vector<size_t> traces_;  // gone, but no later stay covers all their bytes
};

template <typename MayGo, typename NextUse>
std::optional<NearSpace::Place> NearSpace::place(int64_t bytes, int64_t only, size_t recent_from,
                                                 const MayGo& may_go,
                                                 const NextUse& next_use) const {
  struct Rank {
    bool costs = false;  // something with a later use goes
    size_t sooner = 0;   // how soon it is used: smaller is later
    size_t recent = 0;   // the last kernel that used these bytes, +1
    int64_t bank = 0, begin = 0;
    auto tied() const { return std::tie(costs, sooner, recent, bank, begin); }
  };
  std::optional<Place> best;
  Rank best_rank;
  for (int64_t bank = 0; bank < banks_; ++bank) {
    if (only >= 0 && only != bank) continue;
    std::vector<int64_t> begins = {0};
    for (const std::vector<size_t>* list : {&here_, &traces_})
      for (size_t s : *list)
        if (stays_[s].bank == bank) {
          begins.push_back(aligned(stays_[s].end));
          begins.push_back(stays_[s].begin);
        }
    for (int64_t begin : begins) {
      const int64_t end = begin + bytes;
      if (end > bank_bytes_) continue;
      Place place{bank, begin, {}};
      Rank rank{false, 0, 0, bank, begin};
      bool possible = true;
      for (size_t s : here_) {
        const Stay& stay = stays_[s];
        if (stay.bank != bank || stay.begin >= end || begin >= stay.end) continue;
        possible = may_go(s);
        if (!possible) break;
        place.evicted.push_back(s);
        if (stay.last_use >= recent_from) rank.recent = std::max(rank.recent, stay.last_use + 1);
        if (const std::optional<size_t> next = next_use(s)) {
          rank.costs = true;
          rank.sooner = std::max(rank.sooner, ~*next);
        }
      }
      if (!possible) continue;
      for (size_t s : traces_)
        if (stays_[s].last_use >= recent_from && stays_[s].bank == bank && stays_[s].begin < end &&
            begin < stays_[s].end)
          rank.recent = std::max(rank.recent, stays_[s].last_use + 1);
      if (best && best_rank.tied() <= rank.tied()) continue;
      best = std::move(place);
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace stria::passes
