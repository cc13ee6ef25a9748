// SPDX-License-Identifier: Apache-2.0
// Makes small .onnx files, field by field.
//
//   OnnxFile().input("x", ElementType::fp32, {1, "n"}).node("Relu", {"x"}, {"y"}).output("y")
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "../unit/onnx/wire_writer.h"

namespace stria::end_to_end {

using onnx::ElementType;
using onnx::WireWriter;

class OnnxFile {
 public:
  using Dim = std::variant<int64_t, std::string>;  // "": open and without a name

  OnnxFile& input(const std::string& name, ElementType type, const std::vector<Dim>& dims) {
    graph_.message(11, value(name, type, dims));
    return *this;
  }
  OnnxFile& output(const std::string& name) {
    graph_.message(12, WireWriter().bytes(1, name));
    return *this;
  }
  OnnxFile& node(const std::string& op_type, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs,
                 const std::vector<WireWriter>& attributes = {}, const std::string& domain = "") {
    WireWriter node;
    for (const std::string& name : inputs) node.bytes(1, name);
    for (const std::string& name : outputs) node.bytes(2, name);
    node.bytes(3, "node_" + std::to_string(nodes_++)).bytes(4, op_type);
    for (const WireWriter& attribute : attributes) node.message(5, attribute);
    if (!domain.empty()) node.bytes(7, domain);
    graph_.message(1, node);
    return *this;
  }
  static WireWriter integer(const std::string& name, int64_t value) {
    return WireWriter().bytes(1, name).varint(3, value).varint(20, 2);
  }
  // A weight of float.
  OnnxFile& weight(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<float>& values) {
    WireWriter tensor;
    for (int64_t dim : dims) tensor.varint(1, dim);
    tensor.varint(2, static_cast<int64_t>(ElementType::fp32)).bytes(8, name);
    std::string raw;
    for (float value : values) raw += WireWriter::bytes_of({value});
    graph_.message(5, tensor.bytes(9, raw));
    return *this;
  }
  std::string text() const {
    return WireWriter()
        .varint(1, 8)
        .bytes(2, "a test")
        .message(8, WireWriter().varint(2, 17))
        .message(7, graph_)
        .text();
  }

 private:
  static WireWriter value(const std::string& name, ElementType type, const std::vector<Dim>& dims) {
    WireWriter shape;
    for (const Dim& dim : dims) {
      const auto* size = std::get_if<int64_t>(&dim);
      shape.message(1,
                    size ? WireWriter().varint(1, *size) : WireWriter().bytes(2, std::get<1>(dim)));
    }
    return WireWriter().bytes(1, name).message(
        2, WireWriter().message(
               1, WireWriter().varint(1, static_cast<int64_t>(type)).message(2, shape)));
  }

  WireWriter graph_;
  int nodes_ = 0;
};

}  // namespace stria::end_to_end
