// SPDX-License-Identifier: Apache-2.0
// Memory of the device.
#ifndef SECOND_BUFFER_H
#define SECOND_BUFFER_H

#include "stria/plugin.h"

stria_error* second_buffer_create(stria_device* device, uint64_t bytes, stria_buffer** buffer);
stria_buffer* second_buffer_keep(stria_buffer* buffer);
void second_buffer_release(stria_buffer* buffer);
uint64_t second_buffer_size(const stria_buffer* buffer);  // bytes
// What a kernel is given for byte 0.
void* second_buffer_address(const stria_buffer* buffer);
// Whether the buffer has these bytes.
int second_buffer_has(const stria_buffer* buffer, uint64_t offset, uint64_t bytes);
// STRIA_INVALID_ARGUMENT for bytes that are not in the buffer; `what` wants them.
stria_error* second_buffer_check(const stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 const char* what);

// The rest is called by the queue, with ranges that have been checked.
stria_error* second_buffer_copy(stria_buffer* from, uint64_t from_offset, stria_buffer* to,
                                uint64_t to_offset, uint64_t bytes);
stria_error* second_buffer_fill(stria_buffer* to, uint64_t offset, uint64_t bytes,
                                const void* pattern, uint64_t pattern_bytes);

// A part of a buffer as the host's interpreter works on it: the buffer itself, or a copy.
typedef struct second_host_view {
  stria_buffer* buffer;
  uint64_t offset, bytes;
  void* data;
} second_host_view;
stria_error* second_host_view_open(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                   second_host_view* view);
stria_error* second_host_view_write_back(second_host_view* view);
void second_host_view_close(second_host_view* view);

extern const stria_buffer_table second_buffer_table;

#endif  // SECOND_BUFFER_H
