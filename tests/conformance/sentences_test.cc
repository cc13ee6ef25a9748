// SPDX-License-Identifier: Apache-2.0
// What the conformance suite quotes is what its sources say, word by word; each case has a name and
// a group; each group has as many cases as it must.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "suite/all_cases.h"

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = STRIA_SOURCE_DIR;
const fs::path kPlugin = fs::path(STRIA_BINARY_DIR) / "lib/stria/plugins/reference";

// Without marks of comments, with one blank for each run of blanks.
std::string plain_text(const fs::path& path) {
  std::ifstream file(path);
  std::string all;
  for (std::string line; std::getline(file, line);) {
    size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    for (const char* mark : {"//", "* "})
      if (path.extension() == ".h" &&
          line.compare(begin, std::char_traits<char>::length(mark), mark) == 0) {
        line.erase(0, begin + std::char_traits<char>::length(mark));
        break;
      }
    all += line + "\n";
  }
  std::istringstream words(all);
  std::string out;
  for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string plain_words(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string out;
  for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

fs::path file_of(std::string_view source) {
  if (source.rfind("guide/", 0) == 0) return kRoot / "sdk" / source;
  if (source.rfind("docs/", 0) == 0) return kRoot / source;
  return kRoot / "sdk/include" / source;
}

TEST(Conformance, QuotesItsSources) {
  std::map<std::string, std::string> texts;
  for (const Case& c : all_cases(kPlugin)) {
    const std::string source(c.source);
    if (texts.count(source) == 0) {
      ASSERT_TRUE(fs::exists(file_of(source))) << c.name << " quotes " << source;
      texts[source] = plain_text(file_of(source));
    }
    EXPECT_FALSE(c.sentence.empty()) << c.name;
    EXPECT_NE(texts[source].find(plain_words(c.sentence)), std::string::npos)
        << c.name << " quotes what " << source << " does not say: " << c.sentence;
  }
}

TEST(Conformance, RulesAreQuotesToo) {
  for (int i = 0; i < kRules; ++i) {
    const std::string text = plain_text(file_of(source_of(static_cast<Rule>(i))));
    const std::string sentence = plain_words(sentence_of(static_cast<Rule>(i)));
    EXPECT_FALSE(sentence.empty()) << i;
    EXPECT_NE(text.find(sentence), std::string::npos) << "nothing says: " << sentence;
  }
}

TEST(Conformance, RulesTravelWithMessages) {
  for (int i = 0; i < kRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    const Status failed = with_rule(broken("byte 3"), rule).with_context("copy");
    // The first one stays: it is nearest to what broke.
    std::string text = with_rule(failed, Rule::begins).message();
    EXPECT_EQ(take_rule(text), rule);
    EXPECT_EQ(text, "copy: byte 3");
    EXPECT_EQ(Finding(failed).rule(), rule);
    EXPECT_EQ(Finding(failed).text(), "copy: byte 3");
    // What quotes another failure has words of its own.
    EXPECT_EQ(Finding(broken("after {}", failed.message())).rule(), std::nullopt);
    EXPECT_EQ(Finding(broken("after {}", failed.message())).text(), "after copy: byte 3");
  }
  EXPECT_TRUE(with_rule(Status(), Rule::begins).ok());
  // Bytes of a plugin's that only look like a rule.
  for (std::string odd : {"\x1f",
                          "\x1f"
                          "a",
                          "\x1fzz", "a\x1f\x1f!",
                          "\x1f"
                          "A9"}) {
    const std::string before = odd;
    EXPECT_EQ(take_rule(odd), std::nullopt);
    EXPECT_EQ(odd, before);
  }
}

TEST(Conformance, NamesAreOfGroups) {
  std::set<char> letters;
  for (const Group& group : all_groups()) letters.insert(group.letter);
  for (const Case& c : all_cases(kPlugin)) {
    EXPECT_EQ(letters.count(c.group()), 1u) << c.name;
    EXPECT_EQ(c.name.substr(1, 1), ".") << c.name;
    for (const char character : c.name)
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(character)) || character == '_' ||
                  character == '.' || character == '-')
          << c.name;
    EXPECT_TRUE(c.run) << c.name;
  }
}

TEST(Conformance, GroupsAreLargeEnough) {
  const std::map<char, int> least = {{'P', 30},  {'N', 60}, {'E', 80},   {'M', 150},
                                     {'Q', 200}, {'X', 80}, {'K', 2000}, {'T', 60},
                                     {'F', 80},  {'C', 30}, {'R', 40},   {'H', 40}};
  std::map<char, int> counts;
  for (const Case& c : all_cases(kPlugin)) ++counts[c.group()];
  for (const auto& [letter, count] : least) EXPECT_GE(counts[letter], count) << "group " << letter;
}

}  // namespace
}  // namespace stria::conformance
