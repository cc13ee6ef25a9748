// SPDX-License-Identifier: Apache-2.0
// From what a call of the driver came to, to a failure that the host understands.
#ifndef ACME_VENDOR_FAILURE_H
#define ACME_VENDOR_FAILURE_H

#include "error.h"
#include "vendor_result.h"

// NULL if all is well; `what` was done. The place of the error is that of the call.
#define acme_failure_of(what, result) acme_failure_at(__FILE__, __LINE__, what, result)

static inline stria_error* acme_failure_at(const char* file, int line, const char* what,
                                           acme_result result) {
  if (result.code == STRIA_OK) return NULL;
  const char* text = result.text == NULL ? "it failed" : result.text;
  if (result.native_code == 0)
    return acme_error_at(file, line, result.code, 0, "", "%s: %s", what, text);
  return acme_error_at(file, line, result.code, result.native_code, text, "%s failed", what);
}

#endif  // ACME_VENDOR_FAILURE_H
