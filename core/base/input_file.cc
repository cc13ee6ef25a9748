// SPDX-License-Identifier: Apache-2.0
#include "stria/base/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "stria/base/shown_text.h"

namespace stria {
namespace {

Status error_of(const std::string& shown, int number) {
  StatusCode code = StatusCode::invalid_argument;
  if (number == ENOENT) code = StatusCode::not_found;
  if (number == EACCES || number == EPERM) code = StatusCode::permission_denied;
  return make_error(code, "cannot read {}: {}", shown, std::strerror(number));
}

// What a file is that cannot be read as one; "" if it can.
const char* kind_of_no_file(const struct stat& info, bool terminal) {
  if (S_ISDIR(info.st_mode)) return "a folder";
  if (S_ISBLK(info.st_mode)) return "a block device";
  if (S_ISCHR(info.st_mode) && !terminal) return "a device";
  return "";
}

int64_t changed_ns(const struct stat& info) {
  return static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

int descriptor_named(const std::filesystem::path& path) {
  const std::string text = path.string();
  if (text == "/dev/stdin") return STDIN_FILENO;
  if (text == "/dev/stdout") return STDOUT_FILENO;
  if (text == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!text.starts_with(folder)) continue;
    int number = -1;
    const char* const end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data() + folder.size(), end, number);
    if (error == std::errc() && at == end && number >= 0) return number;
  }
  return -1;
}

Result<InputFile> InputFile::open(const std::filesystem::path& path, StreamPatience patience) {
  const std::string shown = "'" + shown_name(path.string()) + "'";
  if (path.empty()) return invalid_argument("cannot read '': the name of a file is empty");
  const int given = descriptor_named(path);
  int descriptor = -1;
  struct stat info{};
  if (given >= 0) {
    // Not opened anew: a socket could not be, and a file would be read from its beginning.
    descriptor = ::fcntl(given, F_DUPFD_CLOEXEC, 0);
  } else {
    // Looked at before it is opened: to open a device can mean something to it.
    if (::stat(path.c_str(), &info) != 0) return error_of(shown, errno);
    const char* kind = kind_of_no_file(info, true);
    if (S_ISSOCK(info.st_mode)) kind = "a socket";
    if (*kind != 0) return invalid_argument("cannot read {}: it is {}, not a file", shown, kind);
    // A pipe that nobody writes to would make open() wait.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }
  if (descriptor < 0) return error_of(shown, errno);
  InputFile file(shown, descriptor, patience);
  if (::fstat(descriptor, &info) != 0) return error_of(shown, errno);
  file.terminal_ = S_ISCHR(info.st_mode) && ::isatty(descriptor) == 1;
  // What was given as a descriptor is a stream whatever it is: < /dev/null is an empty one.
  if (const char* kind = kind_of_no_file(info, file.terminal_ || given >= 0); *kind != 0)
    return invalid_argument("cannot read {}: it is {}, not a file", shown, kind);
  file.stream_ = !S_ISREG(info.st_mode);
  file.given_ = given >= 0;
  if (!file.stream_ && info.st_size > 0) {
    // Of what was given as a descriptor a part may have been read by others.
    const off_t at = given >= 0 ? ::lseek(descriptor, 0, SEEK_CUR) : 0;
    const off_t left = info.st_size - std::max<off_t>(at, 0);
    file.size_ = static_cast<uint64_t>(std::max<off_t>(left, 0));
    file.whole_size_ = info.st_size;
    file.changed_ns_ = changed_ns(info);
  }
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : shown_(std::move(other.shown_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      patience_(other.patience_),
      stream_(other.stream_),
      terminal_(other.terminal_),
      given_(other.given_),
      size_(other.size_),
      whole_size_(other.whole_size_),
      changed_ns_(other.changed_ns_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// A named pipe that somebody has written to ends when the last writer goes; one that nobody has
// opened yet says nothing at all to poll().
Result<size_t> InputFile::read_stream(char* to, size_t count) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSliceMs = 20;
  const Clock::time_point begin = Clock::now();
  while (true) {
    pollfd wanted{descriptor_, POLLIN, 0};
    const int happened = ::poll(&wanted, 1, kSliceMs);
    if (happened < 0 && errno != EINTR) return error_of(shown_, errno);
    // A descriptor that was given may block: it is read only when it has something to say.
    const bool may_block = (::fcntl(descriptor_, F_GETFL) & O_NONBLOCK) == 0;
    const auto waited = Clock::now() - begin;
    if (happened > 0 || !may_block) {
      const ssize_t got = ::read(descriptor_, to, count);
      if (got > 0 || (got == 0 && happened > 0)) return static_cast<size_t>(got);
      if (got == 0 && !terminal_ && waited >= patience_.writer)
        return make_error(StatusCode::deadline_exceeded,
                          "cannot read {}: it is a pipe, and nobody has opened it for writing for "
                          "{:g} s",
                          shown_, std::chrono::duration<double>(patience_.writer).count());
      if (got < 0 && errno != EINTR && errno != EAGAIN) return error_of(shown_, errno);
    }
    if (!terminal_ && waited >= patience_.bytes)
      return make_error(StatusCode::deadline_exceeded,
                        "cannot read {}: whoever writes to it has been silent for {:g} s", shown_,
                        std::chrono::duration<double>(patience_.bytes).count());
  }
}

Result<size_t> InputFile::read(char* to, size_t count) {
  size_t all = 0;
  while (all < count) {
    size_t got = 0;
    if (stream_) {
      STRIA_ASSIGN(got, read_stream(to + all, count - all));
    } else {
      const ssize_t read = ::read(descriptor_, to + all, count - all);
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) return error_of(shown_, errno);
      got = static_cast<size_t>(read);
    }
    if (got == 0) break;
    all += got;
  }
  return all;
}

Status InputFile::too_large(size_t max_bytes) const {
  const std::string size = size_ ? fmt::format(": it has {}", *size_) : "";
  return invalid_argument("{} is larger than the limit of {} bytes{}", shown_, max_bytes, size);
}

Result<std::string> InputFile::read_rest(size_t max_bytes) {
  if (size_ && *size_ > max_bytes) return too_large(max_bytes);
  std::string bytes;
  // A size that is known is asked for at once, and one byte more, which is the end. Otherwise the
  // memory grows with what comes.
  size_t step = size_ ? static_cast<size_t>(*size_) + 1 : std::min(size_t{1} << 16, max_bytes + 1);
  while (true) {
    const size_t before = bytes.size();
    bytes.resize(before + step);
    STRIA_ASSIGN(const size_t got, read(bytes.data() + before, step));
    bytes.resize(before + got);
    if (bytes.size() > max_bytes) return too_large(max_bytes);
    if (got < step) break;
    step = std::min(bytes.size(), max_bytes - bytes.size() + 1);
  }
  return bytes;
}

Status InputFile::check_unchanged() const {
  struct stat info{};
  if (!size_ || ::fstat(descriptor_, &info) != 0 ||
      (changed_ns(info) == changed_ns_ && info.st_size == whole_size_))
    return Status();
  return make_error(StatusCode::data_loss, "cannot read {}: it was changed while it was read",
                    shown_);
}

}  // namespace stria
