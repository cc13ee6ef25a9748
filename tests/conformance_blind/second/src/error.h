// SPDX-License-Identifier: Apache-2.0
// Failures. Each is one object with its texts, shared by all that fail for the same reason.
#ifndef SECOND_ERROR_H
#define SECOND_ERROR_H

#include "stria/plugin.h"

#if defined(__GNUC__)
#define SECOND_LIKE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SECOND_LIKE_PRINTF(text, first)
#endif

// A failure, owned by the caller, with the place where it is made, which authors of plugins are
// shown: second_error(code, format, …), with printf's formats. Never NULL: without memory for the
// text, it says STRIA_OUT_OF_MEMORY.
#define second_error(code, ...) second_error_at(__FILE__, __LINE__, code, 0, "", __VA_ARGS__)
// The same with the driver's own number and text.
#define second_native_error(code, native_code, native_message, ...) \
  second_error_at(__FILE__, __LINE__, code, native_code, native_message, __VA_ARGS__)
stria_error* second_error_at(const char* file, int line, stria_code code, int64_t native_code,
                             const char* native_message, const char* format, ...)
    SECOND_LIKE_PRINTF(6, 7);
// What to do about it, a literal, for a failure that nobody else has yet. Gives it back.
stria_error* second_error_with_suggestion(stria_error* error, const char* suggestion);
// The same failure for another owner; of a failure that the host made, a copy with its causes. NULL
// for NULL.
stria_error* second_error_share(const stria_error* error);
// That of work which depends on failed work: the same failure. NULL for NULL.
stria_error* second_error_inherited(const stria_error* error);
// NULL is fine.
void second_error_release(stria_error* error);

#endif  // SECOND_ERROR_H
