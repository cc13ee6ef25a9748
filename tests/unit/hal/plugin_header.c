// SPDX-License-Identifier: Apache-2.0
// plugin.h must stand alone in strict C11; this file is compiled, and its checks hold at compile time.
#include "stria/plugin.h"

_Static_assert(sizeof(stria_string) == 16, "text crosses as pointer and 64-bit size");
_Static_assert(offsetof(stria_error, size) == 0, "every struct starts with its size");
_Static_assert(offsetof(stria_plugin_info, size) == 0, "every struct starts with its size");
_Static_assert(offsetof(stria_event_table, next) == 8, "then the extension chain");
_Static_assert(STRIA_INTERNAL == 16, "codes are part of the ABI");

int stria_plugin_header_is_c(void);
int stria_plugin_header_is_c(void) {
  stria_plugin_query_function query = stria_plugin_query;
  return query != NULL;
}
