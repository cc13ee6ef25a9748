// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/passes_page.h"

#include "stria/base/text.h"

namespace stria {
namespace {

constexpr const char* kHead =
    "# Passes\n\n"
    "Made by `tools/golden_update.sh docs` from what the passes say of themselves. A pipeline "
    "names a "
    "pass and its\noptions, `{\"name\": \"a step\", \"autotile\": {\"balance\": true}}`; options "
    "that "
    "it leaves out keep their defaults.\nA pass works on every legal program and keeps its values: "
    "what "
    "does not qualify is left alone and counted with\nthe reason. One that matched nothing says "
    "so, and "
    "names the tags that nothing has. `stria opt --explain PASS`\nprints a pass's page.\n\n";

std::string cell(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string options_table(const std::vector<OptionRow>& rows) {
  if (rows.empty()) return "It has no options.\n";
  std::string out = "| option | kind | default | meaning |\n|---|---|---|---|\n";
  std::vector<std::string> groups;
  for (const OptionRow& row : rows) {
    groups.resize(static_cast<size_t>(row.depth));
    groups.push_back(row.name);
    out += fmt::format("| `{}` | {}{}{} | {} | {} |\n", join(groups, "."), row.kind,
                       row.limits.empty() ? "" : ", ", cell(row.limits),
                       row.initial.empty() ? "" : "`" + cell(row.initial) + "`", cell(row.help));
  }
  return out;
}

}  // namespace

std::string pass_page(const PassInfo& pass, const PassExample& example) {
  std::string out = fmt::format("# {}\n\nIt {}.\n\n{}\n## Options\n\n{}", pass.name, pass.summary,
                                example.text, options_table(pass.options()));
  if (example.why.empty()) return out;
  return out + fmt::format(
                   "\n## Example\n\nA test runs it: {}.\n\n```json\n{}\n```\n\nBefore\n\n```\n{}```"
                   "\n\nAfter\n\n```\n{}```\n",
                   example.why, example.steps, example.before, example.after);
}

std::string passes_page(const std::vector<PassInfo>& passes) {
  std::string out = kHead;
  for (const PassInfo& pass : passes)
    out += fmt::format("- [{0}](passes/{0}.md) {1}.\n", pass.name, pass.summary);
  return out;
}

}  // namespace stria
