// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/own_files.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include "stria/hal/files/trust.h"

namespace stria::hal {

std::filesystem::path own_executable() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return path;
  // Without /proc, the name that it was started by: whoever started it chose that.
  const char* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr || is_elevated()) return {};
  path = std::filesystem::canonical(name, error);
  return error ? std::filesystem::path() : path;
}

std::filesystem::path own_library() {
  Dl_info info;
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<const void*>(&own_library), &info, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0)
    return {};
  // The executable's entry has an empty name.
  if (map == nullptr || map->l_name == nullptr || *map->l_name == '\0') return {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(map->l_name, error);
  return error ? std::filesystem::path() : path;
}

std::filesystem::path own_program(std::string_view name) {
  for (const std::filesystem::path& file : {own_executable(), own_library()}) {
    if (file.empty()) continue;
    std::error_code error;
    std::filesystem::path program = file.parent_path().parent_path() / "lib/stria" / name;
    if (std::filesystem::is_regular_file(program, error)) return program;
  }
  return {};
}

}  // namespace stria::hal
