// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/passes_page.h"

#include "stria/base/text.h"

namespace stria {
namespace {

constexpr const char* kHead =
    R"(# Passes

Made by `tools/golden_update.sh docs` from what the passes say of themselves. A pipeline names a pass and its
options, `{"name": "a step", "tile": {"balance": true}}`; options that it leaves out keep their defaults.

What a pass promises, in any order of passes and with any options that its table allows:

- From a legal program it makes a legal one that computes the same: integers exactly, floats bit for bit or, if the
  pass regroups sums, within the bound that the interpreter states.
- What does not qualify is left alone and counted with the reason. A pass that matched nothing says so, and names the
  tags that nothing has. One that needs a program in some state (`runs before memory_placement`) says that on its
  page, and leaves another program alone.
- An option that it cannot follow is an error with the reason, and the program is not to be used any more: a unit that
  the model lacks, a memory that is too small. What no program could hold is refused when the pipeline is read: a tag
  that is no name, and a tag to set that means something by itself (`#parallel`, `#vector`), unless the option is made
  for it. `reqs` may name any tag.
- The blocks #program, #main and #prologue stay what they are, also where `reqs` asks for every block.

`tests/trust/orders/pass_orders` tries this on random pipelines. `stria opt --explain PASS` prints a pass's page.

)";

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
    if (row.heading) {
      out += fmt::format("| with `{}` | | | {} |\n", row.name, cell(row.help));
      continue;
    }
    groups.push_back(row.name);
    out += fmt::format("| `{}` | {}{}{} | {} | {} |\n", join(groups, "."), row.kind,
                       row.limits.empty() ? "" : ", ", cell(row.limits),
                       row.initial.empty() ? "" : "`" + cell(row.initial) + "`", cell(row.help));
  }
  return out;
}

}  // namespace

std::string pass_page(const PassInfo& pass, const PassExample& example) {
  const std::string needs = needs_as_text(pass.needs);
  std::string out = fmt::format("# {}\n\nIt {}.\n\n{}{}{}\n## Options\n\n{}", pass.name,
                                pass.summary, example.text, needs.empty() ? "" : "\n",
                                needs.empty() ? "" : needs + "\n", options_table(pass.options()));
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
