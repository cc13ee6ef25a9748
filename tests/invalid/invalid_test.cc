// SPDX-License-Identifier: Apache-2.0
// Runs the programs of this folder (README.md says what they look like) and compares their messages
// with what they expect, line by line.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::tile {
namespace {

namespace fs = std::filesystem;

struct Message {
  int line = 0;
  std::string kind;
  std::string text;
};

const fs::path kFolder = fs::path(STRIA_SOURCE_DIR) / "tests/invalid";

std::vector<fs::path> programs() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".tile") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Message> expected_of(const std::string& text) {
  static const std::regex mark(R"(# (error|warning|note)(@([+-]\d+))?: )");
  std::vector<Message> out;
  std::vector<std::string> lines = split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    std::sregex_iterator end;
    for (std::sregex_iterator at(lines[i].begin(), lines[i].end(), mark); at != end;) {
      Message m;
      m.line = static_cast<int>(i) + 1 + ((*at)[3].matched ? std::stoi((*at)[3]) : 0);
      m.kind = (*at)[1];
      size_t begin = static_cast<size_t>(at->position() + at->length());
      ++at;
      size_t stop = at == end ? lines[i].size() : static_cast<size_t>(at->position());
      m.text = std::string(trim(std::string_view(lines[i]).substr(begin, stop - begin)));
      out.push_back(m);
    }
  }
  return out;
}

std::vector<Message> found_in(const std::string& messages, const std::string& name) {
  std::vector<Message> out;
  for (const std::string& line : split(messages, '\n')) {
    if (!line.starts_with(name + ":")) continue;
    std::smatch match;
    static const std::regex place(R"(^:(\d+):(\d+): (error|warning|note): (.*)$)");
    std::string rest = line.substr(name.size());
    if (!std::regex_match(rest, match, place)) {
      ADD_FAILURE() << "a message without a place: " << line;
      continue;
    }
    out.push_back({std::stoi(match[1]), match[3], match[4]});
  }
  return out;
}

// Lines "# shape A=2,3:i8" and "# function f".
std::map<std::string, TensorType> inputs_of(const std::string& text, std::string* function) {
  std::map<std::string, TensorType> out;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("# function ")) *function = line.substr(11);
    if (!line.starts_with("# shape ")) continue;
    std::string spec = line.substr(8);
    size_t equals = spec.find('=');
    EXPECT_NE(equals, std::string::npos) << line;
    TensorType type;
    std::string sizes = spec.substr(equals + 1);
    if (size_t colon = sizes.find(':'); colon != std::string::npos) {
      auto parsed = parse_tensor_type(sizes.substr(colon + 1));
      EXPECT_TRUE(parsed.has_value()) << line;
      type.type = parsed.value_or(DataType::fp32);
      sizes.resize(colon);
    }
    if (!sizes.empty())
      for (const std::string& size : split(sizes, ',')) type.sizes.push_back(std::stoll(size));
    out[spec.substr(0, equals)] = type;
  }
  return out;
}

class Invalid : public ::testing::TestWithParam<fs::path> {};

TEST_P(Invalid, SaysWhatItShould) {
  Result<std::string> text = read_file(GetParam());
  ASSERT_TRUE(text.ok()) << text.status().to_string();
  std::string name = GetParam().filename();
  std::vector<Message> expected = expected_of(*text);
  ASSERT_TRUE(std::any_of(expected.begin(), expected.end(),
                          [](const Message& m) { return m.kind == "error"; }))
      << name << " expects no error";
  std::string function;
  std::map<std::string, TensorType> inputs = inputs_of(*text, &function);
  Result<Program> program = parse({name, *text});
  std::string messages = program.status().message();
  if (program.ok()) {
    Result<BoundProgram> bound = bind_program(*program, function, inputs);
    Status status = bound.status();
    if (bound.ok()) {
      status = lower(*bound).status();
      EXPECT_TRUE(status.code() == StatusCode::unknown || status.code() == StatusCode::out_of_range)
          << status.to_string();
    } else {
      EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    }
    ASSERT_FALSE(status.ok()) << name << " was accepted";
    messages = status.message();
  }
  std::vector<Message> found = found_in(messages, name);
  for (const Message& e : expected) {
    auto at = std::find_if(found.begin(), found.end(), [&](const Message& f) {
      return f.line == e.line && f.kind == e.kind && f.text.find(e.text) != std::string::npos;
    });
    if (at == found.end()) {
      ADD_FAILURE() << name << ":" << e.line << ": expected " << e.kind << ": " << e.text
                    << "\nfound\n"
                    << messages;
    } else {
      found.erase(at);
    }
  }
  for (const Message& f : found)
    if (f.kind == "error")
      ADD_FAILURE() << name << ":" << f.line << ": unexpected " << f.text << "\n" << messages;
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& info) { return info.param.stem(); }

INSTANTIATE_TEST_SUITE_P(Programs, Invalid, ::testing::ValuesIn(programs()), test_name);

TEST(InvalidPrograms, AreMany) { EXPECT_GE(programs().size(), 120u); }

}  // namespace
}  // namespace stria::tile
