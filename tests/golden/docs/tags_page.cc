// SPDX-License-Identifier: Apache-2.0
#include "tags_page.h"

#include <map>
#include <set>
#include <vector>

#include "made_parts.h"
#include "stria/base/text.h"
#include "stria/stripe/tags.h"

namespace stria {
namespace {

using stripe::KnownTag;
using stripe::TagClass;
using stripe::TagValueKind;

const std::map<std::string, TagClass> kClasses = {{"semantics", TagClass::semantics},
                                                  {"hint", TagClass::hint},
                                                  {"passes", TagClass::passes},
                                                  {"mark", TagClass::mark}};

std::string spelled(const KnownTag& tag) {
  const char* const values[] = {"", "=N", "=\"…\"", "[=N]", "[=\"…\"]"};
  return fmt::format("`#{}{}{}`", tag.name, tag.is_family() ? "…" : "",
                     values[static_cast<int>(tag.value)]);
}

std::string setters(const KnownTag& tag) {
  if (tag.set_by.empty())
    return tag.is_reserved() ? "programs written by hand" : "steps of a pipeline";
  std::vector<std::string> out;
  for (const std::string& by : split(tag.set_by, ' '))
    out.push_back(by == "lowering" ? by : "`" + by + "`");
  return join(out, ", ");
}

std::string table_of(TagClass shown) {
  std::string out =
      "| tag | stands on | what it says | set by | read by |\n|---|---|---|---|---|\n";
  for (const KnownTag& tag : stripe::known_tags())
    if (tag.meaning_class == shown)
      out +=
          fmt::format("| {} | {} | {} | {} | {} |\n", spelled(tag),
                      stripe::places_as_text(tag.places), tag.meaning, setters(tag), tag.read_by);
  return out;
}

std::string of_the_block() {
  std::vector<std::string> out;
  for (const KnownTag& tag : stripe::known_tags())
    if (tag.of_the_block) out.push_back(fmt::format("`#{}`", tag.name));
  return join(out, ", ") + ".\n";
}

}  // namespace

Result<std::string> tags_page(const std::string& page) {
  const auto make = [](const std::string& what) -> Result<std::string> {
    if (what == "of the block") return of_the_block();
    if (const auto known = kClasses.find(what); known != kClasses.end())
      return table_of(known->second);
    return invalid_argument("'{}' is nothing that can be made", what);
  };
  STRIA_ASSIGN(MadePage out, with_made_parts(page, make));
  for (const auto& [name, shown_class] : kClasses)
    if (!out.made.count(name))
      return invalid_argument("the tags of class '{}' are not shown", name);
  return std::move(out.text);
}

}  // namespace stria
