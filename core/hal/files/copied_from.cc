// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/copied_from.h"

#include <fmt/format.h>

#include <system_error>

#include "stria/hal/boundary/info.h"
#include "stria/hal/files/inside_file.h"

namespace stria::hal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "copied_from.txt";
constexpr size_t kMaxPath = 4096;

// The folder of the sources; empty if nothing says one.
fs::path source_folder(const fs::path& directory) {
  auto text = read_inside(directory, kFile, kMaxPath, "");
  if (!text.ok()) return {};
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->find('\0') != std::string::npos) return {};
  return *text;
}

}  // namespace

std::string name_to_edit(const fs::path& directory, const fs::path& file, std::string_view text) {
  const fs::path copy = directory / file;
  const fs::path folder = source_folder(directory);
  if (!folder.is_absolute()) return copy.string();
  // Beyond the size of the copy it is another text.
  const auto source = read_inside(folder, file, text.size(), "");
  if (source.ok() && *source == text) return (folder / file).string();
  std::error_code no_source;
  std::error_code no_edit;
  std::error_code no_copy;
  const auto edited = fs::last_write_time(folder / file, no_edit);
  const auto built = fs::last_write_time(copy, no_copy);
  const bool is_file = fs::is_regular_file(folder / file, no_source);
  if (!is_file || no_edit || no_copy || edited <= built) return copy.string();
  return fmt::format("{} (a copy that is older than {}: build again)", copy.string(),
                     shown_path(folder / file));
}

}  // namespace stria::hal
