// SPDX-License-Identifier: Apache-2.0
// Shared objects whose symbols are wrong. Nobody loads them: what is wrong stands in the file.
#include "stria/plugin.h"

// WRONG_LOOSE: exports more than it should. WRONG_MUTE: exports nothing.
#ifdef WRONG_LOOSE
STRIA_EXPORT int board_open(void) { return 0; }
STRIA_EXPORT int board_close(void) { return 0; }
STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host,
                                             stria_plugin_info* plugin) {
  (void)host, (void)plugin;
  return 0;
}
#else
int board_mute(void);
int board_mute(void) { return 0; }
#endif
