// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"
#include "error.h"

int acme_buffer_has(const stria_buffer* buffer, uint64_t offset, uint64_t bytes) {
  const uint64_t size = acme_buffer_size(buffer);
  return offset <= size && bytes <= size - offset;
}

stria_error* acme_buffer_check(const stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                               const char* what) {
  if (acme_buffer_has(buffer, offset, bytes)) return NULL;
  return acme_error(STRIA_INVALID_ARGUMENT,
                    "%s: %llu bytes at offset %llu of a buffer of %llu bytes", what,
                    (unsigned long long)bytes, (unsigned long long)offset,
                    (unsigned long long)acme_buffer_size(buffer));
}
