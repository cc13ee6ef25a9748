// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/mathematics/function_builder.h"

#include <cmath>

#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree::mathematics {
namespace {

constexpr Format kFp32 = {DataType::fp32, DataType::i32, DataType::u32, 32, 23, 127, 12};
constexpr Format kFp64 = {DataType::fp64, DataType::i64, DataType::u64, 64, 52, 1023, 27};

Value operate(Op op, const Value& a) { return a.builder->let(semtree::unary(op, a.expr)); }
Value operate(Op op, const Value& a, const Value& b) {
  return a.builder->let(semtree::binary(op, a.expr, b.expr));
}
Value like(const Value& a, double value) { return a.builder->constant_like(a, value); }
Value like(const Value& a, int64_t value) {
  return {a.builder, semtree::integer(a.expr->type.scalar, value)};
}

}  // namespace

Value operator+(const Value& a, const Value& b) { return operate(Op::add, a, b); }
Value operator-(const Value& a, const Value& b) { return operate(Op::sub, a, b); }
Value operator*(const Value& a, const Value& b) { return operate(Op::mul, a, b); }
Value operator/(const Value& a, const Value& b) { return operate(Op::div, a, b); }
Value operator%(const Value& a, const Value& b) { return operate(Op::rem, a, b); }
Value operator-(const Value& a) { return operate(Op::neg, a); }
Value operator&(const Value& a, const Value& b) { return operate(Op::bit_and, a, b); }
Value operator|(const Value& a, const Value& b) { return operate(Op::bit_or, a, b); }
Value operator^(const Value& a, const Value& b) { return operate(Op::bit_xor, a, b); }
Value operator<<(const Value& a, const Value& count) { return operate(Op::shift_left, a, count); }
Value operator>>(const Value& a, const Value& count) { return operate(Op::shift_right, a, count); }
Value operator==(const Value& a, const Value& b) { return operate(Op::eq, a, b); }
Value operator!=(const Value& a, const Value& b) { return operate(Op::ne, a, b); }
Value operator<(const Value& a, const Value& b) { return operate(Op::lt, a, b); }
Value operator<=(const Value& a, const Value& b) { return operate(Op::le, a, b); }
Value operator!(const Value& a) { return operate(Op::logical_not, a); }

Value operator+(const Value& a, double b) { return a + like(a, b); }
Value operator+(double a, const Value& b) { return like(b, a) + b; }
Value operator-(const Value& a, double b) { return a - like(a, b); }
Value operator-(double a, const Value& b) { return like(b, a) - b; }
Value operator*(const Value& a, double b) { return a * like(a, b); }
Value operator/(double a, const Value& b) { return like(b, a) / b; }
Value operator&(const Value& a, int64_t b) { return a & like(a, b); }
Value operator|(const Value& a, int64_t b) { return a | like(a, b); }
Value operator<<(const Value& a, int64_t count) { return a << like(a, count); }
Value operator>>(const Value& a, int64_t count) { return a >> like(a, count); }
Value operator==(const Value& a, double b) { return a == like(a, b); }
Value operator!=(const Value& a, double b) { return a != like(a, b); }
Value operator<(const Value& a, double b) { return a < like(a, b); }
Value operator<(double a, const Value& b) { return like(b, a) < b; }
Value operator<=(const Value& a, double b) { return a <= like(a, b); }
Value operator<=(double a, const Value& b) { return like(b, a) <= b; }

Value fma(const Value& a, const Value& b, const Value& c) {
  // It is no step of an aggregation.
  Expr expr = *semtree::fma(a.expr, b.expr, c.expr);
  expr.reassociate = false;
  return a.builder->let(std::make_shared<const Expr>(std::move(expr)));
}
Value fma(const Value& a, const Value& b, double c) { return fma(a, b, like(a, c)); }
Value select(const Value& condition, const Value& a, const Value& b) {
  return condition.builder->let(semtree::select(condition.expr, a.expr, b.expr));
}
Value select(const Value& condition, const Value& a, double b) {
  return select(condition, a, like(a, b));
}
Value select(const Value& condition, double a, const Value& b) {
  return select(condition, like(b, a), b);
}
Value abs(const Value& a) { return operate(Op::abs, a); }
Value floor(const Value& a) { return operate(Op::floor, a); }
Value sqrt(const Value& a) { return operate(Op::sqrt, a); }

FunctionBuilder::FunctionBuilder(std::string name, DataType type, int params)
    : format_(type == DataType::fp32 ? kFp32 : kFp64), open_(1) {
  STRIA_CHECK(type == DataType::fp32 || type == DataType::fp64, "mathematics of {}",
              stria::name_of(type));
  function_.name = std::move(name);
  function_.type = type;
  for (int i = 0; i < params; ++i) {
    function_.params.push_back(static_cast<int>(function_.vars.size()));
    function_.vars.push_back({i == 0 ? "x" : "y", {type, 1}});
  }
}

Value FunctionBuilder::param(int number) {
  return {this,
          semtree::variable(function_.params[static_cast<size_t>(number)], {function_.type, 1})};
}

Value FunctionBuilder::real(double value) {
  return {this, semtree::constant(Scalar::of_float(format_.real, value))};
}
Value FunctionBuilder::word(int64_t value) { return {this, integer(format_.word, value)}; }
Value FunctionBuilder::unsigned_word(uint64_t value) {
  return {this, integer(format_.unsigned_word, static_cast<int64_t>(value))};
}
Value FunctionBuilder::infinity() { return real(kInfinity); }
Value FunctionBuilder::nan() { return real(std::nan("")); }

Value FunctionBuilder::constant_like(const Value& like, double value) {
  const DataType type = like.expr->type.scalar;
  return {this, is_float(type) ? semtree::constant(Scalar::of_float(type, value))
                               : integer(type, static_cast<int64_t>(value))};
}

int FunctionBuilder::variable_of(Type type) {
  const int var = static_cast<int>(function_.vars.size());
  function_.vars.push_back({fmt::format("v{}", var), type});
  return var;
}

Value FunctionBuilder::let(ExprRef expr) {
  if (expr->kind == ExprKind::constant || expr->kind == ExprKind::variable)
    return {this, std::move(expr)};
  const Type type = expr->type;
  const int var = variable_of(type);
  open_.back().push_back({Let{var, std::move(expr)}});
  return {this, semtree::variable(var, type)};
}

Value FunctionBuilder::convert(DataType type, const Value& a) {
  return let(convert_to(type, a.expr));
}

std::vector<Value> FunctionBuilder::choose(const Value& condition,
                                           const std::function<std::vector<Value>()>& make,
                                           const std::vector<Value>& otherwise) {
  open_.emplace_back();
  std::vector<Value> made = make();
  If branch{condition.expr, {}, {}};
  for (Value& value : made) {
    // A variable of this body's, whatever the value is.
    const int var = variable_of(value.expr->type);
    open_.back().push_back({Let{var, value.expr}});
    value = {this, semtree::variable(var, value.expr->type)};
    branch.kept.push_back(var);
  }
  branch.then = std::move(open_.back());
  open_.pop_back();
  open_.back().push_back({std::move(branch)});
  for (size_t i = 0; i < made.size(); ++i) made[i] = select(condition, made[i], otherwise[i]);
  return made;
}

Value FunctionBuilder::choose(const Value& condition, const std::function<Value()>& make,
                              const Value& otherwise) {
  return choose(condition, [&] { return std::vector<Value>{make()}; }, {otherwise})[0];
}

MathFunction FunctionBuilder::finish(const Value& result) {
  function_.body = std::move(open_.back());
  function_.result = result.expr;
  return std::move(function_);
}

Value bits(const Value& real) {
  return real.builder->let(reinterpret(real.builder->format().word, real.expr));
}
Value from_bits(const Value& word) {
  return word.builder->let(reinterpret(word.builder->format().real, word.expr));
}
Value as_unsigned(const Value& word) {
  return word.builder->let(reinterpret(word.builder->format().unsigned_word, word.expr));
}
Value as_signed(const Value& word) {
  return word.builder->let(reinterpret(word.builder->format().word, word.expr));
}

Value polynomial(const Value& x, std::span<const double> coefficients) {
  Value sum = x.builder->real(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = fma(sum, x, x.builder->real(coefficients[i]));
  return sum;
}

Value odd_polynomial(const Value& x, std::span<const double> coefficients) {
  const Value z = x * x;
  return fma(x * z, polynomial(z, coefficients), x);
}

Value power_of_two(const Value& exponent) {
  if (is_constant(exponent.expr))
    return exponent.builder->real(std::ldexp(1.0, static_cast<int>(exponent.expr->value.i)));
  const Format& format = exponent.builder->format();
  return from_bits((exponent + static_cast<double>(format.bias)) << int64_t{format.fraction});
}

namespace {

Value size_bits(const Value& real) {
  return bits(real) & (INT64_MAX >> (64 - real.builder->format().bits));
}
Value infinity_bits(const Value& real) { return bits(real.builder->infinity()); }

}  // namespace

Value is_nan(const Value& real) { return infinity_bits(real) < size_bits(real); }
Value is_infinite(const Value& real) { return size_bits(real) == infinity_bits(real); }
Value is_finite(const Value& real) { return size_bits(real) < infinity_bits(real); }
Value is_positive_number(const Value& real) {
  const Value number = bits(real);
  return (0 < number) & (number < infinity_bits(real));
}

NormalBits normal_bits(const Value& size) {
  const Format& format = size.builder->format();
  const Value own = bits(size);
  const Value is_subnormal = own < std::ldexp(1.0, format.fraction);
  return {select(is_subnormal, bits(size.builder->convert(format.real, own)), own), is_subnormal};
}

Value sign_bit(const Value& real) {
  return bits(real) & (INT64_MIN >> (64 - real.builder->format().bits));
}
Value with_sign_of(const Value& size, const Value& sign) {
  return from_bits(bits(size) | sign_bit(sign));
}

}  // namespace stria::semtree::mathematics
