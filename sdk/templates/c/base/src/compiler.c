// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "error.h"
#include "event.h"
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
  acme_program* program;  // set before `done` is
};

// ---- libraries

stria_library* acme_library_keep(stria_library* library) {
  atomic_fetch_add(&library->references, 1);
  return library;
}

void acme_library_release(stria_library* library) {
  if (atomic_fetch_sub(&library->references, 1) != 1) return;
  acme_program_release(library->program);
  if (library->done != NULL) acme_event_release(library->done);
  free(library->texts);
  free(library);
}

stria_error* acme_library_program(stria_library* library, const acme_program** program) {
  if (!acme_event_done(library->done))
    return acme_error(STRIA_FAILED_PRECONDITION, "the library is still being built");
  if (acme_event_failure(library->done) != NULL)
    return acme_error_share(acme_event_failure(library->done));
  *program = library->program;
  return NULL;
}

static stria_error* kernels_slot(stria_library* library, stria_kernel_sink sink, void* state) {
  const acme_program* program = NULL;
  stria_error* error = acme_library_program(library, &program);
  for (uint64_t i = 0; error == NULL && i < acme_program_kernel_count(program); ++i)
    sink(state, acme_program_kernel(program, i));
  return error;
}

static stria_error* source_slot(stria_library* library, stria_text_sink sink, void* state) {
  const acme_program* program = NULL;
  stria_error* error = acme_library_program(library, &program);
  if (error == NULL) acme_program_source(program, sink, state);
  return error;
}

const stria_library_table acme_library_table = {.size = sizeof acme_library_table,
                                                .kernels = kernels_slot,
                                                .source = source_slot,
                                                .release = acme_library_release};

// ---- compilers

stria_error* acme_compiler_create(stria_driver* driver, stria_compiler** compiler) {
  stria_compiler* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_error(STRIA_OUT_OF_MEMORY, "no memory for a compiler");
  made->driver = driver;
  *compiler = made;
  return NULL;
}

static stria_error* run_build(void* state) {
  stria_library* library = state;
  stria_error* error =
      acme_program_build(library->driver, library->stripe, library->options, &library->program);
  free(library->texts);
  library->texts = NULL;
  return error;
}

static void drop_build(void* state) { acme_library_release(state); }

static stria_error* build_slot(stria_compiler* compiler, const stria_build_params* params,
                               stria_event* const* waits, uint64_t wait_count,
                               stria_library** library, stria_event** done) {
  stria_build_params given;
  acme_whole(&given, sizeof given, params);
  stria_library* made = calloc(1, sizeof *made);
  if (made != NULL) made->texts = malloc((size_t)(given.stripe.size + given.options.size + 1));
  if (made == NULL || made->texts == NULL) {
    free(made);
    return acme_error(STRIA_OUT_OF_MEMORY, "no memory for a build");
  }
  atomic_init(&made->references, 2);  // the handle, and the work
  made->driver = compiler->driver;
  if (given.stripe.size > 0) memcpy(made->texts, given.stripe.data, (size_t)given.stripe.size);
  made->stripe = (stria_string){made->texts, given.stripe.size};
  char* options = made->texts + given.stripe.size;
  if (given.options.size > 0) memcpy(options, given.options.data, (size_t)given.options.size);
  made->options = (stria_string){options, given.options.size};
  stria_event* event = NULL;
  stria_error* error = acme_event_after(compiler->driver, NULL, (acme_waits){waits, wait_count},
                                        (acme_work){run_build, drop_build, made, 1}, &event);
  if (error != NULL) {
    acme_library_release(made);
    return error;
  }
  made->done = acme_event_keep(event);
  *library = made;
  *done = event;
  return NULL;
}

static void release_slot(stria_compiler* compiler) { free(compiler); }

static stria_error* transform_slot(stria_compiler* compiler, stria_string stripe, stria_string pass,
                                   stria_string options, stria_text_sink sink, void* state) {
  (void)compiler;
  return acme_transform(stripe, pass, options, sink, state);
}

const stria_compiler_table acme_compiler_table = {.size = sizeof acme_compiler_table,
                                                  .build = build_slot,
                                                  .transform = transform_slot,
                                                  .release = release_slot};
