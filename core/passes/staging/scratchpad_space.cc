// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/scratchpad_space.h"

#include <algorithm>
#include <utility>

namespace stria::passes {

size_t ScratchpadSpace::enter(size_t tensor, const Place& place, int64_t bytes, size_t kernel) {
  Stay stay;
  stay.tensor = tensor;
  stay.bank = place.bank;
  stay.begin = place.begin;
  stay.end = place.begin + bytes;
  stay.last_use = kernel;
  const size_t number = stays_.size();
  // The new stay takes over its bytes, and records the stays that it must wait for.
  std::vector<Part>& parts = parts_[static_cast<size_t>(place.bank)];
  std::vector<Part> now;
  for (const Part& part : parts) {
    if (part.end <= stay.begin || stay.end <= part.begin) {
      now.push_back(part);
      continue;
    }
    if (part.stay &&
        std::find(stay.replaces.begin(), stay.replaces.end(), *part.stay) == stay.replaces.end())
      stay.replaces.push_back(*part.stay);
    if (part.begin < stay.begin) now.push_back({part.begin, stay.begin, part.stay});
    if (part.begin <= stay.begin) now.push_back({stay.begin, stay.end, number});
    if (stay.end < part.end) now.push_back({stay.end, part.end, part.stay});
  }
  parts = std::move(now);
  stays_.push_back(std::move(stay));
  here_.push_back(number);
  stay_of_[tensor] = number;
  return number;
}

void ScratchpadSpace::leave(size_t number) {
  stays_[number].gone = true;
  stay_of_[stays_[number].tensor].reset();
  std::erase(here_, number);
}

ScratchpadSpace::Memory ScratchpadSpace::remember() const {
  Memory memory{stays_.size(), here_, {}, parts_};
  for (size_t s : here_) memory.dirty.push_back(stays_[s].dirty);
  return memory;
}

void ScratchpadSpace::restore(Memory memory) {
  for (size_t s : here_) stay_of_[stays_[s].tensor].reset();
  stays_.resize(memory.stays);
  here_ = std::move(memory.here);
  parts_ = std::move(memory.parts);
  for (size_t i = 0; i < here_.size(); ++i) {
    Stay& stay = stays_[here_[i]];
    stay.gone = false;
    stay.dirty = memory.dirty[i];
    stay_of_[stay.tensor] = here_[i];
  }
}

}  // namespace stria::passes
