// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mistake.h"

enum { kMostCauses = 8 };  // behind one another that are kept, as the host does

typedef struct shared_error {
  stria_error error;  // the first member: one is the address of the other
  atomic_uint owners;
  char texts[];
} shared_error;

static void release(stria_error* error) {
  // A list and no recursion: the last owner of an error is one of its causes' owners, too.
  while (error != NULL) {
    shared_error* self = (shared_error*)error;
    if (atomic_fetch_sub(&self->owners, 1) != 1) return;
    error = (stria_error*)(uintptr_t)self->error.cause;
    free(self);
  }
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

static stria_string append(char** at, stria_string text) {
  const stria_string copy = {*at, text.size};
  if (text.size > 0) memcpy(*at, text.data, (size_t)text.size);
  *at += text.size;
  return copy;
}

// "queue.c:12": without the folder, which is the builder's own.
static stria_string place_of(const char* file, int line, char* room, size_t room_bytes) {
  const char* slash = strrchr(file, '/');
  const int length = snprintf(room, room_bytes, "%s:%d", slash == NULL ? file : slash + 1, line);
  return (stria_string){room, length < 0                    ? 0
                              : (size_t)length < room_bytes ? (uint64_t)length
                                                            : (uint64_t)room_bytes - 1};
}

stria_error* second_error_at(const char* file, int line, stria_code code, int64_t native_code,
                             const char* native_message, const char* format, ...) {
  char room[128];
  const stria_string place = place_of(file, line, room, sizeof room);
  const stria_string native = {native_message, strlen(native_message)};
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  shared_error* made =
      length < 0 ? NULL : make((size_t)length + 1 + (size_t)(native.size + place.size));
  if (made != NULL) {
    char* at = made->texts;
    vsnprintf(at, (size_t)length + 1, format, arguments);
    made->error.message = (stria_string){at, (uint64_t)length};
    // As C has it, and as nobody else does.
    if (second_makes(texts_end_with_zero)) ++made->error.message.size;
    at += length + 1;
    made->error.code = code;
    made->error.native_code = native_code;
    made->error.native_message = append(&at, native);
    made->error.place = append(&at, place);
  }
  va_end(arguments);
  return made == NULL ? out_of_memory() : &made->error;
}

stria_error* second_error_with_suggestion(stria_error* error, const char* suggestion) {
  if (error->release == release) error->suggestion = (stria_string){suggestion, strlen(suggestion)};
  return error;
}

static stria_error* share(const stria_error* error, int most_causes) {
  if (error == NULL) return NULL;
  // What a shorter struct does not have counts as empty.
  stria_error whole = {0};
  const int all = error->size >= sizeof whole || second_makes(short_error_read_whole);
  memcpy(&whole, error, all ? sizeof whole : (size_t)error->size);
  if (whole.release == release) {
    // It is ours, so not constant.
    shared_error* self = (shared_error*)(uintptr_t)error;
    atomic_fetch_add(&self->owners, 1);
    return &self->error;
  }
  if (whole.release == release_nothing) return out_of_memory();
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
  if (most_causes > 0) made->error.cause = share(whole.cause, most_causes - 1);
  return &made->error;
}

stria_error* second_error_share(const stria_error* error) { return share(error, kMostCauses); }

stria_error* second_error_inherited(const stria_error* error) {
  if (error == NULL || !second_makes(failure_recoded)) return second_error_share(error);
  // What it was stays in the text alone.
  return second_error(STRIA_INTERNAL, "work before this failed: %.*s", (int)error->message.size,
                      error->message.data);
}

void second_error_release(stria_error* error) {
  if (error != NULL) error->release(error);
}
