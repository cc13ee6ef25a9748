// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE  // dladdr
#include "mistake.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char* const kNames[] = {
#define SECOND_MISTAKE(name) #name,
#include "../mistakes.def"
#undef SECOND_MISTAKE
};
enum { kMaxPath = 4096, kFirst = second_unknown + 1 };

static second_mistake chosen = second_none;

static void read_mistake(void) {
  Dl_info info;
  if (dladdr((const void*)kNames, &info) == 0 || info.dli_fname == NULL) return;
  const char* slash = strrchr(info.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash + 1 - info.dli_fname);
  char path[kMaxPath];
  const int length = snprintf(path, sizeof path, "%.*smistake", folder, info.dli_fname);
  if (length < 0 || length >= kMaxPath) return;
  FILE* file = fopen(path, "re");
  if (file == NULL) return;
  char name[128];
  size_t size = fread(name, 1, sizeof name - 1, file);
  fclose(file);
  while (size > 0 && (name[size - 1] == '\n' || name[size - 1] == ' ')) --size;
  name[size] = 0;
  chosen = second_unknown;
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i)
    if (strcmp(name, kNames[i]) == 0) chosen = (second_mistake)(kFirst + i);
}

second_mistake second_chosen_mistake(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_mistake);
  return chosen;
}
