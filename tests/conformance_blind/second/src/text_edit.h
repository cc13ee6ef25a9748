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
int second_text_starts(const char* text, const char* beginning);

// ---- lines

enum { SECOND_LINE_BYTES = 4096 };

// A line of the text without its indentation, for an edit of it.
typedef struct second_text_line {
  size_t at, bytes;
  char text[SECOND_LINE_BYTES];
} second_text_line;

// The line behind the place `at`; 0 at the end. Lines that are too long come out empty.
int second_text_next_line(const char* text, size_t at, second_text_line* out);
// Asks `edit` for each line; 1: `to` is to be put in its place.
void second_text_edit_lines(char** text, int (*edit)(const char* from, char* to, size_t room));
// Where the value of a "const TYPE name = value;" begins; NULL if the line is none.
const char* second_text_value_of(const char* from, const char* declared);

#endif  // SECOND_TEXT_EDIT_H
