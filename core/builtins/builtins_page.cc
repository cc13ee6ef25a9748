// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/builtins_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"

namespace stria {
namespace {

constexpr char kHead[] =
    R"(# Functions of Tile

Made from the records of `core/builtins`: `tools/golden_update.sh docs` writes this page. What a
name means in a program stands in [semantics.md](semantics.md), how types are decided in
[semantics/types.md](semantics/types.md); C is the common type of the operands (T1).

**Errors** are in units of the last place (ULP) of the exact result; 0.5 is correctly rounded, 0
exact, and below the smallest normal number the unit is that of this number: subnormal numbers are
not flushed to zero, but for devices whose model says that they are (M23). Every device keeps the
bounds unless `fast_math` is asked for; `tests/precision` measures each of them against functions of
more digits. fp16 and bf16 are computed
in fp32, with its error, and rounded once when they are stored: 0.5 ULP and that error, at most
{:.4f} ULP of fp16 and {:.5f} of bf16.

**Derivatives** are Tile ([gradient.md](gradient.md)): X, Y and Z are the operands, R is the result,
DR what flows back to it; `0 ? X : DR` is DR in the sizes and the type that it has together with X.
What holds where a function has a kink, a jump or an infinite slope stands behind them. An operand
without one gets nothing back.
)";

// One operand or several: "f(X, Y)".
std::string call_of(const Builtin& builtin) {
  if (builtin.types == TypeRule::cast)
    return fmt::format("{}(X{})", builtin.name, builtin.arity == 2 ? ", bits" : "");
  const char* const names[] = {"X", "Y", "Z"};
  std::vector<std::string> operands(names, names + builtin.arity);
  return fmt::format("{}({})", builtin.name, join(operands, ", "));
}

// How the operator is written, "" if there is none.
std::string operator_of(const Builtin& builtin) {
  if (!builtin.spelling) return "";
  if (builtin.arity == 1) return fmt::format("{}X", builtin.spelling);
  if (builtin.arity == 2) return fmt::format("X {} Y", builtin.spelling);
  return "X ? Y : Z";
}

std::string types_of(const Builtin& builtin) {
  switch (builtin.types) {
    case TypeRule::arithmetic: return "every type; the result is of C, `i32` for `bool`";
    case TypeRule::same: return "every type; the result is of C";
    case TypeRule::floating:
      return "the result is of C, `fp32` for integers and `bool`, which are converted";
    case TypeRule::comparison: return "every type, compared in C; the result is `bool`";
    case TypeRule::logic:
      return "every type, taken as truth (not 0; NaN is true); the result is `bool`";
    case TypeRule::bits: return "integers and `bool`; the result is of C";
    case TypeRule::select: return "X of every type, taken as truth; the result is of C of Y and Z";
    case TypeRule::cast:
      return "every type; the result is of the type that the name and `bits` say";
  }
  return "";
}

std::string bound(double ulps) {
  return ulps == 0 ? "exact" : ulps == 0.5 ? "correctly rounded" : fmt::format("{} ULP", ulps);
}

std::string error_of(const Builtin& builtin) {
  if (builtin.ulp.fp32 == builtin.ulp.fp64) return bound(builtin.ulp.fp32);
  return fmt::format("{} in fp32, {} in fp64", bound(builtin.ulp.fp32), bound(builtin.ulp.fp64));
}

std::string derivative_of(const Derivative& derivative) {
  if (derivative.why_not)
    return fmt::format("{} ({})", derivative.is_zero ? "zero" : "none", derivative.why_not);
  std::vector<std::string> parts;
  for (size_t i = 0; i < derivative.of.size(); ++i)
    if (derivative.of[i])
      parts.push_back(fmt::format("to {} `{}`", std::string(1, "XYZ"[i]), derivative.of[i]));
  if (derivative.at_edges) parts.push_back(derivative.at_edges);
  return join(parts, ", ");
}

std::string number(double x) {
  if (std::isnan(x)) return "NaN";
  if (x == 0) return std::signbit(x) ? "-0" : "0";
  return fmt::format("{:.6g}", x);
}

std::string row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", join(cells, " | "));
}

// A table of what the reference function makes of the ends of fp64 and of what lies between.
std::string special_values(const Builtin& builtin) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  using Operands = std::array<double, 2>;
  const std::vector<Operands> one = {{-inf}, {-1}, {-0.0}, {0.0}, {1}, {inf}, {nan}};
  const std::vector<Operands> two = {{1, 0},   {-1, 0},  {0, 0},     {1, -0.0},
                                     {1, inf}, {inf, 1}, {inf, inf}, {inf, -inf},
                                     {inf, 0}, {0, inf}, {1, nan},   {nan, 0}};
  std::vector<std::string> x = {"X"}, y = {"Y"}, r = {"R"}, line = {"---"};
  for (const Operands& values : builtin.arity == 1 ? one : two) {
    const Scalar operands[] = {Scalar::of_float(DataType::fp64, values[0]),
                               Scalar::of_float(DataType::fp64, values[1])};
    x.push_back(number(values[0]));
    y.push_back(number(values[1]));
    r.push_back(number(builtin.reference(DataType::fp64, operands).f));
    line.push_back("---");
  }
  return row(x) + row(line) + (builtin.arity == 2 ? row(y) : "") + row(r);
}

bool has_special_values(const Builtin& builtin) {
  const bool number = builtin.types == TypeRule::arithmetic || builtin.types == TypeRule::same ||
                      builtin.types == TypeRule::floating;
  return number && builtin.arity < 3 && std::string_view(builtin.name) != "ident";
}

std::string section(const Builtin& builtin) {
  std::string title = operator_of(builtin);
  if (!title.empty()) title = fmt::format(", `{}`", title);
  std::string out =
      fmt::format("\n### {}\n\n`{}`{}. {}\n\n", builtin.name, call_of(builtin), title, builtin.doc);
  out += fmt::format("- Example: `{}`\n- Types: {}.\n", builtin.example, types_of(builtin));
  if (builtin.types != TypeRule::bits) out += fmt::format("- Error: {}.\n", error_of(builtin));
  out += fmt::format("- Derivative: {}.\n", derivative_of(builtin.gradient));
  if (has_special_values(builtin)) out += "\n" + special_values(builtin);
  return out;
}

}  // namespace

std::string builtins_page() {
  double largest = 0;
  for (const Builtin* builtin : all_builtins()) largest = std::max(largest, builtin->ulp.fp32);
  std::string out = fmt::format(kHead, std::ldexp(largest, 10 - 23), std::ldexp(largest, 7 - 23));
  out += "\n## Elementwise functions\n\nThey broadcast their operands (M6).\n";
  for (const Builtin* builtin : all_builtins()) out += section(*builtin);
  out +=
      "\n## Functions that are not elementwise\n\nThey are exact, but for the sums of `scatter`, "
      "which "
      "are sums like any other (M11).\n";
  for (const Special* special : all_specials()) {
    out += fmt::format("\n### {}\n\n`{}`. {} Rule {}.\n\n", special->name, special->call,
                       special->doc, special->rule);
    out += fmt::format("- Example: `{}`\n- Derivative: {}.\n", special->example,
                       derivative_of(special->gradient));
  }
  out +=
      "\n## Functions written in Tile\n\nA call is bound as if the file held the function; errors "
      "and gradients are those of its statements, unless a derivative stands there.\n";
  for (const Composite* composite : all_composites()) {
    out += fmt::format("\n### {}\n\n{}\n\n- Example: `{}`\n", composite->name, composite->doc,
                       composite->example);
    if (std::string derivative = derivative_of(composite->gradient); !derivative.empty())
      out += fmt::format("- Derivative: {}, whatever its statements are.\n", derivative);
    out += fmt::format("\n```\n{}\n```\n", std::string_view(composite->tile).substr(1));
  }
  return out;
}

}  // namespace stria
