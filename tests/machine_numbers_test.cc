// SPDX-License-Identifier: Apache-2.0
// What describes a machine is data of its model. Costs and passes therefore have no number that
// does: each number in their code stands in machine_numbers.txt with a reason that is no machine.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = STRIA_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// The code without comments, texts, characters and lines of the preprocessor.
std::string code_of(const std::string& text) {
  std::string out;
  size_t i = 0;
  const auto starts = [&](std::string_view with) {
    return text.compare(i, with.size(), with) == 0;
  };
  const auto skip_to = [&](std::string_view end, size_t from) {
    const size_t at = text.find(end, from);
    i = at == std::string::npos ? text.size() : at + end.size();
  };
  while (i < text.size()) {
    const bool after_name =
        !out.empty() && (std::isalnum(static_cast<unsigned char>(out.back())) || out.back() == '_');
    if (starts("//") || (text[i] == '#' && (out.empty() || out.back() == '\n'))) {
      i = std::min(text.find('\n', i), text.size());
    } else if (starts("/*")) {
      skip_to("*/", i);
    } else if (starts("R\"") && !after_name) {
      const size_t open = text.find('(', i);
      skip_to(")" + text.substr(i + 2, open - i - 2) + "\"", open);
    } else if (text[i] == '"' || (text[i] == '\'' && !after_name)) {  // 1'000 has no character
      const char quote = text[i++];
      while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
      ++i;
      out += ' ';
    } else {
      out += text[i++];
    }
  }
  return out;
}

// How often each number stands in the code; 0, 1 and 2 do not count.
std::map<std::string, int> numbers_of(const std::string& code) {
  static const std::regex number(
      R"re((^|[^\w.'])((0[xX][0-9a-fA-F'.]+([pP][-+]?\d+)?|(\d[\d']*)?\.?\d[\d']*\.?([eE][-+]?\d+)?)[uUlLfF]*))re");
  std::map<std::string, int> out;
  for (std::sregex_iterator it(code.begin(), code.end(), number), end; it != end; ++it) {
    std::string text = (*it)[2].str();
    while (!text.empty() && std::string("uUlLfF").find(text.back()) != std::string::npos &&
           text.compare(0, 2, "0x") != 0)
      text.pop_back();
    if (std::set<std::string>{"0", "1", "2", "0.0", "1.0"}.count(text) == 0) ++out[text];
  }
  return out;
}

std::map<std::pair<std::string, std::string>, int> numbers_in_sources() {
  std::map<std::pair<std::string, std::string>, int> out;
  for (const char* room : {"core/cost", "core/passes"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / room)) {
      const std::string kind = entry.path().extension().string();
      if (kind != ".h" && kind != ".cc" && kind != ".def") continue;
      for (const auto& [number, times] : numbers_of(code_of(read(entry.path()))))
        out[{fs::relative(entry.path(), kRoot).string(), number}] = times;
    }
  return out;
}

TEST(MachineNumbers, TheCodeOfCostsAndPassesHasNone) {
  std::map<std::pair<std::string, std::string>, int> listed;
  std::set<std::string> reasons;
  std::istringstream lines(read(kRoot / "tests/machine_numbers.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string file, number, reason;
    int times = 0;
    if (line.compare(0, 4, "#   ") == 0) {
      words >> reason >> reason;
      reasons.insert(reason);
    } else if (!line.empty() && line[0] != '#') {
      words >> file >> number >> times >> reason;
      EXPECT_EQ(reasons.count(reason), 1u) << line << ": no such reason";
      listed[{file, number}] += times;
    }
  }
  for (const auto& [where, times] : numbers_in_sources())
    EXPECT_EQ(listed[where], times)
        << where.first << ": " << where.second
        << ": if it describes a machine, it belongs into core/hwmodel/*_facts.def or into a model; "
           "else say in tests/machine_numbers.txt why not";
  const auto found = numbers_in_sources();
  for (const auto& [where, times] : listed)
    EXPECT_TRUE(times == 0 || found.count(where) == 1)
        << where.first << ": " << where.second << " is listed, but not in the code any more";
}

// The test can fail: it sees numbers in every spelling, and none where there is none.
TEST(MachineNumbers, AreFoundInCode) {
  EXPECT_EQ(numbers_of(code_of("double a = 0.97, b = 1e-9; int c = 1'000 << 16; auto d = 0x10u;")),
            (std::map<std::string, int>{
                {"0.97", 1}, {"1e-9", 1}, {"1'000", 1}, {"16", 1}, {"0x10u", 1}}));
  EXPECT_EQ(numbers_of(code_of("#define A 7\n// 8\n/* 9 */ f(\"10\", '3', R\"(4)\", v16, x.y2);")),
            (std::map<std::string, int>{}));
  EXPECT_EQ(numbers_of(code_of("g(64.f, 3, 3)")),
            (std::map<std::string, int>{{"64.", 1}, {"3", 2}}));
}

}  // namespace
