// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/inside_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stria/hal/boundary/info.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  // How the system names what is open here.
  fs::path link() const { return "/proc/self/fd/" + std::to_string(number_); }
  struct stat info() const {
    struct stat out{};
    if (::fstat(number_, &out) != 0) out = {};
    return out;
  }

 private:
  int number_;
};

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Where the opened file lies; empty if that cannot be said.
fs::path place_of(const Descriptor& opened, const fs::path& path) {
  std::error_code error;
  fs::path place = fs::read_symlink(opened.link(), error);
  if (!error) return place;
  // Without /proc: where the name leads now, if it still leads to the opened file.
  place = fs::canonical(path, error);
  struct stat now{};
  if (error || ::stat(place.c_str(), &now) != 0 || !same_file(now, opened.info())) return {};
  return place;
}

// `opened` is `file` of `directory`, open as a place only.
Status check_opened(const Descriptor& opened, const fs::path& directory, const fs::path& file,
                    std::string_view who) {
  // Nothing is done to what is no regular file: a pipe would wait for a writer.
  if (!opened.is_open() || !S_ISREG(opened.info().st_mode))
    return not_found("{}: '{}' is not a file there", who, shown_path(file));
  std::error_code error;
  const fs::path home = fs::canonical(directory, error);
  const fs::path real = place_of(opened, directory / file);
  if (error || real.empty())
    return make_error(StatusCode::permission_denied, "{}: it cannot be seen where '{}' lies", who,
                      shown_path(file));
  if (std::mismatch(home.begin(), home.end(), real.begin(), real.end()).first != home.end())
    return make_error(StatusCode::permission_denied,
                      "{}: '{}' is a link to '{}', outside the plugin's directory", who,
                      shown_path(file), shown_path(real));
  return Status();
}

Status cannot_read(std::string_view who, const fs::path& file) {
  return make_error(StatusCode::permission_denied, "{}: cannot read '{}': {}", who,
                    shown_path(file), std::strerror(errno));
}

}  // namespace

Status check_inside(const fs::path& directory, const fs::path& file, std::string_view who) {
  return check_opened(Descriptor(directory / file, O_PATH), directory, file, who);
}

Result<std::string> read_inside(const fs::path& directory, const fs::path& file, size_t max_bytes,
                                std::string_view who) {
  const Descriptor opened(directory / file, O_PATH);
  STRIA_RETURN_IF_ERROR(check_opened(opened, directory, file, who));
  std::error_code no_proc;
  const bool linked = fs::exists(opened.link(), no_proc);
  const Descriptor readable(linked ? opened.link() : directory / file, O_RDONLY | O_NONBLOCK);
  if (!readable.is_open()) return cannot_read(who, file);
  const struct stat info = readable.info();
  if (!same_file(info, opened.info()))
    return make_error(StatusCode::permission_denied, "{}: '{}' was replaced while it was opened",
                      who, shown_path(file));
  auto too_large = [&] {
    return invalid_argument("{}: '{}' is larger than the limit of {} bytes", who, shown_path(file),
                            max_bytes);
  };
  if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_large();
  std::string bytes;
  char chunk[1 << 16];
  while (true) {
    const ssize_t count = ::read(readable.number(), chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(who, file);
    if (count == 0) return bytes;
    bytes.append(chunk, static_cast<size_t>(count));
    if (bytes.size() > max_bytes) return too_large();
  }
}

}  // namespace stria::hal
