// SPDX-License-Identifier: Apache-2.0
#include "passes.h"

#include "error.h"

stria_error* acme_transform(stria_string stripe, stria_string pass, stria_string options,
                            stria_text_sink sink, void* state) {
  (void)stripe, (void)options, (void)sink, (void)state;
  return acme_error_with_suggestion(
      acme_error(STRIA_NOT_FOUND, "there is no pass '%.*s': acme has none", (int)pass.size,
                 pass.data),
      "`stria new-plugin` with --codegen c writes a pass to start from");
}
