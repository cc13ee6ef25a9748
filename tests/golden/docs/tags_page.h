// SPDX-License-Identifier: Apache-2.0
// docs/tags.md: people write its prose and the table of the shipped pipelines; the tables of known
// tags between its marks are made of core/stripe/tags.def.
#pragma once

#include <string>

#include "stria/base/status.h"

namespace stria {

// `page` with all that stands between `<!-- made: WHAT -->` and `<!-- end -->` made anew. WHAT is a
// class of tags (semantics, hint, passes, mark), or `of the block`: the tags that say how the one
// block runs. invalid_argument if a mark means nothing, or if a class is not shown.
Result<std::string> tags_page(const std::string& page);

}  // namespace stria
