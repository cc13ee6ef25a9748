// SPDX-License-Identifier: Apache-2.0
// Scalar values of the kernel tree as ids, and what the tree's operations do with them. A value is
//   bool                       a truth value
//   i8 … u32                   an integer of 32 bits, at any time sign- or zero-extended from its
//   type fp16, bf16                 its 16 bits in an integer of 32 bits, the others are 0
//   i64, u64                   an integer of 64 bits
//   fp32, fp64                 a float of its width
// Everything goes into the function that the module is writing.
#pragma once

#include <map>
#include <vector>

#include "emit/features.h"
#include "emit/module.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

class Values {
 public:
  Values(Module& module, const Features& features) : module_(module), features_(features) {}

  // While set, no driver may contract or regroup what is computed.
  bool strict = false;

  // Brings the capabilities along.
  Id type(DataType type);
  Id constant(const Scalar& value);
  Id zero(DataType type);
  // The same as a component of a matrix, which is as wide as in memory and has its sign.
  Id component_type(DataType type);
  Id component_constant(const Scalar& value);

  // `exact`: integers do not wrap. Not for floats: rem (a function of mathematics), min, max.
  Id operation(semtree::Op op, DataType operand, const std::vector<Id>& x, bool exact = false);
  // The larger or smaller of two; floats: NaN if one is NaN.
  Id extreme(semtree::Op op, DataType type, Id a, Id b);
  Id select(DataType type, Id condition, Id a, Id b);
  // `only_stored`: nothing computes with the result.
  Id convert(DataType from, DataType to, Id value, bool only_stored = false);
  // The bits of `value` as a type of the same width.
  Id reinterpret(DataType from, DataType to, Id value);

  // `value`, of which the bits of `type` count, as a value of it.
  Id extended(DataType type, Id value);
  Id word(uint32_t bits) { return module_.int_constant(32, bits); }
  Id word_type() { return module_.int_type(32); }

  // Execution modes for the widths that were used: what the device promises of floats.
  void add_float_modes();

 private:
  Id of_bool(semtree::Op op, const std::vector<Id>& x);
  Id of_float(semtree::Op op, DataType type, const std::vector<Id>& x);
  Id of_integer(semtree::Op op, DataType type, const std::vector<Id>& x, bool exact);
  Id floor_divided(DataType type, Id a, Id b);
  Id truncated(DataType type, Id x);
  Id rounded_away(DataType type, Id x);
  Id rounded_even(DataType type, Id x);
  Id cut_off(DataType type, Id x, Id whole);  // |x - whole|
  Id further(DataType type, Id x, Id whole);  // from 0, by one
  Id float_add(spv::Op op, DataType type, Id a, Id b);
  Id compare(spv::Op op, Id a, Id b) { return module_.add(op, module_.bool_type(), {a, b}); }
  // Of 32 bits.
  Id bits(spv::Op op, Id a, Id b) { return module_.add(op, word_type(), {a, b}); }

  // conversions.cc
  Id to_bool(DataType from, Id value);
  Id from_bool(DataType to, Id value);
  Id integer_to_integer(DataType from, DataType to, Id value);
  Id integer_to_float(DataType from, DataType to, Id value);
  Id unsigned_to_float(Id value);  // u32 -> fp32
  Id float_to_integer(DataType from, DataType to, Id value);
  Id widened(DataType from, Id value);                           // fp16 or bf16 -> fp32
  Id narrowed(DataType to, Id value, bool only_stored = false);  // fp32 -> fp16 or bf16
  Id half_by_hardware(Id value);                                 // fp32 -> fp16
  Id half_from_bits(Id value);                                   // fp32 -> fp16, by integers
  Id bf16_from_bits(Id value);                                   // fp32 -> bf16
  Id rounded_to_odd(Id value);                                   // fp64 -> fp32
  Id integer_to_odd(DataType from, Id value);                    // 32 or 64 bits -> fp32
  Id float_constant(DataType type, double value);

  struct Half {
    DataType type = DataType::fp16;
    Id bits = 0;
  };

  Module& module_;
  const Features& features_;
  std::map<Id, Half> widened_;     // fp32 by its id: what it was before
  std::map<Id, Id> half_sources_;  // fp16 that integers made by its id: the fp32
  bool uses_[3] = {};              // floats of 16, 32 and 64 bits
};

}  // namespace stria::vulkan
