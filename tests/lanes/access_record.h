// SPDX-License-Identifier: Apache-2.0
// Who has touched an element of memory since the last barrier (or the launch), so that two of whom
// one writes are found whatever the order in which they happened to run.
#pragma once

#include <cstdint>
#include <utility>

#include "stria/semtree/tree/tree.h"

namespace stria::lanes {

// A lane of the group, or a group of the kernel, and what it did.
struct Party {
  int64_t number = -1;  // -1: nobody
  const semtree::Statement* statement = nullptr;
  // Of a lane, if barriers of its subgroup order what it touches: which one (-1: none do), and the
  // last of these barriers.
  int64_t subgroup = -1;
  uint64_t since = 0;
};

class AccessRecord {
 public:
  // Adds an access by `party` in the span of time numbered `phase`; those of other phases are
  // forgotten. Phases do not come back. Returns who touched the element in the same phase before,
  // so that one of the two accesses is a write and nothing orders them; nobody: number -1.
  Party add(uint64_t phase, Party party, bool writes) {
    if (phase != phase_) *this = AccessRecord(phase);
    const auto is_ordered = [&](const Party& before) {
      return before.subgroup >= 0 && before.subgroup == party.subgroup &&
             before.since != party.since;
    };
    const auto other = [&](const Party& before) {
      return before.number >= 0 && before.number != party.number && !is_ordered(before);
    };
    if (other(writer_)) return writer_;
    if (!writes) {
      // Whom a reader before the subgroup's barrier would be told of, this one is told of, too.
      if (is_ordered(other_reader_)) other_reader_ = {};
      if (is_ordered(reader_)) reader_ = std::exchange(other_reader_, {});
      // Two different readers are enough to tell every writer that it is not alone.
      if (reader_.number < 0)
        reader_ = party;
      else if (other(reader_))
        other_reader_ = party;
      return {};
    }
    if (other(reader_)) return reader_;
    if (other(other_reader_)) return other_reader_;
    writer_ = party;
    return {};
  }

  AccessRecord() = default;

 private:
  explicit AccessRecord(uint64_t phase) : phase_(phase) {}

  uint64_t phase_ = 0;  // no phase has this number
  Party writer_, reader_, other_reader_;
};

}  // namespace stria::lanes
