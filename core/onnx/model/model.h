// SPDX-License-Identifier: Apache-2.0
// An ONNX model as its file has it: nothing is resolved, checked against a schema or computed.
// Names are the standard's. Plain values, but for tensors, which share the bytes of the file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stria::onnx {

// TensorProto.DataType: the numbers of the standard.
enum class ElementType : int32_t {
  undefined = 0,
  fp32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  fp16 = 10,
  fp64 = 11,
  u32 = 12,
  u64 = 13,
  complex64 = 14,
  complex128 = 15,
  bf16 = 16,
  fp8e4m3fn = 17,
  fp8e4m3fnuz = 18,
  fp8e5m2 = 19,
  fp8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  fp4e2m1 = 23,
  fp8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  fp6e2m3 = 27,
  fp6e3m2 = 28,
};
// "float", "int64", …: as the standard writes them in types; "type 99" for a number it does not
// have.
std::string name_of(ElementType type);
// Bits of an element in TensorData::bytes; 0 for strings and what has no size.
int bits_of(ElementType type);

// The elements of an initialiser or of an attribute.
struct TensorData {
  std::string name;
  ElementType type = ElementType::undefined;
  std::vector<int64_t> dims;  // each >= 0; the product and the bytes fit in int64
  // Row-major, little-endian, as raw_data has them: 4-bit elements two to a byte, the first in the
  // low half; 2-bit ones four to a byte; 6-bit ones four to three bytes. Bits behind the last
  // element mean nothing. Booleans are 0 or 1. Empty for strings. The bytes lie at any address:
  // copy them. The view lives as long as `owner`.
  std::string_view bytes;
  std::shared_ptr<const void> owner;
  std::vector<std::string> strings;
  int64_t element_count() const;
};

// SparseTensorProto: of `dims`, zero where `indices` (one flat index an element, or a row of
// coordinates) name nothing. Values have one dim; indices are int64, lie inside `dims` and ascend.
struct SparseTensorData {
  TensorData values;
  TensorData indices;
  std::vector<int64_t> dims;
};

struct Dimension {
  std::optional<int64_t> size;  // >= 0: a negative one, as some writers have it, is none
  std::string parameter;        // a symbolic name; "" if there is none
};

// TypeProto. `element` of sequences and optionals is the type of what they hold.
struct ValueType {
  enum class Kind : uint8_t {
    none,
    tensor,
    sparse_tensor,
    sequence,
    optional,
    map,  // of what to what is not kept
  } kind = Kind::none;
  ElementType type = ElementType::undefined;   // of tensors
  std::optional<std::vector<Dimension>> dims;  // of tensors; nullopt: any rank
  std::shared_ptr<const ValueType> element;    // sequence, optional
};

struct ValueInfo {
  std::string name;
  ValueType type;
};

struct Graph;

struct Attribute {
  std::string name;
  // AttributeProto.AttributeType
  enum class Type : int32_t {
    undefined = 0,
    f = 1,
    i = 2,
    s = 3,
    t = 4,
    g = 5,
    floats = 6,
    ints = 7,
    strings = 8,
    tensors = 9,
    graphs = 10,
    sparse_tensor = 11,
    sparse_tensors = 12,
    type_proto = 13,
    type_protos = 14,
  } type = Type::undefined;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::shared_ptr<const TensorData> t;
  std::shared_ptr<const Graph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<std::shared_ptr<const TensorData>> tensors;
  std::vector<std::shared_ptr<const Graph>> graphs;
  std::shared_ptr<const SparseTensorData> sparse;
  std::shared_ptr<const ValueType> value_type;
  std::string refers_to;  // ref_attr_name: the attribute of the function that it stands for
};

struct Node {
  std::string name;  // may be ""
  std::string op_type;
  std::string domain;  // "" is ai.onnx, also where the file has that name
  std::string overload;
  std::vector<std::string> inputs;   // "" stands for an optional one that is not given
  std::vector<std::string> outputs;  // likewise
  std::vector<Attribute> attributes;
  const Attribute* find(std::string_view attribute) const;
};

// "Conv 'conv1'": for messages.
std::string text_of(const Node& node);

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  // value_info
  std::vector<std::shared_ptr<const TensorData>> initializers;
  std::vector<std::shared_ptr<const SparseTensorData>> sparse_initializers;  // named by `values`
};
// The initialisers, dense and sparse, and the bytes that each takes in the file.
std::map<std::string, int64_t> initializer_bytes(const Graph& graph);

// FunctionProto: a function local to the model.
struct Function {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;      // without a default
  std::vector<Attribute> attribute_protos;  // with one
  std::vector<Node> nodes;
  std::map<std::string, int64_t> opsets;  // as a model's
};

struct Model {
  std::string file;  // for messages
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  // version by domain; "" is ai.onnx
  Graph graph;
  std::vector<Function> functions;
  std::map<std::string, std::string> metadata;
};

}  // namespace stria::onnx
