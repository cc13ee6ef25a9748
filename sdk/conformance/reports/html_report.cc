// SPDX-License-Identifier: Apache-2.0
#include "reports/markup.h"
#include "reports/report.h"

namespace stria::conformance {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; --good: #1a7f37; --bad: #cf222e; --other: #8a6d00; --line: #8884; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.count { text-align: right; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); } .other { color: var(--other); }
.verdict { font-size: 1.2rem; font-weight: 600; margin: .5rem 0 1.5rem; }
pre, code { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; }
blockquote { margin: .4rem 0; padding-left: .8rem; border-left: 3px solid var(--line); }
</style>
)";

const char* class_of(Ending ending) {
  if (ending == Ending::pass) return "good";
  return is_good(ending) || ending == Ending::xfail ? "other" : "bad";
}

std::string row(std::string_view what, std::string_view value) {
  if (value.empty()) return "";
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", what, escaped(value));
}

std::string groups_table(const Report& report) {
  std::string out = "<table id=\"groups\">\n<tr><th>group</th><th></th>";
  for (int i = 0; i < kEndings; ++i)
    if (report.verdict.count[static_cast<size_t>(i)] > 0)
      out += fmt::format("<th>{}</th>", name_of(static_cast<Ending>(i)));
  out += "</tr>\n";
  for (const Group& group : all_groups()) {
    const auto it = report.verdict.by_group.find(group.letter);
    if (it == report.verdict.by_group.end()) continue;
    out +=
        fmt::format("<tr><td><b>{}</b> {}</td><td>{}</td>", group.letter, group.name, group.what);
    for (int i = 0; i < kEndings; ++i) {
      const auto position = static_cast<size_t>(i);
      if (report.verdict.count[position] == 0) continue;
      const int count = it->second[position];
      out += count == 0 ? "<td></td>"
                        : fmt::format("<td class=\"count {}\">{}</td>",
                                      class_of(static_cast<Ending>(i)), count);
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string failure(const Report& report, const CaseResult& result) {
  const Case& c = (*report.all)[result.index];
  std::string out = fmt::format(
      "<details open class=\"failure\"><summary><b class=\"{}\">{}</b> <code>{}</code></summary>\n"
      "<pre>{}</pre>\n",
      class_of(result.ending), name_of(result.ending), escaped(c.name), escaped(result.text));
  for (const Quoted& rule : rules_of(c, result))
    out += fmt::format("<blockquote>{} <small>({})</small></blockquote>\n", escaped(rule.sentence),
                       escaped(rule.source));
  if (!result.output.empty())
    out += fmt::format("<p>Its process printed last:</p><pre>{}</pre>\n", escaped(result.output));
  return out + fmt::format("<p>Again: <code>{}</code></p></details>\n",
                           escaped(command_for(report, result)));
}

}  // namespace

std::string html_report(const Report& report) {
  const Verdict& verdict = report.verdict;
  std::string out = kHead;
  out += fmt::format("<title>{}: {}</title>\n<h1>{} {}</h1>\n<p class=\"verdict {}\">{}</p>\n",
                     escaped(report.plugin), escaped(summary_of(report)), escaped(report.plugin),
                     escaped(report.version), verdict.whole && verdict.holds() ? "good" : "bad",
                     escaped(summary_of(report)));
  std::string reasons;
  for (const auto& [reason, kernels] : report.interpreted)
    reasons += fmt::format("{}{} of them: {}", reasons.empty() ? "" : "; ", kernels, reason);
  out += "<table>\n" + row("directory", report.directory) + row("vendor", report.vendor) +
         row("device", device_text(report)) + row("machine", report.machine) +
         row("suite", report.suite) + row("day", report.day) +
         row("SHA-256 of the library", report.sha256) +
         row("kernels", report.kernels == 0
                            ? ""
                            : fmt::format("{}, of which the host interprets {}", report.kernels,
                                          report.interpreted_kernels)) +
         row("why", reasons) + row("took", fmt::format("{:.1f} s", report.seconds)) + "</table>\n";
  out += "<h2>Groups</h2>\n" + groups_table(report);
  std::string failures, others;
  for (const CaseResult& result : report.results) {
    if (!is_good(result.ending)) {
      failures += failure(report, result);
      continue;
    }
    const Case& c = (*report.all)[result.index];
    others += fmt::format(
        "<tr class=\"case\"><td class=\"{}\">{}</td><td><code>{}</code></td><td>{}</td>"
        "<td class=\"count\">{:.3f} s</td></tr>\n",
        class_of(result.ending), name_of(result.ending), escaped(c.name), escaped(result.text),
        result.seconds);
  }
  if (!failures.empty()) out += "<h2>What does not hold</h2>\n" + failures;
  if (!others.empty())
    out += "<h2>What holds</h2>\n<details><summary>all cases</summary><table>\n" + others +
           "</table></details>\n";
  return out + "</html>\n";
}

}  // namespace stria::conformance
