// SPDX-License-Identifier: Apache-2.0
// A kernel that is ready to be launched, by code of the plugin's own or by the host's interpreter.
#ifndef SECOND_KERNEL_H
#define SECOND_KERNEL_H

#include "stria/plugin.h"

stria_error* second_kernel_create(stria_executor* executor, stria_library* library, uint64_t index,
                                  stria_kernel** kernel);
stria_kernel* second_kernel_keep(stria_kernel* kernel);
void second_kernel_release(stria_kernel* kernel);
stria_executor* second_kernel_executor(const stria_kernel* kernel);
const stria_kernel_info* second_kernel_info(const stria_kernel* kernel);
// Runs it to its end, with arguments that have been checked. Called by the queue.
stria_error* second_kernel_launch(const stria_kernel* kernel, const stria_argument* arguments);

#endif  // SECOND_KERNEL_H
