// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"
#include "error.h"

stria_error* acme_buffer_check(const stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                               const char* what) {
  const uint64_t size = acme_buffer_size(buffer);
  if (offset <= size && bytes <= size - offset) return NULL;
  return acme_error(
      STRIA_INVALID_ARGUMENT, "%s: %llu bytes at offset %llu of a buffer of %llu bytes", what,
      (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)size);
}
