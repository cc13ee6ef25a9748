// SPDX-License-Identifier: Apache-2.0
// --set NAME=VALUE, for the templates that a verb was given.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "stria/base/diagnostic.h"
#include "stria/base/file.h"
#include "stria/runtime/compile_options.h"
#include "stria/runtime/device.h"
#include "stria/template/template_text.h"

namespace stria::command {

// A file's text under its path; refused beyond `max_bytes`.
Result<SourceText> read_source(const std::string& path, size_t max_bytes);

// Reads the settings; ExitCode::usage for a malformed one.
Outcome parse_settings(const std::vector<std::string>& texts, TemplateSettings& settings);

// ExitCode::usage, with the nearest name, for a setting that is a parameter of none of `files` (an
// empty name: not given). `needed` says which options would give a file, "--hw or --pipeline".
Outcome check_settings(const TemplateSettings& settings, const std::vector<SourceText>& files,
                       const std::string& needed);

// ExitCode::usage for a setting that the pipeline with which `device` would compile does not take;
// ExitCode::program if that pipeline is wrong without any setting.
Outcome check_parameters(const Device& device, const CompileOptions& options);

}  // namespace stria::command
