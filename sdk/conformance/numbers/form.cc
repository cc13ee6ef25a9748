// SPDX-License-Identifier: Apache-2.0
#include "numbers/form.h"

#include <charconv>

#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria::conformance {
namespace {

std::vector<std::string_view> pieces(std::string_view text, char at) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    if (const std::string_view piece = trim(text.substr(0, end)); !piece.empty())
      out.push_back(piece);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The forms are ours: a mistake in one is ours, too.
int64_t number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  STRIA_CHECK(error == std::errc() && end == text.data() + text.size(), "'{}' is no number", text);
  return value;
}

TestInput input_of(std::string_view text, DataType type, uint32_t seed) {
  const std::vector<std::string_view> words = pieces(text, ' ');
  STRIA_CHECK(words.size() >= 2, "the input '{}' has no sizes", text);
  TestInput out;
  out.type = type;
  out.seed = seed;
  std::string_view name = words[0];
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    const auto known = parse_data_type(name.substr(colon + 1));
    STRIA_CHECK(known.has_value(), "the input '{}' has no type", text);
    out.type = *known;
    name = name.substr(0, colon);
  }
  if (name.back() == '!') {
    out.constant = true;
    name.remove_suffix(1);
  }
  out.name = name;
  if (words[1] != "-")
    for (const std::string_view size : pieces(words[1], ',')) out.sizes.push_back(number_of(size));
  if (words.size() > 2) {
    const auto values = parse_values(words[2]);
    STRIA_CHECK(values.has_value(), "no values are called '{}'", words[2]);
    out.values = *values;
  }
  if (words.size() > 3) out.limit = number_of(words[3]);
  return out;
}

// At commas outside of brackets.
std::vector<std::string> parameters_of(std::string_view text) {
  std::vector<std::string> out;
  std::string one;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back(trim(one));
      one.clear();
    } else {
      one += c;
    }
  }
  out.emplace_back(trim(one));
  return out;
}

}  // namespace

TestProgram program_of(const Form& form, DataType type, uint32_t seed) {
  TestProgram out;
  out.name = form.name;
  const size_t arrow = form.head.find("->");
  STRIA_CHECK(arrow != std::string::npos, "the form '{}' has no results", form.name);
  out.parameters = parameters_of(std::string_view(form.head).substr(0, arrow));
  for (const std::string_view output : pieces(std::string_view(form.head).substr(arrow + 2), ','))
    out.outputs.emplace_back(output);
  out.body = form.body;
  for (const std::string_view input : pieces(form.inputs, ';'))
    out.inputs.push_back(input_of(input, type, seed++));
  return out;
}

void add_form_cases(CaseMaker& maker, const ProgramRule& rule, Level level, std::string_view prefix,
                    const std::vector<Form>& forms, const std::vector<DataType>& types) {
  for (const Form& form : forms)
    for (const DataType type : types)
      add_program_case(maker, rule, level,
                       fmt::format("{}.{}.{}", prefix, form.name, stria::name_of(type)),
                       [form, type] { return program_of(form, type); });
}

std::string filled(std::string text,
                   const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [name, value] : names) {
    const std::string wanted = "{" + name + "}";
    for (size_t at = 0; (at = text.find(wanted, at)) != std::string::npos; at += value.size())
      text.replace(at, wanted.size(), value);
  }
  return text;
}

}  // namespace stria::conformance
