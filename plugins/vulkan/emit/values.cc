// SPDX-License-Identifier: Apache-2.0
#include "emit/values.h"

#include "stria/base/status.h"

namespace stria::vulkan {

using semtree::Op;

Id Values::type(DataType type) {
  switch (type) {
    case DataType::boolean: return module_.bool_type();
    case DataType::fp32: uses_[1] = true; return module_.float_type(32);
    case DataType::fp64:
      uses_[2] = true;
      module_.capability(spv::Capability::Float64);
      return module_.float_type(64);
    case DataType::i64:
    case DataType::u64: module_.capability(spv::Capability::Int64); return module_.int_type(64);
    default: return word_type();
  }
}

Id Values::constant(const Scalar& value) {
  type(value.type);
  switch (value.type) {
    case DataType::boolean: return module_.bool_constant(value.i != 0);
    case DataType::fp32: return module_.float_constant(32, value.f);
    case DataType::fp64: return module_.float_constant(64, value.f);
    case DataType::fp16:
    case DataType::bf16: {
      uint16_t stored = 0;
      store_scalar(value.type, &stored, 0, value);
      return word(stored);
    }
    case DataType::i64:
    case DataType::u64: return module_.int_constant(64, static_cast<uint64_t>(value.i));
    default: return word(static_cast<uint32_t>(value.i));
  }
}

Id Values::zero(DataType type) { return constant(stria::convert(Scalar::of_bool(false), type)); }

Id Values::component_type(DataType type) {
  using spv::Capability;
  if (is_float(type)) {
    if (bit_width(type) != 16) return this->type(type);
    if (type == DataType::bf16) return module_.bfloat16_type();
    uses_[0] = true;
    module_.capability(Capability::Float16);
    return module_.float_type(16);
  }
  if (bit_width(type) == 8) module_.capability(Capability::Int8);
  if (bit_width(type) == 16) module_.capability(Capability::Int16);
  if (bit_width(type) == 64) module_.capability(Capability::Int64);
  return module_.int_type(bit_width(type), is_signed_integer(type));
}

Id Values::component_constant(const Scalar& value) {
  const Id of = component_type(value.type);
  uint64_t bits = static_cast<uint64_t>(value.i);
  if (is_float(value.type)) {
    bits = 0;
    store_scalar(value.type, &bits, 0, value);
  }
  Words words = {static_cast<uint32_t>(bits)};
  if (bit_width(value.type) == 64) words.push_back(static_cast<uint32_t>(bits >> 32));
  return module_.constant(of, words);
}

Id Values::float_constant(DataType type, double value) {
  return constant(Scalar::of_float(type, value));
}

Id Values::select(DataType type, Id condition, Id a, Id b) {
  return a == b ? a : module_.add(spv::Op::OpSelect, this->type(type), {condition, a, b});
}

Id Values::extended(DataType type, Id value) {
  if (type == DataType::fp16 || type == DataType::bf16) type = DataType::u16;
  if (!is_integer(type) || bit_width(type) >= 32) return value;
  const auto width = static_cast<uint32_t>(bit_width(type));
  if (is_unsigned_integer(type)) return bits(spv::Op::OpBitwiseAnd, value, word((1u << width) - 1));
  return module_.add(spv::Op::OpBitFieldSExtract, word_type(), {value, word(0), word(width)});
}

Id Values::operation(Op op, DataType operand, const std::vector<Id>& x, bool exact) {
  if (operand == DataType::boolean) return of_bool(op, x);
  return is_float(operand) ? of_float(op, operand, x) : of_integer(op, operand, x, exact);
}

Id Values::of_bool(Op op, const std::vector<Id>& x) {
  const Id type = module_.bool_type();
  switch (op) {
    case Op::logical_not:
    case Op::bit_not: return module_.add(spv::Op::OpLogicalNot, type, {x[0]});
    case Op::bit_and:
    case Op::min: return compare(spv::Op::OpLogicalAnd, x[0], x[1]);
    case Op::bit_or:
    case Op::max: return compare(spv::Op::OpLogicalOr, x[0], x[1]);
    case Op::bit_xor:
    case Op::ne: return compare(spv::Op::OpLogicalNotEqual, x[0], x[1]);
    case Op::eq: return compare(spv::Op::OpLogicalEqual, x[0], x[1]);
    case Op::lt:
      return compare(spv::Op::OpLogicalAnd, module_.add(spv::Op::OpLogicalNot, type, {x[0]}), x[1]);
    case Op::le:
      return compare(spv::Op::OpLogicalOr, module_.add(spv::Op::OpLogicalNot, type, {x[0]}), x[1]);
    default: break;
  }
  STRIA_CHECK(false, "operation '{}' of bool in a kernel tree", name_of(op));
}

// ---- floats

Id Values::float_add(spv::Op op, DataType type, Id a, Id b) {
  const Id id = module_.add(op, this->type(type), {a, b});
  if (strict) module_.decorate(id, spv::Decoration::NoContraction);
  return id;
}

// Of fp64 by Floor and Ceil: lavapipe's own Trunc leaves numbers beyond 2^24 as they are.
Id Values::truncated(DataType type, Id x) {
  const Id of = this->type(type);
  if (type != DataType::fp64) return module_.glsl(GLSLstd450Trunc, of, {x});
  const Id below = compare(spv::Op::OpFOrdLessThan, x, float_constant(type, 0));
  return select(type, below, module_.glsl(GLSLstd450Ceil, of, {x}),
                module_.glsl(GLSLstd450Floor, of, {x}));
}

// trunc(x), and one further from 0 if a half or more was cut off. What is cut off is exact.
Id Values::rounded_away(DataType type, Id x) {
  const Id whole = truncated(type, x), rest = cut_off(type, x, whole);
  const Id far = compare(spv::Op::OpFOrdGreaterThanEqual, rest, float_constant(type, 0.5));
  return select(type, far, further(type, x, whole), whole);
}

// trunc(x), and one further from 0 if more than a half was cut off, or a half of an odd number. Of
// fp64 alone: lavapipe's own RoundEven rounds 0.5000000000000006 down.
Id Values::rounded_even(DataType type, Id x) {
  if (type != DataType::fp64) return module_.glsl(GLSLstd450RoundEven, this->type(type), {x});
  const Id whole = truncated(type, x), rest = cut_off(type, x, whole);
  const Id half = float_constant(type, 0.5), pairs = float_add(spv::Op::OpFMul, type, whole, half);
  const Id odd = compare(spv::Op::OpFOrdNotEqual, pairs, truncated(type, pairs));
  const Id tie_of_odd =
      compare(spv::Op::OpLogicalAnd, compare(spv::Op::OpFOrdEqual, rest, half), odd);
  const Id far =
      compare(spv::Op::OpLogicalOr, compare(spv::Op::OpFOrdGreaterThan, rest, half), tie_of_odd);
  return select(type, far, further(type, x, whole), whole);
}

Id Values::cut_off(DataType type, Id x, Id whole) {
  const Id rest = float_add(spv::Op::OpFSub, type, x, whole);
  return module_.glsl(GLSLstd450FAbs, this->type(type), {rest});
}

Id Values::further(DataType type, Id x, Id whole) {
  const Id below = compare(spv::Op::OpFOrdLessThan, x, float_constant(type, 0));
  const Id step = select(type, below, float_constant(type, -1), float_constant(type, 1));
  return float_add(spv::Op::OpFAdd, type, whole, step);
}

Id Values::of_float(Op op, DataType type, const std::vector<Id>& x) {
  const Id of = this->type(type);
  const auto glsl = [&](GLSLstd450 function) { return module_.glsl(function, of, x); };
  switch (op) {
    case Op::neg: return module_.add(spv::Op::OpFNegate, of, {x[0]});
    case Op::abs: return glsl(GLSLstd450FAbs);
    case Op::sqrt: return glsl(GLSLstd450Sqrt);
    case Op::floor: return glsl(GLSLstd450Floor);
    case Op::ceil: return glsl(GLSLstd450Ceil);
    case Op::round_even: return rounded_even(type, x[0]);
    case Op::trunc: return truncated(type, x[0]);
    case Op::fma: return glsl(GLSLstd450Fma);
    case Op::round_away: return rounded_away(type, x[0]);
    case Op::add: return float_add(spv::Op::OpFAdd, type, x[0], x[1]);
    case Op::sub: return float_add(spv::Op::OpFSub, type, x[0], x[1]);
    case Op::mul: return float_add(spv::Op::OpFMul, type, x[0], x[1]);
    case Op::div: return float_add(spv::Op::OpFDiv, type, x[0], x[1]);
    case Op::eq: return compare(spv::Op::OpFOrdEqual, x[0], x[1]);
    case Op::ne: return compare(spv::Op::OpFUnordNotEqual, x[0], x[1]);
    case Op::lt: return compare(spv::Op::OpFOrdLessThan, x[0], x[1]);
    case Op::le: return compare(spv::Op::OpFOrdLessThanEqual, x[0], x[1]);
    default: break;
  }
  STRIA_CHECK(false, "operation '{}' of {} in a kernel tree", semtree::name_of(op),
              stria::name_of(type));
}

Id Values::extreme(Op op, DataType type, Id a, Id b) {
  if (!is_float(type)) return operation(op, type, {a, b});
  // A comparison with NaN is false, so `b` comes through if it is NaN; `a` is asked itself.
  const Id first = compare(spv::Op::OpFOrdLessThan, op == Op::max ? b : a, op == Op::max ? a : b);
  const Id is_nan = compare(spv::Op::OpFUnordNotEqual, a, a);
  return select(type, compare(spv::Op::OpLogicalOr, is_nan, first), a, b);
}

// ---- integers

Id Values::floor_divided(DataType type, Id a, Id b) {
  const Id of = this->type(type);
  if (is_unsigned_integer(type)) return module_.add(spv::Op::OpUDiv, of, {a, b});
  const Id quotient = module_.add(spv::Op::OpSDiv, of, {a, b});
  const Id rest = of_integer(Op::rem, type, {a, b}, false);
  const Id below = compare(spv::Op::OpSLessThan, rest, zero(type));
  const Id less = module_.add(spv::Op::OpISub, of, {quotient, constant(Scalar::of_int(type, 1))});
  return select(type, below, less, quotient);
}

Id Values::of_integer(Op op, DataType type, const std::vector<Id>& x, bool exact) {
  const Id of = this->type(type);
  const bool is_signed = is_signed_integer(type);
  const auto plain = [&](spv::Op code) { return module_.add(code, of, Words(x)); };
  // What may leave the type wraps.
  const auto wrapped = [&](spv::Op code) {
    const Id id = plain(code);
    if (!exact || !is_signed || bit_width(type) < 32) return extended(type, id);
    module_.decorate(id, spv::Decoration::NoSignedWrap);
    return id;
  };
  switch (op) {
    case Op::neg: return wrapped(spv::Op::OpSNegate);
    case Op::bit_not: return extended(type, plain(spv::Op::OpNot));
    case Op::abs: {
      if (!is_signed) return x[0];
      const Id opposite = extended(type, module_.add(spv::Op::OpSNegate, of, {x[0]}));
      return select(type, compare(spv::Op::OpSLessThan, x[0], zero(type)), opposite, x[0]);
    }
    case Op::add: return wrapped(spv::Op::OpIAdd);
    case Op::sub: return wrapped(spv::Op::OpISub);
    case Op::mul: return wrapped(spv::Op::OpIMul);
    case Op::shift_left: return wrapped(spv::Op::OpShiftLeftLogical);
    case Op::div: return plain(is_signed ? spv::Op::OpSDiv : spv::Op::OpUDiv);
    case Op::rem: {
      if (!is_signed) return plain(spv::Op::OpUMod);
      // Vulkan leaves OpSRem of negative numbers undefined.
      const Id quotient = plain(spv::Op::OpSDiv);
      const Id whole = module_.add(spv::Op::OpIMul, of, {quotient, x[1]});
      return module_.add(spv::Op::OpISub, of, {x[0], whole});
    }
    case Op::floor_div: return floor_divided(type, x[0], x[1]);
    case Op::min: return module_.glsl(is_signed ? GLSLstd450SMin : GLSLstd450UMin, of, Words(x));
    case Op::max: return module_.glsl(is_signed ? GLSLstd450SMax : GLSLstd450UMax, of, Words(x));
    case Op::bit_and: return plain(spv::Op::OpBitwiseAnd);
    case Op::bit_or: return plain(spv::Op::OpBitwiseOr);
    case Op::bit_xor: return plain(spv::Op::OpBitwiseXor);
    case Op::shift_right:
      return plain(is_signed ? spv::Op::OpShiftRightArithmetic : spv::Op::OpShiftRightLogical);
    case Op::eq: return compare(spv::Op::OpIEqual, x[0], x[1]);
    case Op::ne: return compare(spv::Op::OpINotEqual, x[0], x[1]);
    case Op::lt:
      return compare(is_signed ? spv::Op::OpSLessThan : spv::Op::OpULessThan, x[0], x[1]);
    case Op::le:
      return compare(is_signed ? spv::Op::OpSLessThanEqual : spv::Op::OpULessThanEqual, x[0], x[1]);
    default: break;
  }
  STRIA_CHECK(false, "operation '{}' of {} in a kernel tree", semtree::name_of(op),
              stria::name_of(type));
}

// ---- what the device promises

void Values::add_float_modes() {
  const FloatControls* controls[] = {&features_.of16, &features_.of32, &features_.of64};
  for (int i = 0; i < 3; ++i) {
    if (!uses_[i]) continue;
    const auto mode = [&](bool promised, spv::Capability capability, spv::ExecutionMode mode) {
      if (!promised) return;
      module_.capability(capability);
      module_.execution_mode(mode, {16u << i});
    };
    mode(controls[i]->keeps_special, spv::Capability::SignedZeroInfNanPreserve,
         spv::ExecutionMode::SignedZeroInfNanPreserve);
    mode(controls[i]->keeps_subnormals, spv::Capability::DenormPreserve,
         spv::ExecutionMode::DenormPreserve);
    mode(controls[i]->rounds_to_even, spv::Capability::RoundingModeRTE,
         spv::ExecutionMode::RoundingModeRTE);
  }
}

}  // namespace stria::vulkan
