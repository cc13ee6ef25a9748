// SPDX-License-Identifier: Apache-2.0
// Every call for compiling and starting kernels. As it is, kernels are C, the system's `cc`
// compiles them, and they run in this process. Replace the bodies by calls of your compiler and
// your driver. A compiler that is a command needs another name and other arguments only.
#ifndef ACME_VENDOR_COMPILER_H
#define ACME_VENDOR_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#include "stria/reader.h"
#include "vendor_result.h"

#ifdef __cplusplus
extern "C" {
#endif

// Room for a message of at most so many bytes, its end included: the text of a result that is not
// acme_well() may lie in it.
#define ACME_MESSAGE_BYTES 8192

#define ACME_IDENTITY_BYTES 5632

// The compiler's path and whatever else decides what it makes of a text: part of the key of what is
// kept. It ends with a zero.
acme_result acme_compiler_identity(char* identity, char* message);

// From the text of kernels to code as bytes, which the caller frees with free(). If the compiler
// refuses the text, the folder with the text and what the compiler said stays; the message says
// where, and begins with the first error.
acme_result acme_compile(const char* text, size_t text_bytes, void** code, size_t* code_bytes,
                         char* message);

// Code on the device.
typedef struct acme_code acme_code;
acme_result acme_code_load(const void* bytes, size_t size, acme_code** code, char* message);
void acme_code_unload(acme_code* code);  // NULL is fine
// A kernel in loaded code: whatever your driver starts kernels by. 0: none.
typedef stria_c_kernel acme_entry;
// By its name in the text; 0 if there is none.
acme_entry acme_code_entry(const acme_code* code, const char* name);

// 1: the points of a launch are shared out among the host's threads, some to each call of
// acme_launch. 0: one call has them all, on the thread of the queue, as hardware wants it that
// shares them out by itself.
#define ACME_LAUNCH_IN_PIECES 1
// Runs the parallel points first to end - 1 of a kernel, in the usual floating-point environment,
// and returns when they are done. arguments[i]: what acme_memory_address or the host's memory
// gives, plus the argument's offset.
acme_result acme_launch(acme_entry entry, void* const* arguments, uint64_t argument_count,
                        uint64_t first, uint64_t end);

#ifdef __cplusplus
}
#endif

#endif  // ACME_VENDOR_COMPILER_H
