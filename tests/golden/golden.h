// SPDX-License-Identifier: Apache-2.0
// Golden tests: small text files that show what a stage makes of an input. A file `NAME.test` in
// tests/golden/<stage>/ (or a folder below it) reads
//
//     // RUN: options of the stage, free text (may be left out or stand on several lines)
//     // WHY: one sentence: what would break that this test shows
//     input …
//     // ----
//     expected output …
//
// tools/golden_update.sh (or STRIA_UPDATE_GOLDEN=1) rewrites the part below the line; read the
// diff.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"

namespace stria::golden {

struct Case {
  std::string name;  // path below the stage's folder, without ".test"
  std::string run;   // what follows "// RUN:", lines joined by a line break, trimmed
  SourceText input;  // everything above the line "// ----", the head included (comments to every
                     // language here), so that messages have the file's own line numbers
  // Value of the word "key=value" in `run`, or `otherwise`.
  std::string option(std::string_view key, std::string_view otherwise = "") const;
};

// Makes the output from a case. A failure is output too: "error: " and its message.
using Stage = std::function<Result<std::string>(const Case&)>;

// The main function of a stage's test binary: one test for every *.test file at or below
// tests/golden/<folder>. Fails if there is none.
int run_stage(int argc, char** argv, const std::string& folder, Stage stage);

}  // namespace stria::golden
