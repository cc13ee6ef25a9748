// SPDX-License-Identifier: Apache-2.0
// Values of forms over the bits of coordinates, at all points that execute an access. For the
// verifier only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/result.h"
#include "stria/stripe/verify/access_paths.h"

namespace stria::stripe {

// The step of the allocation's location that says who holds which element; null: not distributed.
const LocationUnit* owners_of(const Refinement& allocation);
// Are what lanes hold of it whole matrices (S15)?
bool holds_fragments(const LocationUnit& unit);

// One coordinate per dimension that the form names.
int64_t value_of(const BitFieldForm& form, const std::vector<int64_t>& coordinates);

// Enumerates the values of the variables that some forms depend on. Make the forms first, then
// enumerate.
class BitPoints {
 public:
  // In the variables of this object.
  struct Form {
    int64_t constant = 0;
    std::vector<std::pair<size_t, int64_t>> terms;
    int64_t at(const std::vector<int64_t>& values) const;
  };

  explicit BitPoints(const Access& access) : access_(access) {}

  // The form over the variables around the access. It is right in its lowest `bits` bits (62: in
  // all).
  Form form(const Affine& affine, int bits);
  // The coordinates from `start` on, one form per dimension, right in the bits that the owner's
  // form looks at. With `whole`, those of every element of the access.
  std::vector<Form> coordinates(const BitFieldForm& owner, const std::vector<Affine>& start,
                                bool whole);

  // The first values that are wrong and that some point executes. unknown: too many to try.
  Result<std::optional<std::vector<int64_t>>> first(
      const std::function<bool(const std::vector<int64_t>&)>& wrong) const;
  // "at l = 3, i = 1".
  std::string describe(const std::vector<int64_t>& values) const;

 private:
  size_t variable(const std::string& name, int64_t range);

  const Access& access_;
  std::vector<std::string> names_;
  std::vector<int64_t> ranges_;
};

}  // namespace stria::stripe
