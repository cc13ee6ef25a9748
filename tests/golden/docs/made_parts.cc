// SPDX-License-Identifier: Apache-2.0
#include "made_parts.h"

#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria {

Result<MadePage> with_made_parts(
    const std::string& page, const std::function<Result<std::string>(const std::string&)>& make) {
  static const std::string kBegin = "<!-- made: ", kEnd = "<!-- end -->";
  MadePage out;
  bool inside = false;
  for (const std::string& line : split(page, '\n')) {
    if (line == kEnd) inside = false;
    if (!inside) out.text += line + "\n";
    if (!line.starts_with(kBegin)) continue;
    inside = true;
    const std::string what = line.substr(kBegin.size(), line.rfind(" -->") - kBegin.size());
    STRIA_ASSIGN(const std::string text, make(what));
    out.made.insert(what);
    out.text += text;
  }
  out.text.pop_back();  // split() gives what is behind the last line's end, too
  if (inside) return invalid_argument("a mark without '{}'", kEnd);
  return out;
}

}  // namespace stria
