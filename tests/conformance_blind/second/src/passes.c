// SPDX-License-Identifier: Apache-2.0
// A pass to start from: loops of a few points that hold no other loop get a mark, which a generator
// may take as a hint to write them out. No pipeline needs it: `--set OWN_PASS=1` adds it.
#include "passes.h"

#include <stdio.h>

#include "driver.h"
#include "error.h"
#include "mistake.h"
#include "stria/reader.h"
#include "text.h"

enum { kMostPoints = 8 };

// The points of a block; more than kMostPoints if it has many.
static int64_t points_of(const stria_block* block) {
  int64_t points = 1;
  for (uint64_t i = 0; i < block->index_count && points <= kMostPoints; ++i)
    points = block->indices[i]->range > kMostPoints ? kMostPoints + 1
                                                    : points * block->indices[i]->range;
  return points;
}

// Marks the short loops in a block, or the block itself, and counts them.
static stria_error* mark(stria_reader_program* program, const stria_block* block, uint64_t* count) {
  stria_error* error = NULL;
  int innermost = 1;
  for (uint64_t i = 0; error == NULL && i < block->statement_count; ++i) {
    const stria_block* inner = block->statements[i]->block;
    if (inner == NULL) continue;
    innermost = 0;
    error = mark(program, inner, count);
  }
  const int64_t points = points_of(block);
  if (error != NULL || !innermost || points < 2 || points > kMostPoints) return error;
  // What runs in another way than as a loop stays as it is.
  if (block->location_count > 0) return NULL;
  for (uint64_t i = 0; i < block->tag_count; ++i)
    if (second_text_is(block->tags[i]->name, "parallel")) return NULL;
  stria_tag tag = {.size = sizeof tag};
  tag.name = SECOND_TEXT("second_short");
  tag.kind = STRIA_VALUE_INTEGER;
  tag.integer = points;
  error = stria_reader_set_tag(program, block, &tag);
  if (error == NULL) ++*count;
  return error;
}

static stria_error* short_loops(stria_string stripe, stria_string options, stria_text_sink sink,
                                void* state) {
  if (options.size > 0 && !second_text_is(options, "{}"))
    return second_error(STRIA_INVALID_ARGUMENT, "the pass short_loops has no options, not %.*s",
                        (int)options.size, options.data);
  stria_reader_program* program = NULL;
  stria_error* error = stria_reader_read(SECOND_TEXT("program"), stripe, &program);
  uint64_t count = 0;
  if (error == NULL) {
    const stria_program_view* view = stria_reader_view(program);
    for (uint64_t k = 0; error == NULL && k < view->kernel_count; ++k)
      error = mark(program, view->kernels[k]->block, &count);
  }
  if (error == NULL) error = stria_reader_program_text(program, sink, state);
  if (error == NULL) {
    char note[64];
    const int length =
        snprintf(note, sizeof note, "%llu short loops are marked", (unsigned long long)count);
    sink(state, second_makes(note_named_stripe) ? SECOND_TEXT("stripe") : SECOND_TEXT("loops"),
         (stria_string){note, (uint64_t)length});
  }
  stria_reader_release(program);
  return error;
}

stria_error* second_transform(stria_string stripe, stria_string pass, stria_string options,
                              stria_text_sink sink, void* state) {
  if (second_text_is(pass, "short_loops")) return short_loops(stripe, options, sink, state);
  return second_error_with_suggestion(
      second_error(STRIA_NOT_FOUND, "there is no pass '%.*s'", (int)pass.size, pass.data),
      "second has the pass short_loops");
}
