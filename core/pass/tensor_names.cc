// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/tensor_names.h"

#include <fmt/format.h>

namespace stria {

TensorNames TensorNames::inside(const stripe::Block& block) const {
  TensorNames names;
  names.depth_ = depth_ + 1;
  for (const stripe::Refinement& ref : block.refs)
    // No identifier holds a '/', so an allocation meets no name that is not known.
    names.allocations_[ref.into] =
        ref.dir == stripe::RefDir::none ? fmt::format("{}/{}", depth_, ref.into) : of(ref.from);
  return names;
}

const std::string& TensorNames::of(const std::string& name) const {
  auto at = allocations_.find(name);
  return at == allocations_.end() ? name : at->second;
}

}  // namespace stria
