// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <sched.h>
#include <stdlib.h>

#include "buffer.h"
#include "compiler.h"
#include "driver.h"
#include "error.h"
#include "event.h"
#include "executor.h"
#include "mistake.h"

stria_error* second_device_create(stria_driver* driver, const stria_device_info* info,
                                  stria_device** device) {
  stria_device* made = calloc(1, sizeof *made);
  if (made == NULL) return second_error(STRIA_OUT_OF_MEMORY, "no memory for the device");
  atomic_init(&made->references, 1);
  atomic_init(&made->used_bytes, 0);
  made->driver = driver;
  made->info = *info;
  *device = made;
  return NULL;
}

void second_device_release(stria_device* device) {
  if (atomic_fetch_sub(&device->references, 1) == 1) free(device);
}

// What `allocate` gives out of.
static uint64_t usable_bytes(const stria_device* device) {
  // The rest is the firmware's.
  const uint64_t parts = second_makes(memory_of_the_board) ? 4 : 1;
  return device->info.memory_bytes / parts;
}

// Adds to what is used and comes back a moment later: other threads' sums are lost.
static uint64_t add_unlocked(stria_device* device, uint64_t bytes) {
  const uint64_t used = atomic_load(&device->used_bytes);
  sched_yield();
  atomic_store(&device->used_bytes, used + bytes);
  return used;
}

stria_error* second_device_take(stria_device* device, uint64_t bytes) {
  const uint64_t total = usable_bytes(device);
  const uint64_t used = second_makes(bytes_counted_unlocked)
                            ? add_unlocked(device, bytes)
                            : atomic_fetch_add(&device->used_bytes, bytes);
  // `used` may have been pushed over the total by a take that is about to be undone.
  if (used <= total && bytes <= total - used) return NULL;
  if (!second_makes(refused_bytes_stay_taken)) atomic_fetch_sub(&device->used_bytes, bytes);
  return second_device_no_memory(device, bytes, "the device's memory is used up");
}

stria_error* second_device_no_memory(const stria_device* device, uint64_t bytes, const char* why) {
  const uint64_t total = usable_bytes(device);
  const uint64_t used = atomic_load(&device->used_bytes);
  if (second_makes(no_memory_without_numbers))
    return second_error(STRIA_OUT_OF_MEMORY, "the allocation failed: %s", why);
  return second_error(STRIA_OUT_OF_MEMORY, "no memory for %llu bytes, %llu of %llu are free: %s",
                      (unsigned long long)bytes,
                      (unsigned long long)(used < total ? total - used : 0),
                      (unsigned long long)total, why);
}

void second_device_give_back(stria_device* device, uint64_t bytes) {
  if (second_makes(bytes_counted_unlocked))
    add_unlocked(device, 0 - bytes);
  else
    atomic_fetch_sub(&device->used_bytes, bytes);
}

// ---- the table

static stria_error* info_slot(stria_device* device, stria_device_sink sink, void* state) {
  sink(state, &device->info);
  return NULL;
}

static stria_error* compiler_slot(stria_device* device, stria_compiler** compiler) {
  return second_compiler_create(device->driver, compiler);
}

static stria_error* executor_slot(stria_device* device, stria_string options,
                                  stria_executor** executor) {
  (void)options;
  return second_executor_create(device->driver, executor);
}

// params.memory names a memory unit of hw/npu.json that tensors of the program lie in. There is
// one.
static stria_error* allocate_slot(stria_device* device, const stria_buffer_params* params,
                                  stria_buffer** buffer) {
  stria_buffer_params given;
  second_whole(&given, sizeof given, params);
  if (second_makes(extension_refused) && given.next != NULL)
    return second_error(STRIA_UNSUPPORTED, "a buffer with an extension that is not known");
  if (second_makes(zero_bytes_refused) && given.bytes == 0)
    return second_error(STRIA_INVALID_ARGUMENT, "a buffer of 0 bytes");
  if (given.memory.size > 0 && !second_text_is(given.memory, "DRAM"))
    return second_error(STRIA_NOT_FOUND, "there are no buffers in '%.*s': they lie in 'DRAM'",
                        (int)given.memory.size, given.memory.data);
  return second_buffer_create(device, given.bytes, buffer);
}

static stria_error* event_slot(stria_device* device, stria_event** event) {
  stria_error* error = second_event_of_host(device->driver, event);
  if (error == NULL && second_makes(event_ring_wraps)) second_event_enter_ring(*event);
  return error;
}

static void release_slot(stria_device* device) {
  atomic_fetch_sub(&device->driver->opened, 1);
  second_device_release(device);
}

const stria_device_table second_device_table = {.size = sizeof second_device_table,
                                                .info = info_slot,
                                                .create_compiler = compiler_slot,
                                                .create_executor = executor_slot,
                                                .allocate = allocate_slot,
                                                .create_event = event_slot,
                                                .release = release_slot};
