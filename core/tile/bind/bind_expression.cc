// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "stria/base/text.h"
#include "stria/builtins/composite.h"
#include "stria/tile/bind/binder.h"
#include "stria/tile/bind/packed_elements.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria::tile {
namespace {

// Expressions inside called functions count with those of the caller: bounds the recursion.
constexpr int kMaxDepth = 1500;

// Functions of Tile elsewhere that are not here (docs/tile.md), and what to write instead.
struct MissingFunction {
  std::string_view name;  // or how it begins: "assert_"
  std::string_view instead;
};
constexpr MissingFunction kMissing[] = {
    {"assert_", "dimensions that must be equal: N = match(N1, N2)"},
    {"element", "a function of the file gives several results: (S, T) = f(X)"},
    {"quantize", "scale and convert: R = as_int(round(X * 127.0), 8)"},
    {"simple_reduce", "sum in a contraction: R[j : N] = +(X[i, j])"},
    {"tuple", "a function of the file gives several results: (S, T) = f(X)"},
};

bool is_true(const Constant& number) {
  return number.kind == Constant::Kind::floating ? !(number.floating == 0) : number.integer != 0;
}

Value constant_value(const Constant& number) {
  Value out;
  out.constant = true;
  out.number = number;
  return out;
}

Value add_node(NodeList& nodes, BoundNode node, std::vector<int64_t> sizes = {}) {
  Value out;
  out.type = node.type;
  out.sizes = std::move(sizes);
  out.node = static_cast<int>(nodes.nodes.size());
  nodes.nodes.push_back(std::move(node));
  return out;
}

Value add_constant(NodeList& nodes, const Scalar& scalar) {
  BoundNode node;
  node.kind = BoundNode::Kind::constant;
  node.type = scalar.type;
  node.value = scalar;
  return add_node(nodes, std::move(node));
}

Value add_call(NodeList& nodes, std::string_view function, DataType operation, DataType type,
               std::vector<int> args, std::vector<int64_t> sizes) {
  BoundNode node;
  node.kind = BoundNode::Kind::call;
  node.function = std::string(function);
  node.operation_type = operation;
  node.type = type;
  node.args = std::move(args);
  return add_node(nodes, std::move(node), std::move(sizes));
}

}  // namespace

// ---- expressions ----

std::optional<Value> Binder::evaluate(Scope& scope, ExprId id, NodeList& nodes) {
  const Expr& e = expr_at(scope, id);
  if (!work(work_of(e.text), e.span)) return std::nullopt;
  switch (e.kind) {
    case ExprKind::integer: return constant_value(Constant::of(e.integer));
    case ExprKind::floating: return constant_value(Constant::of(e.floating));
    case ExprKind::name: {
      const Entity* entity = look_up(scope, e.text, e.span, "tensor or dimension");
      if (entity == nullptr) return std::nullopt;
      if (entity->kind == Entity::Kind::constant) return constant_value(entity->constant);
      return load(nodes, entity->tensor);
    }
    case ExprKind::index:
      error(e.span, fmt::format("index '{}' outside a contraction", e.text));
      return std::nullopt;
    case ExprKind::call: break;
  }
  if (++depth_ > kMaxDepth) {
    --depth_;
    error(e.name_span,
          fmt::format("calls and operators are nested more than {} deep; split the expression into "
                      "several statements",
                      kMaxDepth));
    return std::nullopt;
  }
  std::optional<Value> out = evaluate_call(scope, e, nodes);
  --depth_;
  return out;
}

std::optional<Value> Binder::evaluate_call(Scope& scope, const Expr& e, NodeList& nodes) {
  if (const Function* callee = find_function(e.text)) {
    if (!check_one_result(*callee, e)) return std::nullopt;
    std::vector<Entity> results = bind_call(scope, *callee, e, {temporary_name()});
    if (results.empty() || results[0].kind == Entity::Kind::failed) return std::nullopt;
    if (results[0].kind == Entity::Kind::constant) return constant_value(results[0].constant);
    return load(nodes, results[0].tensor);
  }
  if (const Special* special = find_special(e.text))
    return evaluate_special(scope, *special, e, nodes);
  const Builtin* builtin = find_builtin(e.text);
  if (builtin == nullptr) {
    unknown_function(e);
    return std::nullopt;
  }
  std::vector<Value> args;
  args.reserve(e.args.size());
  bool ok = true;
  int chosen =
      -1;  // of `c ? t : e` with a constant c: what else stands there gives sizes and type alone
  std::unique_ptr<NodeList> unused;
  for (size_t i = 0; i < e.args.size(); ++i) {
    const bool dead = chosen >= 0 && static_cast<int>(i) != chosen;
    if (dead && unused == nullptr) unused = std::make_unique<NodeList>();
    std::optional<Value> value = evaluate(scope, e.args[i], dead ? *unused : nodes);
    ok &= value.has_value();
    if (!value) continue;
    if (builtin->types == TypeRule::select && i == 0 && value->constant)
      chosen = is_true(value->number) ? 1 : 2;
    args.push_back(std::move(*value));
  }
  if (!ok) return std::nullopt;
  if (!check_argument_count(*builtin, e)) return std::nullopt;
  if (builtin->types == TypeRule::cast) return evaluate_cast(*builtin, e, std::move(args), nodes);
  return evaluate_builtin(scope, *builtin, e, std::move(args), nodes, chosen);
}

bool Binder::check_argument_count(const Builtin& builtin, const Expr& call) {
  if (static_cast<int>(call.args.size()) == builtin.arity) return true;
  return error(call.name_span,
               fmt::format("'{}' takes {} argument{}, but {} {} given; for example: {}", call.text,
                           builtin.arity, builtin.arity == 1 ? "" : "s", call.args.size(),
                           call.args.size() == 1 ? "is" : "are", builtin.example));
}

bool Binder::unknown_function(const Expr& e) {
  for (const MissingFunction& missing : kMissing)
    if (missing.name.ends_with('_') ? e.text.starts_with(missing.name) : e.text == missing.name)
      return error(e.name_span,
                   fmt::format("there is no function '{}' here; {}", e.text, missing.instead));
  std::vector<std::string> names = builtin_names();
  for (const Special* special : all_specials()) names.emplace_back(special->name);
  for (const Composite* composite : all_composites()) names.emplace_back(composite->name);
  for (const Function& function : program_.functions)
    if (!function.name.text.empty()) names.push_back(function.name.text);
  return error(e.name_span,
               fmt::format("there is no function '{}'{}", e.text, did_you_mean(e.text, names)));
}

std::optional<Value> Binder::evaluate_builtin(const Scope& scope, const Builtin& builtin,
                                              const Expr& e, std::vector<Value> args,
                                              NodeList& nodes, int chosen) {
  // What decides the type: not the condition of `?:`.
  const size_t first = builtin.types == TypeRule::select ? 1 : 0;
  std::optional<DataType> tensors;
  std::vector<Constant> constants;
  bool all_constant = true;
  for (size_t i = 0; i < args.size(); ++i) {
    all_constant &= args[i].constant;
    if (i < first) continue;
    if (args[i].constant) {
      constants.push_back(args[i].number);
    } else {
      tensors = tensors ? common_type(*tensors, args[i].type) : args[i].type;
    }
  }
  if (all_constant) {
    for (const Value& arg : args) constants.push_back(arg.number);
    constants.erase(constants.begin(), constants.end() - static_cast<std::ptrdiff_t>(args.size()));
    Result<Constant> folded = fold(builtin, constants);
    if (folded.ok()) return constant_value(*folded);
    error(e.name_span, folded.status());
    return std::nullopt;
  }
  const DataType common = type_beside(tensors, constants);
  std::array<DataType, kMaxArity> types;
  for (size_t i = 0; i < args.size(); ++i) types[i] = args[i].constant ? common : args[i].type;
  Result<CallTypes> call = call_types(builtin, {types.data(), args.size()});
  if (!call.ok()) {
    error(e.name_span, call.status());
    return std::nullopt;
  }
  std::vector<int> ids;
  ids.reserve(args.size());
  std::array<std::vector<int64_t>, kMaxArity> shapes;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].constant) {
      DataType type = operand_type(builtin, call->operation, static_cast<int>(i));
      Result<Scalar> scalar = to_scalar(args[i].number, type);
      if (!scalar.ok()) {
        error(expr_at(scope, e.args[i]).span,
              fmt::format("{}, the type of what it meets here; convert that first, for example by "
                          "as_int(…, 32)",
                          scalar.status().message()));
        return std::nullopt;
      }
      args[i] = add_constant(nodes, *scalar);
    }
    ids.push_back(args[i].node);
    shapes[i] = std::move(args[i].sizes);
  }
  if (chosen >= 0) {
    Result<std::vector<int64_t>> sizes = broadcast_sizes(shapes);
    if (!sizes.ok()) {
      error(e.name_span, sizes.status());
      return std::nullopt;
    }
    Value out = args[static_cast<size_t>(chosen)];
    if (out.type != call->result)
      out = add_call(nodes, "ident", call->result, call->result, {out.node}, {});
    out.sizes = std::move(sizes).value();
    out.packed.reset();
    return out;
  }
  const BoundNode& last = nodes.nodes[static_cast<size_t>(ids.back())];
  const std::string_view name = builtin.name;
  if ((name == "div" || name == "mod") && is_integer(call->operation) &&
      last.kind == BoundNode::Kind::constant && last.value.i == 0) {
    error(e.name_span, fmt::format("the divisor of this '{}' of integers is always 0",
                                   name == "div" ? "/" : "%"));
    return std::nullopt;
  }
  Result<std::vector<int64_t>> sizes = broadcast_sizes({shapes.data(), args.size()});
  if (!sizes.ok()) {
    error(e.name_span, sizes.status());
    return std::nullopt;
  }
  return add_call(nodes, name, call->operation, call->result, std::move(ids),
                  std::move(sizes).value());
}

std::optional<Value> Binder::evaluate_cast(const Builtin& builtin, const Expr& e,
                                           std::vector<Value> args, NodeList& nodes) {
  int64_t bits = 0;
  if (args.size() > 1) {
    if (!args[1].constant || args[1].number.kind != Constant::Kind::integer) {
      error(e.name_span,
            fmt::format("the width that '{}' converts to must be an integer known beforehand; for "
                        "example: {}",
                        e.text, builtin.example));
      return std::nullopt;
    }
    bits = args[1].number.integer;
  }
  Result<DataType> type = cast_type(builtin, bits);
  if (!type.ok()) {
    error(e.name_span, type.status());
    return std::nullopt;
  }
  if (args[0].constant) {
    const Constant& c = args[0].number;
    Scalar wide = c.kind == Constant::Kind::floating ? Scalar::of_float(DataType::fp64, c.floating)
                                                     : Scalar::of_int(DataType::i64, c.integer);
    const Scalar cast = convert(wide, *type);
    Value out = add_constant(nodes, convert(cast, held_type(*type)));
    if (is_packed(*type)) out.packed = *type;
    return out;
  }
  if (is_packed(*type)) {
    Value out;
    out.node = PackedElements(nodes.nodes).cast(args[0].node, *type);
    out.type = held_type(*type);
    out.packed = *type;
    out.sizes = std::move(args[0].sizes);
    return out;
  }
  return add_call(nodes, "ident", *type, *type, {args[0].node}, args[0].sizes);
}

std::optional<int64_t> Binder::constant_integer(Scope& scope, ExprId id, std::string_view what) {
  NodeList unused;
  std::optional<Value> value = evaluate(scope, id, unused);
  if (!value) return std::nullopt;
  if (value->constant && value->number.kind == Constant::Kind::integer)
    return value->number.integer;
  error(expr_at(scope, id).span,
        fmt::format("{} must be an integer made of dimensions and literals, {}", what,
                    value->constant ? fmt::format("not {}", value->number.to_string())
                                    : std::string("but this depends on the elements of a tensor")));
  return std::nullopt;
}

// ---- tensors ----

Value Binder::load(NodeList& nodes, TensorId id) {
  auto at = nodes.loads.find(id);
  if (at == nodes.loads.end()) {
    BoundNode node;
    node.kind = BoundNode::Kind::load;
    node.type = tensor(id).type;
    node.tensor = id;
    at = nodes.loads.emplace(id, add_node(nodes, std::move(node)).node).first;
  }
  Value out;
  out.node = at->second;
  out.type = tensor(id).type;
  out.packed = tensor(id).packed;
  out.sizes = tensor(id).sizes;
  return out;
}

std::optional<Entity> Binder::operand(Scope& scope, ExprId id) {
  const Expr& e = expr_at(scope, id);
  if (e.kind == ExprKind::name) {
    const Entity* entity = look_up(scope, e.text, e.span, "tensor or dimension");
    if (entity == nullptr) return std::nullopt;
    return *entity;
  }
  NodeList nodes;
  std::optional<Value> value = evaluate(scope, id, nodes);
  if (!value) return std::nullopt;
  if (value->constant) return Entity::of(value->number);
  // The result of a call is a tensor already. What a conditional chose is not, where it is spread
  // over more elements than it has.
  const BoundNode& last = nodes.nodes[static_cast<size_t>(value->node)];
  if (last.kind == BoundNode::Kind::load && tensor(last.tensor).sizes == value->sizes)
    return Entity::of(last.tensor);
  std::string name = temporary_name();
  std::string text = fmt::format("{} = {}", name, print_expr(*scope.function, id));
  TensorId tensor = finish(scope, nullptr, nodes, *value, name, std::move(text), e.span);
  if (tensor < 0) return std::nullopt;
  return Entity::of(tensor);
}

TensorId Binder::finish(Scope& scope, const Statement* statement, NodeList& nodes,
                        const Value& value, const std::string& name, std::string text,
                        SourceSpan span) {
  TensorId id = add_tensor(name, value.packed.value_or(value.type), value.sizes, span);
  if (id < 0) return -1;
  // The root comes last; a bare name, or a load that was shared, may stand before other nodes.
  nodes.nodes.resize(static_cast<size_t>(value.node) + 1);
  nodes.nodes.shrink_to_fit();
  for (BoundNode& node : nodes.nodes)
    if (node.kind == BoundNode::Kind::index) node.axis += static_cast<int>(value.sizes.size());
  BoundStatement out;
  out.form = BoundElementwise{id, std::move(nodes.nodes)};
  out.text = std::move(text);
  out.span = place(statement != nullptr ? statement->span : span);
  return add_statement(scope, statement, std::move(out)) ? id : -1;
}

TensorId Binder::constant_tensor(Scope& scope, const Constant& constant, DataType type,
                                 const std::string& name, SourceSpan span,
                                 std::vector<int64_t> sizes) {
  Result<Scalar> scalar = to_scalar(constant, type);
  if (!scalar.ok()) {
    error(span, scalar.status());
    return -1;
  }
  NodeList nodes;
  Value value = add_constant(nodes, *scalar);
  value.sizes = std::move(sizes);
  return finish(scope, nullptr, nodes, value, name,
                fmt::format("{} = {}", name, constant.to_string()), span);
}

}  // namespace stria::tile
