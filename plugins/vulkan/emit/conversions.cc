// SPDX-License-Identifier: Apache-2.0
// Conversions between the types of values, by the rules of core/type/scalar.h. What SPIR-V leaves
// open is spelled out: numbers beyond an integer's range, the rounding of fp16, bf16, and of
// numbers that reach them by way of fp32.
#include <cmath>

#include "emit/values.h"

namespace stria::vulkan {
namespace {

bool is_half(DataType type) { return type == DataType::fp16 || type == DataType::bf16; }
DataType unsigned_of(DataType type) {
  return bit_width(type) == 64 ? DataType::u64 : DataType::u32;
}

}  // namespace

Id Values::convert(DataType from, DataType to, Id value, bool only_stored) {
  if (from == to) return value;
  if (to == DataType::boolean) return to_bool(from, value);
  if (from == DataType::boolean) return from_bool(to, value);
  if (is_half(from)) return convert(DataType::fp32, to, widened(from, value));
  if (!is_float(from))
    return is_float(to) ? integer_to_float(from, to, value) : integer_to_integer(from, to, value);
  if (!is_float(to)) return float_to_integer(from, to, value);
  if (is_half(to))
    return narrowed(to, from == DataType::fp64 ? rounded_to_odd(value) : value, only_stored);
  return module_.add(spv::Op::OpFConvert, type(to), {value});
}

Id Values::reinterpret(DataType from, DataType to, Id value) {
  if (type(from) == type(to)) return extended(to, value);
  return module_.add(spv::Op::OpBitcast, type(to), {value});
}

// ---- bool

Id Values::to_bool(DataType from, Id value) {
  // fp16 and bf16 are 0 if all bits but the sign are.
  if (is_half(from)) value = bits(spv::Op::OpBitwiseAnd, value, word(0x7fff));
  return is_float(from) && !is_half(from)
             ? compare(spv::Op::OpFUnordNotEqual, value, zero(from))
             : compare(spv::Op::OpINotEqual, value, is_half(from) ? word(0) : zero(from));
}

Id Values::from_bool(DataType to, Id value) {
  return select(to, value, constant(stria::convert(Scalar::of_bool(true), to)), zero(to));
}

// ---- integers

Id Values::integer_to_integer(DataType from, DataType to, Id value) {
  const int width = bit_width(from), wanted = bit_width(to);
  if (width < 64 && wanted == 64)
    return module_.add(is_signed_integer(from) ? spv::Op::OpSConvert : spv::Op::OpUConvert,
                       type(to), {value});
  if (width == 64 && wanted < 64) value = module_.add(spv::Op::OpUConvert, word_type(), {value});
  const bool same_sign = is_signed_integer(from) == is_signed_integer(to);
  // Each value of `from` is one of `to` already.
  if (width <= wanted && same_sign) return value;
  if (width < wanted && is_unsigned_integer(from)) return value;
  return extended(to, value);
}

Id Values::integer_to_float(DataType from, DataType to, Id value) {
  if (is_half(to)) {
    // What fp32 would round is beyond the largest fp16. bf16 has the range of fp32.
    const bool exact = to == DataType::fp16 || bit_width(from) < 32;
    return narrowed(
        to, exact ? integer_to_float(from, DataType::fp32, value) : integer_to_odd(from, value));
  }
  const bool is_signed = is_signed_integer(from) || bit_width(from) < 32;
  if (from == DataType::u32 && to == DataType::fp32 && !features_.of32.rounds_to_even)
    return unsigned_to_float(value);
  return module_.add(is_signed ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF, type(to),
                     {value});
}

// For a device that does not promise to round to nearest: one was seen to round twice. Half of a
// number beyond the signed ones, with the lost bit kept in the last place, rounds as the number
// does.
Id Values::unsigned_to_float(Id value) {
  const Id f32 = type(DataType::fp32);
  const Id large = compare(spv::Op::OpSLessThan, value, word(0));
  const Id half = bits(spv::Op::OpBitwiseOr, bits(spv::Op::OpShiftRightLogical, value, word(1)),
                       bits(spv::Op::OpBitwiseAnd, value, word(1)));
  const Id converted =
      module_.add(spv::Op::OpConvertSToF, f32, {select(DataType::u32, large, half, value)});
  const Id twice = module_.add(spv::Op::OpFAdd, f32, {converted, converted});
  return select(DataType::fp32, large, twice, converted);
}

// All but the upper bits become one bit, which says whether any of them was set: 24 bits are left,
// which fp32 has, and the lowest is below all that rounding to bf16 looks at on its own.
Id Values::integer_to_odd(DataType from, Id value) {
  const DataType bare = unsigned_of(from);
  const Id of = type(bare);
  const auto number = [&](uint64_t bits) {
    return constant(Scalar::of_int(bare, static_cast<int64_t>(bits)));
  };
  const auto op = [&](spv::Op code, Id a, Id b) { return module_.add(code, of, {a, b}); };
  const bool is_signed = is_signed_integer(from);
  const Id negative = is_signed ? compare(spv::Op::OpSLessThan, value, zero(from)) : 0;
  if (is_signed)
    value = select(bare, negative, module_.add(spv::Op::OpSNegate, of, {value}), value);
  Id lower = number(0);  // the bits that are folded
  for (int fold = 15; fold + 9 < bit_width(from); fold += 15) {
    const Id large =
        compare(spv::Op::OpUGreaterThanEqual, value, number(uint64_t{1} << (fold + 9)));
    lower = select(bare, large, number((uint64_t{1} << fold) - 1), lower);
    if (bit_width(from) == 32) break;
  }
  const Id lost = compare(spv::Op::OpINotEqual, op(spv::Op::OpBitwiseAnd, value, lower), number(0));
  const Id mark = select(bare, lost, op(spv::Op::OpIAdd, lower, number(1)), number(0));
  const Id kept = op(spv::Op::OpBitwiseAnd, value, module_.add(spv::Op::OpNot, of, {lower}));
  const Id f32 = type(DataType::fp32);
  const Id magnitude =
      module_.add(spv::Op::OpConvertUToF, f32, {op(spv::Op::OpBitwiseOr, kept, mark)});
  if (!is_signed) return magnitude;
  return select(DataType::fp32, negative, module_.add(spv::Op::OpFNegate, f32, {magnitude}),
                magnitude);
}

// Truncates, saturates, NaN is 0. The conversion itself only sees numbers in range.
Id Values::float_to_integer(DataType from, DataType to, Id value) {
  const int width = bit_width(to);
  const bool is_signed = is_signed_integer(to);
  const double lowest = is_signed ? -std::ldexp(1.0, width - 1) : 0;
  const double beyond = std::ldexp(1.0, is_signed ? width - 1 : width);
  const Id not_below =
      compare(spv::Op::OpFOrdGreaterThanEqual, value, float_constant(from, lowest));
  const Id not_above = compare(spv::Op::OpFOrdLessThan, value, float_constant(from, beyond));
  const Id in_range = compare(spv::Op::OpLogicalAnd, not_below, not_above);
  const Id safe = select(from, in_range, value, zero(from));
  const Id whole = module_.add(
      is_signed || width < 32 ? spv::Op::OpConvertFToS : spv::Op::OpConvertFToU, type(to), {safe});
  const auto number = [&](int64_t bits) { return constant(Scalar::of_int(to, bits)); };
  const int64_t most = is_signed ? static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1) : -1;
  const Id above = compare(spv::Op::OpFOrdGreaterThanEqual, value, float_constant(from, beyond));
  const Id capped = select(to, above, number(most), whole);
  if (!is_signed) return capped;
  const Id below = compare(spv::Op::OpFOrdLessThan, value, float_constant(from, lowest));
  return select(to, below, number(-most - 1), capped);
}

// ---- fp16 and bf16

Id Values::widened(DataType from, Id value) {
  const Id f32 = type(DataType::fp32);
  Id out = 0;
  if (from == DataType::bf16) {
    out =
        module_.add(spv::Op::OpBitcast, f32, {bits(spv::Op::OpShiftLeftLogical, value, word(16))});
    widened_[out] = {from, value};
    return out;
  }
  const Id pair = module_.glsl(GLSLstd450UnpackHalf2x16, module_.vector_type(f32, 2), {value});
  out = module_.add(spv::Op::OpCompositeExtract, f32, {pair, 0});
  widened_[out] = {from, value};
  return out;
}

// Drivers take the hardware's conversion to fp16 and the one back for nothing, and so lose the
// rounding between them. Therefore it only makes what goes to memory.
Id Values::narrowed(DataType to, Id value, bool only_stored) {
  const bool hardware = only_stored && to == DataType::fp16 && features_.fp16 &&
                        features_.of16.rounds_to_even && features_.of16.keeps_subnormals;
  if (auto at = widened_.find(value); at != widened_.end() && at->second.type == to) {
    auto source = half_sources_.find(at->second.bits);
    if (!hardware || source == half_sources_.end()) return at->second.bits;
    value = source->second;
  }
  if (to == DataType::bf16) return bf16_from_bits(value);
  if (hardware) return half_by_hardware(value);
  const Id half = half_from_bits(value);
  half_sources_[half] = value;
  return half;
}

Id Values::half_by_hardware(Id value) {
  uses_[0] = true;
  module_.capability(spv::Capability::Float16);
  const Id f16 = module_.float_type(16), pair_type = module_.vector_type(f16, 2);
  const Id half = module_.add(spv::Op::OpFConvert, f16, {value});
  const Id pair = module_.add(spv::Op::OpCompositeConstruct, pair_type, {half, half});
  return extended(DataType::u16, module_.add(spv::Op::OpBitcast, word_type(), {pair}));
}

// To nearest, ties to even. Above the subnormal numbers of fp16 the exponent is moved and the bits
// that are cut off round by a carry, into infinity, too. The subnormal ones are multiples of 2^-24,
// which is what the last place of a number near 0.5 is worth: the sum with 0.5 rounds there.
Id Values::half_from_bits(Id value) {
  const Id f32 = type(DataType::fp32);
  const Id all = module_.add(spv::Op::OpBitcast, word_type(), {value});
  const Id magnitude = bits(spv::Op::OpBitwiseAnd, all, word(0x7fffffff));
  const Id sign =
      bits(spv::Op::OpBitwiseAnd, bits(spv::Op::OpShiftRightLogical, all, word(16)), word(0x8000));
  const Id odd = module_.add(spv::Op::OpBitFieldUExtract, word_type(), {all, word(13), word(1)});
  const Id moved =
      bits(spv::Op::OpIAdd, bits(spv::Op::OpISub, magnitude, word(0x38000000 - 0xfff)), odd);
  const Id normal = bits(spv::Op::OpShiftRightLogical, moved, word(13));
  const Id absolute = module_.add(spv::Op::OpBitcast, f32, {magnitude});
  const Id sum = module_.add(spv::Op::OpFAdd, f32, {absolute, float_constant(DataType::fp32, 0.5)});
  module_.decorate(sum, spv::Decoration::NoContraction);
  const Id subnormal =
      bits(spv::Op::OpISub, module_.add(spv::Op::OpBitcast, word_type(), {sum}), word(0x3f000000));
  const auto at_least = [&](uint32_t bound) {
    return compare(spv::Op::OpUGreaterThanEqual, magnitude, word(bound));
  };
  Id out = select(DataType::u32, at_least(0x38800000), normal, subnormal);
  out = select(DataType::u32, at_least(0x47800000), word(0x7c00), out);  // 65536 and more
  out = select(DataType::u32, at_least(0x7f800001), word(0x7e00), out);  // NaN
  return bits(spv::Op::OpBitwiseOr, out, sign);
}

// To nearest, ties to even; a NaN stays one, though its payload may be in the bits that go.
Id Values::bf16_from_bits(Id value) {
  const Id all = module_.add(spv::Op::OpBitcast, word_type(), {value});
  const Id upper = bits(spv::Op::OpShiftRightLogical, all, word(16));
  const Id odd = bits(spv::Op::OpBitwiseAnd, upper, word(1));
  const Id carried = bits(spv::Op::OpIAdd, bits(spv::Op::OpIAdd, all, word(0x7fff)), odd);
  const Id rounded = bits(spv::Op::OpShiftRightLogical, carried, word(16));
  const Id magnitude = bits(spv::Op::OpBitwiseAnd, all, word(0x7fffffff));
  const Id is_nan = compare(spv::Op::OpUGreaterThan, magnitude, word(0x7f800000));
  return select(DataType::u32, is_nan, bits(spv::Op::OpBitwiseOr, upper, word(0x40)), rounded);
}

// Toward zero, with the last bit set if anything was lost: a second rounding is then as if it were
// the only one. The device's conversion gives one of the two neighbours; which, a comparison says.
Id Values::rounded_to_odd(Id value) {
  const Id f32 = type(DataType::fp32), f64 = type(DataType::fp64);
  const Id near = module_.add(spv::Op::OpFConvert, f32, {value});
  const Id back = module_.add(spv::Op::OpFConvert, f64, {near});
  const auto absolute = [&](Id x) { return module_.glsl(GLSLstd450FAbs, f64, {x}); };
  const Id larger = compare(spv::Op::OpFOrdGreaterThan, absolute(back), absolute(value));
  const Id all = module_.add(spv::Op::OpBitcast, word_type(), {near});
  const Id toward = select(DataType::u32, larger, bits(spv::Op::OpISub, all, word(1)), all);
  // False for NaN, which stays.
  const Id lost = module_.add(spv::Op::OpFOrdNotEqual, module_.bool_type(), {back, value});
  const Id odd = select(DataType::u32, lost, bits(spv::Op::OpBitwiseOr, toward, word(1)), all);
  return module_.add(spv::Op::OpBitcast, f32, {odd});
}

}  // namespace stria::vulkan
