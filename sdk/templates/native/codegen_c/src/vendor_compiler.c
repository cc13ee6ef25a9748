// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "vendor_compiler.h"

#include <dlfcn.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ready_compiler.h"

// ---- the compiler

static const acme_command compiler = {
    .program = "cc",
    .package = "Debian: package gcc",
    .arguments = "-O2 -fPIC -shared " STRIA_C_FLAGS " -o OUTPUT INPUT -lm",
    .input = "kernels.c",
    .output = "kernels.so",
};

acme_result acme_compiler_identity(char* identity, char* message) {
  return acme_command_identity(&compiler, identity, message);
}

acme_result acme_compile(const char* text, size_t text_bytes, void** code, size_t* code_bytes,
                         char* message) {
  return acme_command_compile(&compiler, text, text_bytes, code, code_bytes, message);
}

// ---- code in this process

struct acme_code {
  void* handle;
};

static acme_result open_library(const char* path, void* state, char* message) {
  acme_code* code = state;
  code->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (code->handle != NULL) return acme_well();
  snprintf(message, ACME_MESSAGE_BYTES, "cannot load the kernels: %.1500s", dlerror());
  return acme_failed(STRIA_UNAVAILABLE, 0, message);
}

acme_result acme_code_load(const void* bytes, size_t size, acme_code** code, char* message) {
  acme_code* made = malloc(sizeof *made);
  if (made == NULL) return acme_failed(STRIA_OUT_OF_MEMORY, 0, "no memory for code");
  const acme_result result = acme_with_file(bytes, size, message, open_library, made);
  if (result.code == STRIA_OK)
    *code = made;
  else
    free(made);
  return result;
}

void acme_code_unload(acme_code* code) {
  if (code == NULL) return;
  dlclose(code->handle);
  free(code);
}

acme_entry acme_code_entry(const acme_code* code, const char* name) {
  void* const found = dlsym(code->handle, name);
  acme_entry entry = NULL;
  memcpy(&entry, &found, sizeof entry);  // C has no conversion between the two kinds of pointers
  return entry;
}

acme_result acme_launch(acme_entry entry, void* const* arguments, uint64_t argument_count,
                        uint64_t first, uint64_t end) {
  (void)argument_count;
  // An application may have set another rounding, or have subnormal numbers flushed.
  fenv_t before;
  fegetenv(&before);
  fesetenv(FE_DFL_ENV);
  entry(arguments, (int64_t)first, (int64_t)end);
  fesetenv(&before);
  return acme_well();
}
