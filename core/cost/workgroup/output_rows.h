// SPDX-License-Identifier: Apache-2.0
// How a group lays out an operand that it stages. What only reductions move along lies outermost,
// so that the elements which neighbouring outputs read lie in a row. If these rows lie across the
// rows of the tensor, lanes that copy one row of the tensor store into neighbouring rows at once.
// These then begin in as many banks as they can: an odd number of elements apart, or an odd number
// of vectors if lanes read vectors of a row. Other rows that would all begin in one bank are set a
// vector further apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stria/poly/affine.h"

namespace stria::cost {

struct OutputRows {
  int64_t vector = 1;         // elements that a lane reads at once
  int64_t bank_elements = 0;  // of all banks together; 0: not known
};

// Lays out the dimensions 0 .. count - 1, which are by rising stride in the tensor. size(d) >= 1 is
// the number of elements of one; by_output(d) says whether an output moves along it. Calls put(d,
// stride) for each; returns the elements that the copy takes.
template <typename Size, typename ByOutput, typename Put>
int64_t lay_out_rows(size_t count, const Size& size, const ByOutput& by_output,
                     const OutputRows& rows, const Put& put) {
  const auto first = [&](const auto& is_it) {
    size_t d = 0;
    while (d < count && (size(d) == 1 || !is_it(d))) ++d;
    return d;
  };
  const size_t innermost = first([](size_t) { return true; });
  const size_t by_outputs = first(by_output);
  const size_t row = by_outputs < count ? by_outputs : innermost;
  const bool across = row != innermost;
  const bool vectors = row < count && size(row) % rows.vector == 0;
  int64_t stride = 1, last = 0;
  for (const bool inside : {true, false})
    for (size_t d = 0; d < count; ++d) {
      if (by_output(d) != inside) continue;
      if (!inside && rows.bank_elements > 0) {
        const int64_t unit = vectors ? rows.vector : 1;
        if (across ? stride / unit % 2 == 0 : stride % rows.bank_elements == 0) stride += unit;
      }
      put(d, stride);
      last += (size(d) - 1) * stride;
      stride *= size(d);
    }
  return last + 1;
}

}  // namespace stria::cost
