// SPDX-License-Identifier: Apache-2.0
// Mistakes of a code generator: what makes the C of the kernels wrong.
#ifndef SECOND_GENERATOR_MISTAKES_H
#define SECOND_GENERATOR_MISTAKES_H

// Edits the text, which ends with a zero and is the caller's to free. `fast_math`: whether any
// build of the driver has asked for it.
void second_spoil(char** text, int fast_math);

#endif  // SECOND_GENERATOR_MISTAKES_H
