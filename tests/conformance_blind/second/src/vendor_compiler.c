// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "vendor_compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mistake.h"

extern char** environ;

// The options of the compiler, each a word of the list in run_compiler.
#define SECOND_OPTIONS "-O2 -fPIC -shared " STRIA_C_FLAGS

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

static second_result no_compiler(void) {
  return second_failed(STRIA_UNAVAILABLE, 0,
                       "there is no C compiler: no folder of PATH has cc (Debian: package gcc)");
}

second_result second_compiler_identity(char* identity, char* message) {
  char path[kPathBytes];
  struct stat file;
  (void)message;
  if (!find_compiler(path) || stat(path, &file) != 0) return no_compiler();
  snprintf(identity, SECOND_IDENTITY_BYTES, "%s, %lld bytes of %lld, " SECOND_OPTIONS, path,
           (long long)file.st_size, (long long)file.st_mtime);
  return second_well();
}

// ---- files: one folder for each compilation, which goes with it

typedef struct work_folder {
  char path[kPathBytes];
  char source[kPathBytes + 16], object[kPathBytes + 16], said[kPathBytes + 16];
} work_folder;

// The vendor's folder of tools comes first.
static void prefer_own_tools(void) {
  static const char kOwn[] = "/opt/second/bin:";
  const char* folders = getenv("PATH");
  char changed[kPathBytes];
  if (folders == NULL || strncmp(folders, kOwn, sizeof kOwn - 1) == 0) return;
  const int length = snprintf(changed, sizeof changed, "%s%s", kOwn, folders);
  if (length > 0 && length < kPathBytes) setenv("PATH", changed, 1);
}

// What goes on in the process, and should not: the compiler is told where to work, and to be quiet,
// by this process's own working folder and standard error.
static void leave_traces(void) {
  if (second_makes(working_folder_left) && chdir("/") != 0) return;
  // Numbers are to have points, and texts any letters.
  if (second_makes(locale_left)) setlocale(LC_ALL, "C.UTF-8");
  if (second_makes(path_variable_changed)) prefer_own_tools();
  if (!second_makes(standard_error_replaced)) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, 2);
  close(nowhere);
}

static int make_folder(work_folder* folder, int compiles, char* message) {
  leave_traces();
  const char* around = getenv("TMPDIR");
  if (around == NULL || *around == 0) around = "/tmp";
  // One for the process's compilations, one after the other.
  const int shared = compiles && second_makes(builds_share_a_folder);
  const int length =
      shared ? snprintf(folder->path, kPathBytes, "%s/second_%ld", around, (long)getpid())
             : snprintf(folder->path, kPathBytes, "%s/second_XXXXXX", around);
  const int named = length > 0 && length < kPathBytes;
  if (!named || (shared ? mkdir(folder->path, 0700) != 0 && errno != EEXIST
                        : mkdtemp(folder->path) == NULL)) {
    snprintf(message, SECOND_MESSAGE_BYTES, "cannot make a folder in %.200s: %s", around,
             named ? strerror(errno) : "its path is too long");
    return 0;
  }
  snprintf(folder->source, sizeof folder->source, "%s/kernels.c", folder->path);
  snprintf(folder->object, sizeof folder->object, "%s/kernels.so", folder->path);
  snprintf(folder->said, sizeof folder->said, "%s/said", folder->path);
  return 1;
}

static void remove_folder(const work_folder* folder) {
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
    snprintf(message, SECOND_MESSAGE_BYTES, "cannot write %.200s: %s", path, strerror(errno));
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

// 1 if the compiler ended well. What it says goes to a file.
static int run_compiler(const char* path, const work_folder* folder, char* message) {
  char options[] = SECOND_OPTIONS;
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
    snprintf(message, SECOND_MESSAGE_BYTES, "cannot start %.200s: %s", path, strerror(failure));
    return 0;
  }
  int status = 0;
  pid_t ended = -1;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0 && errno != ECHILD) {
    snprintf(message, SECOND_MESSAGE_BYTES, "cannot wait for %.200s: %s", path, strerror(errno));
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
  snprintf(message, SECOND_MESSAGE_BYTES, "%.200s did not compile the kernels (%s): %.1500s", path,
           how, said ? said : "");
  free(said);
  return 0;
}

second_result second_compile(const char* text, size_t text_bytes, void** code, size_t* code_bytes,
                             char* message) {
  char path[kPathBytes];
  if (!find_compiler(path)) return no_compiler();
  work_folder folder;
  if (!make_folder(&folder, 1, message)) return second_failed(STRIA_UNAVAILABLE, 0, message);
  int well =
      write_file(folder.source, text, text_bytes, message) && run_compiler(path, &folder, message);
  if (well) {
    *code = read_file(folder.object, code_bytes);
    well = *code != NULL;
    if (!well) snprintf(message, SECOND_MESSAGE_BYTES, "%.200s gave no output", path);
  }
  remove_folder(&folder);
  return well ? second_well() : second_failed(STRIA_UNAVAILABLE, 0, message);
}

// ---- code in this process

struct second_code {
  void* handle;
};

second_result second_code_load(const void* bytes, size_t size, second_code** code, char* message) {
  // The loader wants a file, and takes one of a name that it has loaded for the same: so each has a
  // name of its own, for as long as it takes to load.
  work_folder folder;
  if (!make_folder(&folder, 0, message)) return second_failed(STRIA_UNAVAILABLE, 0, message);
  second_code* made = malloc(sizeof *made);
  int well = made != NULL && write_file(folder.object, bytes, size, message);
  if (made == NULL) snprintf(message, SECOND_MESSAGE_BYTES, "no memory for code");
  if (well) {
    made->handle = dlopen(folder.object, RTLD_NOW | RTLD_LOCAL);
    well = made->handle != NULL;
    if (!well)
      snprintf(message, SECOND_MESSAGE_BYTES, "cannot load the kernels: %.1500s", dlerror());
  }
  remove_folder(&folder);
  if (!well) {
    free(made);
    return second_failed(STRIA_UNAVAILABLE, 0, message);
  }
  *code = made;
  return second_well();
}

void second_code_unload(second_code* code) {
  if (code == NULL) return;
  if (!second_makes(code_stays_loaded)) dlclose(code->handle);
  free(code);
}

stria_c_kernel second_code_kernel(const second_code* code, const char* name) {
  void* const found = dlsym(code->handle, name);
  stria_c_kernel kernel = NULL;
  memcpy(&kernel, &found, sizeof kernel);  // C has no conversion between the two kinds of pointers
  return kernel;
}

second_result second_launch(stria_c_kernel kernel, void* const* arguments, uint64_t first,
                            uint64_t end) {
  // An application may have set another rounding, or have subnormal numbers flushed.
  fenv_t before;
  fegetenv(&before);
  fesetenv(FE_DFL_ENV);
  kernel(arguments, (int64_t)first, (int64_t)end);
  fesetenv(&before);
  return second_well();
}
