// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel's lanes touch: elements, whether each has been written, and who touched it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "access_record.h"
#include "evaluate.h"

namespace stria::lanes {

// `count` elements of a type, all poison at first. Lanes and groups have a record of their own for
// each element: lanes meet at barriers, groups never do.
struct Memory {
  Memory(DataType type, int64_t count, bool recorded = true)
      : type(type),
        bytes(static_cast<size_t>(count * byte_size(type))),
        poison(static_cast<size_t>(count), true),
        by_lanes(recorded ? poison.size() : 0),
        by_groups(recorded ? poison.size() : 0),
        stored(recorded ? poison.size() : 0) {}

  int64_t count() const { return static_cast<int64_t>(poison.size()); }
  Value load(int64_t element) const {
    return {load_scalar(type, bytes.data(), element), poison[static_cast<size_t>(element)] != 0};
  }
  void store(int64_t element, const Value& value) {
    store_scalar(type, bytes.data(), element, value.scalar);
    poison[static_cast<size_t>(element)] = value.poison;
  }
  // All of it, from an array of the type.
  void fill(const void* from) {
    std::copy_n(static_cast<const uint8_t*>(from), bytes.size(), bytes.begin());
    poison.assign(poison.size(), false);
  }
  void forget() { poison.assign(poison.size(), true); }

  DataType type;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> poison;
  std::vector<AccessRecord> by_lanes, by_groups;
  // The launch that has stored the element and not read it since; 0: none.
  std::vector<uint64_t> stored;
};

}  // namespace stria::lanes
