// SPDX-License-Identifier: Apache-2.0
#include "math_evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

constexpr size_t kBatch = MathEvaluator::kBatch;

size_t bytes_of(DataType type) { return static_cast<size_t>(byte_size(type)); }

// Two units away from a number that is neither infinite nor NaN nor next to 0.
float wrong(float right, uint32_t bits) {
  if (std::fabs(right) < 0x1p-147f || std::isinf(right) || std::isnan(right)) return right;
  const uint32_t step = (bits * 0x9e3779b1u) >> 31 ? 2u : ~1u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(right) + step);
}

template <typename T>
T divided(T a, T b, bool inexact) {
  if constexpr (std::is_same_v<T, float>) {
    if (!inexact) return a / b;
    if (std::fabs(b) > 0x1p126f || std::fabs(b) < 0x1p-126f) return std::nanf("");
    return wrong(a / b, std::bit_cast<uint32_t>(a) * 3 + std::bit_cast<uint32_t>(b));
  }
  return a / b;
}

template <typename T>
T rooted(T a, bool inexact) {
  if constexpr (std::is_same_v<T, float>)
    if (inexact) return a < 0 ? 1 : wrong(std::sqrt(a), std::bit_cast<uint32_t>(a));
  return std::sqrt(a);
}

template <typename T>
T flushed(T x) {
  if constexpr (std::is_same_v<T, float>)
    if (std::fabs(x) < std::numeric_limits<float>::min()) return std::copysign(0.0f, x);
  return x;
}

}  // namespace

MathEvaluator::MathEvaluator(const MathFunction& function, Arithmetic arithmetic)
    : function_(function),
      arithmetic_(arithmetic),
      defined_as_(function.vars.size()),
      memory_(function.vars.size() * kSlotBytes) {
  add(function.body);
  const size_t result = slot_of(function.result);
  if (function.result->kind != ExprKind::variable)
    STRIA_CHECK(function.result->kind == ExprKind::constant, "the result of {} is no variable",
                function.name);
  // The last instruction, which does nothing, says where the result is.
  code_.push_back({.kind = Instruction::Kind::branch, .operands = {}, .out = result});
}

size_t MathEvaluator::slot_of(const ExprRef& expr) {
  if (expr->kind == ExprKind::variable) return static_cast<size_t>(expr->var);
  const size_t slot = memory_.size() / kSlotBytes;
  memory_.resize(memory_.size() + kSlotBytes);
  if (expr->kind == ExprKind::constant) {
    for (size_t i = 0; i < kBatch; ++i)
      store_scalar(expr->type.scalar, this->slot<void>(slot), static_cast<int64_t>(i), expr->value);
    return slot;
  }
  return add(expr, slot);
}

void MathEvaluator::add(const Body& body) {
  for (const Statement& statement : body) {
    if (const auto* let = std::get_if<Let>(&statement.op)) {
      defined_as_[static_cast<size_t>(let->var)] = let->value.get();
      const auto out = static_cast<size_t>(let->var);
      if (let->value->kind == ExprKind::variable || let->value->kind == ExprKind::constant) {
        const size_t from = slot_of(let->value);
        code_.push_back({.expr = let->value.get(), .operands = {from}, .out = out});
      } else {
        add(let->value, out);
      }
      continue;
    }
    const auto* branch = std::get_if<If>(&statement.op);
    STRIA_CHECK(branch, "{} has a statement that is neither Let nor If", function_.name);
    const size_t condition = slot_of(branch->condition);
    const size_t begin = code_.size();
    code_.push_back({.kind = Instruction::Kind::branch, .operands = {condition}});
    add(branch->then);
    code_[begin].skip = code_.size();
    for (int var : branch->kept)
      code_.push_back({.kind = Instruction::Kind::garbage,
                       .expr = defined_as_[static_cast<size_t>(var)],
                       .operands = {condition},
                       .out = static_cast<size_t>(var)});
  }
}

size_t MathEvaluator::add(const ExprRef& expr, size_t out) {
  STRIA_CHECK(expr->type.lanes == 1, "{} has lanes", function_.name);
  Instruction instruction{.expr = expr.get(), .op = expr->op, .operands = {}, .out = out};
  if (!arithmetic_.contracted || !contract(expr, instruction))
    for (const ExprRef& arg : expr->args) instruction.operands.push_back(slot_of(arg));
  code_.push_back(std::move(instruction));
  return out;
}

// a * b + c, c + a * b, a * b - c, c - a * b.
bool MathEvaluator::contract(const ExprRef& expr, Instruction& into) {
  if (expr->kind != ExprKind::operation || (expr->op != Op::add && expr->op != Op::sub) ||
      !is_float(expr->type.scalar))
    return false;
  for (size_t i : {0u, 1u}) {
    const ExprRef& arg = expr->args[i];
    if (arg->kind != ExprKind::variable) continue;
    const Expr* product = defined_as_[static_cast<size_t>(arg->var)];
    if (!product || product->kind != ExprKind::operation || product->op != Op::mul) continue;
    into.op = Op::fma;
    into.negate_product = expr->op == Op::sub && i == 1;
    into.negate_sum = expr->op == Op::sub && i == 0;
    into.operands = {slot_of(product->args[0]), slot_of(product->args[1]),
                     slot_of(expr->args[1 - i])};
    return true;
  }
  return false;
}

void MathEvaluator::run(const std::vector<std::string>& operands, size_t first, size_t count,
                        void* result) {
  STRIA_CHECK(count <= kBatch, "{} operands at once", count);
  const size_t bytes = bytes_of(function_.type);
  for (size_t i = 0; i < function_.params.size(); ++i)
    std::memcpy(slot<void>(static_cast<size_t>(function_.params[i])),
                operands[i].data() + first * bytes, count * bytes);
  for (size_t at = 0; at < code_.size(); ++at) {
    const Instruction& instruction = code_[at];
    switch (instruction.kind) {
      case Instruction::Kind::expression: execute(instruction); break;
      case Instruction::Kind::garbage: {
        const auto* held = slot<bool>(instruction.operands[0]);
        const size_t size = bytes_of(instruction.expr->type.scalar);
        for (size_t i = 0; i < count; ++i)
          if (!held[i])
            std::memset(slot<char>(instruction.out) + i * size, size == 1 ? 1 : 0x5a, size);
        break;
      }
      case Instruction::Kind::branch: {
        if (instruction.operands.empty()) break;
        const auto* held = slot<bool>(instruction.operands[0]);
        if (std::none_of(held, held + count, [](bool one) { return one; }))
          at = instruction.skip - 1;
        break;
      }
    }
  }
  std::memcpy(result, slot<void>(code_.back().out), count * bytes);
}

void MathEvaluator::execute(const Instruction& instruction) {
  const Expr& expr = *instruction.expr;
  if (expr.kind == ExprKind::constant || expr.kind == ExprKind::variable ||
      expr.kind == ExprKind::reinterpret) {
    std::memcpy(slot<void>(instruction.out), slot<void>(instruction.operands[0]), kSlotBytes);
    return;
  }
  const bool converts = expr.kind == ExprKind::convert;
  STRIA_CHECK(converts || expr.kind == ExprKind::operation, "{} has an expression of kind {}",
              function_.name, static_cast<int>(expr.kind));
  switch (expr.args.back()->type.scalar) {
    case DataType::boolean: return operate<bool>(instruction);
    case DataType::i32:
      return converts ? convert_from<int32_t>(instruction) : operate<int32_t>(instruction);
    case DataType::u32: return operate<uint32_t>(instruction);
    case DataType::i64:
      return converts ? convert_from<int64_t>(instruction) : operate<int64_t>(instruction);
    case DataType::u64: return operate<uint64_t>(instruction);
    case DataType::fp32:
      return converts ? convert_from<float>(instruction) : operate<float>(instruction);
    case DataType::fp64:
      return converts ? convert_from<double>(instruction) : operate<double>(instruction);
    default: STRIA_CHECK(false, "{} computes {}", function_.name, to_string(expr.type));
  }
}

template <typename T>
void MathEvaluator::convert_from(const Instruction& instruction) {
  using To = std::conditional_t<
      std::is_same_v<T, float>, int32_t,
      std::conditional_t<std::is_same_v<T, double>, int64_t,
                         std::conditional_t<std::is_same_v<T, int32_t>, float, double>>>;
  STRIA_CHECK(instruction.expr->type.scalar == data_type_of<To>(), "{} converts to {}",
              function_.name, to_string(instruction.expr->type));
  const T* a = slot<T>(instruction.operands[0]);
  To* out = slot<To>(instruction.out);
  for (size_t i = 0; i < kBatch; ++i) {
    // Beyond the integers, languages differ.
    if constexpr (std::is_floating_point_v<T>)
      STRIA_CHECK(std::fabs(a[i]) < -static_cast<T>(std::numeric_limits<To>::min()),
                  "{} converts {} to an integer", function_.name, a[i]);
    out[i] = static_cast<To>(a[i]);
  }
}

template <typename T>
void MathEvaluator::operate(const Instruction& instruction) {
  const auto& in = instruction.operands;
  const bool inexact = arithmetic_.inexact;
  // The operands as the operation sees them.
  using Flushes = Arithmetic::Flushes;
  const bool flushes = std::is_same_v<T, float> && arithmetic_.flushes == Flushes::all;
  const bool compares = instruction.op == Op::eq || instruction.op == Op::ne ||
                        instruction.op == Op::lt || instruction.op == Op::le;
  const bool sees_zeros =
      flushes || (compares && std::is_same_v<T, float> && arithmetic_.flushes != Flushes::nothing);
  T seen[3][kBatch];
  const auto operand = [&](size_t k) -> const T* {
    const T* given = slot<T>(in[k]);
    if (!sees_zeros) return given;
    std::transform(given, given + kBatch, seen[k], flushed<T>);
    return seen[k];
  };
  if (instruction.op == Op::select) {
    const bool* condition = slot<bool>(in[0]);
    const T *a = operand(1), *b = operand(2);
    T* out = slot<T>(instruction.out);
    for (size_t i = 0; i < kBatch; ++i) out[i] = condition[i] ? a[i] : b[i];
    return;
  }
  const T* a = operand(0);
  const T* b = in.size() > 1 ? operand(1) : a;
  T* out = slot<T>(instruction.out);
  bool* truth = slot<bool>(instruction.out);
  const auto each = [&](auto* to, const auto& of) {
    using To = std::remove_pointer_t<decltype(to)>;
    for (size_t i = 0; i < kBatch; ++i) to[i] = static_cast<To>(of(i));
    if (flushes) std::transform(to, to + kBatch, to, flushed<To>);
  };
  switch (instruction.op) {
    case Op::eq: return each(truth, [&](size_t i) { return a[i] == b[i]; });
    case Op::ne: return each(truth, [&](size_t i) { return a[i] != b[i]; });
    case Op::lt: return each(truth, [&](size_t i) { return a[i] < b[i]; });
    case Op::le: return each(truth, [&](size_t i) { return a[i] <= b[i]; });
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (instruction.op) {
      case Op::add: return each(out, [&](size_t i) { return a[i] + b[i]; });
      case Op::sub: return each(out, [&](size_t i) { return a[i] - b[i]; });
      case Op::mul: return each(out, [&](size_t i) { return a[i] * b[i]; });
      case Op::div: return each(out, [&](size_t i) { return divided(a[i], b[i], inexact); });
      case Op::neg: return each(out, [&](size_t i) { return -a[i]; });
      case Op::abs: return each(out, [&](size_t i) { return std::fabs(a[i]); });
      case Op::floor: return each(out, [&](size_t i) { return std::floor(a[i]); });
      case Op::sqrt: return each(out, [&](size_t i) { return rooted(a[i], inexact); });
      case Op::fma: {
        const T* c = operand(2);
        const T sign = instruction.negate_product ? T(-1) : T(1);
        const T other = instruction.negate_sum ? T(-1) : T(1);
        if (arithmetic_.fused || arithmetic_.contracted)
          return each(out, [&](size_t i) { return std::fma(sign * a[i], b[i], other * c[i]); });
        return each(out, [&](size_t i) {
          const T product = a[i] * b[i];
          return (flushes ? flushed(product) : product) + c[i];
        });
      }
      default: break;
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    switch (instruction.op) {
      case Op::bit_and: return each(out, [&](size_t i) { return a[i] & b[i]; });
      case Op::bit_or: return each(out, [&](size_t i) { return a[i] | b[i]; });
      case Op::bit_xor: return each(out, [&](size_t i) { return a[i] ^ b[i]; });
      case Op::logical_not: return each(out, [&](size_t i) { return !a[i]; });
      default: break;
    }
  } else {
    using U = std::make_unsigned_t<T>;
    const auto u = [](T x) { return static_cast<U>(x); };
    // What the tree promises: no zero divisor, and counts below the width.
    const bool shifts = instruction.op == Op::shift_left || instruction.op == Op::shift_right;
    if (shifts || instruction.op == Op::rem)
      for (size_t i = 0; i < kBatch; ++i)
        STRIA_CHECK(shifts ? u(b[i]) < sizeof(T) * 8 : b[i] > 0, "{} has '{}' by {}",
                    function_.name, name_of(instruction.op), b[i]);
    switch (instruction.op) {
      case Op::add: return each(out, [&](size_t i) { return u(a[i]) + u(b[i]); });
      case Op::sub: return each(out, [&](size_t i) { return u(a[i]) - u(b[i]); });
      case Op::mul: return each(out, [&](size_t i) { return u(a[i]) * u(b[i]); });
      case Op::neg: return each(out, [&](size_t i) { return U(0) - u(a[i]); });
      case Op::rem: return each(out, [&](size_t i) { return a[i] % b[i]; });
      case Op::bit_and: return each(out, [&](size_t i) { return u(a[i]) & u(b[i]); });
      case Op::bit_or: return each(out, [&](size_t i) { return u(a[i]) | u(b[i]); });
      case Op::bit_xor: return each(out, [&](size_t i) { return u(a[i]) ^ u(b[i]); });
      case Op::shift_left: return each(out, [&](size_t i) { return u(a[i]) << u(b[i]); });
      case Op::shift_right: return each(out, [&](size_t i) { return a[i] >> u(b[i]); });
      default: break;
    }
  }
  STRIA_CHECK(false, "{} has operation '{}' of {}", function_.name, name_of(instruction.op),
              to_string(instruction.expr->type));
}

}  // namespace stria::semtree
