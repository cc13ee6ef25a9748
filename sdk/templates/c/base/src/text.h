// SPDX-License-Identifier: Apache-2.0
// Texts as the boundary has them.
#ifndef ACME_TEXT_H
#define ACME_TEXT_H

// Of a literal.
#define ACME_TEXT(literal) ((stria_string){literal, sizeof literal - 1})

#endif  // ACME_TEXT_H
