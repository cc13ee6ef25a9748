// SPDX-License-Identifier: Apache-2.0
// Affine forms of stria/reader.h: values at points and over boxes.
#pragma once

#include <span>

#include "stria/base/status.h"
#include "stria/poly/affine.h"
#include "stria/reader.h"

namespace stria::reader {

Affine affine_of(const stria_affine& form);
// not_found for an index that the point lacks, out_of_range beyond 64 bits.
Result<int64_t> evaluate(const stria_affine& form, std::span<const stria_term> point);
// Saturates. not_found for an index that the box lacks, invalid_argument for one without values.
Result<Interval> interval(const stria_affine& form, std::span<const stria_range> box);

}  // namespace stria::reader
