// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/tensor_names.h"

#include <fmt/format.h>

namespace stria {

TensorNames TensorNames::inside(const stripe::Block& block) const {
  std::map<std::string, std::string> allocations;
  for (const stripe::Refinement& ref : block.refs)
    // No identifier holds a '/', so an allocation meets no name that is not known.
    allocations[ref.into] =
        ref.dir == stripe::RefDir::none ? fmt::format("{}/{}", depth_, ref.into) : of(ref.from);
  TensorNames names;
  names.depth_ = depth_ + 1;
  names.allocations_ =
      std::make_shared<const std::map<std::string, std::string>>(std::move(allocations));
  return names;
}

const std::string& TensorNames::of(const std::string& name) const {
  if (!allocations_) return name;
  auto at = allocations_->find(name);
  return at == allocations_->end() ? name : at->second;
}

const TensorNames& PlaceNames::section(const stripe::Place& place) {
  auto known = sections_.find(place.block);
  if (known != sections_.end()) return known->second;
  TensorNames names = place.parent ? section(*place.parent).inside(*place.block)
                                   : TensorNames().inside(*place.block);
  return sections_.emplace(place.block, std::move(names)).first->second;
}

TensorNames PlaceNames::inside(const stripe::Place& place) {
  if (place.depth <= 1) return section(place);
  if (place.parent->depth <= 1) return section(*place.parent).inside(*place.block);
  return inside(*place.parent).inside(*place.block);
}

TensorNames PlaceNames::around(const stripe::Place& place) {
  return place.parent ? inside(*place.parent) : TensorNames();
}

TensorNames PlaceNames::inside(const std::vector<stripe::Block*>& path) {
  const TensorNames* section = nullptr;
  for (size_t i = 0; i < path.size() && i < 2; ++i) {
    auto known = sections_.find(path[i]);
    if (known == sections_.end())
      known =
          sections_.emplace(path[i], (section ? *section : TensorNames()).inside(*path[i])).first;
    section = &known->second;
  }
  if (!section || path.size() <= 2) return section ? *section : TensorNames();
  TensorNames names = section->inside(*path[2]);
  for (size_t i = 3; i < path.size(); ++i) names = names.inside(*path[i]);
  return names;
}

}  // namespace stria
