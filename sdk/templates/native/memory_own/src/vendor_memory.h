// SPDX-License-Identifier: Apache-2.0
// Every call for memory of the device. As it is, "the device" is memory of this process that
// nothing else touches. Replace the body of each function by your driver's call: nothing else
// knows.
#ifndef ACME_VENDOR_MEMORY_H
#define ACME_VENDOR_MEMORY_H

#include <stdint.h>

#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

// An allocation of the device.
typedef struct acme_memory acme_memory;

// All return when the bytes are where they belong, may be called from any thread, and have had
// their ranges checked.
acme_result acme_memory_allocate(uint64_t bytes, acme_memory** memory);
void acme_memory_free(acme_memory* memory);  // NULL is fine

// From the host to the device, and back.
acme_result acme_memory_write(acme_memory* to, uint64_t offset, const void* from, uint64_t bytes);
acme_result acme_memory_read(const acme_memory* from, uint64_t offset, void* to, uint64_t bytes);
// Within the device.
acme_result acme_memory_copy(const acme_memory* from, uint64_t from_offset, acme_memory* to,
                             uint64_t to_offset, uint64_t bytes);
// Repeats a pattern of 1, 2, 4, 8 or 16 bytes; `bytes` is a multiple of its size.
acme_result acme_memory_fill(acme_memory* to, uint64_t offset, uint64_t bytes, const void* pattern,
                             uint64_t pattern_bytes);
// What a kernel on the device is given for byte 0. The host does not look behind it.
void* acme_memory_address(const acme_memory* memory);

#ifdef __cplusplus
}
#endif

#endif  // ACME_VENDOR_MEMORY_H
