// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stria/template/template_text.h"

namespace stria {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string rendered(const std::string& text, const json& values = json::object()) {
  auto result = render_template({"t.json", text}, values);
  return result.ok() ? result->text : "error: " + result.status().message();
}

TEST(Template, ExpressionsFollowPythonsPrecedenceAndDivision) {
  EXPECT_EQ(rendered("{{ 1 + 2 * 3 }}"), "7");
  EXPECT_EQ(rendered("{{ (1 + 2) * 3 - -4 }}"), "13");
  EXPECT_EQ(rendered("{{ 7 / 2 }} {{ 8 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }}"),
            "3.5 4.0 3 -4 2");
  EXPECT_EQ(rendered("{{ 1 < 2 and 2 <= 2 and not 3 == 4 }}"), "true");
  EXPECT_EQ(rendered("{{ 0 or 5 }} {{ 0 and 5 }}"), "5 0");
  EXPECT_EQ(rendered("{{ 'a' if x > 2 else 'b' }}", {{"x", 3}}), "a");
  EXPECT_EQ(rendered("{{ 2.5 * 2 }} {{ 'x' + \"y\" }}"), "5.0 xy");
  EXPECT_EQ(rendered("{{ 3 in [1, 2, 3] }} {{ 'D' in hw }}", {{"hw", {{"D", 1}}}}), "true true");
}

TEST(Template, NamesAttributesAndItems) {
  json values = {{"hw", {{"mem_units", {{"DRAM", {{"size_KiB", 64}}}}}, {"list", {10, 20}}}}};
  EXPECT_EQ(rendered("{{ hw.mem_units.DRAM.size_KiB * 2 }}", values), "128");
  EXPECT_EQ(rendered("{{ hw['mem_units'].DRAM.size_KiB }} {{ hw.list[-1] }}", values), "64 20");
  EXPECT_EQ(rendered("{{ hw.none.at.all | default(3) }}", values), "3");
  EXPECT_EQ(rendered("{{ hw.x is defined }} {{ hw is defined }} {{ y is not defined }}", values),
            "false true true");
}

TEST(Template, Filters) {
  EXPECT_EQ(
      rendered("{{ x | default(8) }} {{ 2.9 | int }} {{ 3 | float }} {{ [1, 'a'] | tojson }}"),
      "8 2 3.0 [1,\"a\"]");
  EXPECT_EQ(
      rendered("{{ [3, 1, 2] | max }} {{ [3, 1] | min }} {{ [3, 1] | sum }} {{ [1, 2] | length }}"),
      "3 1 4 2");
  EXPECT_EQ(rendered("{{ [1, 2] | join(', ') }} {{ -3 | abs }} {{ 2.5 | round }}"), "1, 2 -3 2.0");
  EXPECT_THAT(rendered("{{ 3 | flaot }}"), HasSubstr("did you mean 'float'?"));
}

TEST(Template, FiltersTakeTheArgumentsThatTheyKnow) {
  EXPECT_EQ(rendered("{{ 2.348 | round(2) }} {{ 1250 | round(-2) }} {{ 7 | round(3) }}"),
            "2.35 1200.0 7.0");
  EXPECT_EQ(rendered("{{ 'x' | int(5) }} {{ '12' | int(5) }} {{ 'x' | float(0.5) }}"), "5 12 0.5");
  EXPECT_THAT(rendered("{{ 3 | abs(1, 2) }}"), HasSubstr("abs takes no arguments, not 2"));
  EXPECT_THAT(rendered("{{ 99 | int(5, 6) }}"), HasSubstr("int takes at most 1 argument, not 2"));
  EXPECT_THAT(rendered("{{ [1] | join(1, 2) }}"),
              HasSubstr("join takes at most 1 argument, not 2"));
  EXPECT_THAT(rendered("{{ [1] | sum(1) }}"), HasSubstr("sum takes no arguments, not 1"));
  EXPECT_THAT(rendered("{{ 1 | round(99) }}"), HasSubstr("round keeps -15 to 15 digits, not 99"));
  EXPECT_THAT(rendered("{{ 'x' | int }}"), HasSubstr("'x' is no number"));
}

TEST(Template, LoopsConditionsAndSet) {
  EXPECT_EQ(
      rendered("{% for i in range(3) %}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}"),
      "0,1,2");
  EXPECT_EQ(rendered("{% for i in range(5, 0, -2) %}{{ loop.index }}:{{ i }} {% endfor %}"),
            "1:5 2:3 3:1 ");
  EXPECT_EQ(rendered("{% for i in [7, 8] %}{{ loop.revindex }}{{ loop.revindex0 }} {% endfor %}"),
            "21 10 ");
  EXPECT_EQ(rendered("{% for i in range(0) %}x{% endfor %}"), "");
  EXPECT_EQ(rendered("{% set X = X | default(8) %}{{ X }}"), "8");
  EXPECT_EQ(rendered("{% set X = X | default(8) %}{{ X }}", {{"X", 16}}), "16");
  EXPECT_EQ(rendered("{% if a == 1 %}one{% elif a == 2 %}two{% else %}many{% endif %}", {{"a", 2}}),
            "two");
  EXPECT_EQ(rendered("{% if a == 1 %}one{% elif a == 2 %}two{% else %}many{% endif %}", {{"a", 7}}),
            "many");
  EXPECT_EQ(rendered("{% set a = 1 %}{% for i in [1] %}{% set a = 2 %}{% endfor %}{{ a }}"), "1");
  EXPECT_EQ(rendered("{% set a = 1 %}{% if true %}{% set a = 2 %}{% endif %}{{ a }}"), "2");
  EXPECT_EQ(rendered("a {#- gone }} {% -#} b {{- 1 -}} c"), "ab1c");
}

TEST(Template, PlainJsonPassesUnchanged) {
  std::string text = "{\"a\": {\"b\": {}}}\n";
  EXPECT_EQ(rendered(text), text);
}

TEST(Template, ErrorsCarryLineAndColumn) {
  EXPECT_THAT(rendered("a\n  {{ NUM_SRM }}", {{"NUM_SRAM", 1}}),
              HasSubstr("t.json:2:6: error: 'NUM_SRM' is not set, did you mean 'NUM_SRAM'?"));
  EXPECT_THAT(rendered("{{ hw.units.NEAR.KiB }}", {{"hw", {{"units", {{"FAR", 1}, {"NAER", 2}}}}}}),
              HasSubstr("t.json:1:4: error: 'hw.units.NEAR.KiB' is not set: 'hw.units' has 'FAR', "
                        "'NAER', did you mean 'NAER'?"));
  EXPECT_THAT(rendered("{{ hw['units'].FAR }}", {{"hw", {{"units", nlohmann::json::object()}}}}),
              HasSubstr("'hw['units'].FAR' is not set: 'hw['units']' is empty"));
  EXPECT_THAT(rendered("{{ hw['near'] + 1 }}", {{"hw", {{"far", 1}}}}),
              HasSubstr("'hw['near']' is not set: 'hw' has 'far'"));
  EXPECT_THAT(rendered("{{ hv.units.FAR }}", {{"hw", 1}}),
              HasSubstr("'hv.units.FAR' is not set: there is no 'hv', did you mean 'hw'?"));
  EXPECT_THAT(rendered("{{ 1 / 0 }}"), HasSubstr("division by zero"));
  EXPECT_THAT(rendered("{{ 1 + }}"), HasSubstr("a value is missing"));
  EXPECT_THAT(rendered("{{ 1 2 }}"), HasSubstr("unexpected '2'"));
  EXPECT_THAT(rendered("x {{ 1"), HasSubstr("t.json:1:3: error: this is not closed with '}}'"));
  EXPECT_THAT(rendered("{% for i in range(2) %}"), HasSubstr("no {% endfor %}"));
  EXPECT_THAT(rendered("{% endfor %}"), HasSubstr("without an open block"));
  EXPECT_THAT(rendered("{% for i in range(2) %}{% endif %}"), HasSubstr("inside a loop"));
  EXPECT_THAT(rendered("{% fro i in range(2) %}"), HasSubstr("did you mean 'for'?"));
  EXPECT_THAT(rendered("{{ range(99999999) }}"), HasSubstr("more than"));
  EXPECT_THAT(rendered("{{ range('8') }}"), HasSubstr("range needs integers, this is \"8\""));
  EXPECT_THAT(rendered("{{ 9223372036854775807 + 1 }}"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(rendered("{{ [1][3] }}"), HasSubstr("item 3 of a list of 1"));
  EXPECT_THAT(rendered("{{ 'a' < 1 }}"), HasSubstr("cannot compare"));
}

TEST(Template, DeepNestingIsRefusedNotACrash) {
  std::string deep(100000, '(');
  EXPECT_THAT(rendered("{{ " + deep + " }}"), HasSubstr("nested deeper"));
  EXPECT_THAT(rendered("{{ " + std::string(100000, '-') + "1 }}"), HasSubstr("nested deeper"));
  std::string loops;
  for (int i = 0; i < 1000; ++i) loops += "{% for i in [1] %}";
  EXPECT_THAT(rendered(loops), HasSubstr("nested deeper"));
}

TEST(Template, OutputAndWorkAreLimited) {
  std::string long_text(1 << 20, 'x');
  EXPECT_THAT(rendered("{% for a in range(100) %}" + long_text + "{% endfor %}"),
              HasSubstr("longer than"));
  EXPECT_THAT(
      rendered("{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}"),
      HasSubstr("more than 262144 steps"));
  EXPECT_THAT(
      rendered("{% set n = range(9999) %}{% for a in n %}{% for b in n %}{% endfor %}{% endfor %}"),
      HasSubstr("more than 262144 steps"));
}

TEST(Template, ValuesCannotGrowWithoutEnd) {
  auto times = [](int count, const std::string& text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  const char* steps = "the template's expressions take more than 524288 steps";
  EXPECT_THAT(rendered("{% set a = 'ab' %}" + times(60, "{% set a = a + a %}")), HasSubstr(steps));
  EXPECT_THAT(rendered("{% set a = [1] %}" + times(60, "{% set a = [a, a] %}")), HasSubstr(steps));
  EXPECT_THAT(rendered("{% set a = range(99999) | join('0123456789') %}"
                       "{{ range(99999) | join(a) }}"),
              HasSubstr(steps));
  EXPECT_THAT(rendered("{% set a = range(99999) | join('a') %}{{ a in a + 'b' }}"),
              HasSubstr(steps));
  EXPECT_THAT(rendered("{% for i in range(9999) %}{% if range(99999) %}{% endif %}{% endfor %}"),
              HasSubstr(steps));
  EXPECT_THAT(rendered("{% set a = [] %}" + times(300, "{% set a = [a] %}")),
              HasSubstr("lists nested too deep"));
  EXPECT_THAT(rendered("{{ 1" + times(100000, " + 1") + " }}"),
              HasSubstr("more than 300 operations in a row"));
  EXPECT_THAT(rendered("{{ 1" + times(100000, " | int") + " }}"), HasSubstr("in a row"));
  EXPECT_THAT(rendered("{{ a" + times(100000, "[0]") + " }}"), HasSubstr("in a row"));
  EXPECT_EQ(rendered("{{ 1" + times(299, " + 1") + " }}"), "300");
}

TEST(Template, ANameKeepsItsValueWhileItIsSetFromAPartOfIt) {
  EXPECT_EQ(rendered("{% set a = [1, [2]] %}{% set a = a[1] %}{% set a = a[0] %}{{ a }}"), "2");
}

TEST(Template, TextIsUtf8) {
  EXPECT_THAT(rendered("{{ '\xff' | tojson }}"),
              HasSubstr("t.json:1:4: error: the string is not UTF-8"));
  EXPECT_EQ(rendered("{{ ['\xc2\xb5'] }}"), "[\"\xc2\xb5\"]");
  TemplateSettings settings;
  EXPECT_THAT(add_setting("N=\xff", settings).message(), HasSubstr("'N' is not UTF-8"));
}

TEST(Template, IntegersBeyond64BitsAreErrors) {
  json values = {{"big", uint64_t{1} << 63}};
  EXPECT_EQ(rendered("{{ big }}", values), "9223372036854775808");
  for (const char* text : {"{{ big + 1 }}", "{{ -big }}", "{{ range(big) }}", "{{ [1][big] }}"})
    EXPECT_THAT(rendered(text, values), HasSubstr("9223372036854775808 does not fit in 64 bits"))
        << text;
}

TEST(Template, ParametersAreTheNamesReadFromOutside) {
  auto names = template_parameters({"t", R"({# C #} {% set N = N | default(8) %} {{ N }} text D
    {% for i in range(M) %} {{ i + loop.index }} {% set K = i %} {{ K }} {% endfor %}
    {% if A is defined %} {{ "E" }} {% elif B[X].Y %} {{ Z }} {% else %} {{ K }} {% endif %})"});
  ASSERT_TRUE(names.ok()) << names.status().to_string();
  EXPECT_EQ(*names, (std::set<std::string>{"A", "B", "K", "M", "N", "X", "Z"}));
  EXPECT_FALSE(template_parameters({"t", "{{ "}).ok());
}

TEST(Template, WhatAPieceOfTheTextWasComputedFrom) {
  const json values = {{"A", 1}, {"B", {{"c", {{"d", 2}}}}}, {"L", {5, 6}}};
  auto reads = [&](const std::string& text) {
    auto result = render_template({"t", text}, values);
    EXPECT_TRUE(result.ok()) << result.status().message();
    const TemplateReads of = result->reads_of(0, result->text.size());
    std::string out = of.defaulted ? "default" : "";
    for (const std::string& path : of.paths) out += " " + path;
    return out;
  };
  EXPECT_EQ(reads("plain"), "");
  EXPECT_EQ(reads("{{ 3 }}"), "");
  EXPECT_EQ(reads("{{ A + B.c.d }}"), " A B.c.d");
  EXPECT_EQ(reads("{{ B['c'].d }}{{ L[A] }}"), " B.c.d A L");
  EXPECT_EQ(reads("{{ X | default(2) }}"), "default");
  EXPECT_EQ(reads("{{ A | default(X) }}"), " A");
  EXPECT_EQ(reads("{% set X = A %}{% set A = X %}{% for i in L %}{{ i + A }}{% endfor %}"), " L A");
  EXPECT_EQ(reads("{% if A %}{{ loop | default(1) }}{% endif %}"), "default");
  EXPECT_EQ(reads("{% for i in [1] %}{{ loop.index }}{% endfor %}"), "");
  EXPECT_EQ(reads("{{ B.c.none is defined }}"), "");
}

TEST(Settings, AreReadAsJsonWhereTheyAreJson) {
  TemplateSettings settings;
  ASSERT_TRUE(add_setting("N=16", settings).ok());
  ASSERT_TRUE(add_setting("NAME=abc", settings).ok());
  ASSERT_TRUE(add_setting("EMPTY=", settings).ok());
  json values = settings_as_json(settings);
  EXPECT_EQ(values["N"], 16);
  EXPECT_EQ(values["NAME"], "abc");
  EXPECT_EQ(values["EMPTY"], "");
  for (const char* bad : {"N", "=3", "3=3", "a b=1", ""})
    EXPECT_FALSE(add_setting(bad, settings).ok()) << bad;
}

}  // namespace
}  // namespace stria
