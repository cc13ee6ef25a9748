// SPDX-License-Identifier: Apache-2.0
#include "emit/dialect.h"

#include "dialects/ptx.h"

namespace stria::opencl {
namespace {

using semtree::Dialect;

void add_types(Dialect& out, const Features& features) {
  out.types = {{DataType::boolean, "bool"}, {DataType::i8, "char"},     {DataType::i16, "short"},
               {DataType::i32, "int"},      {DataType::i64, "long"},    {DataType::u8, "uchar"},
               {DataType::u16, "ushort"},   {DataType::u32, "uint"},    {DataType::u64, "ulong"},
               {DataType::fp16, "ushort"},  {DataType::bf16, "ushort"}, {DataType::fp32, "float"}};
  if (features.fp64) out.types[DataType::fp64] = "double";
  out.memory_types = {{DataType::boolean, "uchar"}};
  out.lane_mask = "int";
}

void add_operations(Dialect& out, const Features& features) {
  auto& s = out.spellings;
  s["rem.float"] = {"fmod($0, $1)", {}};
  s["floor_div.signed"] = {"stria_floor_div_$t($0, $1)", {"floor_div"}};
  for (const char* name : {"min", "max"}) s[name] = {std::string(name) + "($0, $1)", {}};
  s["abs.signed"] = {"as_$T(abs($0))", {}};
  s["abs.float"] = {"fabs($0)", {}};
  for (const char* name : {"sqrt", "floor", "ceil", "trunc"})
    s[name] = {std::string(name) + "($0)", {}};
  s["round_even"] = {"rint($0)", {}};
  s["round_away"] = {"round($0)", {}};
  s["fma"] = {features.fma ? "fma($0, $1, $2)" : "($0 * $1 + $2)", {}};
  s["barrier"] = {"barrier(CLK_LOCAL_MEM_FENCE)", {}};
  s["barrier.parameters"] = {"barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", {}};
  for (const char* name : {"exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
                           "cosh", "tanh", "asinh", "acosh", "atanh"})
    s[name] = {std::string(name) + "($0)", {}};
  s["pow"] = {"pow($0, $1)", {}};
  if (features.fast_math) {
    s["fma.fp32"] = {"mad($0, $1, $2)", {}};
    // Not sin, cos and tan: their native forms hold for a few periods only.
    for (const char* name : {"exp", "log", "sqrt"})
      s[std::string(name) + ".fp32"] = {std::string("native_") + name + "($0)", {}};
  }
  s["pair"] = {"as_uint($0)", {}};
  if (features.mma) ptx::add_instructions(out);
  s["nan_max"] = {"stria_nan_max_$t($0, $1)", {"nan_max"}};
  s["nan_min"] = {"stria_nan_min_$t($0, $1)", {"nan_min"}};
  s["literal.infinity.fp32"] = {"INFINITY", {}};
  s["literal.infinity.fp64"] = {"(double)INFINITY", {}};
  s["literal.nan.fp32"] = {"NAN", {}};
  s["literal.nan.fp64"] = {"(double)NAN", {}};

  auto& h = out.helpers;
  h["floor_div"] = {"$T stria_floor_div_$t($T a, $T b) { return a / b - (a % b < 0); }", {}};
  h["nan_max"] = {"$T stria_nan_max_$t($T a, $T b) { return a != a || b < a ? a : b; }", {}};
  h["nan_min"] = {"$T stria_nan_min_$t($T a, $T b) { return a != a || a < b ? a : b; }", {}};
}

void add_lanes(Dialect& out) {
  auto& s = out.spellings;
  // PoCL 3.1 reduces the arguments of all lanes of sin, cos and tan in the way that the largest
  // needs, and is wrong for the small ones; PoCL 5.0 with AVX-512 is wrong in pow and fmod of
  // doubles. One by one they are right.
  struct OneByOne {
    const char *name, *function, *type, *element;
    bool two;  // operands
  };
  for (const OneByOne& f : {OneByOne{"sin", "sin", "fp32", "float", false},
                            {"cos", "cos", "fp32", "float", false},
                            {"tan", "tan", "fp32", "float", false},
                            {"sin", "sin", "fp64", "double", false},
                            {"cos", "cos", "fp64", "double", false},
                            {"tan", "tan", "fp64", "double", false},
                            {"pow", "pow", "fp64", "double", true},
                            {"rem", "fmod", "fp64", "double", true}}) {
    const std::string name = f.function, helper = name + "_of_lanes." + f.type;
    s[std::string(f.name) + "." + f.type + ".lanes"] = {
        "stria_" + name + "_of_lanes_$t$n($0" + (f.two ? ", $1)" : ")"), {helper}};
    out.helpers[helper] = {
        "$T stria_" + name + "_of_lanes_$t$n($T x" + (f.two ? ", $T y" : "") +
            ") { union { $T lanes; " + f.element + " one[$n]; } u" + (f.two ? ", v" : "") +
            "; u.lanes = x; " + (f.two ? "v.lanes = y; " : "") +
            "for (int i = 0; i < $n; ++i) u.one[i] = " + name +
            (f.two ? "(u.one[i], v.one[i])" : "(u.one[i])") + "; return u.lanes; }",
        {}};
  }
  s["load"] = {"vload$n(0, $0)", {}};
  s["store"] = {"vstore$n($1, 0, $0)", {}};
  s["load.aligned"] = {"*(const __local $T*)($0)", {}};
  s["store.aligned"] = {"*(__local $T*)($0) = $1", {}};
  s["load.parameter"] = {"STRIA_LOAD_ROW($T, $n, $0)", {"rows"}};
  s["store.parameter"] = {"STRIA_STORE_ROW($T, $n, $0, $1)", {"rows"}};
  // Tensors begin at multiples of the widest vector, unless a caller says otherwise.
  out.helpers["rows"] = {
      "#ifdef " + std::string(kAnyOffset) +
          "\n#define STRIA_LOAD_ROW(type, n, at) vload##n(0, at)\n"
          "#define STRIA_STORE_ROW(type, n, at, value) vstore##n(value, 0, at)\n#else\n"
          "#define STRIA_LOAD_ROW(type, n, at) (*(const __global type*)(at))\n"
          "#define STRIA_STORE_ROW(type, n, at, value) (*(__global type*)(at) = value)\n#endif",
      {}};
  s["component"] = {"$1.s$0", {}};
  s["convert"] = {"convert_$T($0)", {}};
  s["reinterpret"] = {"as_$T($0)", {}};
  s["select"] = {"select($2, $1, $0)", {}};
  s["to_mask"] = {"convert_$T$0", {}};  // comparisons come in parentheses
  s["mask_as"] = {"convert_$I($0)", {}};
  s["mask_bits"] = {"($0 & 1)", {}};
  s["any"] = {"(any($0) != 0)", {}};
  s["all"] = {"(all($0) != 0)", {}};
}

// fp16 and bf16 are bits until they are fp32. Numbers that would be rounded to fp32 on the way are
// rounded there to odd: toward zero with the last bit set if anything was lost, so that the second
// rounding is as if it were the only one.
void add_conversions(Dialect& out, const Features& features) {
  auto& s = out.spellings;
  auto& h = out.helpers;
  s["convert.float.signed"] = s["convert.float.unsigned"] = {"stria_sat_$s_$t$n($0)", {"sat"}};
  h["sat"] = {
      "$T stria_sat_$s_$t$n($S x) { return select(convert_$T_sat(x), ($T)0, convert_$I(isnan(x))); "
      "}",
      {}};
  s["convert.fp16.fp32"] = {"stria_from_fp16$n($0)", {"from_fp16"}};
  s["convert.bf16.fp32"] = {"as_float$n(convert_uint$n($0) << 16)", {}};
  s["convert.fp32.fp16"] = {"stria_to_fp16$n($0)", {"to_fp16"}};
  s["convert.fp32.bf16"] = {"stria_to_bf16$n($0)", {"to_bf16"}};
  s["convert.fp64.fp16"] = {"stria_to_fp16$n(stria_odd_$s$n($0))", {"to_fp16", "odd"}};
  s["convert.fp64.bf16"] = {"stria_to_bf16$n(stria_odd_$s$n($0))", {"to_bf16", "odd"}};
  for (const char* from : {"signed", "unsigned"}) {
    // What fp32 rounds is beyond the largest fp16.
    s[std::string("convert.") + from + ".fp16"] = {"stria_to_fp16$n(convert_float$n($0))",
                                                   {"to_fp16"}};
    s[std::string("convert.") + from + ".bf16"] = {"stria_to_bf16$n(stria_odd_$s$n($0))",
                                                   {"to_bf16", "odd"}};
  }
  for (const char* to : {"fp16", "bf16"}) {
    const std::string key = std::string("convert.bool.") + to, helper = std::string("to_") + to;
    s[key] = {"stria_" + helper + "((float)$0)", {helper}};
    s[key + ".lanes"] = {"stria_" + helper + "$n(convert_float$n($0 & 1))", {helper}};
  }
  if (features.fp16) {
    h["from_fp16"] = {
        "float$n stria_from_fp16$n(ushort$n x) { return convert_float$n(as_half$n(x)); }", {}};
    h["to_fp16"] = {
        "ushort$n stria_to_fp16$n(float$n x) { return as_ushort$n(convert_half$n_rte(x)); }", {}};
  } else {
    h["from_fp16"] = {
        "float$n stria_from_fp16$n(ushort$n x) { return vload_half$n(0, (const half*)&x); }", {}};
    h["to_fp16"] = {
        "ushort$n stria_to_fp16$n(float$n x) { ushort$n bits; vstore_half$n_rte(x, 0, "
        "(half*)&bits); "
        "return bits; }",
        {}};
  }
  h["to_bf16"] = {
      "ushort$n stria_to_bf16$n(float$n x)\n{\n"
      "  const uint$n bits = as_uint$n(x);\n"
      "  const uint$n rounded = (bits + (((bits >> 16) & 1u) + 0x7fffu)) >> 16;\n"
      "  return convert_ushort$n(select(rounded, (bits >> 16) | 0x40u, isnan(x)));\n}",
      {}};
  h["odd"] = {
      "float$n stria_odd_$s$n($S x)\n{\n"
      "  const float$n f = convert_float$n_rtz(x);\n"
      "  const int$n lost = convert_int$n(convert_$S(f) != x);\n"
      "  return as_float$n(as_uint$n(f) | select((uint$n)0, (uint$n)1, lost));\n}",
      {}};
}

}  // namespace

const char* const kHalfProbe = R"(#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void stria_half_probe(__global ushort* x)
{
  const half4 a = as_half4(vload4(0, x));
  vstore4(as_ushort4(convert_half4_rte(convert_float4(a * a + a))), 0, x);
}
)";

Dialect dialect(const Features& features) {
  Dialect out;
  add_types(out, features);
  add_operations(out, features);
  add_lanes(out);
  add_conversions(out, features);
  out.kernel = "__kernel __attribute__((reqd_work_group_size($0, 1, 1)))\nvoid $1($2)";
  out.pointer_space = "__global";
  out.no_alias = "restrict";
  out.point = "get_global_id(0)";
  out.group = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"};
  out.lane = "get_local_id(0)";
  out.shared_space = "__local";
  out.shared_aligned = fmt::format("__attribute__((aligned({})))", semtree::kMemoryAlignment);
  if (features.fp64) out.preamble = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (features.fp16) out.preamble += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  return out;
}

semtree::SourceOptions source_options() {
  semtree::SourceOptions out;
  out.build.max_lanes = 16;
  out.build.only_powers_of_two_lanes = true;
  out.build.narrow_indices = true;
  out.build.shared_vector_bytes = 16;
  // OpenCL has no question for it. This is the limit of NVIDIA's devices; that of others is not
  // known, and a launch beyond it is refused with its sizes.
  out.build.largest_grid = {INT32_MAX, 65535, 65535};
  return out;
}

}  // namespace stria::opencl
