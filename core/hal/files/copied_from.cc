// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/copied_from.h"

#include <algorithm>
#include <system_error>

#include "stria/hal/files/inside_file.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopiedFrom = "copied_from.txt";
constexpr size_t kMaxPath = 4096;
// Far beyond any model and any pipeline.
constexpr size_t kMaxJsonBytes = size_t{64} << 20;

// The folder of the sources; empty if nothing says one.
fs::path source_folder(const fs::path& directory) {
  auto text = read_inside(directory, kCopiedFrom, kMaxPath, "");
  if (!text.ok()) return {};
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->find('\0') != std::string::npos) return {};
  const fs::path folder = *text;
  return folder.is_absolute() ? folder : fs::path();
}

bool is_edited(const fs::path& directory, const fs::path& folder, const fs::path& file) {
  const auto copy = read_inside(directory, file, kMaxJsonBytes, "");
  const auto source = read_inside(folder, file, kMaxJsonBytes, "");
  if (!copy.ok() || !source.ok() || *copy == *source) return false;
  std::error_code no_source, no_copy;
  const auto edited = fs::last_write_time(folder / file, no_source);
  const auto built = fs::last_write_time(directory / file, no_copy);
  return !no_source && !no_copy && edited > built;
}

}  // namespace

fs::path file_to_edit(const fs::path& directory, const fs::path& file, std::string_view text) {
  const fs::path folder = source_folder(directory);
  if (folder.empty()) return directory / file;
  // Beyond the size of the copy it is another text.
  const auto source = read_inside(folder, file, text.size(), "");
  return source.ok() && *source == text ? folder / file : directory / file;
}

fs::path file_to_edit(const fs::path& directory, const fs::path& file) {
  const auto text = read_inside(directory, file, kMaxJsonBytes, "");
  return text.ok() ? file_to_edit(directory, file, *text) : directory / file;
}

std::vector<fs::path> edited_since_build(const fs::path& directory) {
  const fs::path folder = source_folder(directory);
  if (folder.empty()) return {};
  std::vector<fs::path> out;
  for (const char* below : {"", "hw", "passes"}) {
    std::error_code error;
    for (fs::directory_iterator entries(directory / below, error), end; !error && entries != end;
         entries.increment(error)) {
      const fs::path file = fs::path(below) / entries->path().filename();
      if (file.extension() == ".json" && is_edited(directory, folder, file))
        out.push_back(folder / file);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace stria::hal
