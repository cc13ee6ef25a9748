// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/c/c_expression.h"

#include <algorithm>
#include <cmath>

#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

bool may_wrap(Op op) {
  return op == Op::add || op == Op::sub || op == Op::mul || op == Op::neg || op == Op::shift_left;
}
bool is_narrow(Type type) {
  return type.lanes == 1 && is_integer(type.scalar) && bit_width(type.scalar) < 32;
}

std::string join(Op op, const std::vector<std::string>& x) {
  if (x.size() == 1) return fmt::format("({}{})", sign_of(op), x[0]);
  return fmt::format("({} {} {})", x[0], sign_of(op), x[1]);
}

// "(…)" whose first parenthesis closes at the end.
std::string without_parentheses(std::string text) {
  if (text.size() < 2 || text[0] != '(') return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size() ? text.substr(1, text.size() - 2) : text;
  }
  return text;
}

}  // namespace

CExpressions::CExpressions(const Function& function, const Dialect& dialect, Speller& speller)
    : function_(function), dialect_(dialect), speller_(speller) {
  for (const Parameter& param : function.params) memories_.push_back(names_.of_program(param.name));
  for (const Array& array : function.arrays) memories_.push_back(names_.of_program(array.name));
  for (const Variable& var : function.vars) variables_.push_back(names_.of_program(var.name));
}

// ---- constants

std::string CExpressions::literal(const Scalar& value, DataType type) {
  const Type scalar{type, 1};
  const std::string name = speller_.type_name(scalar);
  if (type == DataType::boolean) return value.i != 0 ? "true" : "false";
  if (type == DataType::fp16 || type == DataType::bf16) {
    uint16_t bits = 0;
    store_scalar(type, &bits, 0, value);
    return fmt::format("({}){:#x}", name, bits);
  }
  if (is_float(type)) {
    if (std::isnan(value.f))
      return speller_.expand("literal.nan", scalar, scalar, scalar, {}, "NaN");
    if (std::isinf(value.f)) {
      std::string infinity =
          speller_.expand("literal.infinity", scalar, scalar, scalar, {}, "infinity");
      return value.f < 0 ? fmt::format("(-{})", infinity) : infinity;
    }
    std::string digits = type == DataType::fp32 ? fmt::format("{}", static_cast<float>(value.f))
                                                : fmt::format("{}", value.f);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    if (type == DataType::fp32) digits += "f";
    return std::signbit(value.f) ? fmt::format("({})", digits) : digits;
  }
  if (is_narrow(scalar))
    return fmt::format("({}){}", name,
                       value.i < 0 ? fmt::format("({})", value.i) : std::to_string(value.i));
  const char* suffix = type == DataType::i64   ? "L"
                       : type == DataType::u64 ? "UL"
                       : type == DataType::u32 ? "u"
                                               : "";
  if (is_unsigned_integer(type)) return fmt::format("{}{}", static_cast<uint64_t>(value.i), suffix);
  const int64_t lowest = type == DataType::i64 ? INT64_MIN : INT32_MIN;
  // There is no literal for the lowest number: what follows a minus would be beyond the type.
  if (value.i == lowest) return fmt::format("(-{}{} - 1)", INT64_MAX & ~lowest, suffix);
  return value.i < 0 ? fmt::format("({}{})", value.i, suffix)
                     : fmt::format("{}{}", value.i, suffix);
}

std::string CExpressions::constant(const Expr& e) {
  if (e.type.lanes == 1) return literal(e.value, e.type.scalar);
  const std::string one = e.type.scalar == DataType::boolean ? (e.value.i != 0 ? "-1" : "0")
                                                             : literal(e.value, e.type.scalar);
  return fmt::format("({})({})", type(e.type), one);
}

// ---- expressions

std::string CExpressions::statement_level(const Expr& e) { return without_parentheses(text(e)); }

std::string CExpressions::text(const Expr& e) {
  switch (e.kind) {
    case ExprKind::constant: return constant(e);
    case ExprKind::variable: return variable(e.var);
    case ExprKind::iota: {
      std::string lanes;
      for (int i = 0; i < e.type.lanes; ++i) lanes += fmt::format("{}{}", i ? ", " : "", i);
      return vector_of(e.type, lanes);
    }
    case ExprKind::convert: return convert(e);
    case ExprKind::reinterpret:
      return speller_.expand("reinterpret", e.type, e.type, e.args[0]->type,
                             {statement_level(*e.args[0])}, "reinterpretation");
    case ExprKind::broadcast: {
      const std::string value = text(*e.args[0]);
      return fmt::format(
          "({})({})", type(e.type),
          e.type.scalar == DataType::boolean ? fmt::format("{} ? -1 : 0", value) : value);
    }
    case ExprKind::lane: return lane_of(e.args[0], e.value.i);
    case ExprKind::reduce: return reduce(e);
    case ExprKind::call: {
      std::vector<std::string> x;
      for (const ExprRef& arg : e.args) x.push_back(text(*arg));
      return speller_.expand(e.callee, e.type, e.type, e.args[0]->type, x,
                             "function '" + e.callee + "'");
    }
    case ExprKind::operation: break;
  }
  return e.op == Op::select ? select(e) : operation(e);
}

std::string CExpressions::operation(const Expr& e) {
  std::vector<std::string> x;
  for (const ExprRef& arg : e.args) x.push_back(text(*arg));
  return apply(e.op, e.type, e.args[0]->type, e.exact, x);
}

std::string CExpressions::apply(Op op, Type result, Type operand, bool exact,
                                const std::vector<std::string>& x) {
  if (const Spelling* own = speller_.find(name_of(op), operand)) {
    std::string spelled = speller_.expand(*own, result, operand, x);
    return is_narrow(result) ? fmt::format("({})({})", type(result), spelled) : spelled;
  }
  if (sign_of(op).empty()) {
    speller_.lacks(fmt::format("there is no operation '{}' of {} in this language", name_of(op),
                               to_string(operand)));
    return "?";
  }
  if (is_comparison(op)) {
    if (operand.lanes == 1) return join(op, x);
    // Masks are all ones for true, which is the lower number.
    if (operand.scalar == DataType::boolean && (op == Op::lt || op == Op::le))
      return join(op, {x[1], x[0]});
    const std::string mask = join(op, x);
    const bool as_wide = speller_.signed_name(operand) == type(result);
    return as_wide ? mask : speller_.expand("to_mask", result, result, operand, {mask}, "mask");
  }
  if (result.scalar == DataType::boolean) {
    if (result.lanes > 1) return op == Op::logical_not ? join(Op::bit_not, x) : join(op, x);
    if (op == Op::bit_and || op == Op::bit_or)
      return fmt::format("({} {} {})", x[0], op == Op::bit_and ? "&&" : "||", x[1]);
    return op == Op::bit_xor ? join(Op::ne, x) : join(op, x);
  }
  if (!is_integer(result.scalar) || exact) return join(op, x);
  if (result.lanes > 1) {
    if (!is_signed_integer(result.scalar) || !may_wrap(op)) return join(op, x);
    const Type bits{result.scalar, result.lanes};
    std::vector<std::string> y;
    for (const std::string& text : x) {
      Type other = bits;
      other.scalar = bit_width(bits.scalar) == 8    ? DataType::u8
                     : bit_width(bits.scalar) == 16 ? DataType::u16
                     : bit_width(bits.scalar) == 32 ? DataType::u32
                                                    : DataType::u64;
      y.push_back(speller_.expand("reinterpret", other, other, bits, {text}, "reinterpretation"));
    }
    return speller_.expand("reinterpret", bits, bits, bits, {without_parentheses(join(op, y))},
                           "reinterpretation");
  }
  const bool narrow = is_narrow(result);
  if (may_wrap(op) && (narrow || is_signed_integer(result.scalar))) {
    // Signed overflow has no meaning in C: the same bits come out of unsigned arithmetic.
    const Type wide{bit_width(result.scalar) == 64 ? DataType::u64 : DataType::u32, 1};
    std::vector<std::string> y;
    for (const std::string& text : x) y.push_back(fmt::format("({}){}", type(wide), text));
    return fmt::format("({}){}", type(result), join(op, y));
  }
  return narrow ? fmt::format("({}){}", type(result), join(op, x)) : join(op, x);
}

std::string CExpressions::select(const Expr& e) {
  std::string condition = text(*e.args[0]);
  const std::string a = text(*e.args[1]), b = text(*e.args[2]);
  if (e.args[0]->type.lanes == 1) {
    const std::string chosen = fmt::format("({} ? {} : {})", condition, a, b);
    return is_narrow(e.type) ? fmt::format("({}){}", type(e.type), chosen) : chosen;
  }
  if (speller_.signed_name(e.type) != type(e.args[0]->type))
    condition = speller_.expand("mask_as", e.type, e.type, e.args[0]->type, {condition}, "mask");
  return speller_.expand(
      "select", e.type, e.type, e.args[0]->type,
      {without_parentheses(condition), without_parentheses(a), without_parentheses(b)}, "select");
}

std::string CExpressions::convert(const Expr& e) {
  const Type from = e.args[0]->type, to = e.type;
  std::string value = text(*e.args[0]);
  if (compute_type(from.scalar) != from.scalar && to.scalar != DataType::fp32) {
    // Storage types convert to fp32 alone; that is exact.
    const Expr wide{
        .kind = ExprKind::convert, .type = {DataType::fp32, from.lanes}, .args = e.args};
    return convert(
        Expr{.kind = ExprKind::convert, .type = to, .args = {std::make_shared<const Expr>(wide)}});
  }
  const std::string_view from_type = stria::name_of(from.scalar),
                         to_type = stria::name_of(to.scalar);
  for (const std::string& key :
       {fmt::format("convert.{}.{}", from_type, to_type),
        fmt::format("convert.{}.{}", class_of(from.scalar), to_type),
        fmt::format("convert.{}.{}", class_of(from.scalar), class_of(to.scalar))}) {
    const char* suffix = from.lanes > 1 ? ".lanes" : "";
    auto at = dialect_.spellings.find(key + suffix);
    if (at == dialect_.spellings.end()) at = dialect_.spellings.find(key);
    if (at != dialect_.spellings.end())
      return speller_.expand(at->second, to, from, {without_parentheses(value)});
  }
  if (to.scalar == DataType::boolean) {
    const Expr zero{.kind = ExprKind::constant,
                    .type = from,
                    .value = stria::convert(Scalar::of_bool(false), from.scalar)};
    return apply(Op::ne, to, from, false, {value, constant(zero)});
  }
  if (from.scalar == DataType::boolean && from.lanes > 1)
    value = speller_.expand("mask_bits", from, from, from, {value}, "mask");
  if (to.lanes > 1)
    return speller_.expand("convert", to, to, from, {without_parentheses(value)}, "conversion");
  return fmt::format("({}){}", type(to), value);
}

std::string CExpressions::reduce(const Expr& e) {
  const Type from = e.args[0]->type;
  const std::string vector = text(*e.args[0]);
  if (e.type.scalar == DataType::boolean)
    return speller_.expand(e.op == Op::bit_or ? "any" : "all", from, e.type, from, {vector},
                           "reduction");
  const bool nan = is_float(e.type.scalar) && (e.op == Op::max || e.op == Op::min);
  std::vector<std::string> parts;
  for (int i = 0; i < from.lanes; ++i) parts.push_back(lane(vector, i, from.lanes));
  // Neighbours in pairs, so that no long chain of dependent operations comes out.
  while (parts.size() > 1) {
    std::vector<std::string> next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      next.push_back(nan ? speller_.expand(e.op == Op::max ? "nan_max" : "nan_min", e.type, e.type,
                                           e.type, {parts[i], parts[i + 1]}, "reduction")
                         : apply(e.op, e.type, e.type, false, {parts[i], parts[i + 1]}));
    if (parts.size() % 2) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts[0];
}

// ---- memory

std::string CExpressions::lane(const std::string& vector, int64_t number, int lanes) {
  if (lanes == 1) return vector;
  return speller_.expand("component", {}, {}, {}, {fmt::format("{:x}", number), vector},
                         "component");
}

std::string CExpressions::lane_of(const ExprRef& e, int64_t number) {
  return lane(text(*e), number, e->type.lanes);
}

bool CExpressions::is_contiguous(const Place& place) {
  return !place.mask && place.stride == 1 && (!place.offset || place.offset->type.lanes == 1);
}

std::string CExpressions::whole_vector(const char* key, const Place& place, Type stored,
                                       std::vector<std::string> values) {
  const bool parameter = function_.is_param(place.memory);
  const bool begins_aligned = parameter || function_.array(place.memory).shared;
  const bool aligned = begins_aligned && is_aligned(place) &&
                       place.lanes * byte_size(stored.scalar) <= kMemoryAlignment;
  const std::string own_key = std::string(key) + (parameter ? ".parameter" : ".aligned");
  const Spelling* own = aligned ? speller_.find(own_key, stored) : nullptr;
  values.insert(values.begin(), fmt::format("{} + ({})", memory(place.memory), index(place, 0)));
  if (own) return speller_.expand(*own, stored, stored, values);
  return speller_.expand(key, stored, stored, stored, values, std::string(key) + " of lanes");
}

std::string CExpressions::vector_of(Type type, const std::string& values) {
  const Spelling* own = speller_.find("lanes", type);
  return own ? speller_.expand(*own, type, type, {values})
             : fmt::format("({})({})", speller_.type_name(type), values);
}

std::string CExpressions::index(const Place& place, int64_t lane) {
  const int64_t constant = place.constant + lane * place.stride;
  if (!place.offset) return std::to_string(constant);
  const bool gathers = place.offset->type.lanes > 1;
  const int64_t rest = gathers ? place.constant : constant;
  std::string offset = gathers ? lane_of(place.offset, lane) : statement_level(*place.offset);
  if (rest == 0) return offset;
  return fmt::format("{} {} {}", offset, rest < 0 ? "-" : "+",
                     rest < 0 ? 0 - static_cast<uint64_t>(rest) : static_cast<uint64_t>(rest));
}

std::string CExpressions::element(const Place& place) {
  const std::string& name = memory(place.memory);
  if (function_.is_param(place.memory)) return fmt::format("{}[{}]", name, index(place, 0));
  const Array& array = function_.array(place.memory);
  if (!array.in_registers) return fmt::format("{}[{}]", name, index(place, 0));
  if (array.count <= array.slot_lanes) return name;
  return fmt::format("{}[{}]", name, place.constant / array.slot_lanes);
}

std::string CExpressions::load(const Place& place) {
  const DataType scalar = function_.element_type(place.memory);
  const Type value{scalar, place.lanes};
  const bool registers =
      !function_.is_param(place.memory) && function_.array(place.memory).in_registers;
  if (registers) return element(place);
  const bool truth = scalar == DataType::boolean;
  if (place.lanes == 1) return truth ? fmt::format("{} != 0", element(place)) : element(place);
  // Truth values are bytes until they have been compared.
  const Type stored{truth ? DataType::u8 : scalar, place.lanes};
  std::string lanes;
  if (is_contiguous(place)) {
    lanes = whole_vector("load", place, stored, {});
  } else {
    for (int i = 0; i < place.lanes; ++i) {
      std::string one = fmt::format("{}[{}]", memory(place.memory), index(place, i));
      if (place.mask)
        one = fmt::format(
            "{} ? {} : {}", lane_of(place.mask, i), one,
            literal(stria::convert(Scalar::of_bool(false), stored.scalar), stored.scalar));
      lanes += fmt::format("{}{}", i ? ", " : "",
                           place.mask && is_narrow({stored.scalar, 1})
                               ? fmt::format("({})({})", type({stored.scalar, 1}), one)
                               : one);
    }
    lanes = vector_of(stored, lanes);
  }
  if (!truth) return lanes;
  return apply(Op::ne, value, stored, false, {lanes, fmt::format("({})(0)", type(stored))});
}

std::vector<std::string> CExpressions::store(const Place& place, const Expr& value) {
  const DataType scalar = function_.element_type(place.memory);
  const bool registers =
      !function_.is_param(place.memory) && function_.array(place.memory).in_registers;
  if (registers || place.lanes == 1)
    return {fmt::format("{} = {};", element(place), statement_level(value))};
  const bool truth = scalar == DataType::boolean;
  const Type stored{truth ? DataType::u8 : scalar, place.lanes};
  std::string lanes = statement_level(value);
  if (truth) {
    const std::string bits =
        speller_.expand("mask_bits", value.type, value.type, value.type, {text(value)}, "mask");
    lanes = speller_.expand("convert", stored, stored, value.type, {without_parentheses(bits)},
                            "conversion");
  }
  if (is_contiguous(place)) return {whole_vector("store", place, stored, {lanes}) + ";"};
  std::vector<std::string> out;
  std::string vector = lanes;
  if (value.kind != ExprKind::variable || truth) {
    vector = names_.of_temporary();
    out.push_back(fmt::format("{} {} = {};", type(stored), vector, lanes));
  }
  for (int i = 0; i < place.lanes; ++i) {
    const std::string guard = place.mask ? fmt::format("if ({}) ", lane_of(place.mask, i)) : "";
    out.push_back(fmt::format("{}{}[{}] = {};", guard, memory(place.memory), index(place, i),
                              lane(vector, i, place.lanes)));
  }
  return out;
}

}  // namespace stria::semtree
