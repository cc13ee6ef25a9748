// SPDX-License-Identifier: Apache-2.0
#include "kernel_info.h"

#include <stdlib.h>
#include <string.h>

typedef struct packed_info {
  stria_kernel_info info;  // the first member: one is the address of the other
  char rest[];             // pointers to arguments, arguments, texts
} packed_info;

static stria_string append(char** at, stria_string text) {
  const stria_string copy = {*at, text.size};
  if (text.size > 0) memcpy(*at, text.data, (size_t)text.size);
  *at += text.size;
  return copy;
}

stria_kernel_info* second_kernel_info_make(const stria_kernel_info* from,
                                           const stria_argument_info* arguments,
                                           stria_string interpreted) {
  const size_t count = (size_t)from->argument_count;
  uint64_t bytes = count * (sizeof(void*) + sizeof *arguments) + from->name.size + interpreted.size;
  for (size_t i = 0; i < count; ++i) bytes += arguments[i].name.size;
  packed_info* made = calloc(1, sizeof *made + (size_t)bytes);
  if (made == NULL) return NULL;
  // The members of the two arrays are aligned as the struct is.
  const stria_argument_info** pointers = (const stria_argument_info**)(void*)made->rest;
  stria_argument_info* copies = (stria_argument_info*)(void*)(pointers + count);
  char* texts = (char*)(copies + count);
  for (size_t i = 0; i < count; ++i) {
    copies[i].size = sizeof copies[i];
    copies[i].name = append(&texts, arguments[i].name);
    copies[i].direction = arguments[i].direction;
    copies[i].bytes = arguments[i].bytes;
    pointers[i] = &copies[i];
  }
  made->info.size = sizeof made->info;
  made->info.name = append(&texts, from->name);
  made->info.part = from->part;
  made->info.statement = from->statement;
  made->info.arguments = pointers;
  made->info.argument_count = count;
  made->info.interpreted = append(&texts, interpreted);
  return &made->info;
}
