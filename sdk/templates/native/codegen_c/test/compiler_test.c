// SPDX-License-Identifier: Apache-2.0
// The calls for compiling and starting kernels, also in an application that ignores SIGCHLD: then
// nobody gets the status of the compiler's process.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vendor_compiler.h"
#if __has_include("vendor_memory.h")
#include "vendor_memory.h"
#endif
#if __has_include("vendor_queue.h")
#include "vendor_queue.h"
#endif

static int failures = 0;
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

// The text that the message says is kept, and takes it away.
static void expect_kept(const char* message, const char* text) {
  static const char before[] = " are kept in ";
  char folder[512], path[600], kept[512] = {0};
  const char* at = strstr(message, before);
  EXPECT(at != NULL);
  if (at == NULL) return;
  at += sizeof before - 1;
  snprintf(folder, sizeof folder, "%.*s", (int)strcspn(at, "\n"), at);
  snprintf(path, sizeof path, "%s/kernels.c", folder);
  FILE* file = fopen(path, "rb");
  EXPECT(file != NULL);
  if (file == NULL) return;
  EXPECT(fread(kept, 1, sizeof kept - 1, file) == strlen(text) && strcmp(kept, text) == 0);
  fclose(file);
  unlink(path);
  snprintf(path, sizeof path, "%s/said", folder);
  EXPECT(unlink(path) == 0);
  EXPECT(rmdir(folder) == 0);
}

// ---- a launch, on memory and the queue of the device where the project has them

// Where one launch has all points, it begins with the first.
enum { kFirst = ACME_LAUNCH_IN_PIECES ? 1 : 0 };

typedef struct launch {
  acme_entry entry;
  int values[4];
} launch;

static void run_launch(void* state) {
  launch* self = state;
#ifdef ACME_VENDOR_MEMORY_H
  acme_memory* memory = NULL;
  EXPECT(acme_memory_allocate(sizeof self->values, &memory).code == STRIA_OK);
  if (memory == NULL) return;
  EXPECT(acme_memory_write(memory, 0, self->values, sizeof self->values).code == STRIA_OK);
  void* const arguments[] = {acme_memory_address(memory)};
  EXPECT(acme_launch(self->entry, arguments, 1, kFirst, 3).code == STRIA_OK);
  EXPECT(acme_memory_read(memory, 0, self->values, sizeof self->values).code == STRIA_OK);
  acme_memory_free(memory);
#else
  void* const arguments[] = {self->values};
  EXPECT(acme_launch(self->entry, arguments, 1, kFirst, 3).code == STRIA_OK);
#endif
}

static void try_to_launch(acme_entry entry) {
  launch made = {entry, {9, 9, 9, 9}};
#ifdef ACME_VENDOR_QUEUE_H
  acme_queue* queue = NULL;
  EXPECT(acme_queue_create(&queue).code == STRIA_OK);
  if (queue != NULL) EXPECT(acme_queue_push(queue, run_launch, &made).code == STRIA_OK);
  acme_queue_destroy(queue);
#else
  run_launch(&made);
#endif
  for (int i = 0; i < 4; ++i) EXPECT(made.values[i] == (i >= kFirst && i < 3 ? i : 9));
}

static void try_to_compile(void) {
  char message[ACME_MESSAGE_BYTES];
  void* code = NULL;
  size_t size = 0;
  // The warning comes first in the text, and behind the error in the message.
  const char wrong[] =
      "#warning \"of no interest\"\n"
      "int broken(void) { return nothing; }\n";
  acme_result result = acme_compile(wrong, sizeof wrong - 1, &code, &size, message);
  EXPECT(result.code == STRIA_UNAVAILABLE);
  EXPECT(result.text != NULL && strstr(result.text, "did not compile the kernels") != NULL);
  EXPECT(result.text != NULL && strstr(result.text, "nothing") != NULL);
  EXPECT(result.text != NULL && strstr(result.text, "of no interest") == NULL);
  if (result.text != NULL) expect_kept(result.text, wrong);
  const char right[] =
      "#include <stdint.h>\n"
      "void fill(void* const* arguments, int64_t first, int64_t end) {\n"
      "  for (int64_t i = first; i < end; ++i) ((int*)arguments[0])[i] = (int)i;\n"
      "}\n";
  result = acme_compile(right, sizeof right - 1, &code, &size, message);
  EXPECT(result.code == STRIA_OK && size > 0);
  if (result.code != STRIA_OK) {
    fprintf(stderr, "%s\n", result.text);
    return;
  }
  acme_code* loaded = NULL;
  EXPECT(acme_code_load(code, size, &loaded, message).code == STRIA_OK);
  free(code);
  if (loaded == NULL) return;
  EXPECT(!acme_code_entry(loaded, "nobody"));
  const acme_entry entry = acme_code_entry(loaded, "fill");
  EXPECT(entry);
  if (entry) try_to_launch(entry);
  acme_code_unload(loaded);
}

int main(void) {
  try_to_compile();
  signal(SIGCHLD, SIG_IGN);
  try_to_compile();
  if (failures == 0) puts("all well");
  return failures > 0;
}
