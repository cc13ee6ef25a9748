// SPDX-License-Identifier: Apache-2.0
#include "dialect.h"

#include "ptx.h"

namespace stria::cuda {
namespace {

// Keywords, and names that the preamble and the spellings below use.
const char* const kReserved[] = {
    "alignas",   "alignof",  "and",       "asm",       "auto",      "bool",      "break",
    "case",      "catch",    "char",      "class",     "const",     "constexpr", "continue",
    "decltype",  "default",  "delete",    "do",        "double",    "else",      "enum",
    "explicit",  "export",   "extern",    "false",     "float",     "for",       "friend",
    "goto",      "if",       "inline",    "int",       "long",      "mutable",   "namespace",
    "new",       "noexcept", "not",       "nullptr",   "operator",  "or",        "private",
    "protected", "public",   "register",  "requires",  "return",    "short",     "signed",
    "sizeof",    "static",   "struct",    "switch",    "template",  "this",      "throw",
    "true",      "try",      "typedef",   "typeid",    "typename",  "union",     "unsigned",
    "using",     "virtual",  "void",      "volatile",  "wchar_t",   "while",     "xor",
    "main",      "lanes",    "i8",        "u8",        "u16",       "u32",       "u64",
    "select",    "any_of",   "all_of",    "bits_as",   "pair_bits", "nan_max",   "nan_min",
    "lesser",    "greater",  "floor_div", "saturated", "from_fp16", "to_fp16",   "from_bf16",
    "to_bf16",   "to_odd",   "absolute",  "converted", "bits_of",   "lanes_of",  "fma",
    "sqrt",      "floor",    "ceil",      "trunc",     "rint",      "round",     "fabs",
    "exp",       "log",      "sin",       "cos",       "tan",       "asin",      "acos",
    "atan",      "sinh",     "cosh",      "tanh",      "asinh",     "acosh",     "atanh",
    "pow",       "fmod",     "blockIdx",  "blockDim",  "threadIdx", "gridDim",   "warpSize",
    "abs",       "min",      "max"};

void add_conversions(semtree::Dialect& out) {
  auto& s = out.spellings;
  s["convert.float.signed"] = s["convert.float.unsigned"] = {"saturated<$T>($0)", {}};
  s["convert.fp16.fp32"] = {"from_fp16($0)", {}};
  s["convert.bf16.fp32"] = {"from_bf16($0)", {}};
  s["convert.fp32.fp16"] = {"to_fp16($0)", {}};
  s["convert.fp32.bf16"] = {"to_bf16($0)", {}};
  s["convert.fp64.fp16"] = {"to_fp16(to_odd($0))", {}};
  s["convert.fp64.bf16"] = {"to_bf16(to_odd($0))", {}};
  for (const char* from : {"signed", "unsigned"}) {
    // What fp32 rounds is beyond the largest fp16.
    s[std::string("convert.") + from + ".fp16"] = {"to_fp16((float)($0))", {}};
    s[std::string("convert.") + from + ".bf16"] = {"to_bf16(to_odd((long)($0)))", {}};
    s[std::string("convert.") + from + ".fp16.lanes"] = {
        "lanes_to_fp16<$T>(converted<float_x$n>($0))", {}};
    s[std::string("convert.") + from + ".bf16.lanes"] = {
        "lanes_to_bf16<$T>(lanes_to_odd<float_x$n>(converted<long_x$n>($0)))", {}};
  }
  s["convert.unsigned.bf16"] = {"to_bf16(to_odd((u64)($0)))", {}};
  s["convert.unsigned.bf16.lanes"] = {
      "lanes_to_bf16<$T>(lanes_to_odd<float_x$n>(converted<u64_x$n>($0)))", {}};
  for (const char* to : {"fp16", "bf16"}) {
    const std::string key = std::string("convert.bool.") + to, helper = std::string("to_") + to;
    s[key] = {helper + "((float)($0))", {}};
    s[key + ".lanes"] = {"lanes_" + helper + "<$T>(converted<float_x$n>($0 & int_x$n(1)))", {}};
  }
  s["convert.fp16.fp32.lanes"] = {"lanes_from_fp16<$T>($0)", {}};
  s["convert.bf16.fp32.lanes"] = {"lanes_from_bf16<$T>($0)", {}};
  s["convert.fp32.fp16.lanes"] = {"lanes_to_fp16<$T>($0)", {}};
  s["convert.fp32.bf16.lanes"] = {"lanes_to_bf16<$T>($0)", {}};
  s["convert.fp64.fp16.lanes"] = {"lanes_to_fp16<$T>(lanes_to_odd<float_x$n>($0))", {}};
  s["convert.fp64.bf16.lanes"] = {"lanes_to_bf16<$T>(lanes_to_odd<float_x$n>($0))", {}};
  s["convert"] = {"converted<$T>($0)", {}};
  for (const auto& [type, name] : out.types)
    if (is_integer(type))
      for (const char* from : {"fp32", "fp64"})
        s[std::string("convert.") + from + "." + std::string(name_of(type)) + ".lanes"] = {
            "lanes_saturated<$T, " + name + ">($0)", {}};
}

}  // namespace

semtree::Dialect dialect() {
  semtree::Dialect out;
  out.types = {{DataType::boolean, "bool"}, {DataType::i8, "i8"},    {DataType::i16, "short"},
               {DataType::i32, "int"},      {DataType::i64, "long"}, {DataType::u8, "u8"},
               {DataType::u16, "u16"},      {DataType::u32, "u32"},  {DataType::u64, "u64"},
               {DataType::fp16, "u16"},     {DataType::bf16, "u16"}, {DataType::fp32, "float"},
               {DataType::fp64, "double"}};
  out.memory_types = {{DataType::boolean, "u8"}};
  out.lane_mask = "int";
  out.vector_mark = "_x";
  auto& s = out.spellings;
  s["rem.float"] = {"fmod($0, $1)", {}};
  s["floor_div.signed"] = {"floor_div($0, $1)", {}};
  s["min"] = {"lesser($0, $1)", {}};
  s["max"] = {"greater($0, $1)", {}};
  s["abs.signed"] = {"absolute($0)", {}};
  s["abs.float"] = {"fabs($0)", {}};
  s["round_even"] = {"rint($0)", {}};
  s["round_away"] = {"round($0)", {}};
  s["fma"] = {"fma($0, $1, $2)", {}};
  for (const char* name :
       {"sqrt", "floor", "ceil", "trunc", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"})
    s[name] = {std::string(name) + "($0)", {}};
  for (const char* name : {"pow", "nan_max", "nan_min"})
    s[name] = {std::string(name) + "($0, $1)", {}};
  s["literal.infinity.fp32"] = {"bits_as<float>(0x7f800000u)", {}};
  s["literal.infinity.fp64"] = {"bits_as<double>(0x7ff0000000000000UL)", {}};
  s["literal.nan.fp32"] = {"bits_as<float>(0x7fc00000u)", {}};
  s["literal.nan.fp64"] = {"bits_as<double>(0x7ff8000000000000UL)", {}};
  s["load"] = {"load_lanes<$T>($0)", {}};
  s["store"] = {"store_lanes($0, $1)", {}};
  s["lanes"] = {"lanes_of<$T>($0)", {}};
  s["component"] = {"$1.v[0x$0]", {}};
  s["reinterpret"] = {"bits_as<$T>($0)", {}};
  s["select"] = {"select($0, $1, $2)", {}};
  s["to_mask"] = {"$0", {}};
  s["mask_as"] = {"$0", {}};
  s["mask_bits"] = {"($0 & 1)", {}};
  s["any"] = {"any_of($0)", {}};
  s["all"] = {"all_of($0)", {}};
  s["pair"] = {"pair_bits($0)", {}};
  for (const char* name : {"barrier", "barrier.parameters"}) s[name] = {"__syncthreads()", {}};
  ptx::add_instructions(out);
  add_conversions(out);
  out.kernel = "extern \"C\" __global__ void __launch_bounds__($0)\n$1($2)";
  out.no_alias = "__restrict__";
  out.point = "(blockIdx.x * (long)blockDim.x + threadIdx.x)";
  out.group = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
  out.lane = "threadIdx.x";
  out.shared_space = "__shared__";
  out.preamble = preamble();
  out.reserved.insert(std::begin(kReserved), std::end(kReserved));
  return out;
}

semtree::SourceOptions source_options() {
  semtree::SourceOptions out;
  out.build.max_lanes = 16;
  out.build.only_powers_of_two_lanes = true;
  out.build.enough_parallel_points = INT32_MAX;
  out.build.narrow_indices = true;
  out.build.shared_vector_bytes = 16;
  out.group_points = 128;
  out.build.largest_grid = {INT32_MAX, 65535, 65535};  // of every compute capability
  return out;
}

}  // namespace stria::cuda
