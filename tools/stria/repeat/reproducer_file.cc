// SPDX-License-Identifier: Apache-2.0
#include "repeat/reproducer_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

#include "plugin_guard.h"
#include "stria/base/check_failed.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/hal/files/sha256.h"

namespace stria::command {
namespace {

// What a signal handler needs, ready to be written with system calls alone.
struct Begun {
  std::string path;
  std::string text;
  std::string message;
};
std::atomic<const Begun*> begun = nullptr;

bool write_all(int file, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    at += static_cast<size_t>(count);
  }
  return true;
}

// Of what was begun, if anything. Safe in a signal handler.
void write_reproducer_of_crash() {
  const Begun* const crashed = begun.exchange(nullptr);
  if (crashed == nullptr) return;
  const int file = ::open(crashed->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno != EEXIST) return;
  const bool complete = file < 0 || write_all(file, crashed->text);
  if (file >= 0) ::close(file);
  if (!complete) {
    ::unlink(crashed->path.c_str());
    return;
  }
  (void)write_all(STDERR_FILENO, crashed->message);
}

void listen(void (*handler)()) {
  set_crash_handler(handler);
  set_check_failed_handler(handler);
}

// The first name that is free or already holds `text`.
std::string path_for(const std::string& folder, const std::string& text) {
  const std::string stem =
      (std::filesystem::path(folder) / ("stria-repro-" + hal::sha256(text).substr(0, 12))).string();
  for (int n = 1;; ++n) {
    const std::string path = stem + (n == 1 ? "" : "-" + std::to_string(n)) + ".stripe";
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return path;
    auto there = read_file(path, text.size() + 1);
    if (there.ok() && *there == text) return path;
  }
}

// "stria opt --run-repro PATH": the verb stands in the text's second line.
std::string command_for(const std::string& text, const std::string& path) {
  const size_t verb = text.find("stria ", text.find('\n'));
  return text.substr(verb, text.find(" FILE", verb) - verb) + " " + path;
}

}  // namespace

ReproducerFile::ReproducerFile(std::string folder) : folder_(std::move(folder)) {
  listen(write_reproducer_of_crash);
}

ReproducerFile::~ReproducerFile() {
  end();
  listen(nullptr);
}

void ReproducerFile::begin(const std::string& reproducer) {
  end();
  auto next = std::make_unique<Begun>();
  next->path = path_for(folder_, reproducer);
  next->text = reproducer;
  next->message =
      fmt::format("stria: crashed; to see it again: {}\n", command_for(reproducer, next->path));
  begun.store(next.release());
}

void ReproducerFile::end() { delete begun.exchange(nullptr); }

Outcome ReproducerFile::around(const std::function<Outcome()>& verb) {
  std::error_code error;
  if (!folder_.empty() && !std::filesystem::is_directory(folder_, error))
    return Outcome(ExitCode::program,
                   not_found("--repro-dir '{}': there is no such folder", shown_name(folder_)));
  Outcome outcome;
  try {
    outcome = verb();
  } catch (const std::bad_alloc&) {  // memory used up is nobody's bug
    throw;
  } catch (...) {
    write_reproducer_of_crash();
    throw;
  }
  if (outcome.ok() || failed_.empty()) return outcome;
  const std::string path = path_for(folder_, failed_);
  // If it is there it holds the same: see path_for.
  const Status written = write_new_file(path, failed_).status();
  std::string message = outcome.status().message();
  if (!message.ends_with('\n')) message += '\n';
  message += written.ok() ? "to see it again: " + command_for(failed_, path)
                          : "no file to see it again: " + written.message();
  return Outcome(outcome.code(), Status(outcome.status().code(), message));
}

}  // namespace stria::command
