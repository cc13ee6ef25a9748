// SPDX-License-Identifier: Apache-2.0
// Memory of the device: the host's, which both can address.
#include "buffer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "driver.h"
#include "error.h"
#include "event.h"

enum { kAlignment = 64 };  // a cache line, and the widest vector

struct stria_buffer {
  atomic_uint references;
  stria_device* device;
  uint64_t bytes;
  unsigned char* data;
};

stria_error* acme_buffer_create(stria_device* device, uint64_t bytes, stria_buffer** buffer) {
  stria_error* error = acme_device_take(device, bytes);
  if (error != NULL) return error;
  const stria_host_services* host = &device->driver->services;
  stria_buffer* made = calloc(1, sizeof *made);
  if (made != NULL) made->data = host->allocate(host->host, bytes, kAlignment);
  if (made == NULL || made->data == NULL) {
    free(made);
    acme_device_give_back(device, bytes);
    return acme_device_no_memory(device, bytes, "the host has none left");
  }
  atomic_init(&made->references, 1);
  atomic_fetch_add(&device->references, 1);
  made->device = device;
  made->bytes = bytes;
  *buffer = made;
  return NULL;
}

stria_buffer* acme_buffer_keep(stria_buffer* buffer) {
  atomic_fetch_add(&buffer->references, 1);
  return buffer;
}

void acme_buffer_release(stria_buffer* buffer) {
  if (atomic_fetch_sub(&buffer->references, 1) != 1) return;
  const stria_host_services* host = &buffer->device->driver->services;
  host->free(host->host, buffer->data, buffer->bytes, kAlignment);
  acme_device_give_back(buffer->device, buffer->bytes);
  acme_device_release(buffer->device);
  free(buffer);
}

uint64_t acme_buffer_size(const stria_buffer* buffer) { return buffer->bytes; }
void* acme_buffer_address(const stria_buffer* buffer) { return buffer->data; }

stria_error* acme_buffer_copy(stria_buffer* from, uint64_t from_offset, stria_buffer* to,
                              uint64_t to_offset, uint64_t bytes) {
  if (bytes > 0) memcpy(to->data + to_offset, from->data + from_offset, (size_t)bytes);
  return NULL;
}

stria_error* acme_buffer_fill(stria_buffer* to, uint64_t offset, uint64_t bytes,
                              const void* pattern, uint64_t pattern_bytes) {
  for (uint64_t at = 0; at < bytes; at += pattern_bytes)
    memcpy(to->data + offset + at, pattern, (size_t)pattern_bytes);
  return NULL;
}

stria_error* acme_host_view_open(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 acme_host_view* view) {
  *view = (acme_host_view){buffer, offset, bytes, buffer->data + offset};
  return NULL;
}

stria_error* acme_host_view_write_back(acme_host_view* view) {
  (void)view;
  return NULL;
}

void acme_host_view_close(acme_host_view* view) { (void)view; }

// ---- mappings: the buffer's own bytes

static stria_error* map(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                        stria_event* const* waits, uint64_t wait_count, void** memory,
                        stria_event** done) {
  stria_error* error = acme_buffer_check(buffer, offset, bytes, "a mapping");
  if (error == NULL)
    error = acme_event_after(buffer->device->driver, NULL, (acme_waits){waits, wait_count},
                             (acme_work){.run = NULL}, done);
  if (error == NULL) *memory = buffer->data + offset;
  return error;
}

static stria_error* unmap(stria_buffer* buffer, void* memory, stria_event** done) {
  (void)memory;
  return acme_event_after(buffer->device->driver, NULL, (acme_waits){NULL, 0},
                          (acme_work){.run = NULL}, done);
}

const stria_buffer_table acme_buffer_table = {.size = sizeof acme_buffer_table,
                                              .map_current = map,
                                              .map_discard = map,
                                              .unmap = unmap,
                                              .release = acme_buffer_release,
                                              .map_read = map};
