// SPDX-License-Identifier: Apache-2.0
#include "emitters_page.h"

#include "made_parts.h"
#include "stria/base/status.h"
#include "stria/semtree/peephole/peepholes.h"

namespace stria {

Result<std::string> emitters_page(const std::string& page) {
  STRIA_ASSIGN(MadePage out,
               with_made_parts(page, [](const std::string& what) -> Result<std::string> {
                 if (what != "peepholes")
                   return invalid_argument("'{}' is nothing that can be made", what);
                 std::string table = "| peephole | what it does |\n|---|---|\n";
                 for (const semtree::Peephole& peephole : semtree::kPeepholes)
                   table += fmt::format("| `{}` | {} |\n", peephole.name, peephole.meaning);
                 return table;
               }));
  if (out.made.empty()) return invalid_argument("the peepholes are not shown");
  return std::move(out.text);
}

}  // namespace stria
