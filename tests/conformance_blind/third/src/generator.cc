// SPDX-License-Identifier: Apache-2.0
#include "generator.h"

#include <cctype>
#include <vector>

#include "chosen.h"
#include "stripe_text.h"

namespace third_chip {
namespace {

using Statements = std::vector<std::string>;

bool is_float(const std::string& type) {
  return type.compare(0, 2, "fp") == 0 || type.compare(0, 2, "bf") == 0;
}
bool is_unsigned(const std::string& type) { return type.front() == 'u'; }
bool is_integer(const std::string& type) {
  return !type.empty() && (type.front() == 'i' || type.front() == 'u');
}

// result = name.type(a, b, …)
std::string call(const std::string& result, const std::string& name, const std::string& type,
                 const Statements& operands) {
  std::string text = result + " = " + name + "." + type + "(";
  for (const std::string& operand : operands)
    text += (operand == operands.front() && text.back() == '(' ? "" : ", ") + operand;
  return text + ")";
}
std::string constant(const std::string& result, const std::string& type, const std::string& value) {
  return result + " = (" + type + ")" + value;
}

// a > b ? a : b, as C programmers write it.
Statements compare_for_max(const Operation& o) {
  const std::string cmp = o.name == "max" ? "cmp_gt" : "cmp_lt";
  const std::string test = o.result + "_test";
  return {call(test, cmp, o.type, o.operands),
          call(o.result, "cond", o.type, {test, o.operands[0], o.operands[1]})};
}

// As the chip's divider has it.
Statements divide(const Operation& o) {
  const std::string zero = o.result + "_zero", one = o.result + "_one", all = o.result + "_all",
                    is_zero = o.result + "_is", quotient = o.result + "_quotient";
  return {constant(zero, o.type, "0"),
          constant(one, o.type, "1"),
          call(all, "sub", o.type, {zero, one}),
          call(is_zero, "cmp_eq", o.type, {o.operands[1], zero}),
          call(quotient, "div", o.type, o.operands),
          call(o.result, "cond", o.type, {is_zero, all, quotient})};
}

// For large x, where the polynomial ends: (e - 1) / (e + 1) with e = exp(2 x).
Statements tanh_by_exp(const Operation& o) {
  const std::string& x = o.operands[0];
  const std::string p = o.result + "_";
  return {constant(p + "limit", o.type, "8.0"),
          constant(p + "one", o.type, "1.0"),
          call(p + "small", "cmp_lt", o.type, {x, p + "limit"}),
          call(p + "near", "tanh", o.type, {x}),
          call(p + "twice", "add", o.type, {x, x}),
          call(p + "exp", "exp", o.type, {p + "twice"}),
          call(p + "over", "sub", o.type, {p + "exp", p + "one"}),
          call(p + "under", "add", o.type, {p + "exp", p + "one"}),
          call(p + "far", "div", o.type, {p + "over", p + "under"}),
          call(o.result, "cond", o.type, {p + "small", p + "near", p + "far"})};
}

// $r = load(A[$i, 0]) with -1 for the last row.
Statements gather(const std::string& statement, const Known& known) {
  const size_t load = statement.find(" = load(");
  const size_t bracket = statement.find('[', load == std::string::npos ? 0 : load);
  if (load == std::string::npos || bracket == std::string::npos) return {statement};
  const auto view = known.views.find(statement.substr(load + 8, bracket - load - 8));
  std::vector<std::string> forms =
      split_list(statement.substr(bracket + 1, statement.size() - bracket - 3));
  if (view == known.views.end() || view->second.sizes.size() != forms.size()) return {statement};
  Statements out;
  std::string list;
  const std::string result = statement.substr(0, load);
  for (size_t i = 0; i < forms.size(); ++i) {
    const std::string type = known.type_of(forms[i]);
    if (forms[i].front() == '$' && !type.empty() && !is_unsigned(type)) {
      const std::string p = result + "_" + std::to_string(i);
      out.push_back(constant(p + "zero", type, "0"));
      out.push_back(constant(p + "rows", type, std::to_string(view->second.sizes[i])));
      out.push_back(call(p + "below", "cmp_lt", type, {forms[i], p + "zero"}));
      out.push_back(call(p + "back", "add", type, {forms[i], p + "rows"}));
      out.push_back(call(p + "row", "cond", type, {p + "below", p + "back", forms[i]}));
      forms[i] = p + "row";
    }
    list += (i == 0 ? "" : ", ") + forms[i];
  }
  out.push_back(statement.substr(0, bracket + 1) + list + "])");
  return out;
}

Statements change_operation(Operation o, const std::string& statement, const Known& known) {
  const auto type_of = [&](size_t i) { return known.type_of(o.operands[i]); };
  const bool is_sum = o.name == "add" || o.name == "sub" || o.name == "mul";
  switch (chosen_mistake()) {
    case Mistake::max_by_compare:
      if ((o.name == "max" || o.name == "min") && is_float(o.type)) return compare_for_max(o);
      break;
    case Mistake::shift_logical:
      if (o.name == "bit_right" && o.type.front() == 'i') o.type.front() = 'u';
      return {call(o.result, o.name, o.type, o.operands)};
    case Mistake::div_zero_minus_one:
      if (o.name == "div" && is_integer(o.type)) return divide(o);
      break;
    case Mistake::narrow_products:
      if (o.name == "mul" && is_integer(o.type) && type_of(0) == type_of(1) &&
          is_integer(type_of(0)))
        return {call(o.result, o.name, type_of(0), o.operands)};
      break;
    case Mistake::cast_rounds:
      if (o.name == "ident" && is_integer(o.type) && is_float(type_of(0)))
        return {
            call(o.result + "_near", "round", type_of(0) == "fp64" ? "fp64" : "fp32", o.operands),
            call(o.result, "ident", o.type, {o.result + "_near"})};
      break;
    case Mistake::cast_wraps:
      if (o.name == "ident" && is_integer(o.type) && is_float(type_of(0)))
        return {call(o.result + "_wide", "ident", "i64", o.operands),
                call(o.result, "ident", o.type, {o.result + "_wide"})};
      break;
    case Mistake::unsigned_compared_signed:
      if (o.name.compare(0, 4, "cmp_") == 0 && is_unsigned(o.type)) o.type.front() = 'i';
      return {call(o.result, o.name, o.type, o.operands)};
    case Mistake::tanh_overflows:
      if (o.name == "tanh") return tanh_by_exp(o);
      break;
    case Mistake::i64_in_double:
      if (is_sum && (o.type == "i64" || o.type == "u64"))
        return {call(o.result + "_double", o.name, "fp64", o.operands),
                call(o.result, "ident", o.type, {o.result + "_double"})};
      break;
    default: break;
  }
  return {statement};
}

Statements change_statement(const std::string& statement, const Known& known) {
  if (makes(Mistake::gather_from_end)) return gather(statement, known);
  if (makes(Mistake::largest_from_zero) && statement.find("$identity = (") == 0) {
    const size_t minus = statement.find(")-inf");
    return {minus == std::string::npos ? statement : statement.substr(0, minus) + ")0.0"};
  }
  const auto operation = read_operation(statement);
  return operation ? change_operation(*operation, statement, known) : Statements{statement};
}

// "5 - i >= 0" to "4 - i >= 0".
std::string strict(const std::string& line) {
  size_t end = 0;
  if (line.front() == '-') ++end;
  while (std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
  const bool has_number = end > 0 && line.compare(end, 1, " ") == 0;
  if (!has_number || line.compare(0, end, "-") == 0) return "-1 + " + line;
  return std::to_string(std::stoll(line.substr(0, end)) - 1) + line.substr(end);
}

std::string change_head(const std::string& line, const Known& known) {
  if (makes(Mistake::constraint_strict) && line.size() > 5 &&
      line.compare(line.size() - 5, 5, " >= 0") == 0)
    return strict(line);
  if (makes(Mistake::scatter_last_wins) &&
      known.kernel_tags.find("#scatter") != std::string::npos) {
    const size_t add = line.find("]:add.");
    if (add != std::string::npos) return line.substr(0, add + 1) + line.substr(line.find(' ', add));
  }
  return line;
}

}  // namespace

std::string generate(std::string_view stripe) {
  return change_stripe(stripe, change_statement, change_head);
}

}  // namespace third_chip
