// SPDX-License-Identifier: Apache-2.0
// From what a call of the driver came to, to a failure that the host understands.
#ifndef SECOND_VENDOR_FAILURE_H
#define SECOND_VENDOR_FAILURE_H

#include "error.h"
#include "vendor_result.h"

// NULL if all is well; `what` was done.
static inline stria_error* second_failure_of(const char* what, second_result result) {
  if (result.code == STRIA_OK) return NULL;
  const char* text = result.text == NULL ? "it failed" : result.text;
  return second_native_error(result.code, result.native_code, result.native_code == 0 ? "" : text,
                             "%s: %s", what, text);
}

#endif  // SECOND_VENDOR_FAILURE_H
