// SPDX-License-Identifier: Apache-2.0
// The files that a command line names: none is written twice, none is written that is also read.
#pragma once

#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

// A path, and what gave it: "--output R", "PROG".
struct NamedFile {
  std::string option;
  std::string path;
};

// ExitCode::usage, with both spellings, if two of `outputs` are the same file, by whatever paths,
// or if one is also among `inputs`. A file that cannot be written is not checked here.
Outcome check_files_differ(const std::vector<NamedFile>& outputs,
                           const std::vector<NamedFile>& inputs);

}  // namespace stria::command
