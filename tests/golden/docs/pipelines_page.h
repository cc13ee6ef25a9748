// SPDX-License-Identifier: Apache-2.0
// docs/pipelines.md: people write its prose, the passes write what stands between its marks.
#pragma once

#include <string>

#include "stria/base/status.h"

namespace stria {

// `page` with all that stands between `<!-- made: WHAT -->` and `<!-- end -->` made anew. WHAT is
//   tile            the program that the page follows
//   stripe          that program as generic Stripe
//   pipeline        the pipeline file
//   fragment NAME   what "core/NAME" stands for
//   steps           a table: what each step did
//   after STEP      the kernels that the step changed, as it leaves them
// invalid_argument if a mark means nothing, if a step is shown that changed nothing, or if one that
// changed something is not shown.
Result<std::string> pipelines_page(const std::string& page);

}  // namespace stria
