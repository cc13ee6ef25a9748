// SPDX-License-Identifier: Apache-2.0
// How SPIR-V's specification spells what this emitter uses, for text.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "emit/spirv.h"

namespace stria::vulkan {

// What an instruction's words are behind its first one:
//   t type of the result   r result    i id          n number       s text
//   v value of the type    C capability D decoration  B built-in     M execution mode
//   S storage class        A memory access           L loop control X instruction of GLSL.std.450
//   F function control     E execution model         a addressing model     m memory model
// A `*` behind one says that any number of them follow.
struct Form {
  spv::Op op;
  std::string_view name;
  std::string_view words;
};

inline constexpr Form kForms[] = {
    {spv::Op::OpName, "OpName", "is"},
    {spv::Op::OpMemberName, "OpMemberName", "ins"},
    {spv::Op::OpExtension, "OpExtension", "s"},
    {spv::Op::OpExtInstImport, "OpExtInstImport", "rs"},
    {spv::Op::OpExtInst, "OpExtInst", "triXi*"},
    {spv::Op::OpMemoryModel, "OpMemoryModel", "am"},
    {spv::Op::OpEntryPoint, "OpEntryPoint", "Eisi*"},
    {spv::Op::OpExecutionMode, "OpExecutionMode", "iMn*"},
    {spv::Op::OpCapability, "OpCapability", "C"},
    {spv::Op::OpTypeVoid, "OpTypeVoid", "r"},
    {spv::Op::OpTypeBool, "OpTypeBool", "r"},
    {spv::Op::OpTypeInt, "OpTypeInt", "rnn"},
    {spv::Op::OpTypeFloat, "OpTypeFloat", "rnn*"},
    {spv::Op::OpTypeVector, "OpTypeVector", "rin"},
    {spv::Op::OpTypeArray, "OpTypeArray", "rii"},
    {spv::Op::OpTypeStruct, "OpTypeStruct", "ri*"},
    {spv::Op::OpTypePointer, "OpTypePointer", "rSi"},
    {spv::Op::OpTypeFunction, "OpTypeFunction", "rii*"},
    {spv::Op::OpConstantTrue, "OpConstantTrue", "tr"},
    {spv::Op::OpConstantFalse, "OpConstantFalse", "tr"},
    {spv::Op::OpConstant, "OpConstant", "trv"},
    {spv::Op::OpConstantComposite, "OpConstantComposite", "tri*"},
    {spv::Op::OpUndef, "OpUndef", "tr"},
    {spv::Op::OpFunction, "OpFunction", "trFi"},
    {spv::Op::OpFunctionParameter, "OpFunctionParameter", "tr"},
    {spv::Op::OpFunctionEnd, "OpFunctionEnd", ""},
    {spv::Op::OpFunctionCall, "OpFunctionCall", "trii*"},
    {spv::Op::OpVariable, "OpVariable", "trS"},
    {spv::Op::OpLoad, "OpLoad", "triA"},
    {spv::Op::OpStore, "OpStore", "iiA"},
    {spv::Op::OpAccessChain, "OpAccessChain", "trii*"},
    {spv::Op::OpPtrAccessChain, "OpPtrAccessChain", "triii*"},
    {spv::Op::OpDecorate, "OpDecorate", "iD"},
    {spv::Op::OpMemberDecorate, "OpMemberDecorate", "inD"},
    {spv::Op::OpCompositeConstruct, "OpCompositeConstruct", "tri*"},
    {spv::Op::OpCompositeExtract, "OpCompositeExtract", "trin*"},
    {spv::Op::OpConvertFToU, "OpConvertFToU", "tri"},
    {spv::Op::OpConvertFToS, "OpConvertFToS", "tri"},
    {spv::Op::OpConvertSToF, "OpConvertSToF", "tri"},
    {spv::Op::OpConvertUToF, "OpConvertUToF", "tri"},
    {spv::Op::OpUConvert, "OpUConvert", "tri"},
    {spv::Op::OpSConvert, "OpSConvert", "tri"},
    {spv::Op::OpFConvert, "OpFConvert", "tri"},
    {spv::Op::OpConvertUToPtr, "OpConvertUToPtr", "tri"},
    {spv::Op::OpBitcast, "OpBitcast", "tri"},
    {spv::Op::OpSNegate, "OpSNegate", "tri"},
    {spv::Op::OpFNegate, "OpFNegate", "tri"},
    {spv::Op::OpIAdd, "OpIAdd", "trii"},
    {spv::Op::OpFAdd, "OpFAdd", "trii"},
    {spv::Op::OpISub, "OpISub", "trii"},
    {spv::Op::OpFSub, "OpFSub", "trii"},
    {spv::Op::OpIMul, "OpIMul", "trii"},
    {spv::Op::OpFMul, "OpFMul", "trii"},
    {spv::Op::OpUDiv, "OpUDiv", "trii"},
    {spv::Op::OpSDiv, "OpSDiv", "trii"},
    {spv::Op::OpFDiv, "OpFDiv", "trii"},
    {spv::Op::OpUMod, "OpUMod", "trii"},
    {spv::Op::OpLogicalEqual, "OpLogicalEqual", "trii"},
    {spv::Op::OpLogicalNotEqual, "OpLogicalNotEqual", "trii"},
    {spv::Op::OpLogicalOr, "OpLogicalOr", "trii"},
    {spv::Op::OpLogicalAnd, "OpLogicalAnd", "trii"},
    {spv::Op::OpLogicalNot, "OpLogicalNot", "tri"},
    {spv::Op::OpSelect, "OpSelect", "triii"},
    {spv::Op::OpIEqual, "OpIEqual", "trii"},
    {spv::Op::OpINotEqual, "OpINotEqual", "trii"},
    {spv::Op::OpUGreaterThan, "OpUGreaterThan", "trii"},
    {spv::Op::OpUGreaterThanEqual, "OpUGreaterThanEqual", "trii"},
    {spv::Op::OpULessThan, "OpULessThan", "trii"},
    {spv::Op::OpSLessThan, "OpSLessThan", "trii"},
    {spv::Op::OpULessThanEqual, "OpULessThanEqual", "trii"},
    {spv::Op::OpSLessThanEqual, "OpSLessThanEqual", "trii"},
    {spv::Op::OpFOrdEqual, "OpFOrdEqual", "trii"},
    {spv::Op::OpFOrdNotEqual, "OpFOrdNotEqual", "trii"},
    {spv::Op::OpFUnordNotEqual, "OpFUnordNotEqual", "trii"},
    {spv::Op::OpFOrdLessThan, "OpFOrdLessThan", "trii"},
    {spv::Op::OpFOrdGreaterThan, "OpFOrdGreaterThan", "trii"},
    {spv::Op::OpFOrdLessThanEqual, "OpFOrdLessThanEqual", "trii"},
    {spv::Op::OpFOrdGreaterThanEqual, "OpFOrdGreaterThanEqual", "trii"},
    {spv::Op::OpShiftRightLogical, "OpShiftRightLogical", "trii"},
    {spv::Op::OpShiftRightArithmetic, "OpShiftRightArithmetic", "trii"},
    {spv::Op::OpShiftLeftLogical, "OpShiftLeftLogical", "trii"},
    {spv::Op::OpBitwiseOr, "OpBitwiseOr", "trii"},
    {spv::Op::OpBitwiseXor, "OpBitwiseXor", "trii"},
    {spv::Op::OpBitwiseAnd, "OpBitwiseAnd", "trii"},
    {spv::Op::OpNot, "OpNot", "tri"},
    {spv::Op::OpBitFieldInsert, "OpBitFieldInsert", "triiii"},
    {spv::Op::OpBitFieldSExtract, "OpBitFieldSExtract", "triii"},
    {spv::Op::OpBitFieldUExtract, "OpBitFieldUExtract", "triii"},
    {spv::Op::OpControlBarrier, "OpControlBarrier", "iii"},
    {spv::Op::OpPhi, "OpPhi", "tri*"},
    {spv::Op::OpLoopMerge, "OpLoopMerge", "iiL"},
    {spv::Op::OpSelectionMerge, "OpSelectionMerge", "in"},
    {spv::Op::OpLabel, "OpLabel", "r"},
    {spv::Op::OpBranch, "OpBranch", "i"},
    {spv::Op::OpBranchConditional, "OpBranchConditional", "iii"},
    {spv::Op::OpReturn, "OpReturn", ""},
    {spv::Op::OpReturnValue, "OpReturnValue", "i"},
    {khr::OpTypeCooperativeMatrixKHR, "OpTypeCooperativeMatrixKHR", "riiiii"},
    {khr::OpCooperativeMatrixLoadKHR, "OpCooperativeMatrixLoadKHR", "triiiA"},
    {khr::OpCooperativeMatrixStoreKHR, "OpCooperativeMatrixStoreKHR", "iiiiA"},
    {khr::OpCooperativeMatrixMulAddKHR, "OpCooperativeMatrixMulAddKHR", "triii"},
    {khr::OpCooperativeMatrixLengthKHR, "OpCooperativeMatrixLengthKHR", "tri"},
};

// An enumerant of one of the kinds above.
struct Enumerant {
  char kind;
  uint32_t value;
  std::string_view name;
};

#define STRIA_SPIRV(kind, of, name) {kind, static_cast<uint32_t>(spv::of::name), #name}
#define STRIA_GLSL(name) {'X', GLSLstd450##name, #name}
inline constexpr Enumerant kEnumerants[] = {
    STRIA_SPIRV('C', Capability, Shader),
    STRIA_SPIRV('C', Capability, Float16),
    STRIA_SPIRV('C', Capability, Float64),
    STRIA_SPIRV('C', Capability, Int64),
    STRIA_SPIRV('C', Capability, Int16),
    STRIA_SPIRV('C', Capability, Int8),
    STRIA_SPIRV('C', Capability, StorageBuffer16BitAccess),
    STRIA_SPIRV('C', Capability, StorageBuffer8BitAccess),
    STRIA_SPIRV('C', Capability, DenormPreserve),
    STRIA_SPIRV('C', Capability, SignedZeroInfNanPreserve),
    STRIA_SPIRV('C', Capability, RoundingModeRTE),
    STRIA_SPIRV('C', Capability, VulkanMemoryModel),
    STRIA_SPIRV('C', Capability, PhysicalStorageBufferAddresses),
    STRIA_SPIRV('C', Capability, WorkgroupMemoryExplicitLayoutKHR),
    STRIA_SPIRV('C', Capability, WorkgroupMemoryExplicitLayout8BitAccessKHR),
    STRIA_SPIRV('C', Capability, WorkgroupMemoryExplicitLayout16BitAccessKHR),
    {'C', static_cast<uint32_t>(khr::CooperativeMatrixKHR), "CooperativeMatrixKHR"},
    {'C', static_cast<uint32_t>(khr::BFloat16TypeKHR), "BFloat16TypeKHR"},
    {'C', static_cast<uint32_t>(khr::BFloat16CooperativeMatrixKHR), "BFloat16CooperativeMatrixKHR"},
    STRIA_SPIRV('D', Decoration, Block),
    STRIA_SPIRV('D', Decoration, ArrayStride),
    STRIA_SPIRV('D', Decoration, BuiltIn),
    STRIA_SPIRV('D', Decoration, Aliased),
    STRIA_SPIRV('D', Decoration, Offset),
    STRIA_SPIRV('D', Decoration, NoContraction),
    STRIA_SPIRV('D', Decoration, NoSignedWrap),
    STRIA_SPIRV('D', Decoration, RestrictPointer),
    STRIA_SPIRV('D', Decoration, AliasedPointer),
    STRIA_SPIRV('B', BuiltIn, WorkgroupId),
    STRIA_SPIRV('B', BuiltIn, LocalInvocationId),
    STRIA_SPIRV('M', ExecutionMode, LocalSize),
    STRIA_SPIRV('M', ExecutionMode, DenormPreserve),
    STRIA_SPIRV('M', ExecutionMode, SignedZeroInfNanPreserve),
    STRIA_SPIRV('M', ExecutionMode, RoundingModeRTE),
    STRIA_SPIRV('S', StorageClass, Input),
    STRIA_SPIRV('S', StorageClass, Workgroup),
    STRIA_SPIRV('S', StorageClass, Function),
    STRIA_SPIRV('S', StorageClass, PushConstant),
    STRIA_SPIRV('S', StorageClass, PhysicalStorageBuffer),
    STRIA_SPIRV('E', ExecutionModel, GLCompute),
    STRIA_SPIRV('a', AddressingModel, PhysicalStorageBuffer64),
    STRIA_SPIRV('m', MemoryModel, Vulkan),
    {'L', 0, "None"},
    {'L', 1, "Unroll"},
    {'F', 0, "None"},
    STRIA_GLSL(RoundEven),
    STRIA_GLSL(Trunc),
    STRIA_GLSL(FAbs),
    STRIA_GLSL(Floor),
    STRIA_GLSL(Ceil),
    STRIA_GLSL(Exp),
    STRIA_GLSL(Log),
    STRIA_GLSL(Sqrt),
    STRIA_GLSL(UMin),
    STRIA_GLSL(SMin),
    STRIA_GLSL(UMax),
    STRIA_GLSL(SMax),
    STRIA_GLSL(Fma),
    STRIA_GLSL(UnpackHalf2x16),
};
#undef STRIA_SPIRV
#undef STRIA_GLSL

}  // namespace stria::vulkan
