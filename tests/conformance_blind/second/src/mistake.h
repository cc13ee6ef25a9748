// SPDX-License-Identifier: Apache-2.0
// Which mistake this plugin makes: the one that the file `mistake` beside the shared object names.
// Without the file it makes none.
#ifndef SECOND_MISTAKE_H
#define SECOND_MISTAKE_H

typedef enum second_mistake {
  second_none,
  second_unknown,  // the file is there, and its name is not in the list
#define SECOND_MISTAKE(name) name,
#include "../mistakes.def"
#undef SECOND_MISTAKE
} second_mistake;

// The same as long as the shared object is loaded.
second_mistake second_chosen_mistake(void);

static inline int second_makes(second_mistake mistake) {
  return second_chosen_mistake() == mistake;
}

#endif  // SECOND_MISTAKE_H
