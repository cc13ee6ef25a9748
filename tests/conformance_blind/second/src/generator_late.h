// SPDX-License-Identifier: Apache-2.0
// More mistakes of a code generator.
#ifndef SECOND_GENERATOR_LATE_H
#define SECOND_GENERATOR_LATE_H

// As second_spoil_more does.
void second_spoil_late(char** text);

#endif  // SECOND_GENERATOR_LATE_H
