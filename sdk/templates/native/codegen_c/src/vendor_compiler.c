// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "vendor_compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

// The options of the compiler, each a word of the list in run_compiler.
#define ACME_OPTIONS "-O2 -fPIC -shared " STRIA_C_FLAGS

enum { kPathBytes = 4096 };

// ---- the compiler

// `cc` in a folder of PATH. 0 if there is none.
static int find_compiler(char* path) {
  const char* folders = getenv("PATH");
  if (folders == NULL || *folders == 0) folders = "/usr/bin:/bin";
  while (*folders != 0) {
    const size_t length = strcspn(folders, ":");
    if (*folders == '/' && length + sizeof "/cc" <= kPathBytes) {
      memcpy(path, folders, length);
      memcpy(path + length, "/cc", sizeof "/cc");
      if (access(path, X_OK) == 0) return 1;
    }
    folders += length;
    if (*folders == ':') ++folders;
  }
  return 0;
}

static acme_result no_compiler(void) {
  return acme_failed(STRIA_UNAVAILABLE, 0,
                     "there is no C compiler: no folder of PATH has cc (Debian: package gcc)");
}

acme_result acme_compiler_identity(char* identity, char* message) {
  char path[kPathBytes];
  struct stat file;
  (void)message;
  if (!find_compiler(path) || stat(path, &file) != 0) return no_compiler();
  snprintf(identity, ACME_IDENTITY_BYTES, "%s, %lld bytes of %lld, " ACME_OPTIONS, path,
           (long long)file.st_size, (long long)file.st_mtime);
  return acme_well();
}

// ---- files: one folder for each compilation, which goes with it, unless the compiler refuses what
// the generator has made: then its author wants to see it

typedef struct work_folder {
  char path[kPathBytes];
  char source[kPathBytes + 16], object[kPathBytes + 16], said[kPathBytes + 16];
  int is_kept;
} work_folder;

static int make_folder(work_folder* folder, char* message) {
  const char* around = getenv("TMPDIR");
  if (around == NULL || *around == 0) around = "/tmp";
  const int length = snprintf(folder->path, kPathBytes, "%s/acme_XXXXXX", around);
  if (length < 0 || length >= kPathBytes || mkdtemp(folder->path) == NULL) {
    snprintf(message, ACME_MESSAGE_BYTES, "cannot make a folder in %.200s: %s", around,
             length >= kPathBytes ? "its path is too long" : strerror(errno));
    return 0;
  }
  snprintf(folder->source, sizeof folder->source, "%s/kernels.c", folder->path);
  snprintf(folder->object, sizeof folder->object, "%s/kernels.so", folder->path);
  snprintf(folder->said, sizeof folder->said, "%s/said", folder->path);
  folder->is_kept = 0;
  return 1;
}

static void remove_folder(const work_folder* folder) {
  if (folder->is_kept) return;
  unlink(folder->source);
  unlink(folder->object);
  unlink(folder->said);
  rmdir(folder->path);
}

static int write_file(const char* path, const void* bytes, size_t size, char* message) {
  FILE* file = fopen(path, "wb");
  int well = file != NULL && fwrite(bytes, 1, size, file) == size;
  if (file != NULL && fclose(file) != 0) well = 0;
  if (!well)
    snprintf(message, ACME_MESSAGE_BYTES, "cannot write %.200s: %s", path, strerror(errno));
  return well;
}

// The file's bytes with a zero behind them, which free() gives back; NULL if it cannot be read.
static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char* bytes = NULL;
  long length = -1;
  if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)length + 1);
  if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  if (bytes == NULL) return NULL;
  bytes[length] = 0;
  *size = (size_t)length;
  return bytes;
}

// ---- compiling

// Whether a file is there and has something in it.
static int has_file(const char* path) {
  struct stat file;
  return stat(path, &file) == 0 && file.st_size > 0;
}

// What the compiler said, from the line of its first error on: warnings may stand before it, and a
// message holds less than a file.
static const char* first_error(const char* said) {
  const char* error = strstr(said, "error: ");
  if (error == NULL) return said;
  while (error > said && error[-1] != '\n') --error;
  return error;
}

// 1 if the compiler ended well. What it says goes to a file.
static int run_compiler(const char* path, work_folder* folder, char* message) {
  char options[] = ACME_OPTIONS;
  char* words[32];
  size_t count = 0;
  words[count++] = (char*)(uintptr_t)path;
  char* rest = NULL;
  for (char* word = strtok_r(options, " ", &rest); word != NULL && count < 24;
       word = strtok_r(NULL, " ", &rest))
    words[count++] = word;
  char out[] = "-o", mathematics[] = "-lm";
  words[count++] = out;
  words[count++] = (char*)(uintptr_t)folder->object;
  words[count++] = (char*)(uintptr_t)folder->source;
  words[count++] = mathematics;
  words[count] = NULL;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, folder->said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failure = posix_spawn(&child, path, &files, NULL, words, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) {
    snprintf(message, ACME_MESSAGE_BYTES, "cannot start %.200s: %s", path, strerror(failure));
    return 0;
  }
  int status = 0;
  pid_t ended = -1;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0 && errno != ECHILD) {
    snprintf(message, ACME_MESSAGE_BYTES, "cannot wait for %.200s: %s", path, strerror(errno));
    return 0;
  }
  // An application that ignores SIGCHLD, or waits for any child, leaves no status (ECHILD). A
  // compiler that fails leaves no output.
  if (ended < 0 ? has_file(folder->object) : status == 0) return 1;
  size_t size = 0;
  char* said = read_file(folder->said, &size);
  char how[32] = "its status is not known";
  if (ended >= 0)
    snprintf(how, sizeof how, "%s %d", WIFSIGNALED(status) ? "signal" : "exit status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  folder->is_kept = 1;
  const int length = snprintf(
      message, ACME_MESSAGE_BYTES,
      "%.200s did not compile the kernels (%s); kernels.c, and all that it said, are kept in "
      "%.2000s\n%s",
      path, how, folder->path, said ? first_error(said) : "");
  if (length >= ACME_MESSAGE_BYTES) {
    char* end = message + ACME_MESSAGE_BYTES - sizeof "\n…";
    while (((unsigned char)*end & 0xc0) == 0x80) --end;  // no half character of UTF-8
    memcpy(end, "\n…", sizeof "\n…");
  }
  free(said);
  return 0;
}

acme_result acme_compile(const char* text, size_t text_bytes, void** code, size_t* code_bytes,
                         char* message) {
  char path[kPathBytes];
  if (!find_compiler(path)) return no_compiler();
  work_folder folder;
  if (!make_folder(&folder, message)) return acme_failed(STRIA_UNAVAILABLE, 0, message);
  int well =
      write_file(folder.source, text, text_bytes, message) && run_compiler(path, &folder, message);
  if (well) {
    *code = read_file(folder.object, code_bytes);
    well = *code != NULL;
    if (!well) snprintf(message, ACME_MESSAGE_BYTES, "%.200s gave no output", path);
  }
  remove_folder(&folder);
  return well ? acme_well() : acme_failed(STRIA_UNAVAILABLE, 0, message);
}

// ---- code in this process

struct acme_code {
  void* handle;
};

acme_result acme_code_load(const void* bytes, size_t size, acme_code** code, char* message) {
  // The loader wants a file, and takes one of a name that it has loaded for the same: so each has a
  // name of its own, for as long as it takes to load.
  work_folder folder;
  if (!make_folder(&folder, message)) return acme_failed(STRIA_UNAVAILABLE, 0, message);
  acme_code* made = malloc(sizeof *made);
  int well = made != NULL && write_file(folder.object, bytes, size, message);
  if (made == NULL) snprintf(message, ACME_MESSAGE_BYTES, "no memory for code");
  if (well) {
    made->handle = dlopen(folder.object, RTLD_NOW | RTLD_LOCAL);
    well = made->handle != NULL;
    if (!well) snprintf(message, ACME_MESSAGE_BYTES, "cannot load the kernels: %.1500s", dlerror());
  }
  remove_folder(&folder);
  if (!well) {
    free(made);
    return acme_failed(STRIA_UNAVAILABLE, 0, message);
  }
  *code = made;
  return acme_well();
}

void acme_code_unload(acme_code* code) {
  if (code == NULL) return;
  dlclose(code->handle);
  free(code);
}

stria_c_kernel acme_code_kernel(const acme_code* code, const char* name) {
  void* const found = dlsym(code->handle, name);
  stria_c_kernel kernel = NULL;
  memcpy(&kernel, &found, sizeof kernel);  // C has no conversion between the two kinds of pointers
  return kernel;
}

acme_result acme_launch(stria_c_kernel kernel, void* const* arguments, uint64_t first,
                        uint64_t end) {
  // An application may have set another rounding, or have subnormal numbers flushed.
  fenv_t before;
  fegetenv(&before);
  fesetenv(FE_DFL_ENV);
  kernel(arguments, (int64_t)first, (int64_t)end);
  fesetenv(&before);
  return acme_well();
}
