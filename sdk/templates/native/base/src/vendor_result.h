// SPDX-License-Identifier: Apache-2.0
// What a call of the driver came to: the vendor_ functions return it.
#ifndef ACME_VENDOR_RESULT_H
#define ACME_VENDOR_RESULT_H

#include "stria/plugin.h"

typedef struct acme_result {
  // STRIA_OK; STRIA_DEVICE_LOST where the device is gone, STRIA_OUT_OF_MEMORY where its memory is
  // used up, else what fits best, such as STRIA_UNAVAILABLE.
  stria_code code;
  int64_t native_code;  // the driver's own number, 0 if it has none
  const char* text;     // what went wrong, valid until the thread's next call; NULL if all is well
} acme_result;

static inline acme_result acme_well(void) {
  const acme_result result = {STRIA_OK, 0, NULL};
  return result;
}

static inline acme_result acme_failed(stria_code code, int64_t native_code, const char* text) {
  const acme_result result = {code, native_code, text};
  return result;
}

#endif  // ACME_VENDOR_RESULT_H
