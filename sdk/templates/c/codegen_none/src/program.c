// SPDX-License-Identifier: Apache-2.0
// As it is, no code is generated: the host's interpreter runs all kernels.
#include "program.h"

#include <stdlib.h>

#include "driver.h"
#include "error.h"
#include "kernel_info.h"
#include "text.h"

struct acme_program {
  stria_driver* driver;
  stria_host_program* interpreted;
  stria_kernel_info** kernels;
  uint64_t kernel_count, room;
  int out_of_memory;
};

static void add_kernel(void* state, const stria_kernel_info* given) {
  acme_program* self = state;
  stria_kernel_info from;
  acme_whole(&from, sizeof from, given);
  stria_argument_info* arguments = calloc((size_t)from.argument_count + 1, sizeof *arguments);
  for (uint64_t i = 0; arguments != NULL && i < from.argument_count; ++i)
    acme_whole(&arguments[i], sizeof arguments[i], from.arguments[i]);
  if (self->kernel_count == self->room) {
    const uint64_t more = self->room == 0 ? 16 : 2 * self->room;
    stria_kernel_info** grown = realloc(self->kernels, (size_t)more * sizeof *grown);
    if (grown != NULL) {
      self->kernels = grown;
      self->room = more;
    }
  }
  stria_kernel_info* info = NULL;
  // `stria run --profile` shows the reason.
  if (arguments != NULL && self->kernel_count < self->room)
    info = acme_kernel_info_make(&from, arguments, ACME_TEXT("acme generates no code yet"));
  free(arguments);
  if (info == NULL)
    self->out_of_memory = 1;
  else
    self->kernels[self->kernel_count++] = info;
}

stria_error* acme_program_build(stria_driver* driver, stria_string stripe, stria_string options,
                                acme_program** program) {
  (void)options;
  const stria_host_services* host = &driver->services;
  acme_program* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_error(STRIA_OUT_OF_MEMORY, "no memory for a program");
  made->driver = driver;
  stria_error* error = host->program_create(host->host, stripe, &made->interpreted);
  if (error == NULL) error = host->program_kernels(host->host, made->interpreted, add_kernel, made);
  if (error == NULL && made->out_of_memory)
    error = acme_error(STRIA_OUT_OF_MEMORY, "no memory for the kernels of a program");
  if (error != NULL) {
    acme_program_release(made);
    return error;
  }
  *program = made;
  return NULL;
}

void acme_program_release(acme_program* program) {
  if (program == NULL) return;
  const stria_host_services* host = &program->driver->services;
  if (program->interpreted != NULL) host->program_release(host->host, program->interpreted);
  for (uint64_t i = 0; i < program->kernel_count; ++i) free(program->kernels[i]);
  free(program->kernels);
  free(program);
}

uint64_t acme_program_kernel_count(const acme_program* program) { return program->kernel_count; }

const stria_kernel_info* acme_program_kernel(const acme_program* program, uint64_t index) {
  return program->kernels[index];
}

void acme_program_source(const acme_program* program, stria_text_sink sink, void* state) {
  (void)program, (void)sink, (void)state;
}

stria_error* acme_program_launch(const acme_program* program, uint64_t index,
                                 void* const* addresses) {
  (void)program, (void)addresses;
  return acme_error(STRIA_INTERNAL, "kernel %llu has no code", (unsigned long long)index);
}

stria_error* acme_program_interpret(const acme_program* program, uint64_t index,
                                    stria_host_kernel** kernel) {
  const stria_host_services* host = &program->driver->services;
  return host->kernel_create(host->host, program->interpreted, index, kernel);
}
