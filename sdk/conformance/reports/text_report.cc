// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "reports/report.h"
#include "stria/base/text.h"
#include "suite/batches.h"

namespace stria::conformance {
namespace {

// For a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// How many failures with the same words are shown one by one: a plugin that cannot open its device
// fails in thousands of cases, and says so in each.
constexpr int kShownAlike = 3;

// The group whose cases look at what was seen in all others.
constexpr char kChecksGroup = 'V';

// Each line of `text` behind `indent`.
std::string indented(const std::string& text, const std::string& indent) {
  std::string out;
  for (const std::string& line : split(text, '\n'))
    if (!trim(line).empty()) out += indent + line + "\n";
  return out;
}

}  // namespace

std::string command_for(const Report& report, const CaseResult& result) {
  const Case& c = (*report.all)[result.index];
  std::string out = fmt::format("stria conform {}{} --level {}", quoted(report.directory),
                                report.isolated ? " --isolated" : "", static_cast<int>(c.level));
  if (!report.device_id.empty()) out += " --device " + quoted(report.device_id);
  if (report.patience != 1) out += fmt::format(" --patience {}", report.patience);
  // Some cases say what others have left behind: alone they find nothing.
  if (c.name == end_of_group(c.group()))
    out += fmt::format(" --only {}", c.group());
  else if (c.group() != kChecksGroup)
    out += fmt::format(" --only {}", c.name);
  return out;
}

std::vector<Quoted> rules_of(const Case& of, const CaseResult& result) {
  const Quoted of_case{of.sentence, of.source};
  if (!result.rule) return {of_case};
  const Quoted own{sentence_of(*result.rule), source_of(*result.rule)};
  if (!may_be_the_cases(*result.rule)) return {own};
  // One may be the other's beginning.
  if (of_case.sentence.find(own.sentence) != std::string_view::npos) return {of_case};
  if (own.sentence.find(of_case.sentence) != std::string_view::npos) return {own};
  return {own, of_case};
}

std::string device_text(const Report& report) {
  return report.device.empty() || !report.isolated ? report.device
                                                   : report.device + ", in a process of its own";
}

std::string summary_of(const Report& report) {
  std::string counts;
  for (int i = 0; i < kEndings; ++i)
    if (const int count = report.verdict.count[static_cast<size_t>(i)]; count > 0)
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count,
                            name_of(static_cast<Ending>(i)));
  if (counts.empty()) counts = "no case ran";
  const Verdict& verdict = report.verdict;
  if (!verdict.whole) return fmt::format("no verdict, some cases did not run: {}", counts);
  if (verdict.level == 0) return fmt::format("level 0, not even 'loads': {}", counts);
  return fmt::format("level {} of {} asked for ({}): {}", verdict.level,
                     static_cast<int>(verdict.asked), name_of(static_cast<Level>(verdict.level)),
                     counts);
}

std::string text_report(const Report& report, bool all_cases) {
  std::string out = fmt::format("{}{}{}  {}\n", report.plugin, report.version.empty() ? "" : " ",
                                report.version, report.directory);
  if (!report.device.empty()) out += fmt::format("device {}\n", device_text(report));
  if (report.interpreted_kernels > 0)
    out += fmt::format(
        "{} of {} kernels are interpreted by the host: the plugin has no code for them\n",
        report.interpreted_kernels, report.kernels);
  uint64_t others = report.interpreted_kernels;
  for (const auto& [reason, kernels] : report.interpreted) {
    out += fmt::format("  {} of them: {}\n", kernels, reason);
    others -= std::min(others, kernels);
  }
  if (others > 0 && !report.interpreted.empty())
    out += fmt::format("  {} of them: other reasons\n", others);
  out += "\n";
  for (const Group& group : all_groups()) {
    const auto it = report.verdict.by_group.find(group.letter);
    if (it == report.verdict.by_group.end()) continue;
    std::string counts;
    for (int i = 0; i < kEndings; ++i)
      if (const int count = it->second[static_cast<size_t>(i)]; count > 0)
        counts += fmt::format("  {} {}", count, name_of(static_cast<Ending>(i)));
    out += fmt::format("{}  {:<12}{}\n", group.letter, group.name, counts);
  }
  using Words = std::pair<Ending, std::string>;
  std::map<Words, int> alike;
  for (const CaseResult& result : report.results) {
    const Case& c = (*report.all)[result.index];
    if (is_good(result.ending)) {
      if (all_cases)
        out += fmt::format("\n{:<11} {}{}{}", name_of(result.ending), c.name,
                           result.text.empty() ? "" : ": ", result.text);
      continue;
    }
    if (++alike[{result.ending, result.text}] > kShownAlike) continue;
    out += fmt::format("\n{:<7} {}\n", name_of(result.ending), c.name);
    out += indented(result.text, "  ");
    const char* word = "rule";
    for (const Quoted& rule : rules_of(c, result)) {
      out += fmt::format("  {:<7} \"{}\" ({})\n", word, rule.sentence, rule.source);
      word = "case";
    }
    if (!result.output.empty())
      out += "  its process printed last:\n" + indented(result.output, "    ");
    out += fmt::format("  repeat  {}\n", command_for(report, result));
  }
  for (const auto& [words, count] : alike)
    if (count > kShownAlike)
      out += fmt::format("\n{:<7} of {} more cases, which --json lists, in the same words:\n{}",
                         name_of(words.first), count - kShownAlike, indented(words.second, "  "));
  return out + "\n" + summary_of(report) + "\n";
}

}  // namespace stria::conformance
