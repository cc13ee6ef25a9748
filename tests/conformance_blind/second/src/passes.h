// SPDX-License-Identifier: Apache-2.0
// Passes of the plugin's own: steps {"plugin_pass": {"pass": NAME, "options": {…}}} of a pipeline.
#ifndef SECOND_PASSES_H
#define SECOND_PASSES_H

#include "stria/plugin.h"

// Gives the new Stripe to the sink, named "stripe"; further texts are notes for people.
// STRIA_NOT_FOUND for a pass that there is not.
stria_error* second_transform(stria_string stripe, stria_string pass, stria_string options,
                              stria_text_sink sink, void* state);

#endif  // SECOND_PASSES_H
