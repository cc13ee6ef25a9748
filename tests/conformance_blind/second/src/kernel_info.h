// SPDX-License-Identifier: Apache-2.0
// What the host wants to know of a kernel, with texts of its own.
#ifndef SECOND_KERNEL_INFO_H
#define SECOND_KERNEL_INFO_H

#include "stria/plugin.h"

// `arguments` are structs, whatever the pointers in `from` say; `interpreted` says why the host
// interprets it, or is empty. NULL without memory. One free() gives all of it back.
stria_kernel_info* second_kernel_info_make(const stria_kernel_info* from,
                                           const stria_argument_info* arguments,
                                           stria_string interpreted);

#endif  // SECOND_KERNEL_INFO_H
