// SPDX-License-Identifier: Apache-2.0
// Expected failures, verdicts, and the reports, which hold whatever a plugin prints.
#include "reports/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/markup.h"
#include "suite/expected.h"

namespace stria::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Case named(const std::string& name, Level level) {
  Case c;
  c.name = name;
  c.level = level;
  c.sentence = "It is \"right\" & <well>.";
  c.run = [](Subject&) { return Finding(); };
  return c;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {named("P.a", Level::loads), named("M.b", Level::right),
                                        named("M.c", Level::right), named("T.d", Level::robust)};
  return all;
}

Report report_of(std::vector<CaseResult> results, Level asked) {
  Report report;
  report.plugin = "acme";
  report.version = "1.0";
  report.directory = "/opt/acme's plugins";
  report.all = &cases();
  report.results = std::move(results);
  report.verdict = verdict_of(cases(), report.results, asked, true);
  return report;
}

TEST(Expected, IsReadWithItsMistakes) {
  const auto good = parse_expected(
      "# a list\n\nM.b 2027-01-31 the unit rounds # really\nT.* 2026-12-01 x", "list");
  ASSERT_TRUE(good.ok());
  ASSERT_EQ(good->size(), 2u);
  EXPECT_EQ(good->at(0).cases, "M.b");
  EXPECT_EQ(good->at(0).until, "2027-01-31");
  EXPECT_EQ(good->at(0).reason, "the unit rounds");
  EXPECT_EQ(good->at(1).line, 4);
  const auto bad = parse_expected("M.b\nM.c 2027-13-01 why\nM.d 2027-01-01\n", "list").status();
  EXPECT_THAT(bad.message(),
              AllOf(HasSubstr("list:1: '' is no day"), HasSubstr("list:2: '2027-13-01' is no day"),
                    HasSubstr("list:3: M.d has no reason")));
}

TEST(Expected, TurnsFailuresUntilTheirDay) {
  const auto expected = parse_expected("M.* 2027-01-31 known\n", "list");
  ASSERT_TRUE(expected.ok());
  std::vector<CaseResult> results = {{0, Ending::fail, "bad"},
                                     {1, Ending::crash, "bad"},
                                     {2, Ending::pass, ""},
                                     {3, Ending::skip, "none"}};
  std::vector<CaseResult> later = results;
  apply_expected(*expected, "2027-01-31", cases(), results);
  EXPECT_EQ(results[0].ending, Ending::fail);
  EXPECT_EQ(results[1].ending, Ending::xfail);
  EXPECT_EQ(results[2].ending, Ending::xpass);
  EXPECT_EQ(results[3].ending, Ending::skip);
  apply_expected(*expected, "2027-02-01", cases(), later);
  EXPECT_EQ(later[1].ending, Ending::crash);
  EXPECT_EQ(later[2].ending, Ending::pass);
}

TEST(Text, FoldsFailuresInTheSameWords) {
  std::vector<CaseResult> results;
  for (int i = 0; i < 9; ++i)
    results.push_back({static_cast<size_t>(i % 4), Ending::fail, "no device"});
  results.push_back({1, Ending::crash, "no device"});
  const std::string text = text_report(report_of(results, Level::right), false);
  size_t shown = 0;
  for (size_t at = 0; (at = text.find("\n  repeat", at)) != std::string::npos; ++at) ++shown;
  EXPECT_EQ(shown, 4u) << text;
  EXPECT_THAT(text, HasSubstr("FAIL    of 6 more cases"));
}

TEST(Reports, SayWhyKernelsAreInterpreted) {
  Report report = report_of({{0, Ending::pass}}, Level::loads);
  report.kernels = 9;
  report.interpreted_kernels = 4;
  report.interpreted = {{"no <fp64>", 3}, {"no gather", 1}};
  EXPECT_THAT(
      text_report(report, false),
      HasSubstr("4 of 9 kernels are interpreted by the host: the plugin has no code for them\n"
                "  3 of them: no <fp64>\n  1 of them: no gather\n"));
  EXPECT_THAT(
      html_report(report),
      HasSubstr("<tr><th>why</th><td>3 of them: no &lt;fp64&gt;; 1 of them: no gather</td>"));
  const auto interpreted = nlohmann::json::parse(json_report(report)).at("interpreted");
  EXPECT_EQ(interpreted[0].at("reason"), "no <fp64>");
  EXPECT_EQ(interpreted[0].at("kernels"), 3);
}

// What is found broken on the way to what the case is about: of a slot both are quoted, and of a
// call that let an exception out the rule alone.
TEST(Reports, QuoteTheRuleThatIsBroken) {
  CaseResult crash{0, Ending::crash, "crashed"}, refused{1, Ending::fail, "executor.fill: no"};
  crash.rule = Rule::keeps_process;
  refused.rule = rule_of(Slot::executor_fill);
  CaseResult threw{3, Ending::fail, "executor.fill lets an exception out"};
  threw.rule = Rule::no_exception;
  const Report report =
      report_of({crash, refused, {2, Ending::fail, "byte 3 is 4"}, threw}, Level::right);
  const std::string ends = "Nothing that a plugin does ends the process";
  const std::string fill = "Repeats `pattern`", own = "It is \"right\" & <well>.";
  const std::string text = text_report(report, false);
  EXPECT_THAT(text, AllOf(HasSubstr("rule    \"" + ends), HasSubstr("rule    \"" + fill),
                          HasSubstr("case    \"" + own), HasSubstr("rule    \"" + own)));
  const auto cases = nlohmann::json::parse(json_report(report)).at("cases");
  EXPECT_THAT(cases[0].at("rule").get<std::string>(), HasSubstr(ends));
  EXPECT_EQ(cases[0].at("case_rule"), own);
  EXPECT_THAT(cases[1].at("rule").get<std::string>(), HasSubstr(fill));
  EXPECT_EQ(cases[1].at("case_rule"), own);
  EXPECT_EQ(cases[2].at("rule"), own);
  EXPECT_FALSE(cases[2].contains("case_rule"));
  EXPECT_THAT(cases[3].at("rule").get<std::string>(), HasSubstr("no exception"));
  EXPECT_FALSE(cases[3].contains("case_rule"));
  for (const std::string& page : {junit_report(report), html_report(report)})
    EXPECT_THAT(page, AllOf(HasSubstr(ends), HasSubstr(fill)));
}

TEST(Verdict, IsTheHighestLevelThatHolds) {
  const auto level = [](std::vector<CaseResult> results) {
    return report_of(std::move(results), Level::robust).verdict.level;
  };
  EXPECT_EQ(
      level({{0, Ending::pass}, {1, Ending::pass}, {2, Ending::unsupported}, {3, Ending::skip}}),
      3);
  EXPECT_EQ(level({{0, Ending::pass}, {1, Ending::pass}, {2, Ending::pass}, {3, Ending::leak}}), 2);
  EXPECT_EQ(level({{0, Ending::pass}, {1, Ending::xfail}, {2, Ending::pass}, {3, Ending::pass}}),
            1);
  EXPECT_EQ(level({{0, Ending::crash}, {1, Ending::pass}, {2, Ending::pass}, {3, Ending::pass}}),
            0);
  EXPECT_EQ(level({}), 0);
}

TEST(Reports, HoldWhateverAPluginPrints) {
  const std::string odd = "ends ]]> </pre><script>x</script> \x1b[31m \xff\xfe \"q\" & \x01";
  Report report = report_of({{0, Ending::pass},
                             {1, Ending::crash, "crashed: " + odd, odd, 0.5},
                             {2, Ending::skip, "none"},
                             {3, Ending::hang, "did not end"}},
                            Level::robust);
  const std::string text = text_report(report, false);
  EXPECT_THAT(text, AllOf(HasSubstr("CRASH   M.b"), HasSubstr("rule    \"It is \"right\""),
                          HasSubstr("stria conform '/opt/acme'\\''s plugins' --level 2 --only M.b"),
                          HasSubstr("level 1 of 3 asked for (loads)"), Not(HasSubstr("M.c"))));
  const auto json = nlohmann::json::parse(json_report(report));
  EXPECT_EQ(json.at("level"), 1);
  EXPECT_EQ(json.at("cases").size(), 4u);
  EXPECT_EQ(json.at("cases")[1].at("ending"), "CRASH");
  EXPECT_EQ(json.at("groups").at("M").at("SKIP"), 1);
  const std::string junit = junit_report(report), html = html_report(report);
  for (const std::string& page : {junit, html}) {
    EXPECT_THAT(page, Not(HasSubstr("<script>")));
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_EQ(page.find('\xff'), std::string::npos);
  }
  EXPECT_THAT(
      junit, AllOf(HasSubstr("<testsuite name=\"memory\" tests=\"2\" failures=\"1\" skipped=\"1\""),
                   HasSubstr("type=\"HANG\"")));
  EXPECT_THAT(html, AllOf(HasSubstr("<!doctype html>"), Not(HasSubstr("http://")),
                          Not(HasSubstr("https://"))));
  EXPECT_EQ(nlohmann::json::parse(badge(report)).at("message"), "level 1");
}

TEST(Markup, KeepsWhatXmlKnows) {
  EXPECT_EQ(escaped("a<b>&\"c\" ä €\n"), "a&lt;b&gt;&amp;&quot;c&quot; ä €\n");
  EXPECT_EQ(escaped(std::string_view("\0x\xc3", 3)), "\xef\xbf\xbdx\xef\xbf\xbd");
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // half of a pair
}

}  // namespace
}  // namespace stria::conformance
