// SPDX-License-Identifier: Apache-2.0
// What casts to packed types (rule T14) and their bits are made of: elementwise operations that
// every device does exactly. Powers of two leave each digit as it is, and no number of a packed
// type is subnormal in fp32.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stria/tile/bind/bound.h"
#include "stria/type/data_type.h"
#include "stria/type/scalar.h"

namespace stria::tile {

// Appends operations to the nodes of an expression. Operands and results are positions of nodes.
class PackedElements {
 public:
  // `nodes` is borrowed.
  explicit PackedElements(std::vector<BoundNode>& nodes) : nodes_(nodes) {}

  // `x` as an element of the packed type, of type held_type(packed): M8.
  int cast(int x, DataType packed);
  // The binary places of a float format behind the leading one, and its exponents: that of the
  // smallest normal number, and that of the largest number.
  struct Places {
    int count, lowest, highest;
  };
  // `x` of fp32 or fp64, in that type, as the nearest number of such a format, ties to even;
  // infinity from half way to 2^(highest + 1) on.
  int rounded(int x, const Places& places);

  // The element of `byte`, a u8, whose bits begin with bit `shift`, an integer; as held. For i4 and
  // i2 `shift` is how many bits stand above the element.
  int decoded(int byte, int shift, DataType packed);
  // The bits of `x`, which is held, as a u8 with zeros above.
  int encoded(int x, DataType packed);

  int constant(const Scalar& value);
  int number(double value, DataType type);
  int call(std::string_view function, DataType type, std::vector<int> args);

 private:
  DataType type_of(int node) const { return nodes_[static_cast<size_t>(node)].type; }
  int select(int where, int yes, int no);
  int is_number(int x);    // false: it is NaN
  int is_negative(int x);  // -0 is, NaN is not
  int cast_float(int x, DataType packed);
  // |x| with so many places; beyond the highest exponent with those of that exponent, or infinity.
  int rounded_size(int x, const Places& places);
  int limited(int size, double limit, double beyond);
  int with_sign_of(int x, int size);

  std::vector<BoundNode>& nodes_;
};

}  // namespace stria::tile
