// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
// C of every kernel that C can say; the host interprets the others. The calls of the compiler and
// of the device are in vendor_compiler.c.
#include "program.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "error.h"
#include "kernel_info.h"
#include "stria/reader.h"
#include "text.h"
#include "vendor_compiler.h"
#include "vendor_failure.h"

typedef struct program_kernel {
  stria_kernel_info* info;  // `interpreted` says why it has no code
  acme_entry code;          // 0: interpreted
  uint64_t points;          // that may run at once
  char* symbol;             // in the text; NULL: interpreted
} program_kernel;

// Bytes that grow.
typedef struct bytes {
  char* data;
  size_t size;
  int out_of_memory;
} bytes;

struct acme_program {
  stria_driver* driver;
  program_kernel* kernels;
  uint64_t kernel_count;
  bytes text;  // kernels.c
  acme_code* code;
  stria_host_program* interpreted;  // NULL: no kernel needs it
};

static void append(void* state, stria_string name, stria_string text) {
  (void)name;
  bytes* self = state;
  char* grown = realloc(self->data, self->size + (size_t)text.size + 1);
  if (grown == NULL) {
    self->out_of_memory = 1;
    return;
  }
  if (text.size > 0) memcpy(grown + self->size, text.data, (size_t)text.size);
  self->data = grown;
  self->size += (size_t)text.size;
  self->data[self->size] = 0;
}

static stria_error* no_memory(void) {
  return acme_error(STRIA_OUT_OF_MEMORY, "no memory for the kernels of a program");
}

// Whether a flag of the build options, a JSON object of booleans, is true.
static int build_flag(stria_string options, const char* quoted_key) {
  bytes text = {NULL, 0, 0};
  append(&text, options, options);
  const char* at = text.data == NULL ? NULL : strstr(text.data, quoted_key);
  int set = 0;
  if (at != NULL) {
    at += strlen(quoted_key);
    at += strspn(at, " \t\r\n:");
    set = strncmp(at, "true", 4) == 0;
  }
  free(text.data);
  return set;
}

// ---- from blocks to C

static stria_error* describe(const stria_kernel_block* block, stria_string interpreted,
                             stria_kernel_info** info) {
  stria_argument_info* arguments = calloc((size_t)block->argument_count + 1, sizeof *arguments);
  if (arguments == NULL) return no_memory();
  for (uint64_t i = 0; i < block->argument_count; ++i) {
    arguments[i].name = block->arguments[i]->name;
    arguments[i].direction = block->arguments[i]->direction;
    arguments[i].bytes = block->arguments[i]->bytes;
  }
  stria_kernel_info from = {.size = sizeof from};
  from.name = block->name;
  from.part = block->part;
  from.statement = block->statement;
  from.argument_count = block->argument_count;
  *info = acme_kernel_info_make(&from, arguments, interpreted);
  free(arguments);
  return *info == NULL ? no_memory() : NULL;
}

// Adds kernel `index` to the source, or says in its info why C cannot have it.
static stria_error* add_kernel(acme_program* self, const stria_reader_program* read, uint64_t index,
                               const stria_tree_options* options, stria_c_source* source) {
  program_kernel* kernel = &self->kernels[index];
  stria_reader_tree* tree = NULL;
  stria_error* error = stria_reader_build(read, index, options, &tree);
  if (error == NULL) error = stria_reader_c_add(source, tree);
  stria_string why = ACME_TEXT("");
  if (error == NULL) {
    const stria_tree_view* view = stria_reader_tree_view(tree);
    kernel->points = view->trip_count;
    kernel->symbol = strndup(view->symbol.data, (size_t)view->symbol.size);
    if (kernel->symbol == NULL) error = no_memory();
  } else if (error->code == STRIA_UNSUPPORTED || error->code == STRIA_OUT_OF_RANGE) {
    why = error->message;  // `stria run --profile` shows it
  }
  stria_error* failed = NULL;
  if (error == NULL || why.size > 0)
    failed = describe(stria_reader_view(read)->kernels[index], why, &kernel->info);
  if (why.size > 0) {
    acme_error_release(error);
    error = NULL;
  }
  stria_reader_tree_release(tree);
  return error != NULL ? error : failed;
}

static stria_error* print_kernels(acme_program* self, const stria_reader_program* read,
                                  stria_string options, int* any_code) {
  stria_tree_options how = {.size = sizeof how};
  how.no_peepholes = build_flag(options, "\"no_peepholes\"") != 0;
  stria_c_source* source = NULL;
  stria_error* error = stria_reader_c_create(&source);
  const uint64_t count = stria_reader_view(read)->kernel_count;
  self->kernels = calloc((size_t)count + 1, sizeof *self->kernels);
  if (error == NULL && self->kernels == NULL) error = no_memory();
  for (uint64_t i = 0; error == NULL && i < count; ++i) {
    error = add_kernel(self, read, i, &how, source);
    self->kernel_count = i + 1;
    if (error == NULL && self->kernels[i].symbol != NULL) *any_code = 1;
  }
  if (error == NULL && *any_code) error = stria_reader_c_text(source, append, &self->text);
  if (error == NULL && self->text.out_of_memory) error = no_memory();
  stria_reader_c_release(source);
  return error;
}

// ---- from C to code

// The compiled text, from the host's cache where that has it. A cache that fails is one without the
// entry.
static stria_error* compile(const acme_program* self, bytes* code) {
  const stria_host_services* host = &self->driver->services;
  char identity[ACME_IDENTITY_BYTES], message[ACME_MESSAGE_BYTES];
  stria_error* error =
      acme_failure_of("look for a compiler", acme_compiler_identity(identity, message));
  if (error != NULL) return error;
  bytes key = {NULL, 0, 0};
  append(&key, ACME_TEXT(""), ACME_TEXT("acme, "));
  append(&key, ACME_TEXT(""), (stria_string){identity, strlen(identity)});
  append(&key, ACME_TEXT(""), ACME_TEXT("\n"));
  append(&key, ACME_TEXT(""), (stria_string){self->text.data, self->text.size});
  if (key.out_of_memory) {
    free(key.data);
    return no_memory();
  }
  const stria_string name = {key.data, key.size};
  acme_error_release(host->cache_get(host->host, name, append, code));
  if (code->size == 0) {
    void* made = NULL;
    size_t size = 0;
    error = acme_failure_of("compile",
                            acme_compile(self->text.data, self->text.size, &made, &size, message));
    if (error == NULL) {
      free(code->data);
      *code = (bytes){made, size, 0};
      acme_error_release(host->cache_put(host->host, name, (stria_string){code->data, code->size}));
    }
  }
  free(key.data);
  return error;
}

static stria_error* load_kernels(acme_program* self) {
  bytes code = {NULL, 0, 0};
  stria_error* error = compile(self, &code);
  char message[ACME_MESSAGE_BYTES];
  if (error == NULL)
    error = acme_failure_of("load", acme_code_load(code.data, code.size, &self->code, message));
  free(code.data);
  for (uint64_t i = 0; error == NULL && i < self->kernel_count; ++i) {
    program_kernel* kernel = &self->kernels[i];
    if (kernel->symbol == NULL) continue;
    kernel->code = acme_code_entry(self->code, kernel->symbol);
    if (!kernel->code)
      error = acme_error(STRIA_INTERNAL, "the compiled kernels lack '%s'", kernel->symbol);
  }
  return error;
}

static void warn_of(const acme_program* self, const stria_kernel_info* info) {
  char line[512];
  const int length =
      snprintf(line, sizeof line, "acme: kernel '%.*s' is interpreted: %.*s", (int)info->name.size,
               info->name.data, (int)info->interpreted.size, info->interpreted.data);
  if (length < 0) return;
  const size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
  self->driver->services.log(self->driver->services.host, STRIA_LOG_WARNING,
                             (stria_string){line, size});
}

stria_error* acme_program_build(stria_driver* driver, stria_string stripe, stria_string options,
                                acme_program** program) {
  acme_program* made = calloc(1, sizeof *made);
  if (made == NULL) return no_memory();
  made->driver = driver;
  stria_reader_program* read = NULL;
  int any_code = 0, any_interpreted = 0;
  stria_error* error = stria_reader_read(ACME_TEXT("device program"), stripe, &read);
  if (error == NULL) error = print_kernels(made, read, options, &any_code);
  stria_reader_release(read);
  if (error == NULL && any_code) error = load_kernels(made);
  for (uint64_t i = 0; error == NULL && i < made->kernel_count; ++i) {
    if (made->kernels[i].code) continue;
    any_interpreted = 1;
    warn_of(made, made->kernels[i].info);
  }
  if (error == NULL && any_interpreted)
    error = driver->services.program_create(driver->services.host, stripe, &made->interpreted);
  if (error != NULL) {
    acme_program_release(made);
    return error;
  }
  *program = made;
  return NULL;
}

// ---- what was made

void acme_program_release(acme_program* program) {
  if (program == NULL) return;
  const stria_host_services* host = &program->driver->services;
  if (program->interpreted != NULL) host->program_release(host->host, program->interpreted);
  for (uint64_t i = 0; i < program->kernel_count; ++i) {
    free(program->kernels[i].info);
    free(program->kernels[i].symbol);
  }
  free(program->kernels);
  free(program->text.data);
  acme_code_unload(program->code);
  free(program);
}

uint64_t acme_program_kernel_count(const acme_program* program) { return program->kernel_count; }

const stria_kernel_info* acme_program_kernel(const acme_program* program, uint64_t index) {
  return program->kernels[index].info;
}

void acme_program_source(const acme_program* program, stria_text_sink sink, void* state) {
  if (program->text.size > 0)
    sink(state, ACME_TEXT("kernels.c"), (stria_string){program->text.data, program->text.size});
}

typedef struct launch_state {
  acme_entry code;
  void* const* addresses;
  uint64_t count;
  pthread_mutex_t lock;
  stria_error* error;  // of the first piece that failed; guarded by lock
} launch_state;

static void run_points(void* state, uint64_t begin, uint64_t end) {
  launch_state* self = state;
  stria_error* error =
      acme_failure_of("launch", acme_launch(self->code, self->addresses, self->count, begin, end));
  if (error == NULL) return;
  pthread_mutex_lock(&self->lock);
  if (self->error == NULL) {
    self->error = error;
    error = NULL;
  }
  pthread_mutex_unlock(&self->lock);
  acme_error_release(error);
}

stria_error* acme_program_launch(const acme_program* program, uint64_t index,
                                 void* const* addresses) {
  const stria_host_services* host = &program->driver->services;
  const program_kernel* kernel = &program->kernels[index];
  launch_state state = {kernel->code, addresses, kernel->info->argument_count,
                        PTHREAD_MUTEX_INITIALIZER, NULL};
  // Eight pieces a core: enough that one core which is late does not hold up the others.
  const uint64_t pieces = 8 * (uint64_t)host->concurrency(host->host);
  if (ACME_LAUNCH_IN_PIECES)
    host->parallel_for(host->host, kernel->points, kernel->points / pieces + 1, run_points, &state);
  else
    run_points(&state, 0, kernel->points);
  pthread_mutex_destroy(&state.lock);
  return state.error;
}

stria_error* acme_program_interpret(const acme_program* program, uint64_t index,
                                    stria_host_kernel** kernel) {
  const stria_host_services* host = &program->driver->services;
  return host->kernel_create(host->host, program->interpreted, index, kernel);
}
