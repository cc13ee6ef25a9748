// SPDX-License-Identifier: Apache-2.0
// Launches, copies and fills: each starts on the queue when the events that it waits for are over.
#ifndef SECOND_EXECUTOR_H
#define SECOND_EXECUTOR_H

#include "stria/plugin.h"

stria_error* second_executor_create(stria_driver* driver, stria_executor** executor);
stria_executor* second_executor_keep(stria_executor* executor);
void second_executor_release(stria_executor* executor);
stria_driver* second_executor_driver(const stria_executor* executor);

extern const stria_executor_table second_executor_table;
extern const stria_kernel_table second_kernel_table;

#endif  // SECOND_EXECUTOR_H
