// SPDX-License-Identifier: Apache-2.0
// Every call for compiling and starting kernels. As it is, kernels are C, the system's `cc`
// compiles them, and they run in this process. Replace the bodies by calls of your compiler and
// your driver.
#ifndef SECOND_VENDOR_COMPILER_H
#define SECOND_VENDOR_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#include "stria/reader.h"
#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

// Room for a message of at most so many bytes, its end included: the text of a result that is not
// second_well() may lie in it.
#define SECOND_MESSAGE_BYTES 2048

#define SECOND_IDENTITY_BYTES 4608

// The compiler's path and whatever else decides what it makes of a text: part of the key of what is
// kept. It ends with a zero.
second_result second_compiler_identity(char* identity, char* message);

// From the text of kernels to code as bytes, which the caller frees with free().
second_result second_compile(const char* text, size_t text_bytes, void** code, size_t* code_bytes,
                             char* message);

// Code on the device.
typedef struct second_code second_code;
second_result second_code_load(const void* bytes, size_t size, second_code** code, char* message);
void second_code_unload(second_code* code);  // NULL is fine
// A kernel by its name in the text; NULL if there is none.
stria_c_kernel second_code_kernel(const second_code* code, const char* name);
// Runs the parallel points first to end - 1 of a kernel, on the calling thread, in the usual
// floating-point environment, and returns when they are done. arguments[i]: what
// second_memory_address or the host's memory gives, plus the argument's offset.
second_result second_launch(stria_c_kernel kernel, void* const* arguments, uint64_t first,
                            uint64_t end);

#ifdef __cplusplus
}
#endif

#endif  // SECOND_VENDOR_COMPILER_H
