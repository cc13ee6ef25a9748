// SPDX-License-Identifier: Apache-2.0
// What is known of sizes before the program is bound.
#include <algorithm>
#include <bit>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/special.h"
#include "stria/tile/gradient/flat_function.h"
#include "stria/tile/gradient/prime_field.h"

namespace stria::tile {
namespace {

// The value of an expression in the prime field.
uint64_t of_integer(int64_t value) {
  const uint64_t size =
      value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  return value < 0 ? (kPrime - size % kPrime) % kPrime : size % kPrime;
}

}  // namespace

uint64_t FlatFunction::value_of(ExprId id) const {
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::integer: return of_integer(e.integer);
    case ExprKind::floating: return stable_hash(float_text(e.floating)) % kPrime;
    case ExprKind::name:
      if (has(e.text) && at(e.text).kind == FlatName::Kind::constant) return at(e.text).value;
      return stable_hash(e.text) % kPrime;
    case ExprKind::index: return stable_hash(e.text) % kPrime;
    case ExprKind::call: break;
  }
  std::vector<uint64_t> args;
  for (ExprId arg : e.args) args.push_back(value_of(arg));
  if (e.text == "add") return (args[0] + args[1]) % kPrime;
  if (e.text == "sub") return (args[0] + kPrime - args[1]) % kPrime;
  if (e.text == "mul") return times(args[0], args[1]);
  if (e.text == "neg") return (kPrime - args[0]) % kPrime;
  if (e.text == "div" && args[1] == 1) return args[0];
  std::string text = e.text;
  for (uint64_t arg : args) text += fmt::format(",{}", arg);
  return stable_hash(text) % kPrime;
}

// ---- shapes ----

FlatShape FlatFunction::unknown_shape() {
  FlatShape out;
  out.like = next_like_++;
  return out;
}

FlatShape FlatFunction::resolve(FlatShape shape) const {
  if (shape.known) return shape;
  auto at = known_.find(shape.like);
  if (at == known_.end()) return shape;
  shape.known = true;
  shape.sizes = at->second;
  return shape;
}

bool FlatFunction::same(const FlatShape& first, const FlatShape& second) const {
  const FlatShape a = resolve(first), b = resolve(second);
  if (!a.known || !b.known) return a.known == b.known && a.like == b.like;
  return std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(), b.sizes.end(),
                    [&](ExprId x, ExprId y) { return same_size(x, y); });
}

FlatShape FlatFunction::join(const FlatShape& a, const FlatShape& b) {
  if (a.known && a.sizes.empty()) return b;
  if (b.known && b.sizes.empty()) return a;
  if (same(a, b)) return a;
  if (!a.known || !b.known) return unknown_shape();
  const FlatShape& longer = a.sizes.size() >= b.sizes.size() ? a : b;
  const FlatShape& shorter = a.sizes.size() >= b.sizes.size() ? b : a;
  FlatShape out = longer;
  const size_t lead = longer.sizes.size() - shorter.sizes.size();
  for (size_t i = 0; i < shorter.sizes.size(); ++i) {
    ExprId& size = out.sizes[lead + i];
    const ExprId other = shorter.sizes[i];
    if (same_size(size, other) || is_integer(other, 1)) continue;
    size = is_integer(size, 1) ? other : call("broadcast", {size, other});
  }
  return out;
}

FlatShape FlatFunction::shape_of(const std::string& name) {
  if (!has(name) || at(name).kind != FlatName::Kind::tensor) return {true, {}, 0};
  return resolve(at(name).shape);
}

FlatShape FlatFunction::shape_of(ExprId id) {
  const Expr& e = expr(id);
  if (e.kind == ExprKind::name) return shape_of(e.text);
  if (e.kind != ExprKind::call || is_constant(id)) return {true, {}, 0};
  return shape_of_call(Expr(e));
}

FlatShape FlatFunction::shape_of_call(const Expr& e) {
  if (find_special(e.text) == nullptr) {
    const Builtin* builtin = find_builtin(e.text);
    // The width of a cast is a number; functions of the library with a derivative of their own keep
    // the sizes of their first operand.
    const size_t count = builtin == nullptr || builtin->types == TypeRule::cast ? 1 : e.args.size();
    FlatShape out{true, {}, 0};
    for (size_t i = 0; i < std::min(count, e.args.size()); ++i)
      out = join(out, shape_of(e.args[i]));
    return out;
  }
  if (e.text == "prng_state") return {true, {integer(kPrngWords), integer(kPrngStreams)}, 0};
  if (e.text == "prng_value") {
    const std::string& step = expr(e.args[0]).text;
    return has(step) ? resolve(at(step).shape) : unknown_shape();
  }
  if (e.text == "reshape") return {true, {e.args.begin() + 1, e.args.end()}, 0};
  if (e.text == "sum_like" || e.text == "reshape_like") return shape_of(e.args[1]);
  const FlatShape first = shape_of(e.args[0]);
  if (e.text == "index" || e.text == "round_binary") return first;
  if (e.text == "shape") {
    if (!first.known) return unknown_shape();
    return {true, {integer(static_cast<int64_t>(first.sizes.size()))}, 0};
  }
  const FlatShape rows = shape_of(e.args[1]);
  if (e.text == "gather" || e.text == "gather_or_zero") {
    if (!first.known || !rows.known || first.sizes.empty()) return unknown_shape();
    FlatShape out = rows;
    out.sizes.insert(out.sizes.end(), first.sizes.begin() + 1, first.sizes.end());
    return out;
  }
  if (e.text == "scatter") {
    const FlatShape like = shape_of(e.args[2]);
    if (!first.known || !rows.known || !like.known || like.sizes.empty() ||
        rows.sizes.size() > first.sizes.size())
      return unknown_shape();
    FlatShape out{true, {like.sizes[0]}, 0};
    out.sizes.insert(out.sizes.end(),
                     first.sizes.begin() + static_cast<std::ptrdiff_t>(rows.sizes.size()),
                     first.sizes.end());
    return out;
  }
  return unknown_shape();
}

void FlatFunction::name_dims(Parameter& parameter, size_t rank) {
  parameter.has_dims = true;
  std::vector<ExprId> sizes;
  for (size_t i = 0; i < rank; ++i) {
    FlatName size;
    size.kind = FlatName::Kind::constant;
    size.shape.known = true;
    const std::string dim = fresh_name(fmt::format("{}_{}", without_quote(parameter.name.text), i));
    size.value = stable_hash(dim) % kPrime;
    define(dim, size);
    parameter.dims.push_back({dim, {}});
    sizes.push_back(name(dim));
  }
  known_[names_[parameter.name.text].shape.like] = sizes;
}

std::vector<ExprId> FlatFunction::sizes_of(const std::string& tensor, size_t rank) {
  const FlatShape shape = shape_of(tensor);
  if (shape.known && shape.sizes.size() == rank) return shape.sizes;
  if (shape.known) {
    error({}, fmt::format("'{}' has rank {}, but is used with rank {}", tensor, shape.sizes.size(),
                          rank));
    return std::vector<ExprId>(rank, integer(1));
  }
  for (Parameter& parameter : out_.parameters)
    if (parameter.name.text == tensor && !parameter.has_dims) {
      name_dims(parameter, rank);
      return known_[shape.like];
    }
  std::vector<ExprId> sizes;
  for (size_t i = 0; i < rank; ++i)
    sizes.push_back(call("size", {name(tensor), integer(static_cast<int64_t>(i))}));
  known_[shape.like] = sizes;
  return sizes;
}

}  // namespace stria::tile
