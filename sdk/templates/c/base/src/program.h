// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels. The whole of what a build does: compiler.c has the rest.
#ifndef ACME_PROGRAM_H
#define ACME_PROGRAM_H

#include "stria/plugin.h"

// A compiled program. Immutable.
typedef struct acme_program acme_program;

// The whole program's device Stripe, as the pipeline in passes/npu.json makes it. Takes its time.
stria_error* acme_program_build(stria_driver* driver, stria_string stripe, stria_string options,
                                acme_program** program);
void acme_program_release(acme_program* program);  // NULL is fine
uint64_t acme_program_kernel_count(const acme_program* program);
const stria_kernel_info* acme_program_kernel(const acme_program* program, uint64_t index);
// What was generated, for people.
void acme_program_source(const acme_program* program, stria_text_sink sink, void* state);
// Runs a kernel that has code (kernel_info.interpreted is empty), to its end. Addresses are those
// of the device, each with its argument's offset.
stria_error* acme_program_launch(const acme_program* program, uint64_t index,
                                 void* const* addresses);
// A kernel for the host's interpreter, the caller's.
stria_error* acme_program_interpret(const acme_program* program, uint64_t index,
                                    stria_host_kernel** kernel);

#endif  // ACME_PROGRAM_H
