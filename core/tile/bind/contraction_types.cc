// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/contraction_types.h"

#include "stria/builtins/builtin.h"

namespace stria::tile {
namespace {

// The type of sums and products: integers below 32 bits need room, bool is counted.
DataType widened(DataType type, bool any_signed) {
  if (type == DataType::boolean) return DataType::i32;
  if (is_integer(type) && bit_width(type) < 32) return any_signed ? DataType::i32 : DataType::u32;
  return type;
}

}  // namespace

ContractionTypes contraction_types(Aggregation aggregation, Combination combination,
                                   const std::vector<DataType>& operands) {
  DataType common = operands[0];
  bool any_signed = is_signed_integer(operands[0]);
  if (operands.size() > 1) {
    common = common_type(common, operands[1]);
    any_signed |= is_signed_integer(operands[1]);
  }
  ContractionTypes out{};
  DataType storage = common;  // what a tensor of the combined values would hold
  switch (combination) {
    case Combination::none:
      out.combination = common;
      out.value = common;
      break;
    case Combination::add:
    case Combination::mul:
      storage = widened(common, any_signed);
      out.combination = compute_type(storage);
      out.value = out.combination;
      break;
    case Combination::equal:
      storage = DataType::boolean;
      out.combination = compute_type(common);
      out.value = storage;
      break;
    case Combination::cond:
      storage = operands[2];
      out.combination = compute_type(common);
      out.value = storage;
      break;
  }
  if (aggregation == Aggregation::sum || aggregation == Aggregation::product)
    storage = widened(storage, is_signed_integer(storage));
  out.aggregation = compute_type(storage);
  out.out = storage;
  return out;
}

}  // namespace stria::tile
