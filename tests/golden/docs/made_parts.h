// SPDX-License-Identifier: Apache-2.0
// Pages that people write and of which some parts are made: those between `<!-- made: WHAT -->` and
// `<!-- end -->`, each on a line of its own.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "stria/base/result.h"

namespace stria {

struct MadePage {
  std::string text;
  std::set<std::string> made;  // what was made
};
// The page with its parts made anew. invalid_argument, or what `make` says, if one cannot be.
Result<MadePage> with_made_parts(
    const std::string& page, const std::function<Result<std::string>(const std::string&)>& make);

}  // namespace stria
