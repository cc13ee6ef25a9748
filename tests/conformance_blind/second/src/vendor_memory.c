// SPDX-License-Identifier: Apache-2.0
#include "vendor_memory.h"

#include <stdlib.h>
#include <string.h>

struct second_memory {
  unsigned char* bytes;
};

second_result second_memory_allocate(uint64_t bytes, second_memory** memory) {
  // Kernels expect 64 bytes of alignment; so much is allocated at least, for an address of its own.
  const uint64_t rounded = bytes == 0 ? 64 : (bytes + 63) / 64 * 64;
  second_memory* made = malloc(sizeof *made);
  if (made == NULL || rounded < bytes || rounded > SIZE_MAX) {
    free(made);
    return second_failed(STRIA_OUT_OF_MEMORY, 0, "the device has no memory left");
  }
  made->bytes = aligned_alloc(64, (size_t)rounded);
  if (made->bytes == NULL) {
    free(made);
    return second_failed(STRIA_OUT_OF_MEMORY, 0, "the device has no memory left");
  }
  *memory = made;
  return second_well();
}

void second_memory_free(second_memory* memory) {
  if (memory == NULL) return;
  free(memory->bytes);
  free(memory);
}

second_result second_memory_write(second_memory* to, uint64_t offset, const void* from,
                                  uint64_t bytes) {
  if (bytes > 0) memcpy(to->bytes + offset, from, (size_t)bytes);
  return second_well();
}

second_result second_memory_read(const second_memory* from, uint64_t offset, void* to,
                                 uint64_t bytes) {
  if (bytes > 0) memcpy(to, from->bytes + offset, (size_t)bytes);
  return second_well();
}

second_result second_memory_copy(const second_memory* from, uint64_t from_offset, second_memory* to,
                                 uint64_t to_offset, uint64_t bytes) {
  if (bytes > 0) memcpy(to->bytes + to_offset, from->bytes + from_offset, (size_t)bytes);
  return second_well();
}

second_result second_memory_fill(second_memory* to, uint64_t offset, uint64_t bytes,
                                 const void* pattern, uint64_t pattern_bytes) {
  for (uint64_t at = 0; at < bytes; at += pattern_bytes)
    memcpy(to->bytes + offset + at, pattern, (size_t)pattern_bytes);
  return second_well();
}

void* second_memory_address(const second_memory* memory) { return memory->bytes; }
