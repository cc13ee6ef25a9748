// SPDX-License-Identifier: Apache-2.0
// An ONNX model as a Tile program. Each node becomes a function of the program, equal nodes the
// same one, and the main function calls them.
//
// Everything that depends on known elements alone (initialisers, inputs bound by value) is computed
// where it is needed: the long chains of Shape, Gather and Concat around a Reshape leave no trace.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/model/model.h"
#include "stria/onnx/translate/value.h"
#include "stria/tile/syntax/ast.h"
#include "stria/type/host_tensor.h"
#include "stria/type/tensor_type.h"

namespace stria::onnx {

// A call of a Tile function whose arguments are known once those before it have run.
struct KnownCall {
  struct Argument {
    std::shared_ptr<const HostTensor> elements;  // null: result `result` of call `call`
    size_t call = 0, result = 0;
  };
  std::string function;
  std::string text;  // the function
  std::string node;  // "Conv 'conv1'": for messages
  std::vector<std::string> parameters;
  std::vector<Argument> arguments;  // one for each parameter
  std::vector<bool> wanted;         // one for each result: is it read other than by these calls?
};
// Of each call its results. Those that are not wanted may be null.
using KnownResults = std::vector<std::vector<std::shared_ptr<const HostTensor>>>;
using Evaluator = std::function<Result<KnownResults>(const std::vector<KnownCall>& calls)>;

// Reads a picture file that is compressed: u8 [height, width, channels]. core reads plain ones.
using ImageReader = std::function<Result<HostTensor>(std::string_view bytes)>;

// An input that is bound by value. Strings, sequences and optionals can be bound in no other way.
struct KnownValue {
  KnownValue() = default;                                 // an optional that holds nothing
  KnownValue(std::shared_ptr<const HostTensor> elements)  // NOLINT(google-explicit-constructor)
      : kind(Value::Kind::tensor), tensor(std::move(elements)) {}
  Value::Kind kind = Value::Kind::absent;
  std::shared_ptr<const HostTensor> tensor;
  ElementType element = ElementType::undefined;  // of a tensor in ONNX; undefined: as it is held
  std::vector<std::string> strings;
  std::vector<int64_t> sizes;     // of strings
  std::vector<KnownValue> items;  // of a sequence
};

struct TranslateOptions {
  // Sizes of inputs, by the names of the graph. They must fit what the model says, and are needed
  // where it leaves a dimension open.
  std::map<std::string, std::vector<int64_t>> sizes;
  // Of dimensions that have names, for inputs without sizes here; those of `sizes` count, too.
  std::map<std::string, int64_t> dims;
  std::map<std::string, KnownValue> values;  // of inputs that are bound by value
  Evaluator evaluate;
  ImageReader read_image;  // may be empty
};

struct TranslatedInput {
  std::string name;  // in the graph
  std::string tile;  // the parameter of the main function
  TensorType type;
  ElementType element = ElementType::undefined;  // in ONNX
};

// A parameter of the main function that is known: weights, tables.
struct TranslatedConstant {
  std::string name;  // in the graph; of several that share their elements, the first used
  std::string tile;
  std::shared_ptr<const HostTensor> elements;
};

// A result of the graph. A tensor is one of the main function. Strings and maps are tensors:
// `texts` has the strings by number, `keys` what the columns (the last dimension) of a map are the
// values of.
struct TranslatedOutput {
  std::string name;  // in the graph; "x[2]" of an item of the sequence x
  std::string tile;  // of a tensor
  TensorType type;
  ElementType element = ElementType::undefined;
  std::vector<TranslatedOutput> items;  // of a sequence; none of an optional that holds nothing
  bool is_sequence = false;
  bool is_text = false;
  std::vector<std::string> texts, keys;
};

struct Translation {
  std::string text;  // Tile; "" if no output is a tensor
  std::string function = "main";
  std::vector<TranslatedInput> inputs;  // of the main function
  std::vector<TranslatedConstant> constants;
  std::vector<TranslatedOutput> outputs;
  // The node behind each statement of the main function, by its first result: V3, "Conv 'conv1'".
  std::map<std::string, std::string> nodes;
};

// What kept a model from being translated: all of it at once.
struct Missing {
  std::vector<std::string> mistakes;         // "Conv 'c': weights for 5 channels a group of 3"
  std::vector<std::string> operators;        // "ai.onnx.Foo (opset 17), node 'x'"
  std::vector<std::string> nodes;            // what operators do not support
  std::vector<std::string> inputs_by_value;  // inputs of the graph whose elements must be known
  // Of these inputs, the node that first needs them; inputs that no tensor can be have none.
  std::map<std::string, std::string> needed_by;
  size_t count() const;      // of all
  std::string text() const;  // for people, in lines; "" if nothing is missing
};

// unsupported: operators, types or what must be known; `missing` (may be null) lists it then.
// invalid_argument: the model is wrong, or sizes do not fit; the message names node and operator,
// and of several mistakes `missing` lists all. out_of_range: functions and loops repeat nodes
// without end, or the elements that sizes depend on take too long to compute.
Result<Translation> translate(const Model& model, const TranslateOptions& options,
                              Missing* missing = nullptr);

}  // namespace stria::onnx
