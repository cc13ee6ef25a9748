// SPDX-License-Identifier: Apache-2.0
// Each numbered rule of docs/semantics.md is quoted by a test: as "rule M17", "rules M3 and M10" or
// "(M17)", or as the suite of a test, TEST(S9, …).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> out;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), pattern);
       at != std::sregex_iterator(); ++at)
    out.insert((*at)[1]);
  return out;
}

TEST(Rules, EachIsQuotedByATest) {
  const fs::path root = STRIA_SOURCE_DIR;
  const std::set<std::string> rules =
      matches(read(root / "docs/semantics.md"), std::regex(R"(\n\*\*([MSC][0-9]+)\. )"));
  EXPECT_GE(rules.size(), 55u);  // M1 to M23, S1 to S21, C1 to C11
  std::set<std::string> quoted;
  const std::regex quote(R"((?:[Rr]ules? |[Rr]ules [MSC][0-9]+ and |\(|TEST_F\()([MSC][0-9]+)\b)");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "tests")) {
    const std::string kind = entry.path().extension();
    if (entry.path() == root / "tests/rules_test.cc") continue;
    if (kind == ".cc" || kind == ".tile" || kind == ".test")
      quoted.merge(matches(read(entry.path()), quote));
  }
  for (const std::string& rule : rules) EXPECT_TRUE(quoted.count(rule)) << rule << " has no test";
}

}  // namespace
