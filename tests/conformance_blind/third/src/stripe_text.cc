// SPDX-License-Identifier: Apache-2.0
#include "stripe_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace third_chip {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "  3: $x = …": how many characters stand before the statement; 0 if it is no such line.
size_t statement_at(const std::string& line) {
  const size_t number = line.find_first_not_of(' ');
  if (number == std::string::npos) return 0;
  size_t end = number;
  while (end < line.size() && is_digit(line[end])) ++end;
  return end > number && line.compare(end, 2, ": ") == 0 ? end + 2 : 0;
}

// Of "inout<DRAM> S[0, i]:add.fp32 fp32(4:5, 1:1)" the name and the type.
void note_view(const std::string& line, std::map<std::string, ViewType>& views) {
  const size_t bracket = line.find('[');
  const size_t open = line.rfind('(');
  if (bracket == std::string::npos || open == std::string::npos || line.back() != ')') return;
  const size_t name = line.rfind(' ', bracket);
  const size_t type = line.rfind(' ', open);
  if (name == std::string::npos || type == std::string::npos || type < bracket) return;
  ViewType view{line.substr(type + 1, open - type - 1), {}};
  for (const std::string& dimension :
       split_list(std::string_view(line).substr(open + 1, line.size() - open - 2)))
    view.sizes.push_back(std::atoll(dimension.c_str()));
  views[line.substr(name + 1, bracket - name - 1)] = std::move(view);
}

void note_scalar(const std::string& statement, Known& known) {
  if (statement.front() != '$') return;
  const size_t equals = statement.find(" = ");
  if (equals == std::string::npos) return;
  const std::string name = statement.substr(0, equals);
  const std::string value = statement.substr(equals + 3);
  std::string type;
  if (value.compare(0, 5, "load(") == 0) {
    const size_t end = value.find_first_of("[)", 5);
    const auto view = known.views.find(value.substr(5, end - 5));
    if (view != known.views.end()) type = view->second.element;
  } else if (value.front() == '(') {
    type = value.substr(1, value.find(')') - 1);
  } else if (const auto operation = read_operation(statement)) {
    type = operation->name.compare(0, 4, "cmp_") == 0 ? "bool" : operation->type;
  }
  known.scalars[name] = type;
}

}  // namespace

std::string Known::type_of(const std::string& scalar) const {
  const auto at = scalars.find(scalar);
  return at == scalars.end() ? std::string() : at->second;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t comma = std::min(text.find(", ", begin), text.size());
    parts.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 2;
  }
  return parts;
}

std::optional<Operation> read_operation(std::string_view statement) {
  const size_t equals = statement.find(" = ");
  if (equals == std::string_view::npos || statement.front() != '$' || statement.back() != ')')
    return std::nullopt;
  const std::string_view value = statement.substr(equals + 3);
  const size_t dot = value.find('.');
  const size_t open = value.find('(');
  if (dot == std::string_view::npos || open == std::string_view::npos || dot > open || open == 0)
    return std::nullopt;
  return Operation{std::string(statement.substr(0, equals)), std::string(value.substr(0, dot)),
                   std::string(value.substr(dot + 1, open - dot - 1)),
                   split_list(value.substr(open + 1, value.size() - open - 2))};
}

uint64_t bytes_of_type(const std::string& type) {
  const size_t digits = type.find_first_of("0123456789");
  const int bits = digits == std::string::npos ? 8 : std::atoi(type.c_str() + digits);
  return static_cast<uint64_t>(std::max(bits / 8, 1));
}

std::string change_stripe(std::string_view stripe, const StatementChange& statement,
                          const HeadChange& head) {
  std::istringstream in{std::string(stripe)};
  std::string out;
  Known known;
  std::vector<uint64_t> numbers{0};  // of the next statement in each open block
  bool in_head = false;
  for (std::string line; std::getline(in, line);) {
    const size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const std::string indent = line.substr(0, spaces);
    const std::string text = line.substr(spaces);
    if (const size_t at = statement_at(line)) {
      const std::string body = line.substr(at);
      const bool is_block = body.find("block [") != std::string::npos;
      if (is_block && body.find("#kernel") != std::string::npos) known.kernel_tags = body;
      const std::vector<std::string> changed =
          is_block ? std::vector<std::string>{body} : statement(body, known);
      if (!is_block) note_scalar(body, known);
      for (const std::string& one : changed)
        out += indent + std::to_string(numbers.back()++) + ": " + one + "\n";
      in_head = is_block;
      continue;
    }
    if (text == ") {" || text == "}") {
      if (text == "}" && numbers.size() > 1)
        numbers.pop_back();
      else
        numbers.push_back(0);
      in_head = false;
    } else if (in_head && text.compare(0, 2, "//") != 0 && !text.empty()) {
      note_view(text, known.views);
      out += indent + head(text, known) + "\n";
      continue;
    }
    out += line + "\n";
  }
  return out;
}

std::map<std::string, uint64_t> element_sizes(std::string_view stripe) {
  std::map<std::string, uint64_t> sizes;
  std::istringstream in{std::string(stripe)};
  std::map<std::string, ViewType> views;
  bool in_kernel = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find("#main block") != std::string::npos ||
        line.find("#prologue block") != std::string::npos)
      in_kernel = false;
    else if (line.find("#kernel") != std::string::npos)
      in_kernel = true;
    if (!in_kernel && !line.empty()) note_view(line, views);
  }
  for (const auto& [name, view] : views) sizes[name] = bytes_of_type(view.element);
  return sizes;
}

}  // namespace third_chip
