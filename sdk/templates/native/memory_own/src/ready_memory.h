// SPDX-License-Identifier: Apache-2.0
// For a driver that has no copy within the device, or no fill: both by way of the host, in pieces.
// Patterns have 1, 2, 4, 8 or 16 bytes.
// Made of acme_memory_read and acme_memory_write; vendor_memory.c may call them, or not.
#ifndef ACME_READY_MEMORY_H
#define ACME_READY_MEMORY_H

#include "vendor_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

acme_result acme_copy_by_host(const acme_memory* from, uint64_t from_offset, acme_memory* to,
                              uint64_t to_offset, uint64_t bytes);
acme_result acme_fill_by_host(acme_memory* to, uint64_t offset, uint64_t bytes, const void* pattern,
                              uint64_t pattern_bytes);

#ifdef __cplusplus
}
#endif

#endif  // ACME_READY_MEMORY_H
