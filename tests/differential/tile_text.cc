// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tile_case.h"

namespace stria::differential {
namespace {

std::string text_of(const GeneratedForm& form) {
  if (form.divisor == 1) return form.form.to_string();
  return fmt::format("({}) / {}", form.form.to_string(), form.divisor);
}

std::string text_of(const std::string& tensor, const std::vector<GeneratedForm>& dims) {
  std::vector<std::string> parts;
  for (const GeneratedForm& dim : dims) parts.push_back(text_of(dim));
  return fmt::format("{}[{}]", tensor, fmt::join(parts, ", "));
}

std::string text_of(const GeneratedSpecial& s) {
  std::vector<std::string> args = s.operands;
  for (int64_t number : s.numbers) args.push_back(std::to_string(number));
  if (!s.function.starts_with("prng_"))
    return fmt::format("    {} = {}({});\n", s.out, s.function, fmt::join(args, ", "));
  return fmt::format("    Step{0} = prng_step({1});\n    {0} = {2}(Step{0});\n", s.out,
                     fmt::join(args, ", "), s.function);
}

std::string text_of(const GeneratedContraction& c) {
  std::vector<std::string> dims;
  for (const GeneratedForm& dim : c.out_dims) dims.push_back(text_of(dim));
  std::string out = c.sizes.empty() ? c.out + "[]"
                                    : fmt::format("{}[{} : {}]", c.out, fmt::join(dims, ", "),
                                                  fmt::join(c.sizes, ", "));
  std::vector<std::string> operands;
  for (const GeneratedAccess& operand : c.operands)
    operands.push_back(text_of(operand.tensor, operand.dims));
  std::string body = operands[0];
  if (c.comb == "?") {
    body = fmt::format("{} == {} ? {}", operands[0], operands[1], operands[2]);
  } else if (!c.comb.empty()) {
    body = fmt::format("{} {} {}", operands[0], c.comb, operands[1]);
  }
  std::string text = fmt::format("{} = {}({})", out, c.agg, body);
  for (const auto& [form, bound] : c.constraints)
    text += fmt::format(", {} < {}", form.to_string(), bound);
  if (!c.default_tensor.empty()) text += " default " + c.default_tensor;
  return text;
}

std::string text_of(const GeneratedExpr& e) {
  static const std::map<std::string, std::string> signs = {
      {"add", "+"},     {"sub", "-"},     {"mul", "*"},     {"div", "/"},     {"mod", "%"},
      {"cmp_lt", "<"},  {"cmp_gt", ">"},  {"cmp_le", "<="}, {"cmp_ge", ">="}, {"cmp_eq", "=="},
      {"cmp_ne", "!="}, {"bit_and", "&"}, {"bit_or", "|"},  {"bit_xor", "^"}};
  if (e.op == "tensor") return e.tensor;
  if (e.op == "literal")
    return is_float(e.type) ? fmt::format("{:.4f}", e.literal) : fmt::format("{:.0f}", e.literal);
  if (e.op == "neg") return "(-" + text_of(e.args[0]) + ")";
  if (e.op == "cond")
    return fmt::format("({} ? {} : {})", text_of(e.args[0]), text_of(e.args[1]),
                       text_of(e.args[2]));
  if (e.op == "as_int32") return fmt::format("as_int({}, 32)", text_of(e.args[0]));
  if (e.op == "as_float32") return fmt::format("as_float({}, 32)", text_of(e.args[0]));
  if (e.op == "as_packed" && is_float(e.type))
    return fmt::format("as_{}({})", name_of(e.type), text_of(e.args[0]));
  if (e.op == "as_packed")
    return fmt::format("{}({}, {})", is_signed_integer(e.type) ? "as_int" : "as_uint",
                       text_of(e.args[0]), bit_width(e.type));
  auto sign = signs.find(e.op);
  if (sign != signs.end())
    return fmt::format("({} {} {})", text_of(e.args[0]), sign->second, text_of(e.args[1]));
  std::vector<std::string> args;
  for (const GeneratedExpr& arg : e.args) args.push_back(text_of(arg));
  return fmt::format("{}({})", e.op, fmt::join(args, ", "));
}

}  // namespace

std::string GeneratedProgram::tile_text(size_t apart) const {
  std::vector<std::string> parameters, names;
  for (const GeneratedTensor& input : inputs) {
    std::vector<std::string> dims;
    for (size_t d = 0; d < input.sizes.size(); ++d)
      dims.push_back(fmt::format("{}_{}", input.name, d));
    parameters.push_back(fmt::format("{}[{}]", input.name, fmt::join(dims, ", ")));
    names.push_back(input.name);
  }
  std::string texts[2];  // of the function apart and of the entry
  for (size_t n = 0; n < statements.size(); ++n) {
    std::string& text = texts[n < apart ? 0 : 1];
    if (const auto* c = std::get_if<GeneratedContraction>(&statements[n])) {
      text += fmt::format("    {};\n", text_of(*c));
    } else if (const auto* s = std::get_if<GeneratedSpecial>(&statements[n])) {
      text += text_of(*s);
    } else {
      const auto& e = std::get<GeneratedElementwise>(statements[n]);
      text += fmt::format("    {} = {};\n", e.out, text_of(e.value));
    }
  }
  auto function = [&](std::string_view name, const std::vector<std::string>& results,
                      const std::string& text) {
    return fmt::format("function {}({}) -> ({}) {{\n{}}}\n", name, fmt::join(parameters, ", "),
                       fmt::join(results, ", "), text);
  };
  if (apart == 0) return function("generated", outputs, texts[1]);
  // Each statement assigns one tensor.
  std::vector<std::string> made;
  for (size_t n = 0; n < apart; ++n) made.push_back(tensors[n].name);
  const std::string call =
      fmt::format("    ({}) = part({});\n", fmt::join(made, ", "), fmt::join(names, ", "));
  return function("part", made, texts[0]) + function("generated", outputs, call + texts[1]);
}

}  // namespace stria::differential
