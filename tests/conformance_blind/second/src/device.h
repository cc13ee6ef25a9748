// SPDX-License-Identifier: Apache-2.0
// An opened device: it makes compilers, executors, buffers and host events.
#ifndef SECOND_DEVICE_H
#define SECOND_DEVICE_H

#include <stdatomic.h>

#include "stria/plugin.h"

struct stria_device {
  atomic_uint references;  // the handle, and buffers
  stria_driver* driver;
  stria_device_info info;            // its texts are literals, or the driver has them
  atomic_uint_least64_t used_bytes;  // of info.memory_bytes
};

stria_error* second_device_create(stria_driver* driver, const stria_device_info* info,
                                  stria_device** device);
void second_device_release(stria_device* device);
// STRIA_OUT_OF_MEMORY if so much is not left.
stria_error* second_device_take(stria_device* device, uint64_t bytes);
void second_device_give_back(stria_device* device, uint64_t bytes);
// The failure of an allocation of bytes that have not been taken: `why`, and how many bytes are
// free.
stria_error* second_device_no_memory(const stria_device* device, uint64_t bytes, const char* why);

extern const stria_device_table second_device_table;

#endif  // SECOND_DEVICE_H
