// SPDX-License-Identifier: Apache-2.0
// Builds run on the host's worker threads; program.c has what they do.
#ifndef SECOND_COMPILER_H
#define SECOND_COMPILER_H

#include "program.h"
#include "stria/plugin.h"

stria_error* second_compiler_create(stria_driver* driver, stria_compiler** compiler);
extern const stria_compiler_table second_compiler_table;

// A build and what it has made.
stria_library* second_library_keep(stria_library* library);
void second_library_release(stria_library* library);
// Whether its code is gone with its handle, which is a mistake.
int second_library_is_taken(const stria_library* library);
// The program, once the build is done and well; else the failure.
stria_error* second_library_program(stria_library* library, const second_program** program);
extern const stria_library_table second_library_table;

#endif  // SECOND_COMPILER_H
