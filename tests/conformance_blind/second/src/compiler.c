// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "error.h"
#include "event.h"
#include "mistake.h"
#include "passes.h"

struct stria_compiler {
  stria_driver* driver;
};

struct stria_library {
  atomic_uint references;  // handles, kernels, and the build itself
  stria_driver* driver;
  stria_event* done;
  char* texts;  // the Stripe, then the options; until the build is over
  stria_string stripe, options;
  second_program* program;  // set before `done` is
  int built;                // 1: in the call itself, which came to `outcome`
  stria_error* outcome;
  atomic_int taken;
};

// ---- libraries

stria_library* second_library_keep(stria_library* library) {
  atomic_fetch_add(&library->references, 1);
  return library;
}

void second_library_release(stria_library* library) {
  if (atomic_fetch_sub(&library->references, 1) != 1) return;
  second_program_release(library->program);
  if (library->done != NULL) second_event_release(library->done);
  second_error_release(library->outcome);
  free(library->texts);
  free(library);
}

stria_error* second_library_program(stria_library* library, const second_program** program) {
  if (!second_event_done(library->done))
    return second_error(STRIA_FAILED_PRECONDITION, "the library is still being built");
  if (second_event_failure(library->done) != NULL && second_makes(failed_library_stays_open))
    return second_error(STRIA_FAILED_PRECONDITION, "the library has no kernels yet");
  if (second_event_failure(library->done) != NULL)
    return second_error_share(second_event_failure(library->done));
  *program = library->program;
  return NULL;
}

static stria_error* kernels_slot(stria_library* library, stria_kernel_sink sink, void* state) {
  const second_program* program = NULL;
  stria_error* error = second_library_program(library, &program);
  for (uint64_t i = 0; error == NULL && i < second_program_kernel_count(program); ++i)
    sink(state, second_program_kernel(program, i));
  return error;
}

static stria_error* source_slot(stria_library* library, stria_text_sink sink, void* state) {
  const second_program* program = NULL;
  stria_error* error = second_library_program(library, &program);
  if (error == NULL) second_program_source(program, sink, state);
  return error;
}

int second_library_is_taken(const stria_library* library) { return atomic_load(&library->taken); }

static void release_library_slot(stria_library* library) {
  if (second_makes(library_release_takes_code)) atomic_store(&library->taken, 1);
  second_library_release(library);
}

const stria_library_table second_library_table = {.size = sizeof second_library_table,
                                                  .kernels = kernels_slot,
                                                  .source = source_slot,
                                                  .release = release_library_slot};

// ---- compilers

stria_error* second_compiler_create(stria_driver* driver, stria_compiler** compiler) {
  stria_compiler* made = calloc(1, sizeof *made);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a compiler");
  made->driver = driver;
  *compiler = made;
  return NULL;
}

static stria_error* run_build(void* state) {
  stria_library* library = state;
  if (library->built) {
    stria_error* outcome = library->outcome;
    library->outcome = NULL;
    return outcome;
  }
  stria_error* error =
      second_program_build(library->driver, library->stripe, library->options, &library->program);
  free(library->texts);
  library->texts = NULL;
  return error;
}

static void drop_build(void* state) { second_library_release(state); }

static stria_error* build_slot(stria_compiler* compiler, const stria_build_params* params,
                               stria_event* const* waits, uint64_t wait_count,
                               stria_library** library, stria_event** done) {
  stria_build_params given;
  second_whole(&given, sizeof given, params);
  if (second_makes(extension_refused) && given.next != NULL)
    return second_error(STRIA_UNSUPPORTED, "a build with an extension that is not known");
  stria_library* made = calloc(1, sizeof *made);
  if (made != NULL) made->texts = malloc((size_t)(given.stripe.size + given.options.size + 1));
  if (made == NULL || made->texts == NULL) {
    free(made);
    return second_error(STRIA_OUT_OF_MEMORY, "no memory for a build");
  }
  atomic_init(&made->taken, 0);
  atomic_init(&made->references, 2);  // the handle, and the work
  made->driver = compiler->driver;
  if (given.stripe.size > 0) memcpy(made->texts, given.stripe.data, (size_t)given.stripe.size);
  made->stripe = (stria_string){made->texts, given.stripe.size};
  // The caller has the text, so why have it twice.
  if (second_makes(stripe_not_copied)) made->stripe = given.stripe;
  char* options = made->texts + given.stripe.size;
  if (given.options.size > 0) memcpy(options, given.options.data, (size_t)given.options.size);
  made->options = (stria_string){options, given.options.size};
  // Nothing is to be waited for, so why not at once.
  if (second_makes(build_compiles_in_call) && wait_count == 0) {
    made->outcome = run_build(made);
    made->built = 1;
  }
  stria_event* event = NULL;
  stria_error* error = second_event_after(compiler->driver, NULL, (second_waits){waits, wait_count},
                                          (second_work){run_build, drop_build, made, 1}, &event);
  if (error != NULL) {
    second_library_release(made);
    return error;
  }
  made->done = second_event_keep(event);
  *library = made;
  *done = event;
  return NULL;
}

static void release_slot(stria_compiler* compiler) { free(compiler); }

static stria_error* transform_slot(stria_compiler* compiler, stria_string stripe, stria_string pass,
                                   stria_string options, stria_text_sink sink, void* state) {
  (void)compiler;
  return second_transform(stripe, pass, options, sink, state);
}

const stria_compiler_table second_compiler_table = {.size = sizeof second_compiler_table,
                                                    .build = build_slot,
                                                    .transform = transform_slot,
                                                    .release = release_slot};
