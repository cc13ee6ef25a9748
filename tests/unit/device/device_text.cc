// SPDX-License-Identifier: Apache-2.0
#include "device_text.h"

#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"

namespace stria::device_text {

std::string text_of(const std::string& name) {
  Result<std::string> text = read_file(STRIA_SOURCE_DIR "/tests/golden/device/" + name);
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  return text.ok() ? *text : "";
}

stripe::Program parsed(const std::string& name) { return parsed(name, text_of(name)); }

stripe::Program parsed(const std::string& name, const std::string& text) {
  Result<stripe::Program> program = stripe::parse({name, text});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return program.ok() ? std::move(*program) : stripe::Program();
}

std::string without_numbers(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("//") != std::string::npos) line.resize(line.find("//"));
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    bool in_name = false;
    for (const unsigned char c : line) {
      const bool digit = std::isdigit(c) != 0;
      in_name = std::isalpha(c) != 0 || c == '_' || c == '$' || (in_name && digit);
      if (!digit || in_name)
        out += static_cast<char>(c);
      else if (out.back() != '0')
        out += '0';
    }
    out += '\n';
  }
  return out;
}

}  // namespace stria::device_text
