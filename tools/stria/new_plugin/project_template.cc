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

// What a value that there is not is mostly meant as: languages have other names too.
std::string meant(const std::string& value, const std::vector<std::string>& values) {
  static const std::map<std::string, std::string> kOtherNames = {
      {"C", "c"},       {"cpp", "c++"}, {"cxx", "c++"},       {"cc", "c++"},
      {"CPP", "c++"},   {"C++", "c++"}, {"cplusplus", "c++"}, {"rs", "rust"},
      {"Rust", "rust"}, {"no", "none"}, {"device", "own"}};
  const auto at = kOtherNames.find(value);
  if (at != kOtherNames.end() &&
      std::find(values.begin(), values.end(), at->second) != values.end())
    return fmt::format(", did you mean '{}'?", at->second);
  return did_you_mean(value, values);
}

Status check_value(const char* option, const std::string& value,
                   const std::vector<std::string>& values) {
  if (std::find(values.begin(), values.end(), value) != values.end()) return Status();
  return invalid_argument("{}: there is no '{}'{} (the values: {})", option, shown_name(value),
                          meant(value, values), join(values, ", "));
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

struct Template {
  fs::path path;  // in the project, with the templates' name
  std::string text;
  bool executable = false;
};

Status add_folder(const fs::path& folder, std::vector<Template>& templates) {
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
    STRIA_ASSIGN(std::string text, read_file(path, kMaxJsonBytes));
    const bool executable =
        (fs::status(path, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
    templates.push_back({path.lexically_relative(folder), std::move(text), executable});
  }
  return Status();
}

// Lines from "// only codegen_c" to "// end of codegen_c" are for projects with that part alone.
std::string lines_for(const std::string& text, const std::vector<fs::path>& parts) {
  std::string out, skipped;  // until the end of that part
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    const std::string words(trim(line));
    at = end;
    const std::string only = "// only ", end_of = "// end of ";
    if (words.starts_with(only)) {
      const std::string part = words.substr(only.size());
      if (std::none_of(parts.begin(), parts.end(),
                       [&](const fs::path& own) { return own.filename() == part; }))
        skipped = part;
    } else if (words.starts_with(end_of)) {
      skipped.clear();
    } else if (skipped.empty()) {
      out += line;
    }
  }
  return out;
}

Result<std::vector<Template>> templates_of(const fs::path& folder, const PluginChoice& choice) {
  std::vector<Template> out;
  const std::vector<fs::path> parts = parts_of(choice);
  for (const fs::path& part : parts) STRIA_RETURN_IF_ERROR(add_folder(folder / part, out));
  for (Template& file : out)
    if (file.path.extension() == ".json") file.text = lines_for(file.text, parts);
  return out;
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

Status check_name_in_source(const fs::path& templates, const PluginChoice& choice) {
  STRIA_ASSIGN(const std::vector<Template> parts, templates_of(templates, choice));
  // All of it as one: a name of one file is used in others. Texts for people are no source.
  std::string source;
  for (const Template& part : parts)
    if (part.path.begin()->string() == "src") source += part.text + "\n";
  const std::string taken = identifier_taken(source, choice.name);
  if (taken.empty()) return Status();
  return invalid_argument(
      "'{}' is no name for this project: its source in {} has a '{}' of its own beside that of the "
      "plugin; take another name",
      choice.name, choice.language, taken);
}

Result<std::vector<ProjectFile>> project_files(const fs::path& templates,
                                               const PluginChoice& choice) {
  STRIA_ASSIGN(const std::vector<Template> parts, templates_of(templates, choice));
  std::map<fs::path, ProjectFile> files;
  for (const Template& part : parts) {
    const fs::path target = with_plugin_name(part.path.string(), choice.name);
    ProjectFile& file = files[target];
    if (!file.text.empty() && target != "README.md")
      return internal_error("two templates make '{}'", target.string());
    file.path = target;
    file.text += with_plugin_name(part.text, choice.name);
    file.executable = part.executable;
  }
  std::vector<ProjectFile> out;
  for (auto& [path, file] : files) out.push_back(std::move(file));
  return out;
}

}  // namespace stria::command
