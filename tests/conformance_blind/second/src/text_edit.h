// SPDX-License-Identifier: Apache-2.0
// Text that is edited: what mistakes of a code generator do to the C that the reader has written.
// Without memory an edit changes nothing.
#ifndef SECOND_TEXT_EDIT_H
#define SECOND_TEXT_EDIT_H

#include <stddef.h>

// Puts `to` in place of `from_bytes` bytes at `at` of the text, which ends with a zero and is the
// caller's to free. Gives the place behind `to`.
size_t second_text_put(char** text, size_t at, size_t from_bytes, const char* to);
// Puts `to` in place of each `from`.
void second_text_replace(char** text, const char* from, const char* to);
// Puts definitions in front of the kernels.
void second_text_define(char** text, const char* definitions);
// A copy of some bytes as a text, which free() gives back; NULL without memory.
char* second_text_copy(const char* from, size_t bytes);
// Where the bracket that is open at text[at] is closed, or the text ends.
size_t second_text_closed(const char* text, size_t at);
// How long the name is that begins at `from`: letters, digits and '_'.
size_t second_text_name(const char* from);

#endif  // SECOND_TEXT_EDIT_H
