// SPDX-License-Identifier: Apache-2.0
// Every call for memory of the device. As it is, "the device" is memory of this process that
// nothing else touches. Replace the body of each function by your driver's call: nothing else
// knows.
#ifndef SECOND_VENDOR_MEMORY_H
#define SECOND_VENDOR_MEMORY_H

#include <stdint.h>

#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

// An allocation of the device.
typedef struct second_memory second_memory;

// All return when the bytes are where they belong, may be called from any thread, and have had
// their ranges checked.
second_result second_memory_allocate(uint64_t bytes, second_memory** memory);
void second_memory_free(second_memory* memory);  // NULL is fine

// From the host to the device, and back.
second_result second_memory_write(second_memory* to, uint64_t offset, const void* from,
                                  uint64_t bytes);
second_result second_memory_read(const second_memory* from, uint64_t offset, void* to,
                                 uint64_t bytes);
// Within the device.
second_result second_memory_copy(const second_memory* from, uint64_t from_offset, second_memory* to,
                                 uint64_t to_offset, uint64_t bytes);
// Repeats a pattern of 1, 2, 4, 8 or 16 bytes; `bytes` is a multiple of its size.
second_result second_memory_fill(second_memory* to, uint64_t offset, uint64_t bytes,
                                 const void* pattern, uint64_t pattern_bytes);
// What a kernel on the device is given for byte 0. The host does not look behind it.
void* second_memory_address(const second_memory* memory);

#ifdef __cplusplus
}
#endif

#endif  // SECOND_VENDOR_MEMORY_H
