// SPDX-License-Identifier: Apache-2.0
// What a call of the driver came to: the vendor_ functions return it.
#ifndef SECOND_VENDOR_RESULT_H
#define SECOND_VENDOR_RESULT_H

#include "stria/plugin.h"

typedef struct second_result {
  // STRIA_OK; STRIA_DEVICE_LOST where the device is gone, STRIA_OUT_OF_MEMORY where its memory is
  // used up, else what fits best, such as STRIA_UNAVAILABLE.
  stria_code code;
  int64_t native_code;  // the driver's own number, 0 if it has none
  const char* text;     // what went wrong, valid until the thread's next call; NULL if all is well
} second_result;

static inline second_result second_well(void) {
  const second_result result = {STRIA_OK, 0, NULL};
  return result;
}

static inline second_result second_failed(stria_code code, int64_t native_code, const char* text) {
  const second_result result = {code, native_code, text};
  return result;
}

#endif  // SECOND_VENDOR_RESULT_H
