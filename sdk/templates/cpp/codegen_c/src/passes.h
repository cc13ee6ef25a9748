// SPDX-License-Identifier: Apache-2.0
// Passes of the plugin's own: steps {"plugin_pass": {"pass": NAME, "options": {…}}} of a pipeline.
#pragma once

#include <string_view>
#include <vector>

#include "stria/sdk/library.h"

namespace acme_plugin {

// A pass to start from: loops of at most `points` points (an option) that hold no other loop get a
// mark, which a generator may take as a hint to write them out. No pipeline needs it:
// `--set OWN_PASS=1` adds it.
std::vector<stria::sdk::NamedText> short_loops(std::string_view stripe, std::string_view options);

}  // namespace acme_plugin
