// SPDX-License-Identifier: Apache-2.0
// A program's structures as Stripe text, written in C from stria/reader.h alone: what it prints
// reads back to the same program, if the structures tell all of it.
#ifndef STRIA_PRINT_VIEWS_H
#define STRIA_PRINT_VIEWS_H

#include "stria/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

// Calls out(state, …) with the text, piece by piece, each with a zero behind it.
void print_views(const stria_program_view* program, void (*out)(void* state, const char* text),
                 void* state);

// What does not hold of the kernels and of the structs' sizes, or NULL.
const char* check_views(const stria_program_view* program);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_PRINT_VIEWS_H
