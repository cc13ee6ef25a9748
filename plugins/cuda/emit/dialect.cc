// SPDX-License-Identifier: Apache-2.0
#include "dialect.h"

#include "dialects/ptx.h"

namespace stria::cuda {
namespace {

void add_conversions(semtree::Dialect& out) {
  auto& s = out.spellings;
  s["convert.float.signed"] = s["convert.float.unsigned"] = {"stria_saturated<$T>($0)", {}};
  s["convert.fp16.fp32"] = {"stria_from_fp16($0)", {}};
  s["convert.bf16.fp32"] = {"stria_from_bf16($0)", {}};
  s["convert.fp32.fp16"] = {"stria_to_fp16($0)", {}};
  s["convert.fp32.bf16"] = {"stria_to_bf16($0)", {}};
  s["convert.fp64.fp16"] = {"stria_to_fp16(stria_to_odd($0))", {}};
  s["convert.fp64.bf16"] = {"stria_to_bf16(stria_to_odd($0))", {}};
  for (const char* from : {"signed", "unsigned"}) {
    // What fp32 rounds is beyond the largest fp16.
    s[std::string("convert.") + from + ".fp16"] = {"stria_to_fp16((float)($0))", {}};
    s[std::string("convert.") + from + ".bf16"] = {"stria_to_bf16(stria_to_odd((long)($0)))", {}};
    s[std::string("convert.") + from + ".fp16.lanes"] = {
        "stria_lanes_to_fp16<$T>(stria_converted<stria_fp32_x$n>($0))", {}};
    s[std::string("convert.") + from + ".bf16.lanes"] = {
        "stria_lanes_to_bf16<$T>(stria_lanes_to_odd<stria_fp32_x$n>("
        "stria_converted<stria_i64_x$n>($0)))",
        {}};
  }
  s["convert.unsigned.bf16"] = {"stria_to_bf16(stria_to_odd((stria_u64)($0)))", {}};
  s["convert.unsigned.bf16.lanes"] = {
      "stria_lanes_to_bf16<$T>(stria_lanes_to_odd<stria_fp32_x$n>("
      "stria_converted<stria_u64_x$n>($0)))",
      {}};
  for (const char* to : {"fp16", "bf16"}) {
    const std::string key = std::string("convert.bool.") + to, helper = std::string("to_") + to;
    s[key] = {"stria_" + helper + "((float)($0))", {}};
    s[key + ".lanes"] = {
        "stria_lanes_" + helper + "<$T>(stria_converted<stria_fp32_x$n>($0 & stria_i32_x$n(1)))",
        {}};
  }
  s["convert.fp16.fp32.lanes"] = {"stria_lanes_from_fp16<$T>($0)", {}};
  s["convert.bf16.fp32.lanes"] = {"stria_lanes_from_bf16<$T>($0)", {}};
  s["convert.fp32.fp16.lanes"] = {"stria_lanes_to_fp16<$T>($0)", {}};
  s["convert.fp32.bf16.lanes"] = {"stria_lanes_to_bf16<$T>($0)", {}};
  s["convert.fp64.fp16.lanes"] = {"stria_lanes_to_fp16<$T>(stria_lanes_to_odd<stria_fp32_x$n>($0))",
                                  {}};
  s["convert.fp64.bf16.lanes"] = {"stria_lanes_to_bf16<$T>(stria_lanes_to_odd<stria_fp32_x$n>($0))",
                                  {}};
  s["convert"] = {"stria_converted<$T>($0)", {}};
  for (const auto& [type, name] : out.types)
    if (is_integer(type))
      for (const char* from : {"fp32", "fp64"})
        s[std::string("convert.") + from + "." + std::string(name_of(type)) + ".lanes"] = {
            "stria_lanes_saturated<$T, " + name + ">($0)", {}};
}

}  // namespace

semtree::Dialect dialect() {
  semtree::Dialect out;
  out.types = {
      {DataType::boolean, "bool"},   {DataType::i8, "stria_i8"},    {DataType::i16, "short"},
      {DataType::i32, "int"},        {DataType::i64, "long"},       {DataType::u8, "stria_u8"},
      {DataType::u16, "stria_u16"},  {DataType::u32, "stria_u32"},  {DataType::u64, "stria_u64"},
      {DataType::fp16, "stria_u16"}, {DataType::bf16, "stria_u16"}, {DataType::fp32, "float"},
      {DataType::fp64, "double"}};
  out.memory_types = {{DataType::boolean, "stria_u8"}};
  out.lane_types = {{DataType::i16, "stria_i16"},
                    {DataType::i32, "stria_i32"},
                    {DataType::i64, "stria_i64"},
                    {DataType::fp32, "stria_fp32"},
                    {DataType::fp64, "stria_fp64"}};
  out.lane_mask = "stria_i32";
  out.vector_mark = "_x";
  auto& s = out.spellings;
  s["rem.float"] = {"fmod($0, $1)", {}};
  s["rem.float.lanes"] = {"stria_fmod($0, $1)", {}};
  s["floor_div.signed"] = {"stria_floor_div($0, $1)", {}};
  s["min"] = {"stria_lesser($0, $1)", {}};
  s["max"] = {"stria_greater($0, $1)", {}};
  s["abs.signed"] = {"stria_absolute($0)", {}};
  s["abs.float"] = {"fabs($0)", {}};
  s["abs.float.lanes"] = {"stria_fabs($0)", {}};
  s["round_even"] = {"rint($0)", {}};
  s["round_even.lanes"] = {"stria_rint($0)", {}};
  s["round_away"] = {"round($0)", {}};
  s["round_away.lanes"] = {"stria_round($0)", {}};
  s["fma"] = {"fma($0, $1, $2)", {}};
  s["fma.lanes"] = {"stria_fma($0, $1, $2)", {}};
  for (const char* name :
       {"sqrt", "floor", "ceil", "trunc", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}) {
    s[name] = {std::string(name) + "($0)", {}};
    s[std::string(name) + ".lanes"] = {std::string("stria_") + name + "($0)", {}};
  }
  s["pow"] = {"pow($0, $1)", {}};
  s["pow.lanes"] = {"stria_pow($0, $1)", {}};
  for (const char* name : {"nan_max", "nan_min"})
    s[name] = {std::string("stria_") + name + "($0, $1)", {}};
  s["literal.infinity.fp32"] = {"stria_bits_as<float>(0x7f800000u)", {}};
  s["literal.infinity.fp64"] = {"stria_bits_as<double>(0x7ff0000000000000UL)", {}};
  s["literal.nan.fp32"] = {"stria_bits_as<float>(0x7fc00000u)", {}};
  s["literal.nan.fp64"] = {"stria_bits_as<double>(0x7ff8000000000000UL)", {}};
  s["load"] = {"stria_load_lanes<$T>($0)", {}};
  s["store"] = {"stria_store_lanes($0, $1)", {}};
  s["lanes"] = {"stria_lanes_of<$T>($0)", {}};
  s["component"] = {"$1.v[0x$0]", {}};
  s["reinterpret"] = {"stria_bits_as<$T>($0)", {}};
  s["select"] = {"stria_select($0, $1, $2)", {}};
  s["to_mask"] = {"$0", {}};
  s["mask_as"] = {"$0", {}};
  s["mask_bits"] = {"($0 & 1)", {}};
  s["any"] = {"stria_any_of($0)", {}};
  s["all"] = {"stria_all_of($0)", {}};
  s["pair"] = {"stria_pair_bits($0)", {}};
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
  return out;
}

semtree::SourceOptions source_options() {
  semtree::SourceOptions out;
  out.build.max_lanes = 16;
  out.build.only_powers_of_two_lanes = true;
  out.build.narrow_indices = true;
  out.build.shared_vector_bytes = 16;
  out.group_points = 128;
  out.build.largest_grid = {INT32_MAX, 65535, 65535};  // of every compute capability
  return out;
}

}  // namespace stria::cuda
