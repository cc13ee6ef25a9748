// SPDX-License-Identifier: Apache-2.0
#include "new_plugin/project_template.h"

#include <algorithm>
#include <map>

#include "new_plugin/plugin_name.h"
#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/files/own_files.h"

namespace stria::command {
namespace {

namespace fs = std::filesystem;

Status check_value(const char* option, const std::string& value,
                   const std::vector<std::string>& values) {
  if (std::find(values.begin(), values.end(), value) != values.end()) return Status();
  return invalid_argument("{}: there is no '{}'{}; the values: {}", option, shown_name(value),
                          did_you_mean(value, values), join(values, ", "));
}

// Folders of templates: what comes later adds to what comes before.
std::vector<fs::path> parts_of(const PluginChoice& choice) {
  std::vector<std::string> wings;
  if (choice.language != "rust") wings.push_back("native");
  wings.push_back(choice.language == "c++" ? "cpp" : choice.language);
  std::vector<fs::path> parts = {"every"};
  for (const std::string& part : {std::string("base"), "memory_" + choice.memory,
                                  "queue_" + choice.queue, "codegen_" + choice.codegen})
    for (const std::string& wing : wings) parts.push_back(fs::path(wing) / part);
  return parts;
}

Status add_folder(const fs::path& folder, const std::string& name,
                  std::map<fs::path, ProjectFile>& files) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return Status();  // nothing of this kind
  std::vector<fs::path> paths;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (at->is_regular_file(error)) paths.push_back(at->path());
  if (error)
    return not_found("cannot read the templates in '{}': {}", shown_name(folder.string()),
                     error.message());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    STRIA_ASSIGN(const std::string text, read_file(path, kMaxJsonBytes));
    const fs::path target = with_plugin_name(path.lexically_relative(folder).string(), name);
    ProjectFile& file = files[target];
    if (!file.text.empty() && target != "README.md")
      return internal_error("two templates make '{}'", target.string());
    file.path = target;
    file.text += with_plugin_name(text, name);
    file.executable =
        (fs::status(path, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
  }
  return Status();
}

}  // namespace

Status check_choice(const PluginChoice& choice) {
  STRIA_RETURN_IF_ERROR(check_value("--lang", choice.language, {"c", "c++", "rust"}));
  STRIA_RETURN_IF_ERROR(check_value("--memory", choice.memory, {"host", "own"}));
  STRIA_RETURN_IF_ERROR(check_value("--queue", choice.queue, {"host", "own"}));
  return check_value("--codegen", choice.codegen, {"none", "c"});
}

Result<fs::path> template_folder() {
  const fs::path folder =
      hal::own_executable().parent_path().parent_path() / "share/stria/templates";
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder;
  return not_found("there are no templates of plugins in '{}': this stria is not installed whole",
                   shown_name(folder.string()));
}

Result<std::vector<ProjectFile>> project_files(const fs::path& templates,
                                               const PluginChoice& choice) {
  std::map<fs::path, ProjectFile> files;
  for (const fs::path& part : parts_of(choice))
    STRIA_RETURN_IF_ERROR(add_folder(templates / part, choice.name, files));
  std::vector<ProjectFile> out;
  for (auto& [path, file] : files) out.push_back(std::move(file));
  return out;
}

}  // namespace stria::command
