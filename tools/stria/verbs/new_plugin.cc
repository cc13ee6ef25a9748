// SPDX-License-Identifier: Apache-2.0
#include "verbs/new_plugin.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "new_plugin/plugin_name.h"
#include "new_plugin/project_folder.h"
#include "stria/base/shown_text.h"
#include "stria/hal/files/manifest.h"
#include "stria/hal/files/own_files.h"
#include "stria/hal/plugin_set.h"

namespace stria::command {
namespace {

namespace fs = std::filesystem;

// Plugins of stria's own, whether this installation has them or not.
constexpr std::string_view kOwn[] = {"cuda", "llvm_cpu", "opencl", "reference", "sim", "vulkan"};

// Two plugins of one name hide each other.
Status check_not_taken(const std::string& name) {
  if (std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn))
    return invalid_argument("'{}' is a plugin of stria's own: take another name", name);
  for (const hal::FoundPlugin& found : hal::find_plugins({})) {
    if (!found.search.ok()) continue;
    const auto manifest = hal::read_manifest(found.directory);
    const std::string id =
        manifest.ok() ? manifest->id : std::string(found.directory.filename().string());
    if (id == name)
      return invalid_argument("there is a plugin '{}' already, in '{}': take another name", name,
                              shown_name(found.directory.string()));
  }
  return Status();
}

// A word of a shell's command line.
std::string quoted(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '/' || c == '_' || c == '.' || c == '-';
  });
  if (plain && !text.empty()) return text;
  std::string out = "'";
  for (char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// Whether a folder of PATH has the program.
bool on_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// cmake takes make unless it is told otherwise.
bool needs_ninja() {
  return std::getenv("CMAKE_GENERATOR") == nullptr && !on_path("make") && on_path("ninja");
}

void print_next(const PluginChoice& choice) {
  const fs::path prefix = hal::own_executable().parent_path().parent_path();
  std::error_code error;
  const bool installed = fs::exists(prefix / "lib/cmake/stria/striaConfig.cmake", error);
  const std::string where = installed ? quoted(shown_name(prefix.string(), 4096)) : "PREFIX";
  const char* name = choice.name.c_str();
  std::printf("wrote %s: README.md says what is in it\nnext:\n", name);
  if (choice.language == "rust")
    std::printf(
        "  %s/make_plugin.sh %s\n  STRIA_PREFIX=%s cargo test --manifest-path %s/Cargo.toml\n"
        "  %s/check.sh %s/target/plugins %s/bin/stria\n",
        name, where.c_str(), where.c_str(), name, name, name, where.c_str());
  else
    std::printf(
        "%s  cmake -S %s -B %s/build -DCMAKE_PREFIX_PATH=%s -DCMAKE_BUILD_TYPE=Release\n"
        "  cmake --build %s/build\n"
        "  %s/check.sh %s/build/lib/stria/plugins %s/bin/stria\n",
        needs_ninja() ? "  export CMAKE_GENERATOR=Ninja\n" : "", name, name, where.c_str(), name,
        name, name, where.c_str());
  if (!installed) std::printf("PREFIX: where stria is installed (cmake --install)\n");
}

}  // namespace

Outcome new_plugin(const NewPluginOptions& options) {
  const PluginChoice& choice = options.choice;
  STRIA_FAIL_IF_ERROR(ExitCode::usage, check_choice(choice));
  STRIA_FAIL_IF_ERROR(ExitCode::usage, check_plugin_name(choice.name));
  STRIA_FAIL_IF_ERROR(ExitCode::program, check_not_taken(choice.name));
  STRIA_OR_FAIL(const fs::path templates, ExitCode::program, template_folder());
  STRIA_FAIL_IF_ERROR(ExitCode::usage, check_name_in_source(templates, choice));
  STRIA_OR_FAIL(const std::vector<ProjectFile> files, ExitCode::program,
                project_files(templates, choice));
  std::error_code error;
  const fs::path folder = fs::current_path(error) / choice.name;
  if (error)
    return Outcome(ExitCode::program,
                   invalid_argument("there is no working directory: {}", error.message()));
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_project(folder, files));
  print_next(choice);
  return Outcome();
}

}  // namespace stria::command
