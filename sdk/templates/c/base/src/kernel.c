// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "buffer.h"
#include "compiler.h"
#include "driver.h"
#include "error.h"
#include "executor.h"

struct stria_kernel {
  atomic_uint references;
  stria_executor* executor;  // a reference, as the next
  stria_library* library;
  const acme_program* program;
  uint64_t index;
  stria_host_kernel* interpreted;  // NULL: it has code
};

static const stria_host_services* host_of(const stria_kernel* kernel) {
  return &acme_executor_driver(kernel->executor)->services;
}

stria_error* acme_kernel_create(stria_executor* executor, stria_library* library, uint64_t index,
                                stria_kernel** kernel) {
  const acme_program* program = NULL;
  stria_error* error = acme_library_program(library, &program);
  if (error != NULL) return error;
  if (index >= acme_program_kernel_count(program))
    return acme_error(STRIA_INVALID_ARGUMENT, "kernel %llu of a library with %llu",
                      (unsigned long long)index,
                      (unsigned long long)acme_program_kernel_count(program));
  stria_kernel* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_error(STRIA_OUT_OF_MEMORY, "no memory for a kernel");
  if (acme_program_kernel(program, index)->interpreted.size > 0)
    error = acme_program_interpret(program, index, &made->interpreted);
  if (error != NULL) {
    free(made);
    return error;
  }
  atomic_init(&made->references, 1);
  made->executor = acme_executor_keep(executor);
  made->library = acme_library_keep(library);
  made->program = program;
  made->index = index;
  *kernel = made;
  return NULL;
}

stria_kernel* acme_kernel_keep(stria_kernel* kernel) {
  atomic_fetch_add(&kernel->references, 1);
  return kernel;
}

void acme_kernel_release(stria_kernel* kernel) {
  if (atomic_fetch_sub(&kernel->references, 1) != 1) return;
  const stria_host_services* host = host_of(kernel);
  if (kernel->interpreted != NULL) host->kernel_release(host->host, kernel->interpreted);
  acme_library_release(kernel->library);
  acme_executor_release(kernel->executor);
  free(kernel);
}

stria_executor* acme_kernel_executor(const stria_kernel* kernel) { return kernel->executor; }

const stria_kernel_info* acme_kernel_info(const stria_kernel* kernel) {
  return acme_program_kernel(kernel->program, kernel->index);
}

// The host's interpreter works on the host's memory: it gets copies of what the device has.
static stria_error* interpret(const stria_kernel* kernel, const stria_argument* arguments) {
  const stria_kernel_info* info = acme_kernel_info(kernel);
  const uint64_t count = info->argument_count;
  acme_host_view* views = calloc((size_t)count + 1, sizeof *views);
  stria_memory* memory = calloc((size_t)count + 1, sizeof *memory);
  stria_error* error = NULL;
  if (views == NULL || memory == NULL)
    error = acme_error(STRIA_OUT_OF_MEMORY, "no memory for the arguments of a kernel");
  uint64_t opened = 0;
  for (; error == NULL && opened < count; ++opened) {
    const uint64_t bytes = info->arguments[opened]->bytes;
    // What is not written keeps its value, so results are read as well.
    error = acme_host_view_open(arguments[opened].buffer, arguments[opened].offset, bytes,
                                &views[opened]);
    if (error != NULL) break;
    memory[opened] = (stria_memory){views[opened].data, bytes};
  }
  const stria_host_services* host = host_of(kernel);
  if (error == NULL) error = host->kernel_run(host->host, kernel->interpreted, memory, count);
  for (uint64_t i = 0; error == NULL && i < count; ++i)
    if (info->arguments[i]->direction != STRIA_IN) error = acme_host_view_write_back(&views[i]);
  for (uint64_t i = 0; i < opened; ++i) acme_host_view_close(&views[i]);
  free(views);
  free(memory);
  return error;
}

stria_error* acme_kernel_launch(const stria_kernel* kernel, const stria_argument* arguments) {
  if (kernel->interpreted != NULL) return interpret(kernel, arguments);
  const uint64_t count = acme_kernel_info(kernel)->argument_count;
  void** addresses = calloc((size_t)count + 1, sizeof *addresses);
  if (addresses == NULL)
    return acme_error(STRIA_OUT_OF_MEMORY, "no memory for the arguments of a kernel");
  for (uint64_t i = 0; i < count; ++i)
    addresses[i] = (unsigned char*)acme_buffer_address(arguments[i].buffer) + arguments[i].offset;
  stria_error* error = acme_program_launch(kernel->program, kernel->index, addresses);
  free(addresses);
  return error;
}
