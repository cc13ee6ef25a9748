// SPDX-License-Identifier: Apache-2.0
// What a name of an ONNX graph stands for while the graph becomes Tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stria/onnx/model/model.h"
#include "stria/type/host_tensor.h"
#include "stria/type/tensor_type.h"

namespace stria::onnx {

struct Call;

// A tensor's type and sizes are always known. Its elements may be: of initialisers, of inputs bound
// by value, and of what depends on such alone, computed when somebody asks for them. Strings,
// sequences and optionals exist only where they are known. An optional is what it holds, or absent.
// No device has strings and maps, but it has the numbers of known strings, and the values of known
// keys:
//   chosen  items[0], an i64 tensor, has for each element the number of one of `strings`
//   map     of known keys, `strings` or `integers`: the last dimension of items[0] goes over what
//           they are mapped to. One map has one dimension; two are a sequence of maps.
// Shared; not changed once made, but for `elements`.
struct Value {
  enum class Kind : uint8_t { tensor, strings, chosen, sequence, map, absent } kind = Kind::tensor;
  std::string name;  // in the graph, for messages
  TensorType type;   // tensor; of strings, chosen and map: the sizes only
  // A tensor's type in ONNX if `type` only holds it, as i8 holds int4; undefined: that of `type`.
  ElementType element = ElementType::undefined;
  // The tensor's name in the main function; "" until a statement needs it there.
  std::string tile;
  std::shared_ptr<const HostTensor> elements;  // if known
  std::shared_ptr<const Call> made_by;         // result `index` of it; null: an input or known
  int index = 0;
  std::vector<std::string> strings;           // strings, chosen, map
  std::vector<int64_t> integers;              // map
  std::vector<std::shared_ptr<Value>> items;  // sequence, chosen, map
  // The inputs of the graph on which the elements depend and which are not bound by value; empty
  // if the elements are known or can be computed.
  std::vector<std::string> depends_on;
};
using ValuePtr = std::shared_ptr<Value>;

// Strings by their numbers: a `chosen` value.
inline ValuePtr chosen_by(const ValuePtr& numbers, std::vector<std::string> strings) {
  auto out = std::make_shared<Value>();
  out->kind = Value::Kind::chosen;
  out->name = numbers->name;
  out->type.sizes = numbers->type.sizes;
  out->strings = std::move(strings);
  out->items = {numbers};
  return out;
}

// A call of a function of the Tile text: that of a node.
struct Call {
  std::string function;
  std::string node;  // "Conv 'conv1'": for messages
  std::vector<ValuePtr> arguments;
  std::vector<TensorType> results;
  // One for each result, null until somebody needs it.
  mutable std::vector<std::shared_ptr<const HostTensor>> elements;
};

}  // namespace stria::onnx
