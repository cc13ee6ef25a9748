// SPDX-License-Identifier: Apache-2.0
#include "emit/module.h"

#include <bit>

#include "stria/base/status.h"

namespace stria::vulkan {
namespace {

template <typename Enum>
uint32_t word(Enum value) {
  return static_cast<uint32_t>(value);
}

Words joined(Words first, const Words& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

}  // namespace

void append(Words& to, spv::Op op, const Words& operands) {
  // An instruction's length has 16 bits. Nothing that this emitter makes comes near.
  STRIA_CHECK(operands.size() < 0xffff, "a SPIR-V instruction of {} words", operands.size() + 1);
  to.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | word(op));
  to.insert(to.end(), operands.begin(), operands.end());
}

void append_text(Words& to, std::string_view text) {
  for (size_t at = 0; at <= text.size(); at += 4) {
    uint32_t packed = 0;
    for (size_t i = 0; i < 4 && at + i < text.size(); ++i)
      packed |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
    to.push_back(packed);
  }
}

void Module::capability(spv::Capability capability) { capabilities_.insert(capability); }
void Module::extension(std::string_view name) { extensions_.emplace(name); }

void Module::execution_mode(spv::ExecutionMode mode, const Words& operands) {
  STRIA_CHECK(entry_ != 0, "an execution mode before the entry point");
  const Words all = joined({entry_, word(mode)}, operands);
  if (annotated_.insert(joined({word(spv::Op::OpExecutionMode)}, all)).second)
    append(modes_, spv::Op::OpExecutionMode, all);
}

void Module::name(Id id, std::string_view name) {
  Words operands = {id};
  append_text(operands, name);
  append(names_, spv::Op::OpName, operands);
}

void Module::member_name(Id type, uint32_t member, std::string_view name) {
  Words operands = {type, member};
  append_text(operands, name);
  append(names_, spv::Op::OpMemberName, operands);
}

void Module::decorate(Id id, spv::Decoration decoration, const Words& operands) {
  const Words all = joined({id, word(decoration)}, operands);
  if (annotated_.insert(joined({word(spv::Op::OpDecorate)}, all)).second)
    append(decorations_, spv::Op::OpDecorate, all);
}

void Module::decorate_member(Id type, uint32_t member, spv::Decoration decoration,
                             const Words& operands) {
  const Words all = joined({type, member, word(decoration)}, operands);
  if (annotated_.insert(joined({word(spv::Op::OpMemberDecorate)}, all)).second)
    append(decorations_, spv::Op::OpMemberDecorate, all);
}

// ---- types and constants

Id Module::once(spv::Op op, Id type, const Words& operands) {
  auto [at, is_new] = declared_.emplace(joined({word(op), type}, operands), 0);
  if (!is_new) return at->second;
  at->second = new_id();
  append(declarations_, op, joined(type ? Words{type, at->second} : Words{at->second}, operands));
  return at->second;
}

Id Module::void_type() { return once(spv::Op::OpTypeVoid, 0, {}); }
Id Module::bool_type() { return once(spv::Op::OpTypeBool, 0, {}); }
Id Module::int_type(int width, bool is_signed) {
  return once(spv::Op::OpTypeInt, 0, {static_cast<uint32_t>(width), is_signed ? 1u : 0u});
}
Id Module::float_type(int width) {
  return once(spv::Op::OpTypeFloat, 0, {static_cast<uint32_t>(width)});
}
Id Module::bfloat16_type() {
  capability(khr::BFloat16TypeKHR);
  capability(khr::BFloat16CooperativeMatrixKHR);
  extension("SPV_KHR_bfloat16");
  return once(spv::Op::OpTypeFloat, 0, {16, word(khr::FPEncoding::BFloat16KHR)});
}
Id Module::vector_type(Id element, int count) {
  return once(spv::Op::OpTypeVector, 0, {element, static_cast<uint32_t>(count)});
}

Id Module::array_type(Id element, int64_t count, int64_t stride) {
  const Id length = int_constant(32, static_cast<uint64_t>(count));
  // The stride is a decoration. Arrays with different ones are different types, so the key has it.
  auto [at, is_new] = declared_.emplace(
      Words{word(spv::Op::OpTypeArray), element, length, static_cast<uint32_t>(stride)}, 0);
  if (!is_new) return at->second;
  const Id id = at->second = new_id();
  append(declarations_, spv::Op::OpTypeArray, {id, element, length});
  if (stride > 0) decorate(id, spv::Decoration::ArrayStride, {static_cast<uint32_t>(stride)});
  return id;
}

Id Module::block_type(const std::vector<Id>& members, const std::vector<int64_t>& offsets) {
  const Id id = new_id();
  append(declarations_, spv::Op::OpTypeStruct, joined({id}, members));
  decorate(id, spv::Decoration::Block);
  for (size_t i = 0; i < offsets.size(); ++i)
    decorate_member(id, static_cast<uint32_t>(i), spv::Decoration::Offset,
                    {static_cast<uint32_t>(offsets[i])});
  return id;
}

Id Module::pointer_type(spv::StorageClass storage, Id to, int64_t stride) {
  auto [at, is_new] = declared_.emplace(
      Words{word(spv::Op::OpTypePointer), word(storage), to, static_cast<uint32_t>(stride)}, 0);
  if (!is_new) return at->second;
  const Id id = at->second = new_id();
  append(declarations_, spv::Op::OpTypePointer, {id, word(storage), to});
  if (stride > 0) decorate(id, spv::Decoration::ArrayStride, {static_cast<uint32_t>(stride)});
  return id;
}

Id Module::matrix_type(Id component, int64_t rows, int64_t columns, khr::CooperativeMatrixUse use) {
  const auto number = [&](int64_t value) { return int_constant(32, static_cast<uint64_t>(value)); };
  capability(khr::CooperativeMatrixKHR);
  extension("SPV_KHR_cooperative_matrix");
  return once(khr::OpTypeCooperativeMatrixKHR, 0,
              {component, number(static_cast<int64_t>(spv::Scope::Subgroup)), number(rows),
               number(columns), number(word(use))});
}

Id Module::function_type(Id result, const std::vector<Id>& params) {
  return once(spv::Op::OpTypeFunction, 0, joined({result}, params));
}

Id Module::int_constant(int width, uint64_t bits) {
  Words value = {static_cast<uint32_t>(bits)};
  if (width > 32) value.push_back(static_cast<uint32_t>(bits >> 32));
  return once(spv::Op::OpConstant, int_type(width), value);
}

Id Module::float_constant(int width, double value) {
  if (width == 32)
    return once(spv::Op::OpConstant, float_type(32),
                {std::bit_cast<uint32_t>(static_cast<float>(value))});
  STRIA_CHECK(width == 64, "a constant of {} bits", width);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return once(spv::Op::OpConstant, float_type(64),
              {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
}

Id Module::bool_constant(bool value) {
  return once(value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, bool_type(), {});
}

Id Module::constant(Id type, const Words& words) { return once(spv::Op::OpConstant, type, words); }
Id Module::filled(Id type, Id constant) {
  return once(spv::Op::OpConstantComposite, type, {constant});
}

Id Module::undefined(Id type) { return once(spv::Op::OpUndef, type, {}); }

Id Module::global(spv::StorageClass storage, Id type) {
  const Id id = new_id();
  append(declarations_, spv::Op::OpVariable, {type, id, word(storage)});
  interface_.push_back(id);
  return id;
}

Id Module::global(spv::StorageClass storage, Id type, spv::BuiltIn built_in) {
  const Id id = global(storage, type);
  decorate(id, spv::Decoration::BuiltIn, {word(built_in)});
  return id;
}

// ---- functions

Id Module::begin_function(Id result, const std::vector<Id>& param_types, std::vector<Id>* params) {
  const Id type = function_type(result, param_types), id = new_id();
  Code& code = functions_.emplace_back();
  append(code.head, spv::Op::OpFunction,
         {result, id, word(spv::FunctionControlMask::MaskNone), type});
  for (const Id param_type : param_types) {
    params->push_back(new_id());
    append(code.head, spv::Op::OpFunctionParameter, {param_type, params->back()});
  }
  code.block = new_id();
  append(code.head, spv::Op::OpLabel, {code.block});
  open_.push_back(&code);
  return id;
}

void Module::end_function() {
  append(open_.back()->body, spv::Op::OpFunctionEnd, {});
  open_.pop_back();
}

void Module::entry_point(Id function, std::string_view name) {
  entry_ = function;
  entry_name_ = name;
}

Id Module::local(Id type) {
  const Id id = new_id();
  append(open_.back()->variables, spv::Op::OpVariable,
         {type, id, word(spv::StorageClass::Function)});
  return id;
}

Id Module::add(spv::Op op, Id type, const Words& operands) {
  const Id id = new_id();
  add_with_id(op, type, id, operands);
  return id;
}

void Module::add_with_id(spv::Op op, Id type, Id result, const Words& operands) {
  append(open_.back()->body, op, joined({type, result}, operands));
}

void Module::add(spv::Op op, const Words& operands) { append(open_.back()->body, op, operands); }

Id Module::imported_glsl() {
  if (glsl_ == 0) glsl_ = new_id();
  return glsl_;
}

Id Module::glsl(GLSLstd450 function, Id type, const Words& operands) {
  return add(spv::Op::OpExtInst, type, joined({imported_glsl(), word(function)}, operands));
}

void Module::label(Id id) {
  add(spv::Op::OpLabel, {id});
  open_.back()->block = id;
}

// ---- the whole

Words Module::words() const {
  Words out = {word(spv::MagicNumber), version_, 0, next_id_, 0};
  for (const spv::Capability capability : capabilities_)
    append(out, spv::Op::OpCapability, {word(capability)});
  for (const std::string& extension : extensions_) {
    Words text;
    append_text(text, extension);
    append(out, spv::Op::OpExtension, text);
  }
  if (glsl_ != 0) {
    Words import = {glsl_};
    append_text(import, "GLSL.std.450");
    append(out, spv::Op::OpExtInstImport, import);
  }
  append(out, spv::Op::OpMemoryModel,
         {word(spv::AddressingModel::PhysicalStorageBuffer64), word(spv::MemoryModel::Vulkan)});
  Words entry = {word(spv::ExecutionModel::GLCompute), entry_};
  append_text(entry, entry_name_);
  append(out, spv::Op::OpEntryPoint, joined(std::move(entry), interface_));
  for (const Words* part : {&modes_, &names_, &decorations_, &declarations_})
    out.insert(out.end(), part->begin(), part->end());
  for (const Code& code : functions_)
    for (const Words* part : {&code.head, &code.variables, &code.body})
      out.insert(out.end(), part->begin(), part->end());
  return out;
}

}  // namespace stria::vulkan
