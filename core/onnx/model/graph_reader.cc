// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/graph_reader.h"

#include <string_view>
#include <utility>

#include "stria/base/shown_text.h"
#include "stria/onnx/model/attribute_reader.h"
#include "stria/onnx/model/type_reader.h"

namespace stria::onnx {
namespace {

// The standard's own domain has two names.
std::string read_domain(WireReader& reader) {
  const std::string_view domain = reader.bytes("domain");
  return domain == "ai.onnx" ? std::string() : std::string(domain);
}

void append(std::vector<std::string>& list, std::string_view name, WireReader& reader) {
  list.emplace_back(reader.bytes(name, list.size()));
}

Node read_node(WireReader reader, ReadContext& context) {
  Node out;
  while (reader.next()) switch (reader.field()) {
      case 1: append(out.inputs, "input", reader); break;
      case 2: append(out.outputs, "output", reader); break;
      case 3: out.name = reader.bytes("name"); break;
      case 4: out.op_type = reader.bytes("op_type"); break;
      case 5:
        out.attributes.push_back(
            read_attribute(reader.message("attribute", out.attributes.size()), context));
        break;
      case 7: out.domain = read_domain(reader); break;
      case 8: out.overload = reader.bytes("overload"); break;
    }
  if (out.op_type.empty()) reader.fail("a node without op_type");
  return out;
}

void append_node(std::vector<Node>& nodes, WireReader& reader, ReadContext& context) {
  nodes.push_back(read_node(reader.message("node", nodes.size()), context));
}

void append_value(std::vector<ValueInfo>& values, std::string_view name, WireReader& reader) {
  values.push_back(read_value_info(reader.message(name, values.size())));
}

}  // namespace

Graph read_graph(WireReader reader, ReadContext& context) {
  Graph out;
  while (reader.next()) switch (reader.field()) {
      case 1: append_node(out.nodes, reader, context); break;
      case 2: out.name = reader.bytes("name"); break;
      case 5:
        out.initializers.push_back(std::make_shared<TensorData>(
            read_tensor(reader.message("initializer", out.initializers.size()), context)));
        break;
      case 11: append_value(out.inputs, "input", reader); break;
      case 12: append_value(out.outputs, "output", reader); break;
      case 13: append_value(out.values, "value_info", reader); break;
      case 15:
        out.sparse_initializers.push_back(std::make_shared<SparseTensorData>(read_sparse_tensor(
            reader.message("sparse_initializer", out.sparse_initializers.size()), context)));
        break;
    }
  return out;
}

Function read_function(WireReader reader, ReadContext& context) {
  Function out;
  size_t opsets = 0;
  while (reader.next()) switch (reader.field()) {
      case 1: out.name = reader.bytes("name"); break;
      case 4: append(out.inputs, "input", reader); break;
      case 5: append(out.outputs, "output", reader); break;
      case 6: append(out.attributes, "attribute", reader); break;
      case 7: append_node(out.nodes, reader, context); break;
      case 9: read_opset(reader.message("opset_import", opsets++), out.opsets); break;
      case 10: out.domain = read_domain(reader); break;
      case 11:
        out.attribute_protos.push_back(read_attribute(
            reader.message("attribute_proto", out.attribute_protos.size()), context));
        break;
      case 13: out.overload = reader.bytes("overload"); break;
    }
  if (out.name.empty()) reader.fail("a function without a name");
  return out;
}

void read_opset(WireReader reader, std::map<std::string, int64_t>& opsets) {
  std::string domain;
  int64_t version = 0;
  while (reader.next()) switch (reader.field()) {
      case 1: domain = read_domain(reader); break;
      case 2: version = reader.integer("version"); break;
    }
  const auto [at, added] = opsets.emplace(domain, version);
  if (!added && at->second != version)
    reader.fail(fmt::format("versions {} and {} of the domain '{}'", at->second, version,
                            domain.empty() ? "ai.onnx" : shown_name(domain)));
}

}  // namespace stria::onnx
