// SPDX-License-Identifier: Apache-2.0
// More mistakes of a code generator.
#ifndef SECOND_GENERATOR_MORE_H
#define SECOND_GENERATOR_MORE_H

// Edits the text, which ends with a zero and is the caller's to free.
void second_spoil_more(char** text);

#endif  // SECOND_GENERATOR_MORE_H
