// SPDX-License-Identifier: Apache-2.0
// What stands at the beginning of a graph: inputs and initialisers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stria/base/status.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx {
namespace {

// "[batch, 3, ?]"
std::string text_of(const std::vector<Dimension>& dims) {
  std::vector<std::string> out;
  for (const Dimension& dim : dims)
    out.push_back(dim.size                ? std::to_string(*dim.size)
                  : dim.parameter.empty() ? "?"
                                          : dim.parameter);
  return fmt::format("[{}]", fmt::join(out, ", "));
}

Status wrong(const ValueInfo& info, std::string_view text) {
  return invalid_argument("input '{}': {}", info.name, text);
}

Status check_sizes(const ValueInfo& info, const std::vector<int64_t>& sizes) {
  if (!info.type.dims) return Status();
  const std::vector<Dimension>& dims = *info.type.dims;
  bool fits = dims.size() == sizes.size();
  for (size_t d = 0; fits && d < dims.size(); ++d)
    fits = !dims[d].size || *dims[d].size == sizes[d];
  if (fits) return Status();
  return wrong(info, fmt::format("sizes [{}] are given, the model says {}", fmt::join(sizes, ", "),
                                 text_of(dims)));
}

// Whether elements of that type and these sizes are what the model says of the input.
Status check_value(const ValueInfo& info, const HostTensor& value, ElementType element) {
  if (info.type.kind != ValueType::Kind::tensor) return Status();
  const std::optional<DataType> type = tile_type_of(info.type.type);
  if (!type || (value.type() != *type && value.type() != *outside_type_of(info.type.type)) ||
      (element != ElementType::undefined && element != info.type.type))
    return wrong(info, fmt::format("elements of type {} are given, the model says {}",
                                   element == ElementType::undefined ? name_of(value.type())
                                                                     : name_of(element),
                                   name_of(info.type.type)));
  return check_sizes(info, value.sizes());
}

Status check_texts(const ValueInfo& info, const KnownValue& given) {
  int64_t count = 1;
  for (const int64_t size : given.sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return wrong(info, fmt::format("sizes [{}] of texts, which are no sizes of 64 bits",
                                     fmt::join(given.sizes, ", ")));
  if (count != static_cast<int64_t>(given.strings.size()))
    return wrong(info, fmt::format("{} texts for sizes [{}]", given.strings.size(),
                                   fmt::join(given.sizes, ", ")));
  if (info.type.kind == ValueType::Kind::tensor && info.type.type != ElementType::string &&
      info.type.type != ElementType::undefined)
    return wrong(info, fmt::format("texts are given, the model says {}", name_of(info.type.type)));
  return info.type.kind == ValueType::Kind::tensor ? check_sizes(info, given.sizes) : Status();
}

// Whatever computes with sizes may take their product to fit in 64 bits, in bytes and without those
// of 0, too.
Status check_product(const ValueInfo& info, const std::vector<int64_t>& sizes) {
  int64_t bytes = 8;
  for (const int64_t size : sizes) {
    if (size < 0) return wrong(info, fmt::format("sizes [{}]", fmt::join(sizes, ", ")));
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes))
      return wrong(info,
                   fmt::format("sizes [{}], whose bytes leave 64 bits", fmt::join(sizes, ", ")));
  }
  return {};
}

}  // namespace

Status GraphTranslator::add_initializers(const Graph& graph, Scope& scope) {
  for (const std::shared_ptr<const TensorData>& data : graph.initializers) {
    // An initialiser is the default of an input of the same name.
    if (scope.values.contains(data->name)) continue;
    ValuePtr value;
    if (data->type == ElementType::string) {
      value = std::make_shared<Value>();
      value->kind = Value::Kind::strings;
      value->name = data->name;
      value->type.sizes = data->dims;
      value->strings = data->strings;
    } else {
      STRIA_ASSIGN(HostTensor elements, host_tensor_of(*data));
      value = known(data->name, std::move(elements), data->type);
    }
    scope.values[data->name] = value;
  }
  for (const std::shared_ptr<const SparseTensorData>& data : graph.sparse_initializers) {
    const std::string& name = data->values.name;
    if (scope.values.contains(name)) continue;
    STRIA_ASSIGN(HostTensor elements, host_tensor_of(*data));
    scope.values[name] = known(name, std::move(elements), data->values.type);
  }
  return {};
}

Result<ValuePtr> GraphTranslator::bound(const std::string& name, const KnownValue& given,
                                        const ValueType& type) {
  if (given.kind == Value::Kind::tensor) {
    const bool says = given.element == ElementType::undefined;
    STRIA_ASSIGN(std::shared_ptr<const HostTensor> elements, held(given.tensor));
    return known(name, std::move(elements), says ? type.type : given.element);
  }
  auto value = std::make_shared<Value>();
  value->kind = given.kind;
  value->name = name;
  value->type.sizes = given.sizes;
  value->strings = given.strings;
  for (const KnownValue& item : given.items) {
    STRIA_ASSIGN(ValuePtr one, bound(name, item, {}));
    value->items.push_back(std::move(one));
  }
  return value;
}

Result<std::vector<int64_t>> GraphTranslator::sizes_of(const ValueInfo& info) {
  const auto given = options_.sizes.find(info.name);
  if (!info.type.dims) {
    if (given != options_.sizes.end()) return given->second;
    return wrong(info, "the model does not say its sizes: give them");
  }
  const std::vector<Dimension>& dims = *info.type.dims;
  if (given != options_.sizes.end() && given->second.size() != dims.size())
    return wrong(info,
                 fmt::format("{} {} given, the model says {}", given->second.size(),
                             given->second.size() == 1 ? "size is" : "sizes are", text_of(dims)));
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Dimension& dim = dims[d];
    const auto known = dims_.find(dim.parameter);
    if (given != options_.sizes.end()) {
      if (dim.size && *dim.size != given->second[d])
        return wrong(info, fmt::format("dimension {} has {} elements, the model says {}", d,
                                       given->second[d], text_of(dims)));
      sizes.push_back(given->second[d]);
    } else if (dim.size) {
      sizes.push_back(*dim.size);
    } else if (!dim.parameter.empty() && known != dims_.end()) {
      sizes.push_back(known->second);
    } else {
      return wrong(info, fmt::format("the model leaves sizes open: {}", text_of(dims)));
    }
    if (sizes.back() < 0)
      return wrong(info, fmt::format("dimension {} has {} elements", d, sizes.back()));
  }
  return sizes;
}

Status GraphTranslator::add_input(const ValueInfo& info, Scope& scope) {
  if (const auto at = options_.values.find(info.name); at != options_.values.end()) {
    if (at->second.kind == Value::Kind::tensor)
      STRIA_RETURN_IF_ERROR(check_value(info, *at->second.tensor, at->second.element));
    if (at->second.kind == Value::Kind::strings)
      STRIA_RETURN_IF_ERROR(check_texts(info, at->second));
    STRIA_ASSIGN(scope.values[info.name], bound(info.name, at->second, info.type));
    return {};
  }
  // An optional that holds a tensor is that tensor.
  if (info.type.kind == ValueType::Kind::optional && info.type.element &&
      options_.sizes.contains(info.name))
    return add_input({info.name, *info.type.element}, scope);
  if (info.type.kind == ValueType::Kind::map) {
    missing_.nodes.push_back(fmt::format(
        "input '{}' is a map; export the model with a tensor of features as its input", info.name));
    scope.values[info.name] = nullptr;
    return {};
  }
  const std::optional<DataType> type = tile_type_of(info.type.type);
  if (info.type.kind != ValueType::Kind::tensor || !type) {
    missing_.inputs_by_value.push_back(info.name);
    scope.values[info.name] = nullptr;
    return {};
  }
  auto value = std::make_shared<Value>();
  value->name = info.name;
  value->type.type = *type;
  value->element = info.type.type;
  value->depends_on = {info.name};
  STRIA_ASSIGN(value->type.sizes, sizes_of(info));
  STRIA_RETURN_IF_ERROR(check_product(info, value->type.sizes));
  scope.values[info.name] = value;
  inputs_.push_back(value);
  return {};
}

Status GraphTranslator::add_inputs(Scope& scope) {
  dims_ = options_.dims;
  for (const ValueInfo& input : model_.graph.inputs) {
    const auto given = options_.sizes.find(input.name);
    if (given == options_.sizes.end() || !input.type.dims) continue;
    for (size_t d = 0; d < input.type.dims->size() && d < given->second.size(); ++d)
      dims_.emplace((*input.type.dims)[d].parameter, given->second[d]);
  }
  const auto defaults = initializer_bytes(model_.graph);
  std::vector<std::string> failures;
  for (const ValueInfo& input : model_.graph.inputs) {
    const bool asked = options_.sizes.contains(input.name) || options_.values.contains(input.name);
    if (defaults.contains(input.name) && !asked) continue;
    if (const Status status = add_input(input, scope); !status.ok())
      failures.push_back(status.message());
  }
  if (failures.empty()) return {};
  return invalid_argument("'{}': {}", model_.file, fmt::join(failures, "\n"));
}

}  // namespace stria::onnx
