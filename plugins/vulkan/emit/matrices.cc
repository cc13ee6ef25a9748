// SPDX-License-Identifier: Apache-2.0
#include "emit/matrices.h"

#include "emit/matrix_check.h"

namespace stria::vulkan {

using semtree::Array;
using semtree::FragmentRef;
using semtree::Place;

Id Matrices::type(DataType component, const Array::Fragment& form) {
  using Use = Array::Fragment::Use;
  const auto use = form.use == Use::left    ? khr::CooperativeMatrixUse::MatrixA
                   : form.use == Use::right ? khr::CooperativeMatrixUse::MatrixB
                                            : khr::CooperativeMatrixUse::MatrixAccumulator;
  return module_.matrix_type(values_.component_type(component), form.rows, form.columns, use);
}

Id Matrices::variable(const FragmentRef& ref) {
  Id& variable = variables_[{ref.memory, ref.number}];
  if (variable == 0) {
    const auto storage = spv::StorageClass::Function;
    variable = module_.local(module_.pointer_type(storage, type_of(ref.memory)));
    module_.name(variable, fmt::format("{}_{}", array(ref.memory).name, ref.number));
  }
  return variable;
}

Id Matrices::value(const FragmentRef& ref) {
  return module_.add(spv::Op::OpLoad, type_of(ref.memory), {variable(ref)});
}

void Matrices::set(const FragmentRef& ref, Id value) {
  module_.add(spv::Op::OpStore, {variable(ref), value});
}

Id Matrices::converted(DataType from, DataType to, const Array::Fragment& form, Id value) {
  if (from == to) return value;
  const spv::Op op = is_float(from)                     ? spv::Op::OpFConvert
                     : bit_width(from) == bit_width(to) ? spv::Op::OpBitcast
                     : is_signed_integer(from)          ? spv::Op::OpSConvert
                                                        : spv::Op::OpUConvert;
  return module_.add(op, type(to, form), {value});
}

void Matrices::add(const semtree::MatrixFill& fill) {
  const Id constant = values_.component_constant(fill.value);
  set(fill.to, module_.filled(type_of(fill.to.memory), constant));
}

Words Matrices::layout(const semtree::MatrixPlace& place, const Array::Fragment& form,
                       const KernelMemory::MatrixPointer& at) {
  using Layout = khr::CooperativeMatrixLayout;
  const DataType type = function_.element_type(place.place.memory);
  const Layout layout =
      lines_of(place, form, type).are_rows ? Layout::RowMajorKHR : Layout::ColumnMajorKHR;
  Words out = {values_.word(static_cast<uint32_t>(layout)),
               values_.word(static_cast<uint32_t>(at.stride))};
  out.insert(out.end(), at.access.begin(), at.access.end());
  return out;
}

void Matrices::add(const semtree::MatrixLoad& load) {
  const Array& to = array(load.to.memory);
  const DataType from = function_.element_type(load.from.place.memory);
  const KernelMemory::MatrixPointer at = memory_.matrix_pointer(load.from, *to.fragment);
  Words operands = {at.pointer};
  const Words how = layout(load.from, *to.fragment, at);
  operands.insert(operands.end(), how.begin(), how.end());
  const Id loaded =
      module_.add(khr::OpCooperativeMatrixLoadKHR, type(from, *to.fragment), operands);
  set(load.to, converted(from, to.type, *to.fragment, loaded));
}

void Matrices::add(const semtree::MatrixStore& store) {
  const Array& from = array(store.from.memory);
  const DataType to = function_.element_type(store.to.place.memory);
  const Id stored = converted(from.type, to, *from.fragment, value(store.from));
  const KernelMemory::MatrixPointer at = memory_.matrix_pointer(store.to, *from.fragment);
  Words operands = {at.pointer, stored};
  const Words how = layout(store.to, *from.fragment, at);
  operands.insert(operands.end(), how.begin(), how.end());
  module_.add(khr::OpCooperativeMatrixStoreKHR, operands);
}

void Matrices::add(const semtree::MatrixMultiply& product) {
  using Operands = khr::CooperativeMatrixOperands;
  Words operands = {value(product.a), value(product.b), value(product.sum)};
  uint32_t with_sign = 0;
  const auto mark = [&](const FragmentRef& ref, Operands operand) {
    if (is_signed_integer(array(ref.memory).type)) with_sign |= static_cast<uint32_t>(operand);
  };
  mark(product.a, Operands::A);
  mark(product.b, Operands::B);
  mark(product.sum, Operands::C);
  mark(product.sum, Operands::Result);
  if (with_sign != 0) operands.push_back(with_sign);
  set(product.sum,
      module_.add(khr::OpCooperativeMatrixMulAddKHR, type_of(product.sum.memory), operands));
}

bool Matrices::holds(const Place& place) const {
  return !function_.is_param(place.memory) && array(place.memory).fragment;
}

Id Matrices::length(const semtree::ElementLoop& loop) {
  for (const semtree::Statement& statement : loop.body) {
    const Place* place = nullptr;
    if (auto* load = std::get_if<semtree::Load>(&statement.op)) place = &load->place;
    if (auto* store = std::get_if<semtree::Store>(&statement.op)) place = &store->place;
    if (place && holds(*place))
      return module_.add(khr::OpCooperativeMatrixLengthKHR, values_.word_type(),
                         {type_of(place->memory)});
  }
  return values_.word(0);  // it touches no matrix
}

Id Matrices::element(const Place& place, Id number) {
  const auto storage = spv::StorageClass::Function;
  const Id component = values_.component_type(array(place.memory).type);
  return module_.add(spv::Op::OpAccessChain, module_.pointer_type(storage, component),
                     {variable({place.memory, place.constant}), number});
}

// Integers are values without a sign elsewhere.
Id Matrices::load(const Place& place, Id element) {
  const DataType type = array(place.memory).type;
  const Id component = values_.component_type(type);
  const Id loaded = module_.add(spv::Op::OpLoad, component, {this->element(place, element)});
  const Id wanted = values_.type(type);
  return wanted == component ? loaded : module_.add(spv::Op::OpBitcast, wanted, {loaded});
}

void Matrices::store(const Place& place, Id element, Id value) {
  const DataType type = array(place.memory).type;
  const Id component = values_.component_type(type);
  if (values_.type(type) != component) value = module_.add(spv::Op::OpBitcast, component, {value});
  module_.add(spv::Op::OpStore, {this->element(place, element), value});
}

}  // namespace stria::vulkan
