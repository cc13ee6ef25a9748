// SPDX-License-Identifier: Apache-2.0
// The mistakes, one row of data each: what is wrong with a plugin, and which case of the suite says
// so, how.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/case.h"

namespace stria::wrong {

// A change of the plugin's folder. One of the optional members says what is done with `file`; none:
// `from`, which must be there once, becomes `to`.
struct FileEdit {
  std::filesystem::path file;  // in the folder
  std::string from, to;
  std::optional<std::string> text;  // all of it
  std::optional<std::string> mode;  // "0777"
  std::optional<std::string> link;  // it becomes a link to that
  bool remove = false;
  bool pipe = false;
};

struct Row {
  std::string name;   // of the mistake, as the file `mistake` says it; see plugin/
  std::string what;   // for people
  std::string group;  // the file that it stands in, "memory"
  // Names and patterns of cases. One of them has to end in one of these ways; the plugin is right
  // if there are none, and all of them have to pass.
  std::vector<std::string> cases;
  std::vector<conformance::Ending> endings;
  conformance::Level level = conformance::Level::right;  // that the cases are of, at most
  std::string says;  // stands in the text of the case, or in what it printed
  // Shorter limits for the cases: of mistakes that hang.
  std::optional<std::chrono::milliseconds> limit;
  std::vector<FileEdit> files;
  bool full = false;  // takes long: runs in the full sweep only
  int piece = 0;      // of several rows with one name
};

// Of every JSON file in the folder.
Result<std::vector<Row>> read_rows(const std::filesystem::path& folder);

}  // namespace stria::wrong
