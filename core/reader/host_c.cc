// SPDX-License-Identifier: Apache-2.0
#include "stria/reader/host_c.h"

namespace stria::reader {
namespace {

using semtree::Dialect;

constexpr const char* kPreamble = R"(#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0
#error "floats are computed with more digits than they have"
#endif
_Static_assert(sizeof(long) == 8 && sizeof(int) == 4, "a 64-bit machine with long of 64 bits");

)";

void add_types(Dialect& out) {
  out.types = {
      {DataType::boolean, "bool"},  {DataType::i8, "int8_t"},     {DataType::i16, "int16_t"},
      {DataType::i32, "int32_t"},   {DataType::i64, "int64_t"},   {DataType::u8, "uint8_t"},
      {DataType::u16, "uint16_t"},  {DataType::u32, "uint32_t"},  {DataType::u64, "uint64_t"},
      {DataType::fp16, "uint16_t"}, {DataType::bf16, "uint16_t"}, {DataType::fp32, "float"},
      {DataType::fp64, "double"}};
  out.memory_types = {{DataType::boolean, "uint8_t"}};
}

// `name` as the C library has it for both float types.
void add_function(Dialect& out, const std::string& key, const std::string& name, int operands) {
  const std::string arguments = operands == 1 ? "($0)" : "($0, $1)";
  out.spellings[key + ".fp32"] = {name + "f" + arguments, {}};
  out.spellings[key + ".fp64"] = {name + arguments, {}};
}

void add_operations(Dialect& out) {
  auto& s = out.spellings;
  auto& h = out.helpers;
  for (const char* name :
       {"exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
        "acosh", "atanh", "sqrt", "floor", "ceil", "trunc"})
    add_function(out, name, name, 1);
  add_function(out, "abs", "fabs", 1);
  add_function(out, "round_even", "rint", 1);
  add_function(out, "round_away", "round", 1);
  add_function(out, "pow", "pow", 2);
  add_function(out, "rem", "fmod", 2);
  s["fma"] = {"($0 * $1 + $2)", {}};

  s["abs.signed"] = {"stria_abs_$t($0)", {"abs"}};
  h["abs"] = {"static inline $T stria_abs_$t($T x) { return x < 0 ? ($T)(0 - ($U)x) : x; }", {}};
  s["floor_div.signed"] = {"stria_floor_div_$t($0, $1)", {"floor_div"}};
  h["floor_div"] = {
      "static inline $T stria_floor_div_$t($T a, $T b) { return ($T)(a / b - (a % b < 0)); }", {}};
  s["floor_div.unsigned"] = {"($0 / $1)", {}};
  s["min"] = {"stria_min_$t($0, $1)", {"min"}};
  h["min"] = {"static inline $T stria_min_$t($T a, $T b) { return b < a ? b : a; }", {}};
  s["max"] = {"stria_max_$t($0, $1)", {"max"}};
  h["max"] = {"static inline $T stria_max_$t($T a, $T b) { return a < b ? b : a; }", {}};

  s["literal.infinity.fp32"] = {"INFINITY", {}};
  s["literal.infinity.fp64"] = {"(double)INFINITY", {}};
  s["literal.nan.fp32"] = {"NAN", {}};
  s["literal.nan.fp64"] = {"(double)NAN", {}};
  s["reinterpret"] = {"stria_bits_$s_as_$t($0)", {"reinterpret"}};
  h["reinterpret"] = {
      "static inline $T stria_bits_$s_as_$t($S x)\n{\n"
      "  union { $S from; $T to; } both = {x};\n"
      "  return both.to;\n}",
      {}};
}

// Sizes and strides are the same in every call from one place. The function is found through a
// variable that whoever loads the code sets (micro_kernel_variables).
void add_micro_kernels(Dialect& out) {
  out.aligned = "_Alignas(64)";
  out.spellings["micro_kernel"] = {
      "{\n"
      "  void* const stria_operands[] = {$1};\n"
      "  static const int64_t stria_sizes[] = {$2};\n"
      "  static const int64_t stria_strides[] = {$3};\n"
      "  stria_micro_$0(stria_operands, stria_sizes, stria_strides);\n"
      "}",
      {}};
}

// Float to integer: toward zero, the nearest limit beyond it, NaN gives 0.
void add_saturation(Dialect& out) {
  out.spellings["convert.float.signed"] = {"stria_saturate_$s_$t($0)", {"saturate.signed"}};
  out.helpers["saturate.signed"] = {
      "static inline $T stria_saturate_$s_$t($S x)\n{\n"
      "  const uint64_t limit = UINT64_C(1) << (8 * sizeof($T) - 1);\n"
      "  if (x != x) return 0;\n"
      "  if (x >= ($S)limit) return ($T)(limit - 1);\n"
      "  return x < -($S)limit ? ($T)(-(int64_t)(limit - 1) - 1) : ($T)x;\n}",
      {}};
  out.spellings["convert.float.unsigned"] = {"stria_saturate_$s_$t($0)", {"saturate.unsigned"}};
  out.helpers["saturate.unsigned"] = {
      "static inline $T stria_saturate_$s_$t($S x)\n{\n"
      "  const $S limit = 2 * ($S)(UINT64_C(1) << (8 * sizeof($T) - 1));\n"
      "  if (!(x > 0)) return 0;\n"
      "  return x >= limit ? ($T)~($T)0 : ($T)x;\n}",
      {}};
}

// fp16 and bf16 are bits until they are fp32. Numbers that would be rounded to fp32 on the way are
// rounded there to odd: toward zero with the last bit set if anything was lost, so that the second
// rounding is as if it were the only one.
void add_storage_types(Dialect& out) {
  auto& s = out.spellings;
  auto& h = out.helpers;
  s["convert.fp16.fp32"] = {"stria_from_fp16($0)", {"from_fp16"}};
  h["from_fp16"] = {
      "static inline float stria_from_fp16(uint16_t x)\n{\n"
      "  const uint32_t magnitude = x & 0x7fffu;\n"
      "  union { uint32_t bits; float value; } out;\n"
      "  if (magnitude >= 0x7c00u) out.bits = 0x7f800000u | (magnitude & 0x3ffu) << 13;\n"
      "  else if (magnitude >= 0x400u) out.bits = (magnitude << 13) + 0x38000000u;\n"
      "  else out.value = (float)magnitude * 0x1p-24f;\n"
      "  out.bits |= (uint32_t)(x & 0x8000u) << 16;\n"
      "  return out.value;\n}",
      {}};
  s["convert.bf16.fp32"] = {"stria_from_bf16($0)", {"from_bf16"}};
  h["from_bf16"] = {
      "static inline float stria_from_bf16(uint16_t x)\n{\n"
      "  union { uint32_t bits; float value; } out = {(uint32_t)x << 16};\n"
      "  return out.value;\n}",
      {}};
  s["convert.fp32.fp16"] = {"stria_to_fp16($0)", {"to_fp16"}};
  // 0x477ff000 is 65520, from which on numbers round to infinity; 0x38800000 the least number that
  // is not subnormal. Of others the sum with 0.5 has the bits of the result at its end.
  h["to_fp16"] = {
      "static inline uint16_t stria_to_fp16(float x)\n{\n"
      "  union { float value; uint32_t bits; } in = {x};\n"
      "  const uint32_t sign = in.bits >> 16 & 0x8000u;\n"
      "  in.bits &= 0x7fffffffu;\n"
      "  if (in.bits > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);\n"
      "  if (in.bits >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);\n"
      "  if (in.bits >= 0x38800000u)\n"
      "    return (uint16_t)(sign | (in.bits + 0xfffu + (in.bits >> 13 & 1u) - 0x38000000u) >> "
      "13);\n"
      "  in.value += 0.5f;\n"
      "  return (uint16_t)(sign | (in.bits - 0x3f000000u));\n}",
      {}};
  s["convert.fp32.bf16"] = {"stria_to_bf16($0)", {"to_bf16"}};
  h["to_bf16"] = {
      "static inline uint16_t stria_to_bf16(float x)\n{\n"
      "  union { float value; uint32_t bits; } in = {x};\n"
      "  if (x != x) return (uint16_t)(in.bits >> 16 | 0x40u);\n"
      "  return (uint16_t)((in.bits + (in.bits >> 16 & 1u) + 0x7fffu) >> 16);\n}",
      {}};
  for (const char* to : {"fp16", "bf16"}) {
    const std::string name = to, helper = "to_" + name;
    s["convert.bool." + name] = {"stria_" + helper + "((float)$0)", {helper}};
    s["convert.fp64." + name] = {"stria_" + helper + "(stria_odd_$s($0))", {helper, "odd.float"}};
  }
  h["odd.float"] = {
      "static inline float stria_odd_$s($S x)\n{\n"
      "  union { float value; uint32_t bits; } out = {(float)x};\n"
      "  if (x != x || ($S)out.value == x) return out.value;\n"
      "  if (x < 0 ? ($S)out.value < x : ($S)out.value > x) --out.bits;\n"
      "  out.bits |= 1u;\n"
      "  return out.value;\n}",
      {}};
  h["odd.unsigned"] = {
      "static inline float stria_odd_integer(uint64_t x)\n{\n"
      "  const int lost = x >> 24 ? 40 - __builtin_clzll(x) : 0;\n"
      "  const uint64_t kept = x >> lost;\n"
      "  return ldexpf((float)(kept | (kept << lost != x)), lost);\n}",
      {}};
  h["odd.signed"] = {
      "static inline float stria_odd_$s($S x)\n{\n"
      "  const float size = stria_odd_integer(x < 0 ? 0 - (uint64_t)x : (uint64_t)x);\n"
      "  return x < 0 ? -size : size;\n}",
      {"odd.unsigned"}};
  // What fp32 rounds is beyond the largest fp16.
  for (const std::string from : {"signed", "unsigned"})
    s["convert." + from + ".fp16"] = {"stria_to_fp16((float)($0))", {"to_fp16"}};
  s["convert.signed.bf16"] = {"stria_to_bf16(stria_odd_$s($0))", {"to_bf16", "odd.signed"}};
  s["convert.unsigned.bf16"] = {"stria_to_bf16(stria_odd_integer($0))",
                                {"to_bf16", "odd.unsigned"}};
}

Dialect make_dialect() {
  Dialect out;
  add_types(out);
  add_operations(out);
  add_saturation(out);
  add_storage_types(out);
  add_micro_kernels(out);
  out.kernel = "static inline void stria_points_$1(int64_t stria_first, int64_t stria_end$3)";
  out.no_alias = "restrict";
  out.first_point = "stria_first";
  out.end_point = "stria_end";
  out.preamble = kPreamble;
  return out;
}

}  // namespace

const Dialect& host_c() {
  static const Dialect dialect = make_dialect();
  return dialect;
}

semtree::BuildOptions host_c_options() {
  semtree::BuildOptions out;
  out.max_lanes = 1;
  out.micro_kernels = true;
  return out;
}

std::string micro_kernel_variables(const std::set<std::string>& symbols) {
  std::string out;
  for (const std::string& symbol : symbols)
    out += fmt::format(
        "void (*stria_micro_{})(void* const* operands, const int64_t* sizes,\n"
        "                       const int64_t* strides);\n",
        symbol);
  return symbols.empty() ? out : "\n" + out;
}

std::string entry_point(const std::string& symbol, size_t parameters) {
  std::string out = fmt::format(
      "\nvoid {}(void* const* stria_arguments, int64_t stria_first, int64_t stria_end)\n{{\n"
      "  stria_points_{}(stria_first, stria_end",
      symbol, symbol);
  for (size_t i = 0; i < parameters; ++i) out += fmt::format(", stria_arguments[{}], 0", i);
  return out + ");\n}\n";
}

}  // namespace stria::reader
