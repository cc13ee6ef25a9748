// SPDX-License-Identifier: Apache-2.0
// A file that is read: a regular file, or a stream (a pipe, a terminal, what the process was given
// as a descriptor). Folders, devices and sockets are refused before they are opened. Nobody waits
// without end for a stream, and memory is taken only for what has been read.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "stria/base/status.h"

namespace stria {

// How long the reader of a stream waits. A terminal is waited for without a limit: there a person
// types, and sees it.
struct StreamPatience {
  std::chrono::milliseconds writer{10'000};  // for somebody to open a named pipe for writing
  std::chrono::milliseconds bytes{60'000};   // for more of what somebody writes
};

// For files of ours, which are none if they are pipes: nobody is waited for.
inline constexpr StreamPatience kNoPatience{.writer = {}, .bytes = {}};

class InputFile {
 public:
  // not_found, permission_denied, or invalid_argument if it is neither a regular file nor a stream.
  static Result<InputFile> open(const std::filesystem::path& path, StreamPatience patience = {});
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Bytes of a regular file; nothing if only its end tells: of a stream, of a file that the kernel
  // makes up (/proc).
  std::optional<uint64_t> size() const { return size_; }
  bool is_regular() const { return !stream_; }
  // Whether it was opened before, and is read from where it was left.
  bool was_given() const { return given_; }
  // Stays the file's own.
  int descriptor() const { return descriptor_; }
  // As messages show it, in quotes.
  const std::string& shown() const { return shown_; }

  // The next bytes: `count`, or fewer where the file ends. deadline_exceeded if a stream is silent
  // for too long.
  Result<size_t> read(char* to, size_t count);
  // All that is left. invalid_argument if that is more than `max_bytes`, before it is read if the
  // size is known.
  Result<std::string> read_rest(size_t max_bytes);
  // data_loss if the file is no longer as it was when it was opened: what has been read may be
  // parts of two versions. Asked after the last read.
  Status check_unchanged() const;

 private:
  InputFile(std::string shown, int descriptor, StreamPatience patience)
      : shown_(std::move(shown)), descriptor_(descriptor), patience_(patience) {}
  Result<size_t> read_stream(char* to, size_t count);
  Status too_large(size_t max_bytes) const;

  std::string shown_;
  int descriptor_ = -1;
  StreamPatience patience_;
  bool stream_ = false, terminal_ = false, given_ = false;
  std::optional<uint64_t> size_;
  // As found at first.
  int64_t whole_size_ = 0, changed_ns_ = 0;
};

// The descriptor of this process that a path such as /dev/stdin, /dev/fd/63 or /proc/self/fd/0
// names; -1 if it is no such path.
int descriptor_named(const std::filesystem::path& path);

}  // namespace stria
