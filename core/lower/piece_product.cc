// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/piece_product.h"

#include <map>

#include "stria/lower/lowering.h"

namespace stria::lower_detail {

std::vector<SetPiece> product(const std::vector<SetPiece>& a, const std::vector<SetPiece>& b) {
  std::vector<SetPiece> out;
  for (const SetPiece& left : a) {
    Names names;
    for (const SetPiece::Index& index : left.indices) names.fresh(index.name);
    for (const SetPiece& right : b) {
      SetPiece piece = left;
      Names taken = names;
      std::map<std::string, std::string> name;  // of `right` -> in the product
      for (const SetPiece::Index& index : right.indices) {
        name[index.name] = taken.fresh(index.name);
        piece.indices.push_back({name[index.name], index.range});
      }
      auto renamed = [&](const Affine& form) {
        return form.rename([&](const std::string& old) { return name.at(old); });
      };
      for (const Affine& form : right.constraints) piece.constraints.push_back(renamed(form));
      for (const Affine& form : right.point) piece.point.push_back(renamed(form));
      out.push_back(std::move(piece));
    }
  }
  return out;
}

Status check_piece_count(const std::vector<size_t>& counts) {
  size_t total = 1;
  for (size_t count : counts) {
    total *= count;
    if (total > kMaxPieces)
      return make_error(
          StatusCode::out_of_range,
          "the elements of its output fall into more than {} sets that need a kernel each",
          kMaxPieces);
  }
  return {};
}

}  // namespace stria::lower_detail
