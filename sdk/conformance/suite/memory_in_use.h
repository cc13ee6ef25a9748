// SPDX-License-Identifier: Apache-2.0
// Memory that this process has taken.
#pragma once

#include <cstdint>

namespace stria::conformance {

// Bytes that malloc has given and not got back, on all threads.
uint64_t heap_bytes();
// Bytes of pages that this process has written to. Unlike all of its private pages it does not
// grow when another process that shared a file with it ends.
uint64_t written_bytes();

}  // namespace stria::conformance
