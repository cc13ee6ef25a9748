// SPDX-License-Identifier: Apache-2.0
// The files of a new plugin: those of sdk/templates that a choice asks for, in its name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stria/base/status.h"

namespace stria::command {

struct PluginChoice {
  std::string name;
  std::string language = "c++";  // c, c++ or rust
  std::string memory = "host";   // host or own
  std::string queue = "host";    // host or own
  std::string codegen = "none";  // none or c
};

struct ProjectFile {
  std::filesystem::path path;  // in the project's folder
  std::string text;
  bool executable = false;
};

// usage errors, with the nearest value.
Status check_choice(const PluginChoice& choice);

// The folder of templates of this installation or build; not_found says where it was looked for.
Result<std::filesystem::path> template_folder();

// A name that would make two things of the project's source one is a usage error.
Status check_name_in_source(const std::filesystem::path& templates, const PluginChoice& choice);

// In order of their paths. Parts of README.md that lie in several folders follow one another.
Result<std::vector<ProjectFile>> project_files(const std::filesystem::path& templates,
                                               const PluginChoice& choice);

}  // namespace stria::command
