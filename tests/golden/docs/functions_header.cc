// SPDX-License-Identifier: Apache-2.0
#include "functions_header.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

constexpr char kHead[] =
    R"(// SPDX-License-Identifier: Apache-2.0
// Every function of Tile by its name. Made from the records of core/builtins:
// `tools/golden_update.sh docs` writes this file. docs/builtins.md says more of each.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/edsl/dim.h"
#include "stria/edsl/tensor.h"

namespace stria::edsl {
)";

struct Parameter {
  enum class Kind { operand, tensor, dim, sizes, bits };
  Kind kind;
  std::string name;
};

// The doc and the example as comment lines of at most 100 columns.
std::string comment(const std::string& doc, const std::string& example) {
  std::string out, line = "//";
  std::istringstream words(doc);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > 100) {
      out += line + "\n";
      line = "//";
    }
    line += " " + word;
  }
  return out + line + "\n//   " + example + "\n";
}

std::string declared(const Parameter& parameter, const std::string& type) {
  switch (parameter.kind) {
    case Parameter::Kind::operand: return fmt::format("const {}& {}", type, parameter.name);
    case Parameter::Kind::tensor: return fmt::format("const Tensor& {}", parameter.name);
    case Parameter::Kind::dim: return fmt::format("const Dim& {}", parameter.name);
    case Parameter::Kind::sizes: return fmt::format("const std::vector<Dim>& {}", parameter.name);
    case Parameter::Kind::bits: return fmt::format("int64_t {}", parameter.name);
  }
  return "";
}

// An inline function of `type`, Tensor or Dim, that calls `name`.
std::string definition(const std::string& type, const std::string& name,
                       const std::vector<Parameter>& parameters) {
  const bool of_tensors = std::any_of(
      parameters.begin(), parameters.end(),
      [](const Parameter& parameter) { return parameter.kind == Parameter::Kind::tensor; });
  const std::string call = type != "Dim" ? "call" : of_tensors ? "Dim::of_tensors" : "Dim::call";
  std::vector<std::string> declarations, arguments;
  std::string sizes;  // the name of a list of sizes
  for (const Parameter& parameter : parameters) {
    declarations.push_back(declared(parameter, type));
    if (parameter.kind == Parameter::Kind::sizes) {
      sizes = parameter.name;
    } else {
      arguments.push_back(parameter.name);
    }
  }
  // Parameters that a line has no room for go on below the first one.
  std::string head = fmt::format("inline {} {}(", type, name);
  const size_t margin = head.size();
  size_t column = margin;
  for (size_t i = 0; i < declarations.size(); ++i) {
    const std::string next = declarations[i] + (i + 1 < declarations.size() ? "," : ") {");
    if (i > 0 && column + 1 + next.size() > 100) {
      head += "\n" + std::string(margin, ' ');
      column = margin;
    } else if (i > 0) {
      head += ' ';
      ++column;
    }
    head += next;
    column += next.size();
  }
  if (declarations.empty()) head += ") {";
  if (!sizes.empty())
    return fmt::format(
        "{}\n  std::vector<Tensor> arguments = {{{}}};\n"
        "  arguments.insert(arguments.end(), {}.begin(), {}.end());\n  return call(\"{}\", "
        "arguments);\n}}\n",
        head, join(arguments, ", "), sizes, sizes, name);
  const std::string body =
      fmt::format("return {}(\"{}\", {{{}}});", call, name, join(arguments, ", "));
  if (head.find('\n') == std::string::npos && head.size() + body.size() + 3 <= 100)
    return fmt::format("{} {} }}\n", head, body);
  return fmt::format("{}\n  {}\n}}\n", head, body);
}

// Whether it makes an integer of integers, so that dimensions may be computed with it (T5).
bool keeps_integers(TypeRule rule) { return rule != TypeRule::floating && rule != TypeRule::cast; }

std::string of(const Builtin& builtin) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < builtin.arity; ++i)
    parameters.push_back({Parameter::Kind::operand, std::string(1, "xyz"[i])});
  if (builtin.types == TypeRule::cast && builtin.arity == 2)
    parameters[1] = {Parameter::Kind::bits, "bits"};
  std::string out =
      comment(builtin.doc, builtin.example) + definition("Tensor", builtin.name, parameters);
  if (keeps_integers(builtin.types)) out += definition("Dim", builtin.name, parameters);
  return out;
}

// Whether it is a number as a dimension is one: of numbers, or the size of a tensor.
bool makes_number(const Special& special) {
  return special.number != nullptr || special.name == std::string_view("size");
}

std::string of(const Special& special) {
  std::vector<Parameter> parameters;
  std::string call = special.call;  // "index(T, axis)"
  call = call.substr(call.find('(') + 1, call.rfind(')') - call.find('(') - 1);
  for (const std::string& word : split(call, ',')) {
    std::string name(trim(word));
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    const int at = static_cast<int>(parameters.size());
    if (at < special.tensors) {
      parameters.push_back({Parameter::Kind::tensor, name});
    } else if (at < special.tensors + special.least_numbers) {
      parameters.push_back({Parameter::Kind::dim, name});
    }
  }
  if (special.most_numbers < 0) parameters.push_back({Parameter::Kind::sizes, "sizes"});
  return comment(special.doc, special.example) +
         definition(makes_number(special) ? "Dim" : "Tensor", special.name, parameters);
}

std::string of(const Composite& composite) {
  const Result<tile::Program> program = tile::parse({composite.name, composite.tile});
  if (!program.ok() || program->functions[0].results.size() != 1)
    return fmt::format("#error \"{} is not a function of one result\"\n", composite.name);
  std::vector<Parameter> parameters;
  for (const tile::Parameter& parameter : program->functions[0].parameters) {
    std::string name = parameter.name.text;
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
    parameters.push_back({Parameter::Kind::tensor, std::move(name)});
  }
  return comment(composite.doc, composite.example) +
         definition("Tensor", composite.name, parameters);
}

}  // namespace

std::string functions_header() {
  std::string out = kHead;
  for (const Builtin* builtin : all_builtins()) out += "\n" + of(*builtin);
  for (const Special* special : all_specials()) out += "\n" + of(*special);
  for (const Composite* composite : all_composites()) out += "\n" + of(*composite);
  return out + "\n}  // namespace stria::edsl\n";
}

}  // namespace stria
