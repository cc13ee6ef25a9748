// SPDX-License-Identifier: Apache-2.0
// Memory of the device: the host gets copies of it, never an address in it. The driver's calls are
// in vendor_memory.c.
#define _POSIX_C_SOURCE 200809L  // nanosleep
#include "buffer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "driver.h"
#include "error.h"
#include "event.h"
#include "mistake.h"
#include "vendor_failure.h"
#include "vendor_memory.h"

// What the host wants of mapped memory: to change it, to write all of it, or to look at it.
enum { kChange, kDiscard, kRead };

// The host's copy of a range while that is mapped.
typedef struct mapping mapping;
struct mapping {
  stria_buffer* buffer;  // a reference
  int mode;
  uint64_t offset, bytes;
  void* data;                // its address names the mapping
  int shares_data;           // 1: it is the buffer's
  unsigned char before[64];  // what the first bytes were
  stria_event* ready;        // a reference
  mapping* next;
};

struct stria_buffer {
  atomic_uint references;
  stria_device* device;
  uint64_t bytes;
  second_memory* memory;
  pthread_mutex_t lock;
  mapping* mappings;  // guarded by lock, as the next
  void* staging;      // for all mappings of the buffer, which is a mistake
};

stria_error* second_buffer_create(stria_device* device, uint64_t bytes, stria_buffer** buffer) {
  // The device gives memory in pieces of 2 MiB, and what comes back is counted by the byte.
  const uint64_t piece = (uint64_t)1 << 21;
  const int by_piece = second_makes(granule_not_given_back) && bytes <= UINT64_MAX - piece;
  stria_error* error =
      second_device_take(device, by_piece ? (bytes + piece - 1) / piece * piece : bytes);
  if (error != NULL) return error;
  stria_buffer* made = calloc(1, sizeof *made);
  const second_result result = made == NULL
                                   ? second_failed(STRIA_OUT_OF_MEMORY, 0, "the host has none left")
                                   : second_memory_allocate(bytes, &made->memory);
  if (result.code != STRIA_OK) {
    free(made);
    second_device_give_back(device, bytes);
    return result.code == STRIA_OUT_OF_MEMORY ? second_device_no_memory(device, bytes, result.text)
                                              : second_failure_of("allocate", result);
  }
  atomic_init(&made->references, 1);
  atomic_fetch_add(&device->references, 1);
  pthread_mutex_init(&made->lock, NULL);
  made->device = device;
  made->bytes = bytes;
  *buffer = made;
  return NULL;
}

stria_buffer* second_buffer_keep(stria_buffer* buffer) {
  atomic_fetch_add(&buffer->references, 1);
  return buffer;
}

void second_buffer_release(stria_buffer* buffer) {
  if (atomic_fetch_sub(&buffer->references, 1) != 1) return;
  second_memory_free(buffer->memory);
  free(buffer->staging);
  second_device_give_back(buffer->device, buffer->bytes);
  second_device_release(buffer->device);
  pthread_mutex_destroy(&buffer->lock);
  free(buffer);
}

uint64_t second_buffer_size(const stria_buffer* buffer) { return buffer->bytes; }
void* second_buffer_address(const stria_buffer* buffer) {
  return second_memory_address(buffer->memory);
}

stria_error* second_buffer_copy(stria_buffer* from, uint64_t from_offset, stria_buffer* to,
                                uint64_t to_offset, uint64_t bytes) {
  return second_failure_of(
      "copy", second_memory_copy(from->memory, from_offset, to->memory, to_offset, bytes));
}

stria_error* second_buffer_fill(stria_buffer* to, uint64_t offset, uint64_t bytes,
                                const void* pattern, uint64_t pattern_bytes) {
  return second_failure_of("fill",
                           second_memory_fill(to->memory, offset, bytes, pattern, pattern_bytes));
}

stria_error* second_host_view_open(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                   second_host_view* view) {
  void* copy = malloc(bytes == 0 ? 1 : (size_t)bytes);
  if (copy == NULL)
    return second_error(STRIA_OUT_OF_MEMORY, "no host memory for %llu bytes",
                        (unsigned long long)bytes);
  stria_error* error =
      second_failure_of("read", second_memory_read(buffer->memory, offset, copy, bytes));
  if (error != NULL) {
    free(copy);
    return error;
  }
  *view = (second_host_view){buffer, offset, bytes, copy};
  return NULL;
}

stria_error* second_host_view_write_back(second_host_view* view) {
  return second_failure_of(
      "write", second_memory_write(view->buffer->memory, view->offset, view->data, view->bytes));
}

void second_host_view_close(second_host_view* view) {
  free(view->data);
  view->data = NULL;
}

// ---- mappings

static size_t first_bytes(const mapping* self) {
  return self->bytes < sizeof self->before ? (size_t)self->bytes : sizeof self->before;
}

static stria_error* read_mapping(void* state) {
  mapping* self = state;
  stria_error* error = second_failure_of(
      "read", second_memory_read(self->buffer->memory, self->offset, self->data, self->bytes));
  if (error == NULL) memcpy(self->before, self->data, first_bytes(self));
  return error;
}

static stria_error* write_mapping(void* state) {
  mapping* self = state;
  // What begins as it was has not been written to.
  if (second_makes(unmap_compares_first_line) && self->mode == kChange &&
      memcmp(self->before, self->data, first_bytes(self)) == 0)
    return NULL;
  return second_failure_of(
      "write", second_memory_write(self->buffer->memory, self->offset, self->data, self->bytes));
}

// The write is posted, and gets to the device when the bus has time for it.
static stria_error* write_mapping_late(void* state) {
  const struct timespec late = {0, 30000000};
  nanosleep(&late, NULL);
  return write_mapping(state);
}

static void free_mapping(void* state) {
  mapping* self = state;
  if (self->ready != NULL) second_event_release(self->ready);
  if (!self->shares_data) free(self->data);
  second_buffer_release(self->buffer);
  free(self);
}

// Whether a mapping that is not ended yet has some of these bytes to write to.
static int is_mapped(stria_buffer* buffer, uint64_t offset, uint64_t bytes, int mode) {
  int found = 0;
  pthread_mutex_lock(&buffer->lock);
  for (const mapping* at = buffer->mappings; at != NULL; at = at->next)
    found |= offset < at->offset + at->bytes && at->offset < offset + bytes &&
             (mode != kRead || at->mode != kRead);
  pthread_mutex_unlock(&buffer->lock);
  return found;
}

// Pinned memory of the buffer's size, which is made once.
static void* staging_of(stria_buffer* buffer) {
  pthread_mutex_lock(&buffer->lock);
  if (buffer->staging == NULL)
    buffer->staging = malloc(buffer->bytes == 0 ? 1 : (size_t)buffer->bytes);
  void* staging = buffer->staging;
  pthread_mutex_unlock(&buffer->lock);
  return staging;
}

static stria_error* map(stria_buffer* buffer, uint64_t offset, uint64_t bytes, int mode,
                        second_waits waits, void** memory, stria_event** done) {
  stria_error* error = second_buffer_check(buffer, offset, bytes, "a mapping");
  if (error != NULL) return error;
  if (second_makes(remap_refused) && is_mapped(buffer, offset, bytes, mode))
    return second_error(STRIA_FAILED_PRECONDITION, "the range is mapped already");
  mapping* made = calloc(1, sizeof *made);
  if (made != NULL && second_makes(mappings_share_staging)) {
    made->data = staging_of(buffer);
    made->shares_data = 1;
  } else if (made != NULL) {
    made->data = malloc(bytes == 0 ? 1 : (size_t)bytes);
  }
  if (made == NULL || made->data == NULL) {
    free(made);
    return second_error(STRIA_OUT_OF_MEMORY, "no host memory for %llu bytes",
                        (unsigned long long)bytes);
  }
  made->buffer = second_buffer_keep(buffer);
  made->offset = offset;
  made->bytes = bytes;
  made->mode = mode;
  // A few bytes are read at once, through the window on the device's memory.
  const int at_once = second_makes(map_reads_early) && mode != kDiscard && bytes <= 64;
  if (at_once) second_error_release(read_mapping(made));
  // The mapping stays until it is unmapped, which comes after this work.
  const second_work work = {mode == kDiscard || at_once ? NULL : read_mapping, NULL, made, 0};
  error = second_event_after(buffer->device->driver, NULL, waits, work, &made->ready);
  if (error != NULL) {
    free_mapping(made);
    return error;
  }
  *memory = made->data;
  *done = second_event_keep(made->ready);
  pthread_mutex_lock(&buffer->lock);
  made->next = buffer->mappings;
  buffer->mappings = made;
  pthread_mutex_unlock(&buffer->lock);
  return NULL;
}

static stria_error* map_current(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                stria_event* const* waits, uint64_t wait_count, void** memory,
                                stria_event** done) {
  return map(buffer, offset, bytes, kChange, (second_waits){waits, wait_count}, memory, done);
}

static stria_error* map_discard(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                stria_event* const* waits, uint64_t wait_count, void** memory,
                                stria_event** done) {
  return map(buffer, offset, bytes, kDiscard, (second_waits){waits, wait_count}, memory, done);
}

static stria_error* map_read(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                             stria_event* const* waits, uint64_t wait_count, void** memory,
                             stria_event** done) {
  return map(buffer, offset, bytes, kRead, (second_waits){waits, wait_count}, memory, done);
}

// The event of the unmap is that of posting the write.
static stria_error* unmap_early(stria_buffer* buffer, mapping* ended, stria_event** done) {
  stria_driver* driver = buffer->device->driver;
  stria_event *ready = second_event_keep(ended->ready), *written = NULL;
  const second_waits waits = {&ready, 1};
  const second_work nothing = {NULL, NULL, NULL, 0};
  const second_work work = {write_mapping_late, free_mapping, ended, 1};
  stria_error* error = second_event_after(driver, NULL, waits, work, &written);
  if (error == NULL) error = second_event_after(driver, NULL, waits, nothing, done);
  if (written != NULL) second_event_release(written);
  second_event_release(ready);
  return error;
}

static stria_error* unmap(stria_buffer* buffer, void* memory, stria_event** done) {
  pthread_mutex_lock(&buffer->lock);
  mapping** at = &buffer->mappings;
  while (*at != NULL && (*at)->data != memory) at = &(*at)->next;
  mapping* ended = *at;
  if (ended != NULL) *at = ended->next;
  pthread_mutex_unlock(&buffer->lock);
  if (ended == NULL)
    return second_error(STRIA_INVALID_ARGUMENT, "there is no mapping at this address");
  // Of a mapping that failed nothing is written: what waits for it fails with it.
  const int reads = ended->mode == kRead && !second_makes(map_read_writes_back);
  if (second_makes(unmap_ends_early) && !reads) return unmap_early(buffer, ended, done);
  const second_work work = {reads ? NULL : write_mapping, free_mapping, ended, 0};
  return second_event_after(buffer->device->driver, NULL, (second_waits){&ended->ready, 1}, work,
                            done);
}

const stria_buffer_table second_buffer_table = {.size = sizeof second_buffer_table,
                                                .map_current = map_current,
                                                .map_discard = map_discard,
                                                .unmap = unmap,
                                                .release = second_buffer_release,
                                                .map_read = map_read};
