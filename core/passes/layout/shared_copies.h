// SPDX-License-Identifier: Apache-2.0
// The copies of tensors that a pass has made in a section so far. Kernels that read one tensor in
// one layout share a copy: the steps of a recurrence read the same weights, and several products
// the same activations. A copy lives until its last reader, so activations that are read far apart
// take more memory meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "stria/stripe/block.h"

namespace stria::passes {

// A layout is what the pass makes of a dimension; `width` is 0 where it has no parts.
class SharedCopies {
 public:
  // Null: there is none that holds what the tensor holds now.
  const stripe::Refinement* find(const std::string& tensor, size_t dim, int64_t width = 0) const;
  void add(const std::string& tensor, size_t dim, int64_t width, const stripe::Refinement& copy);
  // To be told of each statement of the section behind the copies, in order: what it writes may be
  // a tensor that was copied. `section` has the tensors.
  void after(const stripe::Statement& stmt, const stripe::Block& section);

 private:
  std::map<std::tuple<std::string, size_t, int64_t>, stripe::Refinement> made_;
};

}  // namespace stria::passes
