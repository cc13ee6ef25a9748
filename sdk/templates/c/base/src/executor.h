// SPDX-License-Identifier: Apache-2.0
// Launches, copies and fills: each starts on the queue when the events that it waits for are over.
#ifndef ACME_EXECUTOR_H
#define ACME_EXECUTOR_H

#include "stria/plugin.h"

stria_error* acme_executor_create(stria_driver* driver, stria_executor** executor);
stria_executor* acme_executor_keep(stria_executor* executor);
void acme_executor_release(stria_executor* executor);
stria_driver* acme_executor_driver(const stria_executor* executor);

extern const stria_executor_table acme_executor_table;
extern const stria_kernel_table acme_kernel_table;

#endif  // ACME_EXECUTOR_H
