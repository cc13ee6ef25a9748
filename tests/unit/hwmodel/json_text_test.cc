// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/template/json_text.h"

namespace stria {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json parsed(const std::string& text) {
  auto result = parse_json_text({"f.json", text});
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : json();
}

std::string failure(const std::string& text) {
  auto result = parse_json_text({"f.json", text});
  EXPECT_FALSE(result.ok()) << text;
  return result.status().message();
}

TEST(JsonText, CommentsAndTrailingCommas) {
  EXPECT_EQ(parsed("// head\n{\"a\": [1, 2,], /* b */ \"c\": \"// no\",}"),
            json({{"a", {1, 2}}, {"c", "// no"}}));
  EXPECT_EQ(parsed("[\"a,]\", \"\\\",}\"]"), json({"a,]", "\",}"}));
}

TEST(JsonText, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_THAT(failure("{\n  \"a\": }"), HasSubstr("f.json:2:8: error:"));
  EXPECT_THAT(failure("{\"a\": 1,,}"), HasSubstr("f.json:1:"));
  EXPECT_THAT(failure("[,]"), HasSubstr("f.json:1:"));
  EXPECT_THAT(failure(""), HasSubstr("f.json:1:1"));
  EXPECT_THAT(failure("{\"a\": 1, \"a\": 2}"),
              HasSubstr("f.json:1:10: error: key \"a\" is given twice"));
  // The second one, wherever else its text occurs.
  EXPECT_THAT(failure("{\"b\": \"a\", \"c\": {\"a\": 0},\n \"a\": 1,\n  \"a\": 2}"),
              HasSubstr("f.json:3:3: error: key \"a\" is given twice"));
  EXPECT_THAT(failure("{\"\\u0061\": 1,\n \"a\": 2}"),
              HasSubstr("f.json:2:2: error: key \"a\" is given twice"));
  EXPECT_THAT(failure("{\"a\\\"\": 1,\n \"a\\\"\": 2}"), HasSubstr("f.json:2:2: error: key"));
  EXPECT_THAT(failure("{\"\": 1,\n \"\": 2}"), HasSubstr("f.json:2:2: error: key \"\" is given"));
  EXPECT_THAT(failure("[1 /* x"), HasSubstr("not closed"));
  EXPECT_THAT(failure("[\"abc\n]"), HasSubstr("not closed"));
  EXPECT_THAT(failure(std::string(100000, '[')), HasSubstr("nested deeper"));
}

TEST(JsonText, TypographicQuotesAreRefusedWithAHint) {
  EXPECT_THAT(failure("{\u201Dname\": 1}"), HasSubstr("typographic quotation mark"));
  EXPECT_THAT(failure("{\"name\u201D: 1}"), HasSubstr("typographic quotation mark"));
  EXPECT_EQ(parsed("[\"he said \u201Dno\u201D\"]"), json({"he said \u201Dno\u201D"}));
}

TEST(JsonText, ErrorsOfRenderedTextPointIntoTheTemplate) {
  std::string text = "{% set n = 3 %}[\n{% for i in range(n) %} {{ i }},\n{% endfor %}\n  oops ]";
  auto result = parse_json_template({"t.json", text}, json::object());
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(), HasSubstr("t.json:4:"));
  EXPECT_THAT(result.status().message(), HasSubstr("oops ]"));
}

// A value that makes no JSON is named, not what the parser met.
TEST(JsonText, ErrorsNameTheValuesThatMadeThem) {
  const auto message = [](const std::string& text, const json& values) {
    auto result = parse_json_template({"t.json", text}, values);
    EXPECT_FALSE(result.ok());
    return result.status().message();
  };
  const std::string text = "{% set M = N %}{\n\"a\": {{ M }}, \"b\": 1}";
  EXPECT_THAT(message(text, {{"N", "nan"}}),
              HasSubstr("t.json:2:6: error: N makes 'nan' here, which is no JSON value"));
  EXPECT_THAT(message(text, {{"N", ""}}), HasSubstr("N is empty here, where JSON needs a value"));
  EXPECT_THAT(message(text, {{"N", " "}}), HasSubstr("N is empty here, where JSON needs a value"));
  EXPECT_THAT(message(text, {{"N", "-1e400"}}),
              HasSubstr("t.json:2:6: error: -1e400 is beyond what 64 bits of floating point hold"));
  EXPECT_THAT(message("1e999", json::object()), HasSubstr("t.json:1:1: error: 1e999 is beyond"));
  EXPECT_THAT(message("{\"1e400\": [1, 1e400 ], \"b\": 2}", json::object()),
              HasSubstr("t.json:1:15: error:"));
  EXPECT_THAT(message("[1{{ N }}]", {{"N", "x"}}), HasSubstr("N makes '1x' here"));
  // Not of a mistake elsewhere.
  EXPECT_THAT(message("[{{ N }} 2]", {{"N", 1}}), HasSubstr("unexpected number literal"));
  EXPECT_THAT(message("[2 {{ N }}]", {{"N", 1}}),
              HasSubstr("unexpected number literal; expected ',' or ']'"));
  EXPECT_THAT(message("{\"a\": 1 \"b\": 2}", json::object()),
              HasSubstr("unexpected string literal; expected ',' or '}'"));
  EXPECT_THAT(message("{\"a\" 1}", json::object()),
              HasSubstr("unexpected number literal; expected ':'"));
  EXPECT_THAT(message("{\"a\": {{ N }}: 3}", {{"N", 4}}), HasSubstr("unexpected ':'"));
}

TEST(JsonText, PlacesOfKeysAndValues) {
  const SourceText source{
      "f",
      "\xEF\xBB\xBF{ // {\n \"a\": [1, {\"b/\\u0063\": \"x\\\",\"}], \"d\": {},\n"
      " \"e\": -1e3}"};
  JsonPlaces places;
  auto value = parse_json_text(source, &places);
  ASSERT_TRUE(value.ok()) << value.status().message();
  std::map<std::string, std::pair<char, std::string>> found;
  for (const auto& [pointer, place] : places)
    found[pointer] = {source.text[place.key], source.text.substr(place.value, 2)};
  EXPECT_EQ(found, (std::map<std::string, std::pair<char, std::string>>{
                       {"", {'{', "{ "}},
                       {"/a", {'"', "[1"}},
                       {"/a/0", {'1', "1,"}},
                       {"/a/1", {'{', "{\""}},
                       {"/a/1/b~1c", {'"', "\"x"}},
                       {"/d", {'"', "{}"}},
                       {"/e", {'"', "-1"}},
                   }));
}

TEST(JsonText, PointersEscape) { EXPECT_EQ(pointer_child("/a", "b/c~d"), "/a/b~1c~0d"); }

}  // namespace
}  // namespace stria
