// SPDX-License-Identifier: Apache-2.0
// Small models in the wire format, for tests that read files: a graph of inputs, weights and nodes.
//
//   GraphWriter graph;
//   graph.input("x", ElementType::fp32, {"N", 3}).node("Relu", {"x"}, {"y"}).output("y");
//   write_file("relu.onnx", graph.model());
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "stria/onnx/model/model.h"
#include "wire_writer.h"

namespace stria::onnx {

// A size, the name of an open one, or "" for one that is open and has none.
struct WrittenDim {
  WrittenDim(int size) : size(size) {}                    // NOLINT(google-explicit-constructor)
  WrittenDim(const char* parameter) : name(parameter) {}  // NOLINT(google-explicit-constructor)
  int64_t size = -1;
  std::string name;
};
using WrittenDims = std::vector<WrittenDim>;

inline WireWriter tensor_type(ElementType type, const WrittenDims& dims) {
  WireWriter shape;
  for (const WrittenDim& dim : dims) {
    WireWriter one;
    if (dim.size >= 0) one.varint(1, dim.size);
    if (!dim.name.empty()) one.bytes(2, dim.name);
    shape.message(1, one);
  }
  return WireWriter().message(1,
                              WireWriter().varint(1, static_cast<int64_t>(type)).message(2, shape));
}

inline WireWriter value_info(std::string_view name, const WireWriter& type) {
  return WireWriter().bytes(1, name).message(2, type);
}

// An attribute of a node.
inline WireWriter integer_attribute(std::string_view name, int64_t value) {
  return WireWriter().bytes(1, name).varint(20, 2).varint(3, value);
}
inline WireWriter integers_attribute(std::string_view name, std::initializer_list<int64_t> values) {
  WireWriter out;
  out.bytes(1, name).varint(20, 7);
  for (const int64_t value : values) out.varint(8, value);
  return out;
}
inline WireWriter graph_attribute(std::string_view name, const WireWriter& graph) {
  return WireWriter().bytes(1, name).varint(20, 5).message(6, graph);
}

class GraphWriter {
 public:
  GraphWriter& input(std::string_view name, ElementType type, const WrittenDims& dims) {
    return input(name, tensor_type(type, dims));
  }
  GraphWriter& input(std::string_view name, const WireWriter& type) {
    graph_.message(11, value_info(name, type));
    return *this;
  }
  // Its type is left to the nodes.
  GraphWriter& output(std::string_view name) {
    graph_.message(12, value_info(name, WireWriter()));
    return *this;
  }
  GraphWriter& node(std::string_view op_type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs,
                    const std::vector<WireWriter>& attributes = {}) {
    WireWriter node;
    for (const std::string& name : inputs) node.bytes(1, name);
    for (const std::string& name : outputs) node.bytes(2, name);
    node.bytes(4, op_type);
    for (const WireWriter& attribute : attributes) node.message(5, attribute);
    graph_.message(1, node);
    return *this;
  }
  template <typename T>
  GraphWriter& weights(std::string_view name, ElementType type, std::initializer_list<int64_t> dims,
                       std::initializer_list<T> elements) {
    graph_.message(
        5, tensor_of(type, dims).bytes(8, name).bytes(9, WireWriter::bytes_of<T>(elements)));
    return *this;
  }
  GraphWriter& strings(std::string_view name, std::initializer_list<std::string_view> texts) {
    WireWriter tensor = tensor_of(ElementType::string, {static_cast<int64_t>(texts.size())});
    for (const std::string_view text : texts) tensor.bytes(6, text);
    graph_.message(5, tensor.bytes(8, name));
    return *this;
  }

  const WireWriter& graph() const { return graph_; }
  std::string model() const { return model_of(graph_).text(); }

 private:
  WireWriter graph_;
};

}  // namespace stria::onnx
