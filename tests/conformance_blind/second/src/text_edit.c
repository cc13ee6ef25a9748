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
