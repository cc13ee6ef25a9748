// SPDX-License-Identifier: Apache-2.0
// A plugin in a process of its own, behind the same tables: what it does to its process, it does
// there. docs/decisions/20261127-isolated-plugins.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "stria/hal/files/manifest.h"
#include "stria/hal/guard/environment.h"
#include "stria/hal/host/host.h"
#include "stria/plugin.h"

namespace stria::hal {

struct IsolateOptions {
  // The executable stria_isolated.
  std::filesystem::path program;
  // What the process gets; null: as it is now, which is right as long as no driver has been loaded
  // into this one.
  std::shared_ptr<const Environment> environment;
  // For each step of the load and each slot that does not block. What takes longer hangs, and its
  // process is ended.
  std::chrono::milliseconds step_limit{5000};
  // The same for slots that may take long.
  std::chrono::milliseconds work_limit{60000};
  bool share_memory = true;
  bool check_trust = true;
};

// The executable beside this one or beside libstria (../lib/stria/stria_isolated); "" if there is
// none.
std::filesystem::path find_isolated();

// What stands in for the plugin's own stria_plugin_query (LoadOptions::stand_in): gives the tables
// that send messages. A driver of these has a process for itself, and one for each further device
// that is open at once: a new one whenever one was lost.
stria_error* query_isolated(const Manifest& manifest, const stria_host_info* host,
                            stria_plugin_info* info);

// The extension struct in stria_driver_options.next that says how; without it, find_isolated() and
// the defaults above.
struct IsolateExtension {
  uint64_t size = sizeof(IsolateExtension);
  const void* next = nullptr;
  stria_string name{"stria.isolate", 13};
  const IsolateOptions* options = nullptr;
};

// What the process does: the main function of stria_isolated. `functions` are the host's for the
// plugin, but for its log and its memory.
int run_isolated(HostFunctions functions);

}  // namespace stria::hal
