// SPDX-License-Identifier: Apache-2.0
#include "estimate.h"

#include <string.h>

#include "driver.h"
#include "stria/experimental.h"

enum { kUsualNs = 200000 };  // for any program: that is a guess, and no mistake

static stria_error* estimate_slot(stria_device* device, const stria_build_params* program,
                                  stria_estimate* estimate) {
  (void)device;
  (void)program;
  // The mistake: the best case stands in `high`, the worst in `low`.
  stria_estimate out = {
      .time_ns = kUsualNs, .low_time_ns = (uint64_t)kUsualNs * 100, .high_time_ns = kUsualNs / 100};
  out.size = estimate->size;
  out.next = estimate->next;
  memcpy(estimate, &out, estimate->size < sizeof out ? (size_t)estimate->size : sizeof out);
  return NULL;
}

static const stria_estimate_table kTable = {.size = sizeof kTable, .estimate = estimate_slot};

const void* second_estimate_extension(stria_string name, uint32_t version) {
  const int asked = second_text_is(name, STRIA_ESTIMATE) && version == STRIA_ESTIMATE_VERSION;
  return asked ? &kTable : NULL;
}
