// SPDX-License-Identifier: Apache-2.0
// A tensor cut along one of its dimensions, in units of so many rows: a part has the rows of its
// units, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stria/type/data_type.h"

namespace stria {

struct Cut {
  size_t dim = 0;
  int64_t rows = 1;  // of one unit, along `dim`
  bool operator==(const Cut&) const = default;
};

// The units that one part has: `begin` is the first, `end` the one behind the last.
struct UnitRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
  bool operator==(const UnitRange&) const = default;
};

// Where the rows of a part lie in a dense tensor of `sizes`, and how to copy them. Not for packed
// types.
class CutRows {
 public:
  CutRows(DataType type, const std::vector<int64_t>& sizes, const Cut& cut, const UnitRange& units);

  // The sizes of the part.
  const std::vector<int64_t>& sizes() const { return sizes_; }
  size_t bytes() const { return pieces_ * piece_; }
  // Is the part one piece of the whole? Then it begins at byte begin().
  bool is_contiguous() const { return pieces_ <= 1; }
  size_t begin() const { return begin_; }
  void take(const std::byte* whole, std::byte* part) const;  // part = its rows of whole
  void put(const std::byte* part, std::byte* whole) const;   // its rows of whole = part

 private:
  std::vector<int64_t> sizes_;
  size_t pieces_ = 0;  // that lie apart in the whole
  size_t piece_ = 0;   // bytes of each
  size_t step_ = 0;    // bytes from one to the next, in the whole
  size_t begin_ = 0;   // of the first, in the whole
};

}  // namespace stria
