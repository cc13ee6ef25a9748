// SPDX-License-Identifier: Apache-2.0
// From device Stripe to kernels. The whole of what a build does: compiler.c has the rest.
#ifndef SECOND_PROGRAM_H
#define SECOND_PROGRAM_H

#include "stria/plugin.h"

// A compiled program. Immutable.
typedef struct second_program second_program;

// The whole program's device Stripe, as the pipeline in passes/npu.json makes it. Takes its time.
stria_error* second_program_build(stria_driver* driver, stria_string stripe, stria_string options,
                                  second_program** program);
void second_program_release(second_program* program);  // NULL is fine
uint64_t second_program_kernel_count(const second_program* program);
const stria_kernel_info* second_program_kernel(const second_program* program, uint64_t index);
// What was generated, for people.
void second_program_source(const second_program* program, stria_text_sink sink, void* state);
// Runs a kernel that has code (kernel_info.interpreted is empty), to its end. Addresses are those
// of the device, each with its argument's offset.
stria_error* second_program_launch(const second_program* program, uint64_t index,
                                   void* const* addresses);
// A kernel for the host's interpreter, the caller's.
stria_error* second_program_interpret(const second_program* program, uint64_t index,
                                      stria_host_kernel** kernel);

#endif  // SECOND_PROGRAM_H
