// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/attribute_reader.h"

#include <cstring>
#include <utility>

#include "stria/onnx/model/graph_reader.h"
#include "stria/onnx/model/type_reader.h"

namespace stria::onnx {
namespace {

using Type = Attribute::Type;

constexpr uint32_t bit_of(Type type) { return 1u << static_cast<uint32_t>(type); }

// Kinds whose value cannot be left out: there is no empty graph. Numbers that are 0, texts that are
// "" and lists without elements are written by nobody who follows proto3.
constexpr uint32_t kMustBeThere =
    bit_of(Type::t) | bit_of(Type::g) | bit_of(Type::sparse_tensor) | bit_of(Type::type_proto);

void read_floats(WireReader& reader, std::vector<float>& out) {
  const std::string_view bytes = reader.fixed("floats", sizeof(float));
  const size_t before = out.size();
  out.resize(before + bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(out.data() + before, bytes.data(), bytes.size());
}

// The value of the field, which is of the kind that is returned; undefined: it is no value.
Type read_value(WireReader& reader, ReadContext& context, Attribute& out) {
  switch (reader.field()) {
    case 2: out.f = reader.float32("f"); return Type::f;
    case 3: out.i = reader.integer("i"); return Type::i;
    case 4: out.s = reader.bytes("s"); return Type::s;
    case 5:
      out.t = std::make_shared<TensorData>(read_tensor(reader.message("t"), context));
      return Type::t;
    case 6:
      out.g = std::make_shared<Graph>(read_graph(reader.message("g"), context));
      return Type::g;
    case 7: read_floats(reader, out.floats); return Type::floats;
    case 8:
      reader.integers("ints", [&](int64_t number) { out.ints.push_back(number); });
      return Type::ints;
    case 9:
      out.strings.emplace_back(reader.bytes("strings", out.strings.size()));
      return Type::strings;
    case 10:
      out.tensors.push_back(std::make_shared<TensorData>(
          read_tensor(reader.message("tensors", out.tensors.size()), context)));
      return Type::tensors;
    case 11:
      out.graphs.push_back(std::make_shared<Graph>(
          read_graph(reader.message("graphs", out.graphs.size()), context)));
      return Type::graphs;
    case 14:
      out.value_type = std::make_shared<ValueType>(read_type(reader.message("tp")));
      return Type::type_proto;
    case 22:
      out.sparse = std::make_shared<SparseTensorData>(
          read_sparse_tensor(reader.message("sparse_tensor"), context));
      return Type::sparse_tensor;
    case 15: return Type::type_protos;
    case 23: return Type::sparse_tensors;
    default: return Type::undefined;
  }
}

}  // namespace

Attribute read_attribute(WireReader reader, ReadContext& context) {
  Attribute out;
  uint32_t found = 0;  // the kinds of which there are values
  while (reader.next()) {
    switch (reader.field()) {
      case 1: out.name = reader.bytes("name"); continue;
      case 20: out.type = static_cast<Type>(reader.integer32("type")); continue;
      case 21: out.refers_to = reader.bytes("ref_attr_name"); continue;
    }
    const Type kind = read_value(reader, context, out);
    if (kind != Type::undefined) found |= bit_of(kind);
  }
  const auto number = static_cast<int32_t>(out.type);
  if (out.name.empty())
    reader.fail("an attribute without a name");
  else if (number <= 0 || number > static_cast<int32_t>(Type::type_protos))
    reader.fail(number == 0 ? std::string("an attribute without a type")
                            : fmt::format("there is no type {} of attributes", number));
  else if (out.type == Type::sparse_tensors || out.type == Type::type_protos)
    reader.fail("lists of sparse tensors or of types are not supported", StatusCode::unsupported);
  else if ((found & ~bit_of(out.type)) != 0)
    reader.fail(fmt::format("a value that is not of the attribute's type {}", number));
  else if (!out.refers_to.empty() && found != 0)
    reader.fail("an attribute with ref_attr_name and a value");
  else if (out.refers_to.empty() && (bit_of(out.type) & kMustBeThere) != 0 && found == 0)
    reader.fail("an attribute without its value");
  return out;
}

}  // namespace stria::onnx
