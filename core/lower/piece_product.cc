// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/piece_product.h"

namespace stria::lower_detail {

std::vector<SetPiece> product(const std::vector<SetPiece>& a, const std::vector<SetPiece>& b) {
  std::vector<SetPiece> out;
  for (const SetPiece& left : a) {
    for (const SetPiece& right : b) {
      SetPiece piece = left;
      piece.indices.insert(piece.indices.end(), right.indices.begin(), right.indices.end());
      piece.constraints.insert(piece.constraints.end(), right.constraints.begin(), right.constraints.end());
      piece.point.insert(piece.point.end(), right.point.begin(), right.point.end());
      out.push_back(std::move(piece));
    }
  }
  return out;
}

}  // namespace stria::lower_detail
