// SPDX-License-Identifier: Apache-2.0
// Builds run on the host's worker threads; program.c has what they do.
#ifndef ACME_COMPILER_H
#define ACME_COMPILER_H

#include "program.h"
#include "stria/plugin.h"

stria_error* acme_compiler_create(stria_driver* driver, stria_compiler** compiler);
extern const stria_compiler_table acme_compiler_table;

// A build and what it has made.
stria_library* acme_library_keep(stria_library* library);
void acme_library_release(stria_library* library);
// The program, once the build is done and well; else the failure.
stria_error* acme_library_program(stria_library* library, const acme_program** program);
extern const stria_library_table acme_library_table;

#endif  // ACME_COMPILER_H
