// SPDX-License-Identifier: Apache-2.0
// Texts as the boundary has them.
#ifndef SECOND_TEXT_H
#define SECOND_TEXT_H

// Of a literal.
#define SECOND_TEXT(literal) ((stria_string){literal, sizeof literal - 1})

#endif  // SECOND_TEXT_H
