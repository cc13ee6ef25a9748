// SPDX-License-Identifier: Apache-2.0
#include "system_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "stria/reader.h"
#include "stria/sdk/error.h"
#include "temporary_folder.h"

extern char** environ;

namespace c_generator {
namespace {

constexpr const char* kOptions = "-O2 -fPIC -shared " STRIA_C_FLAGS;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return in ? out.str() : std::string();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw stria::sdk::Error(STRIA_UNAVAILABLE, "cannot write " + path + ": " + strerror(errno));
}

// How a command ended, "" if well; what it says goes to the file `said`.
std::string run(const std::vector<std::string>& command, const std::string& said) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failure = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0)
    throw stria::sdk::Error(STRIA_UNAVAILABLE,
                            "cannot start " + command[0] + ": " + strerror(failure));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw stria::sdk::Error(STRIA_INTERNAL,
                              "cannot wait for " + command[0] + ": " + strerror(errno));
  if (status == 0) return "";
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

SystemCompiler::SystemCompiler() {
  const char* folders = std::getenv("PATH");
  std::istringstream list(folders ? folders : "/usr/bin:/bin");
  for (std::string folder; std::getline(list, folder, ':');) {
    const std::string candidate = folder + "/cc";
    if (!folder.empty() && folder[0] == '/' && access(candidate.c_str(), X_OK) == 0) {
      path_ = candidate;
      break;
    }
  }
  if (path_.empty()) {
    missing_ = "there is no C compiler: no folder of PATH has cc (Debian: package gcc)";
    return;
  }
  struct stat file{};
  stat(path_.c_str(), &file);
  identity_ = path_ + ", " + std::to_string(file.st_size) + " bytes of " +
              std::to_string(file.st_mtime) + ", " + kOptions;
}

std::string SystemCompiler::compile(const std::string& text) const {
  const TemporaryFolder folder;
  const std::string source = folder.file("kernels.c"), object = folder.file("kernels.so"),
                    said = folder.file("said");
  write(source, text);
  std::vector<std::string> command = {path_};
  for (const std::string& option : words_of(kOptions)) command.push_back(option);
  for (const std::string& word : {std::string("-o"), object, source, std::string("-lm")})
    command.push_back(word);
  const std::string failed = run(command, said);
  const std::string code = failed.empty() ? read(object) : std::string();
  if (code.empty())
    throw stria::sdk::Error(STRIA_UNAVAILABLE, path_ + " did not compile the kernels (" +
                                                   (failed.empty() ? "no output" : failed) +
                                                   "): " + read(said).substr(0, 2000));
  return code;
}

}  // namespace c_generator
