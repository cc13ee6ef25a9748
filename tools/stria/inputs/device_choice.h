// SPDX-License-Identifier: Apache-2.0
// What --device, $STRIA_DEVICE and --select say, before any plugin is loaded.
#pragma once

#include <string>

#include "failure.h"

namespace stria::command {

// Makes the text of a selector of what the command line has: of @FILE what is in the file, and of
// nothing ($STRIA_DEVICE, or auto) where `left_out`. ExitCode::program for a file that cannot be
// read; ExitCode::usage, with its name, for a file or variable that is malformed.
Outcome take_selector(std::string& text, bool left_out);

// ExitCode::usage for a selector that is malformed, or asks for what cannot be kept: with or
// without a program to predict.
Outcome check_selector(const std::string& text, bool has_program = false);

}  // namespace stria::command
