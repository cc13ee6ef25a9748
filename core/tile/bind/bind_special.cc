// SPDX-License-Identifier: Apache-2.0
// Calls of the functions that are not elementwise: their records say what they take and give, this
// file makes the statements.
#include <algorithm>
#include <limits>

#include "stria/tile/bind/binder.h"
#include "stria/tile/bind/constant.h"
#include "stria/tile/bind/contraction_types.h"
#include "stria/tile/bind/packed_elements.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria::tile {
namespace {

const Expr& argument(const Scope& scope, const Expr& e, size_t i) {
  return scope.function->exprs[static_cast<size_t>(e.args[i])];
}

int append_node(NodeList& nodes, BoundNode node) {
  nodes.nodes.push_back(std::move(node));
  return static_cast<int>(nodes.nodes.size()) - 1;
}

int add_number(NodeList& nodes, int64_t number, DataType type = DataType::i32) {
  BoundNode node;
  node.kind = BoundNode::Kind::constant;
  node.type = type;
  node.value = convert(Scalar::of_int(DataType::i64, number), type);
  return append_node(nodes, std::move(node));
}

// The coordinate along the dimension `from_end` (-1 is the last); finish() makes it count from 0.
int add_coordinate(NodeList& nodes, int from_end) {
  BoundNode node;
  node.kind = BoundNode::Kind::index;
  node.type = DataType::i32;
  node.axis = from_end;
  return append_node(nodes, std::move(node));
}

int add_call(NodeList& nodes, const char* function, DataType type, std::vector<int> args) {
  BoundNode node;
  node.kind = BoundNode::Kind::call;
  node.function = function;
  node.operation_type = DataType::i32;
  node.type = type;
  node.args = std::move(args);
  return append_node(nodes, std::move(node));
}

Value value_of(int node, std::vector<int64_t> sizes) {
  Value out;
  out.node = node;
  out.type = DataType::i32;
  out.sizes = std::move(sizes);
  return out;
}

}  // namespace

bool Binder::step_is_no_result(const Name& name) {
  return error(name.span,
               fmt::format("output '{0}' is a step of random numbers; make it a tensor by "
                           "prng_value({0}) or prng_state({0})",
                           name.text));
}

bool Binder::check_arguments(const Special& special, const Expr& e) {
  const int given = static_cast<int>(e.args.size());
  const int least = special.tensors + special.least_numbers;
  const bool many = special.most_numbers >= 0 && given > special.tensors + special.most_numbers;
  if (given >= least && !many) return true;
  return error(e.name_span,
               fmt::format("'{}' is called as {}, but {} argument{} given; for example: {}", e.text,
                           special.call, given, given == 1 ? " is" : "s are", special.example));
}

bool Binder::bind_numbers(Scope& scope, const Special& special, const Expr& e, SpecialCall& call) {
  const std::string_view what = special.number != nullptr   ? "a dimension"
                                : special.least_numbers > 1 ? "what a format is made of"
                                : special.most_numbers < 0  ? "a size"
                                                            : "the axis";
  for (size_t i = static_cast<size_t>(special.tensors); i < e.args.size(); ++i) {
    std::optional<int64_t> number = constant_integer(scope, e.args[i], what);
    if (!number) return false;
    call.numbers.push_back(*number);
  }
  return true;
}

std::optional<TensorType> Binder::special_type(Scope& scope, const Special& special, const Expr& e,
                                               const SpecialCall& call) {
  SpecialResult result = special.result(call);
  if (result.error.empty()) return result.type;
  error(result.argument < 0 ? e.name_span
                            : argument(scope, e, static_cast<size_t>(result.argument)).span,
        std::move(result.error));
  return std::nullopt;
}

bool Binder::special_operands(Scope& scope, const Special& special, const Expr& e,
                              std::vector<TensorId>& operands, SpecialCall& call) {
  bool ok = true;
  for (size_t i = 0; i < static_cast<size_t>(special.tensors); ++i) {
    std::optional<Entity> from = operand(scope, e.args[i]);
    if (from && from->kind == Entity::Kind::constant)
      error(argument(scope, e, i).span, fmt::format("'{}' needs a tensor here", e.text));
    ok = ok && from && from->kind == Entity::Kind::tensor;
    if (!ok) continue;
    operands.push_back(from->tensor);
    call.tensors.push_back({tensor(from->tensor).type, tensor(from->tensor).sizes});
  }
  return ok;
}

std::optional<Value> Binder::evaluate_special(Scope& scope, const Special& special, const Expr& e,
                                              NodeList& nodes) {
  const std::string_view name = special.name;
  if (name == "prng_step") {
    error(e.name_span,
          "'prng_step' makes a step, no tensor: write T = prng_step(S, size, …); and "
          "take prng_value(T) and prng_state(T)");
    return std::nullopt;
  }
  if (name == "prng_state") {
    const Entity* step = check_arguments(special, e) ? find_step(scope, special, e) : nullptr;
    if (step == nullptr) return std::nullopt;
    return load(nodes, step->tensor);
  }
  if (makes_statement(special)) {
    TensorId id = bind_special(scope, special, e, temporary_name(), nullptr);
    if (id < 0) return std::nullopt;
    return load(nodes, id);
  }
  if (!check_arguments(special, e)) return std::nullopt;
  if (special.number != nullptr) return evaluate_number(scope, special, e);
  if (name == "round_binary") return evaluate_rounding(scope, special, e, nodes);
  NodeList unused;  // only the sizes count
  SpecialCall call;
  std::optional<Value> value = evaluate(scope, e.args[0], unused);
  if (!bind_numbers(scope, special, e, call) || !value) return std::nullopt;
  call.tensors.push_back({value->type, value->sizes});
  std::optional<TensorType> type = special_type(scope, special, e, call);
  if (!type) return std::nullopt;
  if (name == "size") {
    Value out;
    out.constant = true;
    out.number = Constant::of(value->sizes[static_cast<size_t>(call.numbers[0])]);
    return out;
  }
  if (name == "shape") return evaluate_shape(value->sizes, nodes);
  return evaluate_index(*type, call.numbers[0], nodes);
}

std::optional<Value> Binder::evaluate_rounding(Scope& scope, const Special& special, const Expr& e,
                                               NodeList& nodes) {
  std::optional<Value> x = evaluate(scope, e.args[0], nodes);
  SpecialCall call;
  if (!bind_numbers(scope, special, e, call) || !x) return std::nullopt;
  PackedElements elements(nodes.nodes);
  if (x->constant) {
    error(argument(scope, e, 0).span, fmt::format("'{}' needs a tensor here", e.text));
    return std::nullopt;
  }
  call.tensors.push_back({x->type, x->sizes});
  const std::optional<TensorType> type = special_type(scope, special, e, call);
  if (!type) return std::nullopt;
  const auto number = [&](size_t i) { return static_cast<int>(call.numbers[i]); };
  const int given = elements.call("ident", type->type, {x->node});
  Value out = value_of(elements.rounded(given, {number(0), number(1), number(2)}), type->sizes);
  out.type = type->type;
  return out;
}

std::optional<Value> Binder::evaluate_number(Scope& scope, const Special& special, const Expr& e) {
  SpecialCall call;
  if (!bind_numbers(scope, special, e, call)) return std::nullopt;
  Result<int64_t> number = special.number(call.numbers);
  if (!number.ok()) {
    error(e.name_span, number.status());
    return std::nullopt;
  }
  Value out;
  out.constant = true;
  out.number = Constant::of(*number);
  return out;
}

std::optional<Value> Binder::evaluate_index(const TensorType& type, int64_t axis, NodeList& nodes) {
  // A dimension of size 1 may be stretched; its index stays 0.
  if (type.sizes[static_cast<size_t>(axis)] == 1) return value_of(add_number(nodes, 0), type.sizes);
  const int from_end = static_cast<int>(axis - static_cast<int64_t>(type.sizes.size()));
  return value_of(add_coordinate(nodes, from_end), type.sizes);
}

std::optional<Value> Binder::evaluate_shape(const std::vector<int64_t>& sizes, NodeList& nodes) {
  // A result of one element may be stretched; each element is the size.
  if (sizes.size() == 1) return value_of(add_number(nodes, sizes[0]), {1});
  int out = add_number(nodes, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int at = add_coordinate(nodes, -1);
    const int axis = add_number(nodes, static_cast<int64_t>(i));
    const int here = add_call(nodes, "cmp_eq", DataType::boolean, {at, axis});
    const int size = add_number(nodes, sizes[i]);
    out = add_call(nodes, "cond", DataType::i32, {here, size, out});
  }
  return value_of(out, {static_cast<int64_t>(sizes.size())});
}

TensorId Binder::bind_special(Scope& scope, const Special& special, const Expr& e,
                              const std::string& name, const Statement* statement) {
  if (!check_arguments(special, e)) return -1;
  const SourceSpan span = statement != nullptr ? statement->span : e.span;
  const std::string text = statement != nullptr ? print(*scope.function, *statement)
                                                : fmt::format("{} = {}", name, special.call);
  if (std::string_view(special.name) == "prng_value") {
    const Entity* step = find_step(scope, special, e);
    return step == nullptr ? -1 : bind_step_values(scope, *step, name, statement, span, text);
  }
  std::vector<TensorId> operands;
  SpecialCall call;
  if (!special_operands(scope, special, e, operands, call)) return -1;
  if (!bind_numbers(scope, special, e, call)) return -1;
  std::optional<TensorType> type = special_type(scope, special, e, call);
  if (!type) return -1;
  if (std::string_view(special.name) == "sum_like")
    return add_sum(scope, operands[0], std::move(*type), name, statement, span, text);
  if (std::string_view(special.name) == "reshape" ||
      std::string_view(special.name) == "reshape_like")
    return add_reshape(scope, operands[0], std::move(type->sizes), name, statement, span, text);
  if (std::string_view(special.name) == "scatter")
    return add_scatter(scope, operands, std::move(*type), name, statement, span, text);
  const bool zeros = std::string_view(special.name) == "gather_or_zero";
  BoundGather gather;
  gather.from = operands[0];
  gather.index = operands[1];
  gather.out =
      add_tensor(zeros ? temporary_name() : name, type->type, std::move(type->sizes), e.span);
  if (gather.out < 0 || !add_statement(scope, statement, {gather, {}, text, span})) return -1;
  return zeros ? add_mask(scope, gather, name, statement, span, text) : gather.out;
}

// The gathered rows where the integer is one, else 0.
TensorId Binder::add_mask(Scope& scope, const BoundGather& gather, const std::string& name,
                          const Statement* statement, SourceSpan span, const std::string& text) {
  const int64_t rows = tensor(gather.from).sizes[0];
  std::vector<int64_t> sizes = tensor(gather.index).sizes;
  sizes.resize(tensor(gather.out).sizes.size(), 1);
  const TensorId index =
      add_reshape(scope, gather.index, std::move(sizes), temporary_name(), statement, span, text);
  if (index < 0) return -1;
  NodeList nodes;
  const Value at = load(nodes, index);
  Value row = load(nodes, gather.out);
  // 64 bits only where 32 do not hold both: not every device has them.
  const DataType given = tensor(gather.index).type;
  const bool narrow = (bit_width(given) < 32 || given == DataType::i32) &&
                      rows <= std::numeric_limits<int32_t>::max();
  const DataType type = narrow ? DataType::i32 : DataType::i64;
  const int wide = add_call(nodes, "ident", type, {at.node});
  const int low = add_call(nodes, "cmp_ge", DataType::boolean, {wide, add_number(nodes, 0, type)});
  const int high =
      add_call(nodes, "cmp_lt", DataType::boolean, {wide, add_number(nodes, rows, type)});
  for (int node : {wide, low, high}) nodes.nodes[static_cast<size_t>(node)].operation_type = type;
  const int both = add_call(nodes, "logical_and", DataType::boolean, {low, high});
  nodes.nodes[static_cast<size_t>(both)].operation_type = DataType::boolean;
  const int zero = add_number(nodes, 0, compute_type(row.type));
  row.node = add_call(nodes, "cond", row.type, {both, row.node, zero});
  nodes.nodes.back().operation_type = compute_type(row.type);
  return finish(scope, statement, nodes, row, name, text, span);
}

TensorId Binder::add_reshape(Scope& scope, TensorId from, std::vector<int64_t> sizes,
                             const std::string& name, const Statement* statement, SourceSpan span,
                             const std::string& text) {
  BoundReshape reshape;
  reshape.from = from;
  reshape.out = add_tensor(name, tensor(from).type, std::move(sizes), span);
  if (reshape.out < 0) return -1;
  return add_statement(scope, statement, {reshape, {}, text, span}) ? reshape.out : -1;
}

// One contraction whose output has 0 where the sum runs over a dimension that stays with size 1.
TensorId Binder::add_sum(Scope& scope, TensorId from, TensorType type, const std::string& name,
                         const Statement* statement, SourceSpan span, const std::string& text) {
  const std::vector<int64_t> sizes = tensor(from).sizes;
  if (sizes == type.sizes) {
    NodeList nodes;
    const Value value = load(nodes, from);
    return finish(scope, statement, nodes, value, name, text, span);
  }
  const ContractionTypes types =
      contraction_types(Aggregation::sum, Combination::none, {tensor(from).type});
  BoundContraction sum;
  sum.combination_type = types.combination;
  sum.value_type = types.value;
  sum.aggregation_type = types.aggregation;
  sum.out_name = name;
  sum.out_span = place(span);
  BoundOperand operand;
  operand.tensor = from;
  const size_t lead = sizes.size() - type.sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Indices are sorted by name.
    const std::string index = fmt::format("i{:03}", i);
    sum.indices.push_back({index, {0, std::max<int64_t>(sizes[i] - 1, 0)}});
    sum.empty |= sizes[i] == 0;
    operand.access.push_back({Affine::of(index), 1});
    if (i < lead) continue;
    const bool summed = type.sizes[i - lead] == 1;
    sum.out_access.push_back({summed ? Affine(0) : Affine::of(index), 1});
  }
  if (sum.empty)
    for (BoundIndex& index : sum.indices) index.range = {0, 0};
  sum.operands.push_back(std::move(operand));
  sum.out = add_tensor(name, types.out, std::move(type.sizes), span);
  const TensorId out = sum.out;
  if (out < 0) return -1;
  return add_statement(scope, statement, {std::move(sum), {}, text, place(span)}) ? out : -1;
}

// Sums of fp16 and bf16 are kept in fp32 and rounded once.
TensorId Binder::add_scatter(Scope& scope, const std::vector<TensorId>& operands, TensorType type,
                             const std::string& name, const Statement* statement, SourceSpan span,
                             const std::string& text) {
  const DataType sum = compute_type(type.type);
  BoundScatter scatter;
  scatter.from = operands[0];
  scatter.index = operands[1];
  scatter.out = add_tensor(sum == type.type ? name : temporary_name(), sum, type.sizes, span);
  if (scatter.out < 0 || !add_statement(scope, statement, {scatter, {}, text, span})) return -1;
  if (sum == type.type) return scatter.out;
  NodeList nodes;
  Value value = load(nodes, scatter.out);
  value.type = type.type;
  BoundNode rounded;
  rounded.kind = BoundNode::Kind::call;
  rounded.function = "ident";
  rounded.operation_type = sum;
  rounded.type = type.type;
  rounded.args = {value.node};
  value.node = append_node(nodes, std::move(rounded));
  return finish(scope, statement, nodes, value, name, text, span);
}

const Entity* Binder::find_step(Scope& scope, const Special& special, const Expr& e) {
  const Expr& name = argument(scope, e, 0);
  auto at = name.kind == ExprKind::name ? scope.names.find(name.text) : scope.names.end();
  if (at != scope.names.end() && at->second.kind == Entity::Kind::step) return &at->second;
  if (at != scope.names.end() && at->second.kind == Entity::Kind::failed) return nullptr;
  if (name.kind == ExprKind::name && at == scope.names.end()) {
    look_up(scope, name.text, name.span, "step of random numbers");
    return nullptr;
  }
  error(name.span,
        fmt::format("'{}' needs a step of random numbers: a name T with T = prng_step(S, "
                    "size, …)",
                    special.name));
  return nullptr;
}

std::optional<Entity> Binder::bind_step(Scope& scope, const Special& special, const Expr& e,
                                        const std::string& name, const Statement& statement) {
  if (!check_arguments(special, e)) return std::nullopt;
  std::vector<TensorId> operands;
  SpecialCall call;
  if (!special_operands(scope, special, e, operands, call)) return std::nullopt;
  if (!bind_numbers(scope, special, e, call)) return std::nullopt;
  std::optional<TensorType> type = special_type(scope, special, e, call);
  if (!type) return std::nullopt;
  BoundPrng prng;
  prng.state = operands[0];
  prng.count = dense_shape(type->type, type->sizes).element_count();
  const int64_t steps = prng.count / kPrngStreams + (prng.count % kPrngStreams != 0);
  prng.values = add_tensor(fresh_name(name + "_values"), type->type, {steps, kPrngStreams}, e.span);
  prng.state_out = add_tensor(fresh_name(name + "_state"), tensor(operands[0]).type,
                              tensor(operands[0]).sizes, e.span);
  if (prng.values < 0 || prng.state_out < 0) return std::nullopt;
  std::string text = print(*scope.function, statement);
  if (!add_statement(scope, &statement, {prng, {}, std::move(text), statement.span}))
    return std::nullopt;
  Entity step;
  step.kind = Entity::Kind::step;
  step.tensor = prng.state_out;
  step.step_values = prng.values;
  step.step_sizes = std::move(type->sizes);
  return step;
}

TensorId Binder::bind_step_values(Scope& scope, const Entity& step, const std::string& name,
                                  const Statement* statement, SourceSpan span,
                                  const std::string& text) {
  const std::vector<int64_t> sizes = step.step_sizes;
  const int64_t count = dense_shape(DataType::fp32, sizes).element_count();
  TensorId from = step.step_values;
  // What the last step makes too much is cut off in one dimension, where the loops are plain.
  if (sizes.size() != 1 && count % kPrngStreams != 0) {
    const std::string flat = temporary_name();
    from = add_reshape(scope, from, {count}, flat, statement, span, text);
    if (from < 0) return -1;
  }
  return add_reshape(scope, from, sizes, name, statement, span, text);
}

}  // namespace stria::tile
