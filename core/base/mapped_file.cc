// SPDX-License-Identifier: Apache-2.0
#include "stria/base/mapped_file.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "stria/base/input_file.h"
#include "stria/base/shown_text.h"

namespace stria {

namespace fs = std::filesystem;

Result<std::shared_ptr<const MappedFile>> MappedFile::map(InputFile file) {
  std::shared_ptr<MappedFile> out(new MappedFile());
  // Of a stream, and of a file of which a part may have been read by others, only what is left.
  if (!file.size() || file.was_given()) {
    STRIA_ASSIGN(out->read_, file.read_rest(kMaxStreamBytes));
    out->bytes_ = out->read_;
    return std::shared_ptr<const MappedFile>(std::move(out));
  }
  const size_t size = *file.size();
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) {
    const StatusCode code =
        errno == ENOMEM ? StatusCode::out_of_memory : StatusCode::invalid_argument;
    return make_error(code, "cannot map {}: {}", file.shown(), std::strerror(errno));
  }
  out->bytes_ = std::string_view(static_cast<const char*>(memory), size);
  return std::shared_ptr<const MappedFile>(std::move(out));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const fs::path& path) {
  STRIA_ASSIGN(InputFile file, InputFile::open(path));
  return map(std::move(file));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open_below(const fs::path& folder,
                                                                 const fs::path& name) {
  const auto refused = [&](std::string_view why) {
    return make_error(StatusCode::permission_denied, "'{}' {}", shown_name(name.string()), why);
  };
  if (name.is_absolute()) return refused("is an absolute path; it must lie in the folder or below");
  if (std::find(name.begin(), name.end(), "..") != name.end())
    return refused("has '..'; it must lie in the folder or below");
  STRIA_ASSIGN(InputFile file, InputFile::open(folder / name, kNoPatience));
  if (!file.is_regular()) return refused("is not a regular file");
  std::error_code no_home, no_place;
  const fs::path home = fs::canonical(folder, no_home);
  const fs::path place =
      fs::read_symlink(fmt::format("/proc/self/fd/{}", file.descriptor()), no_place);
  if (no_home || no_place) return refused("cannot be used: it cannot be seen where it lies");
  if (std::mismatch(home.begin(), home.end(), place.begin(), place.end()).first != home.end())
    return refused("is a link that leads out of the folder '" + shown_name(home.string()) + "'");
  return map(std::move(file));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty() && read_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace stria
