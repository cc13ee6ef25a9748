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
  EXPECT(acme_code_kernel(loaded, "nobody") == NULL);
  const stria_c_kernel kernel = acme_code_kernel(loaded, "fill");
  EXPECT(kernel != NULL);
  int values[4] = {9, 9, 9, 9};
  void* const arguments[] = {values};
  if (kernel != NULL) EXPECT(acme_launch(kernel, arguments, 1, 3).code == STRIA_OK);
  EXPECT(values[0] == 9 && values[1] == 1 && values[2] == 2 && values[3] == 9);
  acme_code_unload(loaded);
}

int main(void) {
  try_to_compile();
  signal(SIGCHLD, SIG_IGN);
  try_to_compile();
  if (failures == 0) puts("all well");
  return failures > 0;
}
