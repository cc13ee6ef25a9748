// SPDX-License-Identifier: Apache-2.0
#include "stria/several/cut.h"

#include <cstring>

namespace stria {

CutRows::CutRows(DataType type, const std::vector<int64_t>& sizes, const Cut& cut,
                 const UnitRange& units)
    : sizes_(sizes) {
  sizes_[cut.dim] = units.count() * cut.rows;
  size_t row = static_cast<size_t>(byte_size(type));
  for (size_t d = cut.dim + 1; d < sizes.size(); ++d) row *= static_cast<size_t>(sizes[d]);
  pieces_ = 1;
  for (size_t d = 0; d < cut.dim; ++d) pieces_ *= static_cast<size_t>(sizes[d]);
  piece_ = row * static_cast<size_t>(sizes_[cut.dim]);
  step_ = row * static_cast<size_t>(sizes[cut.dim]);
  begin_ = row * static_cast<size_t>(units.begin * cut.rows);
}

void CutRows::take(const std::byte* whole, std::byte* part) const {
  if (piece_ == 0) return;
  for (size_t n = 0; n < pieces_; ++n)
    std::memcpy(part + n * piece_, whole + begin_ + n * step_, piece_);
}

void CutRows::put(const std::byte* part, std::byte* whole) const {
  if (piece_ == 0) return;
  for (size_t n = 0; n < pieces_; ++n)
    std::memcpy(whole + begin_ + n * step_, part + n * piece_, piece_);
}

}  // namespace stria
