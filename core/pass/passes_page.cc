// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/passes_page.h"

#include "stria/base/text.h"

namespace stria {
namespace {

constexpr const char* kHead =
    "# Passes\n\n"
    "Made from the option tables of the passes: `tools/golden_update.sh` writes this page. A "
    "pipeline "
    "names a\npass and its options, `{\"name\": \"a step\", \"autotile\": {\"balance\": true}}`; "
    "options that it leaves out keep\ntheir defaults. What a pass does to a program, before and "
    "after, "
    "and why it runs where it runs, stands at\nthe head of its file, `core/passes/<pass>.h`. "
    "`stria opt --explain <pass>` prints the same.\n";

std::string cell(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string passes_page(const std::vector<PassInfo>& passes) {
  std::string out = kHead;
  for (const PassInfo& pass : passes) {
    out += fmt::format("\n## {}\n\n{}.\n", pass.name, pass.summary);
    const std::vector<OptionRow> rows = pass.options();
    if (!rows.empty()) out += "\n| option | kind | default | meaning |\n|---|---|---|---|\n";
    std::vector<std::string> groups;
    for (const OptionRow& row : rows) {
      groups.resize(static_cast<size_t>(row.depth));
      groups.push_back(row.name);
      out += fmt::format("| `{}` | {}{}{} | {} | {} |\n", join(groups, "."), row.kind,
                         row.limits.empty() ? "" : ", ", cell(row.limits),
                         row.initial.empty() ? "" : "`" + cell(row.initial) + "`", cell(row.help));
    }
  }
  return out;
}

}  // namespace stria
