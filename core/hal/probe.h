// SPDX-License-Identifier: Apache-2.0
// Plugins that have not been seen to behave on this machine are tried in a process of their own
// first: what such a plugin does to its process (ends it, hangs, closes its output) it does there.
// docs/decisions/20261125-plugins-are-probed.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "stria/hal/plugin.h"

namespace stria::hal {

// The executable beside this one or beside libstria (../lib/stria/stria_probe); "" if there is
// none.
std::filesystem::path find_probe();

// Ok if the plugin in `directory` has behaved, now or before: it was loaded, listed its devices,
// opened those that are available, shut down, and left its process as it was. Else one verdict: the
// step that it did not come out of, or after which something was not as before, and what it did,
// with the last words that it or its driver printed. Nothing of the plugin runs in this process.
// A plugin that fails a step in the regular way behaves: its own load will say so.
// The time limit is of each step in which the plugin's code runs.
Verdict probe_plugin(const std::filesystem::path& directory, const Manifest& manifest,
                     const ProbeOptions& options, std::chrono::milliseconds time_limit);

// What the probe's process does with the plugin in `directory`: the main function of stria_probe.
// Reports go to the file descriptor `report`.
int run_probe(const std::filesystem::path& directory, std::chrono::milliseconds time_limit,
              int report);

}  // namespace stria::hal
