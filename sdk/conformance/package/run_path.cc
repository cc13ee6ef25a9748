// SPDX-License-Identifier: Apache-2.0
#include "package/run_path.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

// Everybody's on every machine, whether or not they are there on this one.
constexpr std::array kEverybodys = {"/tmp", "/var/tmp", "/dev/shm"};

// What follows $ORIGIN or ${ORIGIN}, which the loader replaces by the object's folder; nothing if
// `entry` does not begin so.
std::optional<std::string_view> after_origin(std::string_view entry) {
  for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
    if (entry.substr(0, token.size()) != token) continue;
    const std::string_view rest = entry.substr(token.size());
    // $ORIGINAL is no token.
    if (token.back() == '}' || rest.empty() || rest[0] == '/') return rest;
  }
  return std::nullopt;
}

// Without "..", "." and a slash at its end; links stay.
fs::path plain(const fs::path& path) {
  fs::path out = path.lexically_normal();
  return out.has_filename() || !out.has_relative_path() ? out : out.parent_path();
}

bool is_in(const fs::path& path, const fs::path& folder) {
  auto at = path.begin();
  for (const fs::path& part : folder)
    if (at == path.end() || *at++ != part) return false;
  return true;
}

bool is_everybodys(const fs::path& folder) {
  for (const char* known : kEverybodys)
    if (folder == known) return true;
  struct stat info{};
  return ::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         (info.st_mode & S_IWOTH) != 0;
}

// The folder, among `path` and those that it lies in, that everybody may write to; "" if none is.
// Those that `known` lies in do not count.
fs::path everybodys_folder(const fs::path& path, const fs::path& known) {
  fs::path folder;
  for (const fs::path& part : path) {
    folder /= part;
    if (!is_in(known, folder) && is_everybodys(folder)) return folder;
  }
  return {};
}

}  // namespace

std::string run_path_fault(const std::string& entry, const fs::path& library,
                           const fs::path& directory) {
  if (entry.empty()) return "an empty entry is the working folder of whoever starts the program";
  const auto rest = after_origin(entry);
  if (!rest && entry[0] != '/')
    return "it is relative, and begins in the working folder of whoever starts the program";
  const fs::path origin = library.parent_path();
  const fs::path named(rest ? origin.string() + std::string(*rest) : entry);
  const fs::path path = plain(named);
  // Whose the plugin's own folder is, is looked at by itself.
  std::error_code error;
  const fs::path real = fs::weakly_canonical(named, error);
  const fs::path home = fs::weakly_canonical(directory, error);
  if (is_in(path, plain(directory)) && is_in(real, home)) return "";
  // Where the plugin was unpacked is not its own choice: what lies beside it lies there too.
  for (const auto& [looked_at, known] :
       {std::pair{path, rest ? plain(origin) : fs::path()},
        {real, rest ? fs::weakly_canonical(origin, error) : fs::path()}})
    if (const fs::path folder = everybodys_folder(looked_at, known); !folder.empty())
      return fmt::format("everybody may write to '{}'", folder.string());
  return "";
}

}  // namespace stria::conformance
