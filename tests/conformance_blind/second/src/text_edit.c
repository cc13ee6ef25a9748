// SPDX-License-Identifier: Apache-2.0
#include "text_edit.h"

#include <stdlib.h>
#include <string.h>

size_t second_text_put(char** text, size_t at, size_t from_bytes, const char* to) {
  const size_t size = strlen(*text), to_bytes = strlen(to);
  char* made = malloc(size - from_bytes + to_bytes + 1);
  if (made == NULL) return at + from_bytes;
  memcpy(made, *text, at);
  memcpy(made + at, to, to_bytes);
  strcpy(made + at + to_bytes, *text + at + from_bytes);
  free(*text);
  *text = made;
  return at + to_bytes;
}

void second_text_replace(char** text, const char* from, const char* to) {
  size_t at = 0;
  for (const char* found; (found = strstr(*text + at, from)) != NULL;)
    at = second_text_put(text, (size_t)(found - *text), strlen(from), to);
}

void second_text_define(char** text, const char* definitions) {
  static const char kBefore[] = "#include <stdint.h>\n";
  const char* found = strstr(*text, kBefore);
  if (found == NULL) return;
  second_text_put(text, (size_t)(found - *text) + sizeof kBefore - 1, 0, definitions);
}

char* second_text_copy(const char* from, size_t bytes) {
  char* made = malloc(bytes + 1);
  if (made == NULL) return NULL;
  memcpy(made, from, bytes);
  made[bytes] = 0;
  return made;
}

size_t second_text_closed(const char* text, size_t at) {
  int depth = 0;
  for (; text[at] != 0; ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
  }
  return at;
}

size_t second_text_name(const char* from) {
  static const char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return strspn(from, kLetters);
}

int second_text_starts(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

int second_text_next_line(const char* text, size_t at, second_text_line* out) {
  if (text[at] == 0) return 0;
  const size_t whole = strcspn(text + at, "\n"), indent = strspn(text + at, " ");
  out->at = at + (indent < whole ? indent : whole);
  out->bytes = at + whole - out->at;
  const size_t kept = out->bytes < SECOND_LINE_BYTES ? out->bytes : 0;
  memcpy(out->text, text + out->at, kept);
  out->text[kept] = 0;
  return 1;
}

void second_text_edit_lines(char** text, int (*edit)(const char* from, char* to, size_t room)) {
  char to[SECOND_LINE_BYTES];
  second_text_line from;
  for (size_t at = 0; second_text_next_line(*text, at, &from);) {
    at = from.at + from.bytes;
    if (edit(from.text, to, sizeof to)) at = second_text_put(text, from.at, from.bytes, to);
    if ((*text)[at] == '\n') ++at;
  }
}

const char* second_text_value_of(const char* from, const char* declared) {
  if (!second_text_starts(from, declared)) return NULL;
  const char* equals = strstr(from, " = ");
  return equals == NULL ? NULL : equals + 3;
}
