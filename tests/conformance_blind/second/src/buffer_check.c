// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"
#include "error.h"
#include "mistake.h"

int second_buffer_has(const stria_buffer* buffer, uint64_t offset, uint64_t bytes) {
  const uint64_t size = second_buffer_size(buffer);
  if (second_makes(range_check_wraps)) return offset + bytes <= size;
  return offset <= size && bytes <= size - offset;
}

stria_error* second_buffer_check(const stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 const char* what) {
  if (second_buffer_has(buffer, offset, bytes)) return NULL;
  return second_error(STRIA_INVALID_ARGUMENT,
                      "%s: %llu bytes at offset %llu of a buffer of %llu bytes", what,
                      (unsigned long long)bytes, (unsigned long long)offset,
                      (unsigned long long)second_buffer_size(buffer));
}
