// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/type_reader.h"

#include <utility>

namespace stria::onnx {
namespace {

Dimension read_dimension(WireReader reader) {
  Dimension out;
  while (reader.next()) switch (reader.field()) {
      case 1: {
        const int64_t size = reader.integer("dim_value");
        if (size >= 0) out.size = size;
        break;
      }
      case 2: out.parameter = reader.bytes("dim_param"); break;
    }
  return out;
}

std::vector<Dimension> read_shape(WireReader reader) {
  std::vector<Dimension> out;
  while (reader.next())
    if (reader.field() == 1) out.push_back(read_dimension(reader.message("dim", out.size())));
  return out;
}

// Of dense and of sparse tensors.
void read_tensor_type(WireReader reader, ValueType& out) {
  while (reader.next()) switch (reader.field()) {
      case 1: out.type = static_cast<ElementType>(reader.integer32("elem_type")); break;
      case 2: out.dims = read_shape(reader.message("shape")); break;
    }
  if (out.type == ElementType::undefined) reader.fail("a type of tensors without elem_type");
}

// Of sequences and of optionals.
void read_holder_type(WireReader reader, ValueType& out) {
  while (reader.next())
    if (reader.field() == 1)
      out.element = std::make_shared<ValueType>(read_type(reader.message("elem_type")));
  if (out.element == nullptr) reader.fail("a type that holds others without elem_type");
}

}  // namespace

ValueType read_type(WireReader reader) {
  using Kind = ValueType::Kind;
  ValueType out;
  const auto is = [&](Kind kind) {
    if (out.kind != Kind::none) reader.fail("two types in one");
    out.kind = kind;
  };
  while (reader.next()) switch (reader.field()) {
      case 1:
        is(Kind::tensor);
        read_tensor_type(reader.message("tensor_type"), out);
        break;
      case 4:
        is(Kind::sequence);
        read_holder_type(reader.message("sequence_type"), out);
        break;
      case 5: is(Kind::map); break;
      case 7:
        reader.fail("opaque_type: opaque types are not supported", StatusCode::unsupported);
        break;
      case 8:
        is(Kind::sparse_tensor);
        read_tensor_type(reader.message("sparse_tensor_type"), out);
        break;
      case 9:
        is(Kind::optional);
        read_holder_type(reader.message("optional_type"), out);
        break;
    }
  return out;
}

ValueInfo read_value_info(WireReader reader) {
  ValueInfo out;
  while (reader.next()) switch (reader.field()) {
      case 1: out.name = reader.bytes("name"); break;
      case 2: out.type = read_type(reader.message("type")); break;
    }
  return out;
}

}  // namespace stria::onnx
