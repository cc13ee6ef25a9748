// SPDX-License-Identifier: Apache-2.0
// Failures. Each is one object with its texts, shared by all that fail for the same reason.
#ifndef ACME_ERROR_H
#define ACME_ERROR_H

#include "stria/plugin.h"

// A failure, owned by the caller. `format` is printf's. Never NULL: without memory for the text, it
// says STRIA_OUT_OF_MEMORY.
stria_error* acme_error(stria_code code, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
// The same failure for another owner; of a failure that the host made, a copy. NULL for NULL.
stria_error* acme_error_share(const stria_error* error);
// NULL is fine.
void acme_error_release(stria_error* error);

#endif  // ACME_ERROR_H
