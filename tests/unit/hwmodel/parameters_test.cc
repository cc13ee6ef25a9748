// SPDX-License-Identifier: Apache-2.0
// What a template says its parameters may be: the filters, the list, and that every file that is
// shipped says it of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/template/template_parameters.h"
#include "stria/template/template_text.h"

namespace stria {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::string rendered(const std::string& text, const TemplateSettings& settings = {}) {
  auto result = render_template({"t.json", text}, settings_as_json(settings));
  return result.ok() ? result->text : "error: " + result.status().message();
}

struct Tried {
  std::string declaration;
  std::vector<std::string> legal, refused;
  std::string said;
};

TEST(Parameters, OnlyWhatIsLegalPasses) {
  for (const Tried& tried : std::vector<Tried>{
           {"integer(1, 64)",
            {"1", "2", "63", "64"},
            {"0",    "65",  "-1",    "1.5",   "2.0",
             "1e1",  "x",   "",      "true",  "null",
             "[2]",  "{}",  "\"2\"", " 5",    "5 ",
             "0x10", "nan", "inf",   "1e400", "99999999999999999999",
             "2x"},
            "a whole number from 1 to 64"},
           {"integer(-2, 9223372036854775807)",
            {"-2", "0", "9223372036854775807"},
            {"-3", "9223372036854775808", "18446744073709551615"},
            "a whole number from -2 to 9223372036854775807"},
           {"number(0.5, 64)",
            {"0.5", "1", "2.0", "64", "1e1"},
            {"0.49", "64.01", "-1", "x", "", "true", "\"2\"", " 5", "0x10", "nan", "inf", "1e400"},
            "a number from 0.5 to 64"},
           {"one_of(0, 2, 4)",
            {"0", "2", "4"},
            {"1", "3", "-1", "0.5", "x", "", "true", "\"2\"", "nan", "5", "2.0", "-0.0", "4e0"},
            "0, 2 or 4"},
           {"one_of(-1, 2)", {"-1", "2"}, {"18446744073709551615", "-1.0"}, "-1 or 2"},
           {"one_of(0.5, 2.0)", {"0.5", "2.0", "2"}, {"1"}, "0.5 or 2.0"},
           {"one_of('ws', 'os')",
            {"ws", "os", "\"os\""},
            {"is", "", "1", "WS"},
            "\"ws\" or \"os\""},
           {"boolean",
            {"true", "false"},
            {"0", "1", "True", "yes", "", "2", "\"true\""},
            "true or false"}}) {
    const std::string text =
        "{% set\n N = N | default(\"?\") | " + tried.declaration + " %}{{ N }}";
    for (const std::string& value : tried.legal) {
      const std::string got = rendered(text, {{"N", value}});
      EXPECT_EQ(got.find("error"), std::string::npos) << tried.declaration << value << got;
      EXPECT_FALSE(got.empty());
    }
    for (const std::string& value : tried.refused)
      EXPECT_THAT(rendered(text, {{"N", value}}), AllOf(HasSubstr("t.json:2:6: error: 'N' is "),
                                                        HasSubstr(", which is not " + tried.said)))
          << tried.declaration << value;
    // A default is held to it as well.
    EXPECT_THAT(rendered(text), HasSubstr("'N' is \"?\", which is not"));
  }
}

TEST(Parameters, DeclarationsAreCheckedThemselves) {
  EXPECT_THAT(rendered("{{ 1 | integer }}"),
              HasSubstr("integer needs the least and the largest whole number"));
  EXPECT_THAT(rendered("{{ 1 | integer(1) }}"), HasSubstr("integer needs"));
  EXPECT_THAT(rendered("{{ 1 | integer(2, 1) }}"), HasSubstr("integer needs"));
  EXPECT_THAT(rendered("{{ 1 | integer(0.5, 1) }}"), HasSubstr("integer needs"));
  EXPECT_THAT(rendered("{{ 1 | number('a', 1) }}"),
              HasSubstr("number needs the least and the largest number"));
  EXPECT_THAT(rendered("{{ 1 | one_of }}"), HasSubstr("one_of needs the values"));
  EXPECT_THAT(rendered("{{ true | boolean(1) }}"), HasSubstr("boolean takes no arguments"));
  EXPECT_THAT(rendered("{{ 1 | intger(0, 1) }}"), HasSubstr("did you mean 'integer'?"));
  // Limits may be computed, and the value goes on.
  EXPECT_EQ(rendered("{% set M = 3 %}{{ (N | integer(0, 2 * M)) + 1 }}", {{"N", "6"}}), "7");
  EXPECT_THAT(rendered("{% set M = 3 %}{{ N | integer(0, 2 * M) }}", {{"N", "7"}}),
              HasSubstr("'N' is 7, which is not a whole number from 0 to 6"));
}

TEST(Parameters, AreListedWithDefaultAndLegalValues) {
  auto all = declared_parameters(
      {"t.json",
       "{% set B = B | default(8) | integer(1, 64) %}\n"
       "{% set A = A | default('x') | one_of('x', 'y') %}{{ A }}{{ B }}{{ hw.n }}\n"
       "{% if C | default(tune) | number(0, hw.n) > 1 %}{{ D }}{% endif %}"});
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_EQ(describe_parameters(*all),
            "  B  8     a whole number from 1 to 64\n"
            "  A  'x'   'x' or 'y'\n"
            "  C  tune  a number from 0 to hw.n\n"
            "  D        anything\n");
  EXPECT_EQ((*all)[2].initial_reads, std::set<std::string>{"tune"});
  EXPECT_TRUE((*all)[0].choices.empty());
  EXPECT_EQ((*all)[1].choices, (std::vector<std::string>{"x", "y"}));
  all = declared_parameters(
      {"t.json", "{{ A | default(0) | one_of(0, 2.5, hw.n) }}{{ B | boolean }}"});
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_EQ((*all)[0].choices, (std::vector<std::string>{"0", "2.5"}));
  EXPECT_EQ((*all)[1].choices, (std::vector<std::string>{"true", "false"}));
}

// A parameter without a declaration takes what it is given.
TEST(Parameters, EveryShippedFileDeclaresEach) {
  int files = 0, parameters = 0;
  for (const char* folder : {"plugins", "hwmodels"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(STRIA_SOURCE_DIR) / folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".json") || path.find("/schema/") != std::string::npos) continue;
      auto all = declared_parameters({path, read_file(path).value()});
      ASSERT_TRUE(all.ok()) << all.status().to_string();
      ++files;
      for (const TemplateParameter& parameter : *all) {
        ++parameters;
        EXPECT_NE(parameter.initial, "") << path << ": " << parameter.name << " has no default";
        EXPECT_NE(parameter.legal, "")
            << path << ": " << parameter.name << " does not say what is legal";
      }
    }
  EXPECT_GE(files, 20);
  EXPECT_GE(parameters, 25);
}

}  // namespace
}  // namespace stria
