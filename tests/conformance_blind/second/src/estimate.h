// SPDX-License-Identifier: Apache-2.0
// The table stria.estimate, which the plugin has for two mistakes alone.
#ifndef SECOND_ESTIMATE_H
#define SECOND_ESTIMATE_H

#include "stria/plugin.h"

// stria_plugin_info.get_extension.
const void* second_estimate_extension(stria_string name, uint32_t version);

#endif  // SECOND_ESTIMATE_H
