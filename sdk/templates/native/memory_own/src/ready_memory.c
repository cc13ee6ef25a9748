// SPDX-License-Identifier: Apache-2.0
#include "ready_memory.h"

#include <string.h>

// The host's copy of a piece: large beside what a call of a driver costs, small beside a stack.
enum { kPieceBytes = 1 << 16 };

acme_result acme_copy_by_host(const acme_memory* from, uint64_t from_offset, acme_memory* to,
                              uint64_t to_offset, uint64_t bytes) {
  unsigned char piece[kPieceBytes];
  acme_result result = acme_well();
  for (uint64_t at = 0; at < bytes && result.code == STRIA_OK; at += kPieceBytes) {
    const uint64_t count = bytes - at < kPieceBytes ? bytes - at : kPieceBytes;
    result = acme_memory_read(from, from_offset + at, piece, count);
    if (result.code == STRIA_OK) result = acme_memory_write(to, to_offset + at, piece, count);
  }
  return result;
}

acme_result acme_fill_by_host(acme_memory* to, uint64_t offset, uint64_t bytes, const void* pattern,
                              uint64_t pattern_bytes) {
  unsigned char piece[kPieceBytes];  // a whole number of patterns: they have 1, 2, 4, 8 or 16 bytes
  const uint64_t filled = bytes < kPieceBytes ? bytes : kPieceBytes;
  for (uint64_t at = 0; at < filled; at += pattern_bytes)
    memcpy(piece + at, pattern, (size_t)pattern_bytes);
  acme_result result = acme_well();
  for (uint64_t at = 0; at < bytes && result.code == STRIA_OK; at += kPieceBytes)
    result = acme_memory_write(to, offset + at, piece,
                               bytes - at < kPieceBytes ? bytes - at : kPieceBytes);
  return result;
}
