// SPDX-License-Identifier: Apache-2.0
// A compiler that is a command: its folder of files, its process, and what it says. Nothing in it
// knows which compiler; vendor_compiler.c says that.
#ifndef ACME_READY_COMPILER_H
#define ACME_READY_COMPILER_H

#include <stddef.h>

#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acme_command {
  const char* program;  // looked for in the folders of PATH
  const char* package;  // who brings it, for the message where it is not there
  // What stands behind it, words with blanks between; the words OUTPUT and INPUT stand for the
  // paths of the two files.
  const char* arguments;
  const char* input;   // the names that the files have: "kernels.c"
  const char* output;  // and "kernels.so"
} acme_command;

// As acme_compiler_identity and acme_compile: vendor_compiler.h.
acme_result acme_command_identity(const acme_command* command, char* identity, char* message);
acme_result acme_command_compile(const acme_command* command, const char* text, size_t text_bytes,
                                 void** code, size_t* code_bytes, char* message);

// For a loader that takes a file alone: use(path, state) with the path of a file that holds the
// bytes, has a name of its own, and goes afterwards.
acme_result acme_with_file(const void* bytes, size_t size, char* message,
                           acme_result (*use)(const char* path, void* state, char* message),
                           void* state);

#ifdef __cplusplus
}
#endif

#endif  // ACME_READY_COMPILER_H
