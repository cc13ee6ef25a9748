// SPDX-License-Identifier: Apache-2.0
#include "matrix_values.h"

namespace stria::lanes {

using semtree::Array;
using Use = Array::Fragment::Use;

int64_t holder(const Array& array, int64_t element, int64_t lanes) {
  const Array::Fragment& form = *array.fragment;
  const int64_t start = form.rows + 3 * form.columns + 5 * static_cast<int64_t>(form.use) +
                        11 * static_cast<int64_t>(array.type);
  return (7 * element + start) % lanes;
}

bool is_product(const Array& sum, const Array& a, const Array& b) {
  const Array::Fragment &s = *sum.fragment, &left = *a.fragment, &right = *b.fragment;
  return s.use == Use::sum && left.use == Use::left && right.use == Use::right &&
         left.rows == s.rows && right.columns == s.columns && left.columns == right.rows &&
         is_float(a.type) == is_float(sum.type) && is_float(b.type) == is_float(sum.type);
}

void add_product(const MatrixValues& sum, const MatrixValues& a, const MatrixValues& b) {
  const DataType type = sum.array.type;
  for (int64_t r = 0; r < sum.rows(); ++r)
    for (int64_t c = 0; c < sum.columns(); ++c) {
      const int64_t element = sum.first + r * sum.columns() + c;
      Value total = sum.memory.load(element);
      for (int64_t k = 0; k < a.columns(); ++k) {
        const Value x = a.memory.load(a.first + r * a.columns() + k);
        const Value y = b.memory.load(b.first + k * b.columns() + c);
        total.poison |= x.poison || y.poison;
        if (total.poison) break;
        if (is_float(type)) {
          total.scalar = Scalar::of_float(type, total.scalar.f + x.scalar.f * y.scalar.f);
        } else {
          // Wraps as integers without a sign do.
          const auto bits = [](const Value& value) {
            return static_cast<uint64_t>(value.scalar.i);
          };
          total.scalar =
              Scalar::of_int(type, static_cast<int64_t>(bits(total) + bits(x) * bits(y)));
        }
      }
      sum.memory.store(element, total);
    }
}

}  // namespace stria::lanes
