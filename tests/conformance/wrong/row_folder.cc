// SPDX-License-Identifier: Apache-2.0
#include "row_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "plugin/wrong_object.h"
#include "stria/base/file.h"

namespace stria::wrong {
namespace {

namespace fs = std::filesystem;

const fs::path kBoard = fs::path(STRIA_SOURCE_DIR) / "tests/conformance/wrong/board";
const fs::path kObjects = fs::path(STRIA_BINARY_DIR) / "tests/conformance/wrong";

Status put(const fs::path& path, const std::string& text) {
  STRIA_RETURN_IF_ERROR(write_file(path, text));
  fs::permissions(path, fs::perms(0644));
  return Status();
}

Status replace(const fs::path& path, const std::string& from, const std::string& to) {
  STRIA_ASSIGN(std::string text, read_file(path));
  const size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    return make_error(StatusCode::invalid_argument, "'{}' does not stand in {} once", from,
                      path.string());
  return put(path, text.replace(at, from.size(), to));
}

Status apply(const FileEdit& edit, const fs::path& folder) {
  const fs::path path = folder / edit.file;
  if (edit.text) return put(path, *edit.text);
  if (edit.mode) {
    fs::permissions(path, static_cast<fs::perms>(std::stoi(*edit.mode, nullptr, 8)));
    return Status();
  }
  if (edit.link) {
    fs::create_symlink(*edit.link, path);
    return Status();
  }
  if (edit.remove) {
    fs::remove(path);
    return Status();
  }
  if (edit.pipe) {
    if (::mkfifo(path.c_str(), 0644) == 0) return Status();
    return make_error(StatusCode::unavailable, "no pipe {}: {}", path.string(),
                      std::strerror(errno));
  }
  return replace(path, edit.from, edit.to);
}

}  // namespace

Result<RowFolder> RowFolder::make(const fs::path& parent, const Row& row) {
  const fs::path path = parent / "plugins" / fmt::format("{}.{}", row.name, row.piece);
  RowFolder out(path);
  try {
    fs::create_directories(path);
    fs::copy(kBoard, path, fs::copy_options::recursive);
    for (const char* object : {"libwrong.so", "libloose.so", "libmute.so"})
      fs::copy_file(kObjects / object, path / object);
    // A checkout and a build may be writable for a group: nobody loads plugins from there.
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      fs::permissions(entry.path(), fs::perms::group_write | fs::perms::others_write,
                      fs::perm_options::remove);
    fs::permissions(path, fs::perms(0755));
    // Of a row that is about the folder alone the object is right.
    const std::string_view mistake = is_known(row.name) ? std::string_view(row.name) : "none";
    STRIA_RETURN_IF_ERROR(put(path / "mistake", fmt::format("{}\n", mistake)));
    for (const FileEdit& edit : row.files) STRIA_RETURN_IF_ERROR(apply(edit, path));
  } catch (const fs::filesystem_error& error) {
    return make_error(StatusCode::unavailable, "{}: {}", row.name, error.what());
  }
  return out;
}

RowFolder::RowFolder(RowFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

RowFolder::~RowFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace stria::wrong
