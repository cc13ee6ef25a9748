// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shared_error {
  stria_error error;  // the first member: one is the address of the other
  atomic_uint owners;
  char texts[];
} shared_error;

static void release(stria_error* error) {
  shared_error* self = (shared_error*)error;
  if (atomic_fetch_sub(&self->owners, 1) == 1) free(self);
}

static void release_nothing(stria_error* error) { (void)error; }

// For when there is no memory to say so.
static stria_error* out_of_memory(void) {
  static char text[] = "out of host memory";
  static stria_error error = {.size = sizeof error,
                              .code = STRIA_OUT_OF_MEMORY,
                              .message = {text, sizeof text - 1},
                              .release = release_nothing};
  return &error;
}

// An error with room for its texts.
static shared_error* make(size_t text_bytes) {
  shared_error* made = calloc(1, sizeof *made + text_bytes);
  if (made == NULL) return NULL;
  made->error.size = sizeof made->error;
  made->error.release = release;
  atomic_init(&made->owners, 1);
  return made;
}

stria_error* acme_error(stria_code code, const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  shared_error* made = length < 0 ? NULL : make((size_t)length + 1);
  if (made != NULL) {
    vsnprintf(made->texts, (size_t)length + 1, format, arguments);
    made->error.code = code;
    made->error.message = (stria_string){made->texts, (uint64_t)length};
  }
  va_end(arguments);
  return made == NULL ? out_of_memory() : &made->error;
}

static stria_string append(char** at, stria_string text) {
  const stria_string copy = {*at, text.size};
  if (text.size > 0) memcpy(*at, text.data, (size_t)text.size);
  *at += text.size;
  return copy;
}

stria_error* acme_error_share(const stria_error* error) {
  if (error == NULL) return NULL;
  if (error->release == release) {
    // It is ours, so not constant.
    shared_error* self = (shared_error*)(uintptr_t)error;
    atomic_fetch_add(&self->owners, 1);
    return &self->error;
  }
  if (error->release == release_nothing) return out_of_memory();
  // What a shorter struct does not have counts as empty.
  stria_error whole = {0};
  memcpy(&whole, error, error->size < sizeof whole ? (size_t)error->size : sizeof whole);
  shared_error* made = make((size_t)(whole.message.size + whole.native_message.size +
                                     whole.place.size + whole.suggestion.size));
  if (made == NULL) return out_of_memory();
  char* at = made->texts;
  made->error.code = whole.code;
  made->error.native_code = whole.native_code;
  made->error.message = append(&at, whole.message);
  made->error.native_message = append(&at, whole.native_message);
  made->error.place = append(&at, whole.place);
  made->error.suggestion = append(&at, whole.suggestion);
  return &made->error;
}

void acme_error_release(stria_error* error) {
  if (error != NULL) error->release(error);
}
