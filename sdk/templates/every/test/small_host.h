// SPDX-License-Identifier: Apache-2.0
// As much of a host as the test needs: threads and memory, no interpreter.
#ifndef ACME_SMALL_HOST_H
#define ACME_SMALL_HOST_H

#include "stria/plugin.h"

const stria_host_info* small_host_info(void);
const stria_host_services* small_host_services(void);
void small_host_wait(void);             // until no posted task runs
uint64_t small_host_allocations(void);  // that have not been given back

#endif  // ACME_SMALL_HOST_H
