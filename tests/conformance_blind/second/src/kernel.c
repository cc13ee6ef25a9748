// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "buffer.h"
#include "compiler.h"
#include "driver.h"
#include "error.h"
#include "executor.h"
#include "mistake.h"

struct stria_kernel {
  atomic_uint references;
  stria_executor* executor;  // a reference, as the next
  stria_library* library;
  const second_program* program;
  uint64_t index;
  stria_host_kernel* interpreted;  // NULL: it has code
};

static const stria_host_services* host_of(const stria_kernel* kernel) {
  return &second_executor_driver(kernel->executor)->services;
}

stria_error* second_kernel_create(stria_executor* executor, stria_library* library, uint64_t index,
                                  stria_kernel** kernel) {
  const second_program* program = NULL;
  stria_error* error = second_library_program(library, &program);
  if (error != NULL) return error;
  if (index >= second_program_kernel_count(program))
    return second_error(STRIA_INVALID_ARGUMENT, "kernel %llu of a library with %llu",
                        (unsigned long long)index,
                        (unsigned long long)second_program_kernel_count(program));
  stria_kernel* made = calloc(1, sizeof *made);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for a kernel");
  if (second_program_kernel(program, index)->interpreted.size > 0)
    error = second_program_interpret(program, index, &made->interpreted);
  if (error != NULL) {
    free(made);
    return error;
  }
  atomic_init(&made->references, 1);
  made->executor = second_executor_keep(executor);
  made->library = second_library_keep(library);
  made->program = program;
  made->index = index;
  *kernel = made;
  return NULL;
}

stria_kernel* second_kernel_keep(stria_kernel* kernel) {
  atomic_fetch_add(&kernel->references, 1);
  return kernel;
}

void second_kernel_release(stria_kernel* kernel) {
  if (atomic_fetch_sub(&kernel->references, 1) != 1) return;
  const stria_host_services* host = host_of(kernel);
  if (kernel->interpreted != NULL) host->kernel_release(host->host, kernel->interpreted);
  second_library_release(kernel->library);
  second_executor_release(kernel->executor);
  free(kernel);
}

stria_executor* second_kernel_executor(const stria_kernel* kernel) { return kernel->executor; }

const stria_kernel_info* second_kernel_info(const stria_kernel* kernel) {
  return second_program_kernel(kernel->program, kernel->index);
}

// The host's interpreter works on the host's memory: it gets copies of what the device has.
static stria_error* interpret(const stria_kernel* kernel, const stria_argument* arguments) {
  const stria_kernel_info* info = second_kernel_info(kernel);
  const uint64_t count = info->argument_count;
  second_host_view* views = calloc((size_t)count + 1, sizeof *views);
  stria_memory* memory = calloc((size_t)count + 1, sizeof *memory);
  stria_error* error = NULL;
  if (views == NULL || memory == NULL)
    error = second_error(STRIA_OUT_OF_MEMORY, "no memory for the arguments of a kernel");
  uint64_t opened = 0;
  for (; error == NULL && opened < count; ++opened) {
    const uint64_t bytes = info->arguments[opened]->bytes;
    // What is not written keeps its value, so results are read as well.
    error = second_host_view_open(arguments[opened].buffer, arguments[opened].offset, bytes,
                                  &views[opened]);
    if (error != NULL) break;
    memory[opened] = (stria_memory){views[opened].data, bytes};
  }
  const stria_host_services* host = host_of(kernel);
  if (error == NULL) error = host->kernel_run(host->host, kernel->interpreted, memory, count);
  for (uint64_t i = 0; error == NULL && i < count; ++i)
    if (info->arguments[i]->direction != STRIA_IN) error = second_host_view_write_back(&views[i]);
  for (uint64_t i = 0; i < opened; ++i) second_host_view_close(&views[i]);
  free(views);
  free(memory);
  return error;
}

// Where element 0 of an argument is, from the beginning of its buffer.
static uint64_t offset_of(const stria_kernel* kernel, const stria_argument* arguments, uint64_t i) {
  const uint64_t offset = arguments[i].offset;
  const stria_argument_info* info = second_kernel_info(kernel)->arguments[i];
  // The descriptor of an argument counts in vectors.
  if (second_makes(offset_rounded_to_16)) return offset / 16 * 16;
  // There is one base for what a kernel writes.
  if (second_makes(outputs_share_an_offset) && info->direction != STRIA_IN &&
      second_buffer_has(arguments[i].buffer, arguments[0].offset, info->bytes))
    return arguments[0].offset;
  // A buffer is bound once, with the offset that it was met with first.
  if (second_makes(same_buffer_bound_once))
    for (uint64_t k = 0; k < i; ++k)
      if (arguments[k].buffer == arguments[i].buffer &&
          second_buffer_has(arguments[k].buffer, arguments[k].offset, info->bytes))
        return arguments[k].offset;
  return offset;
}

// What reads nothing has nothing to do.
static int reads_nothing(const stria_kernel_info* info) {
  for (uint64_t i = 0; i < info->argument_count; ++i)
    if (info->arguments[i]->direction != STRIA_OUT) return 0;
  return 1;
}

// The last store of each result is a vector of 16 bytes, whatever lies behind the result.
static void store_whole_tails(const stria_kernel_info* info, const stria_argument* arguments) {
  for (uint64_t i = 0; i < info->argument_count; ++i) {
    const uint64_t end = arguments[i].offset + info->arguments[i]->bytes;
    const uint64_t tail = (16 - end % 16) % 16;
    if (info->arguments[i]->direction != STRIA_IN &&
        second_buffer_has(arguments[i].buffer, end, tail))
      second_error_release(second_buffer_fill(arguments[i].buffer, end, tail, "", 1));
  }
}

stria_error* second_kernel_launch(const stria_kernel* kernel, const stria_argument* arguments) {
  if (second_library_is_taken(kernel->library))
    return second_error(STRIA_CANCELLED, "the kernel's library was released");
  if (kernel->interpreted != NULL) return interpret(kernel, arguments);
  const stria_kernel_info* info = second_kernel_info(kernel);
  if (second_makes(kernels_without_inputs_skipped) && reads_nothing(info)) return NULL;
  const uint64_t count = info->argument_count;
  void** addresses = calloc((size_t)count + 1, sizeof *addresses);
  if (addresses == NULL)
    return second_error(STRIA_OUT_OF_MEMORY, "no memory for the arguments of a kernel");
  for (uint64_t i = 0; i < count; ++i)
    addresses[i] = (unsigned char*)second_buffer_address(arguments[i].buffer) +
                   offset_of(kernel, arguments, i);
  stria_error* error = second_program_launch(kernel->program, kernel->index, addresses);
  if (second_makes(tail_stored_whole)) store_whole_tails(info, arguments);
  free(addresses);
  return error;
}
