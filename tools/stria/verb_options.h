// SPDX-License-Identifier: Apache-2.0
// The options of each verb, and what its --help says.
#pragma once

#include "command_line.h"

namespace CLI {
class App;
}

namespace stria::command {

void define(CLI::App* app, DevicesOptions& options);
void define(CLI::App* app, DoctorOptions& options);
void define(CLI::App* app, ConformOptions& options);
void define(CLI::App* app, RunOptions& options);
void define(CLI::App* app, CompileOptionsText& options);
void define(CLI::App* app, OptOptions& options);
void define(CLI::App* app, HwOptions& options);
void define(CLI::App* app, CalibrateCommand& options);
void define(CLI::App* app, FmtOptions& options);
void define(CLI::App* app, GradOptions& options);
void define(CLI::App* app, ReduceOptions& options);
void define(CLI::App* app, SimOptions& options);
void define(CLI::App* app, ShowOptions& options);
void define(CLI::App* app, PickVerb& options);
void define(CLI::App* app, NewPluginOptions& options);
void define(CLI::App* app, OpsOptions& options);

}  // namespace stria::command
