// SPDX-License-Identifier: Apache-2.0
#include "tags_page.h"

#include <map>
#include <set>
#include <vector>

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
  static const std::string kBegin = "<!-- made: ", kEnd = "<!-- end -->";
  std::string out;
  std::set<std::string> shown;
  bool inside = false;
  for (const std::string& line : split(page, '\n')) {
    if (line == kEnd) inside = false;
    if (!inside) out += line + "\n";
    if (!line.starts_with(kBegin)) continue;
    inside = true;
    const std::string what = line.substr(kBegin.size(), line.rfind(" -->") - kBegin.size());
    shown.insert(what);
    if (what == "of the block")
      out += of_the_block();
    else if (const auto known = kClasses.find(what); known != kClasses.end())
      out += table_of(known->second);
    else
      return invalid_argument("'{}' is nothing that can be made", what);
  }
  out.pop_back();  // split() gives what is behind the last line's end, too
  if (inside) return invalid_argument("a mark without '{}'", kEnd);
  for (const auto& [name, shown_class] : kClasses)
    if (!shown.count(name)) return invalid_argument("the tags of class '{}' are not shown", name);
  return out;
}

}  // namespace stria
