// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/near_space.h"

#include <algorithm>

namespace stria::passes {

std::optional<size_t> NearSpace::find(size_t tensor) const {
  for (size_t s : here_)
    if (stays_[s].tensor == tensor) return s;
  return std::nullopt;
}

size_t NearSpace::enter(size_t tensor, const Place& place, int64_t bytes, size_t kernel) {
  Stay stay;
  stay.tensor = tensor;
  stay.bank = place.bank;
  stay.begin = place.begin;
  stay.end = place.begin + bytes;
  stay.last_use = kernel;
  // Who covers all bytes of a trace waits for it; later ones that lie there wait for who covers it.
  std::erase_if(traces_, [&](size_t t) {
    const Stay& trace = stays_[t];
    if (trace.bank != stay.bank || trace.begin >= stay.end || stay.begin >= trace.end) return false;
    stay.replaces.push_back(t);
    return stay.begin <= trace.begin && trace.end <= stay.end;
  });
  stays_.push_back(std::move(stay));
  here_.push_back(stays_.size() - 1);
  return here_.back();
}

void NearSpace::leave(size_t number) {
  stays_[number].gone = true;
  std::erase(here_, number);
  traces_.push_back(number);
}

}  // namespace stria::passes
