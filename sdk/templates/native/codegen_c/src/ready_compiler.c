// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "ready_compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vendor_compiler.h"

extern char** environ;

enum { kPathBytes = 4096 };

// ---- the command

// The program in a folder of PATH. 0 if there is none.
static int find_program(const acme_command* command, char* path) {
  const char* folders = getenv("PATH");
  if (folders == NULL || *folders == 0) folders = "/usr/bin:/bin";
  while (*folders != 0) {
    const size_t length = strcspn(folders, ":");
    const int written =
        snprintf(path, kPathBytes, "%.*s/%s", (int)length, folders, command->program);
    if (*folders == '/' && written > 0 && written < kPathBytes && access(path, X_OK) == 0) return 1;
    folders += length;
    if (*folders == ':') ++folders;
  }
  return 0;
}

static acme_result no_program(const acme_command* command, char* message) {
  snprintf(message, ACME_MESSAGE_BYTES,
           "there is no compiler: no folder of PATH has %.200s (%.200s)", command->program,
           command->package);
  return acme_failed(STRIA_UNAVAILABLE, 0, message);
}

acme_result acme_command_identity(const acme_command* command, char* identity, char* message) {
  char path[kPathBytes];
  struct stat file;
  if (!find_program(command, path) || stat(path, &file) != 0) return no_program(command, message);
  snprintf(identity, ACME_IDENTITY_BYTES, "%s, %lld bytes of %lld, %.1023s", path,
           (long long)file.st_size, (long long)file.st_mtime, command->arguments);
  return acme_well();
}

// ---- files: one folder for each compilation, which goes with it, unless the compiler refuses what
// the generator has made: then its author wants to see it

typedef struct work_folder {
  char path[kPathBytes];
  char source[kPathBytes + 64], object[kPathBytes + 64], said[kPathBytes + 64];
  int is_kept;
} work_folder;

static int make_folder(const char* input, const char* output, work_folder* folder, char* message) {
  const char* around = getenv("TMPDIR");
  if (around == NULL || *around == 0) around = "/tmp";
  const int length = snprintf(folder->path, kPathBytes, "%s/acme_XXXXXX", around);
  if (length < 0 || length >= kPathBytes || mkdtemp(folder->path) == NULL) {
    snprintf(message, ACME_MESSAGE_BYTES, "cannot make a folder in %.200s: %s", around,
             length >= kPathBytes ? "its path is too long" : strerror(errno));
    return 0;
  }
  snprintf(folder->source, sizeof folder->source, "%s/%s", folder->path, input);
  snprintf(folder->object, sizeof folder->object, "%s/%s", folder->path, output);
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

// The words of a command, which point into `text`, with the paths of the files; NULL behind the
// last one. 0 if there are too many.
enum { kMostWords = 64, kArgumentBytes = 1024 };
static int split_words(char* text, char* program, work_folder* folder, char** words) {
  size_t count = 0;
  char* rest = NULL;
  words[count++] = program;
  for (char* word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    if (count + 1 == kMostWords) return 0;
    if (strcmp(word, "INPUT") == 0) word = folder->source;
    if (strcmp(word, "OUTPUT") == 0) word = folder->object;
    words[count++] = word;
  }
  words[count] = NULL;
  return 1;
}

// 1 if the compiler ended well. What it says goes to a file.
static int run_program(const acme_command* command, char* path, work_folder* folder,
                       char* message) {
  char arguments[kArgumentBytes], *words[kMostWords];
  const int length = snprintf(arguments, sizeof arguments, "%s", command->arguments);
  if (length >= kArgumentBytes || !split_words(arguments, path, folder, words)) {
    snprintf(message, ACME_MESSAGE_BYTES,
             "the arguments of %.200s have %d bytes; at most %d bytes and %d words are taken", path,
             length, kArgumentBytes - 1, kMostWords - 2);
    return 0;
  }
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
  const int written =
      snprintf(message, ACME_MESSAGE_BYTES,
               "%.200s did not compile the kernels (%s); %s, and all that it said, are kept in "
               "%.2000s\n%s",
               path, how, command->input, folder->path, said ? first_error(said) : "");
  if (written >= ACME_MESSAGE_BYTES) {
    char* end = message + ACME_MESSAGE_BYTES - sizeof "\n…";
    while (((unsigned char)*end & 0xc0) == 0x80) --end;  // no half character of UTF-8
    memcpy(end, "\n…", sizeof "\n…");
  }
  free(said);
  return 0;
}

acme_result acme_command_compile(const acme_command* command, const char* text, size_t text_bytes,
                                 void** code, size_t* code_bytes, char* message) {
  char path[kPathBytes];
  if (!find_program(command, path)) return no_program(command, message);
  work_folder folder;
  if (!make_folder(command->input, command->output, &folder, message))
    return acme_failed(STRIA_UNAVAILABLE, 0, message);
  int well = write_file(folder.source, text, text_bytes, message) &&
             run_program(command, path, &folder, message);
  if (well) {
    *code = read_file(folder.object, code_bytes);
    well = *code != NULL;
    if (!well) snprintf(message, ACME_MESSAGE_BYTES, "%.200s gave no output", path);
  }
  remove_folder(&folder);
  return well ? acme_well() : acme_failed(STRIA_UNAVAILABLE, 0, message);
}

acme_result acme_with_file(const void* bytes, size_t size, char* message,
                           acme_result (*use)(const char* path, void* state, char* message),
                           void* state) {
  // A loader may take one of a name that it has loaded for the same: so each has a name of its own.
  work_folder folder;
  if (!make_folder("source", "kernels.so", &folder, message))
    return acme_failed(STRIA_UNAVAILABLE, 0, message);
  const acme_result result = write_file(folder.object, bytes, size, message)
                                 ? use(folder.object, state, message)
                                 : acme_failed(STRIA_UNAVAILABLE, 0, message);
  remove_folder(&folder);
  return result;
}
