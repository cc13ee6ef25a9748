// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "reports/markup.h"
#include "reports/report.h"

namespace stria::conformance {

std::string junit_report(const Report& report) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stria conform\">\n";
  for (const Group& group : all_groups()) {
    std::string cases;
    int count = 0, failures = 0, skipped = 0;
    double seconds = 0;
    for (const CaseResult& result : report.results) {
      const Case& c = (*report.all)[result.index];
      if (c.group() != group.letter) continue;
      ++count;
      seconds += result.seconds;
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", group.name,
                           escaped(c.name), result.seconds);
      if (result.ending == Ending::pass) {
        cases += "/>\n";
      } else if (is_good(result.ending) || result.ending == Ending::xfail) {
        ++skipped;
        cases += fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n",
                             name_of(result.ending), escaped(result.text));
      } else {
        ++failures;
        std::string rules;
        for (const Quoted& rule : rules_of(c, result))
          rules += fmt::format("rule: {} ({})\n", escaped(rule.sentence), escaped(rule.source));
        cases += fmt::format(
            ">\n      <failure type=\"{}\" message=\"{}\">{}repeat: {}\n{}</failure>\n"
            "    </testcase>\n",
            name_of(result.ending), escaped(result.text), rules,
            escaped(command_for(report, result)), escaped(result.output));
      }
    }
    if (count == 0) continue;
    out += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}"
        "  </testsuite>\n",
        group.name, count, failures, skipped, seconds, cases);
  }
  return out + "</testsuites>\n";
}

}  // namespace stria::conformance
