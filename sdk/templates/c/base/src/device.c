// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <stdlib.h>

#include "buffer.h"
#include "compiler.h"
#include "driver.h"
#include "error.h"
#include "event.h"
#include "executor.h"

stria_error* acme_device_create(stria_driver* driver, const stria_device_info* info,
                                stria_device** device) {
  stria_device* made = calloc(1, sizeof *made);
  if (made == NULL) return acme_error(STRIA_OUT_OF_MEMORY, "no memory for the device");
  atomic_init(&made->references, 1);
  atomic_init(&made->used_bytes, 0);
  made->driver = driver;
  made->info = *info;
  *device = made;
  return NULL;
}

void acme_device_release(stria_device* device) {
  if (atomic_fetch_sub(&device->references, 1) == 1) free(device);
}

stria_error* acme_device_take(stria_device* device, uint64_t bytes) {
  const uint64_t total = device->info.memory_bytes;
  const uint64_t used = atomic_fetch_add(&device->used_bytes, bytes);
  // `used` may have been pushed over the total by a take that is about to be undone.
  if (used <= total && bytes <= total - used) return NULL;
  atomic_fetch_sub(&device->used_bytes, bytes);
  return acme_device_no_memory(device, bytes, "the device's memory is used up");
}

stria_error* acme_device_no_memory(const stria_device* device, uint64_t bytes, const char* why) {
  const uint64_t total = device->info.memory_bytes;
  const uint64_t used = atomic_load(&device->used_bytes);
  return acme_error(STRIA_OUT_OF_MEMORY, "no memory for %llu bytes, %llu of %llu are free: %s",
                    (unsigned long long)bytes,
                    (unsigned long long)(used < total ? total - used : 0),
                    (unsigned long long)total, why);
}

void acme_device_give_back(stria_device* device, uint64_t bytes) {
  atomic_fetch_sub(&device->used_bytes, bytes);
}

// ---- the table

static stria_error* info_slot(stria_device* device, stria_device_sink sink, void* state) {
  sink(state, &device->info);
  return NULL;
}

static stria_error* compiler_slot(stria_device* device, stria_compiler** compiler) {
  return acme_compiler_create(device->driver, compiler);
}

static stria_error* executor_slot(stria_device* device, stria_string options,
                                  stria_executor** executor) {
  (void)options;
  return acme_executor_create(device->driver, executor);
}

// params.memory names a memory unit of hw/npu.json that tensors of the program lie in. There is
// one.
static stria_error* allocate_slot(stria_device* device, const stria_buffer_params* params,
                                  stria_buffer** buffer) {
  stria_buffer_params given;
  acme_whole(&given, sizeof given, params);
  if (given.memory.size > 0 && !acme_text_is(given.memory, "DRAM"))
    return acme_error(STRIA_NOT_FOUND, "there are no buffers in '%.*s': they lie in 'DRAM'",
                      (int)given.memory.size, given.memory.data);
  return acme_buffer_create(device, given.bytes, buffer);
}

static stria_error* event_slot(stria_device* device, stria_event** event) {
  return acme_event_of_host(device->driver, event);
}

const stria_device_table acme_device_table = {.size = sizeof acme_device_table,
                                              .info = info_slot,
                                              .create_compiler = compiler_slot,
                                              .create_executor = executor_slot,
                                              .allocate = allocate_slot,
                                              .create_event = event_slot,
                                              .release = acme_device_release};
