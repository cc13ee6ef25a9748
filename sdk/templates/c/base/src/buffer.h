// SPDX-License-Identifier: Apache-2.0
// Memory of the device.
#ifndef ACME_BUFFER_H
#define ACME_BUFFER_H

#include "stria/plugin.h"

stria_error* acme_buffer_create(stria_device* device, uint64_t bytes, stria_buffer** buffer);
stria_buffer* acme_buffer_keep(stria_buffer* buffer);
void acme_buffer_release(stria_buffer* buffer);
uint64_t acme_buffer_size(const stria_buffer* buffer);  // bytes
// What a kernel is given for byte 0.
void* acme_buffer_address(const stria_buffer* buffer);
// Whether the buffer has these bytes.
int acme_buffer_has(const stria_buffer* buffer, uint64_t offset, uint64_t bytes);
// STRIA_INVALID_ARGUMENT for bytes that are not in the buffer; `what` wants them.
stria_error* acme_buffer_check(const stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                               const char* what);

// The rest is called by the queue, with ranges that have been checked.
stria_error* acme_buffer_copy(stria_buffer* from, uint64_t from_offset, stria_buffer* to,
                              uint64_t to_offset, uint64_t bytes);
stria_error* acme_buffer_fill(stria_buffer* to, uint64_t offset, uint64_t bytes,
                              const void* pattern, uint64_t pattern_bytes);

// A part of a buffer as the host's interpreter works on it: the buffer itself, or a copy.
typedef struct acme_host_view {
  stria_buffer* buffer;
  uint64_t offset, bytes;
  void* data;
} acme_host_view;
stria_error* acme_host_view_open(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 acme_host_view* view);
stria_error* acme_host_view_write_back(acme_host_view* view);
void acme_host_view_close(acme_host_view* view);

extern const stria_buffer_table acme_buffer_table;

#endif  // ACME_BUFFER_H
