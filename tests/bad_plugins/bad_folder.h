// SPDX-License-Identifier: Apache-2.0
// Makes plugin directories that look right, to be spoilt by a test.
#pragma once

#include <filesystem>
#include <string>

#include "scripted_host.h"

namespace stria::bad_plugins {

namespace fs = std::filesystem;

// The text of a manifest, part by part.
struct ManifestText {
  std::string id;
  std::string version = "1.0.0";
  std::string library = "libbad.so";
  std::string abi = "[1, 5]";
  std::string stripe = "[0, 0]";
  std::string kind = "reference";
  std::string more;  // further keys, each after a comma
  std::string text() const;
};

// Writes a file that only its owner may write; its folder too.
void put(const fs::path& path, const std::string& bytes);

// folder/`name`: a whole plugin with that id whose shared object does what `misdeed` says (see
// bad_plugin.cc).
fs::path make_bad(const fs::path& folder, const std::string& name, const std::string& misdeed = "");
// The same with another manifest; its id is `name`.
fs::path make_bad(const fs::path& folder, const std::string& name, ManifestText manifest);

// A shared object that the build made: "bad", "extra_exports", "no_query", "undefined", "hangs".
fs::path built_object(const std::string& name);

}  // namespace stria::bad_plugins
