// SPDX-License-Identifier: Apache-2.0
// Shared objects that are wrong before anything of them runs; one define per kind.
#include "stria/plugin.h"

#ifdef BAD_EXTRA_EXPORTS
STRIA_EXPORT int acme_debug_level;
STRIA_EXPORT void acme_dump(void) {}
#endif

#ifdef BAD_UNDEFINED
void acme_function_of_another_release(void);
#endif

#ifdef BAD_HANGS
#include <unistd.h>
// The loader keeps its lock meanwhile.
__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
#endif

#ifdef BAD_NO_QUERY
STRIA_EXPORT void stria_plugin_qurey(void) {}
#else
STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host, stria_plugin_info* plugin) {
  (void)host;
  (void)plugin;
#ifdef BAD_UNDEFINED
  acme_function_of_another_release();
#endif
  return NULL;
}
#endif
