// SPDX-License-Identifier: Apache-2.0
// Opens the device that --device names, with the right exit code for what may go wrong, and ends
// the plugins afterwards.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/program_runner.h"
#include "stria/runtime/runtime.h"

namespace stria::command {

// Files of --hw, which refine the model of each device that is opened; the command line fills them
// in before a verb runs.
std::vector<std::string>& hw_overlay_files();

// The options that every verb wants: plugins' warnings and errors go to stderr. `time_limit_s`
// bounds each wait for a device and each call into a plugin; a call that does not come back ends
// the process with ExitCode::device and a message. 0: no bound. `threads`: as in RuntimeOptions.
RuntimeOptions runtime_options(double time_limit_s = 0, unsigned threads = 0);

// ExitCode::usage for a malformed selector and for what cannot be kept, ExitCode::device for all
// else. Loads only the plugins that are asked for, unless none of them exists. With `program`, a
// selector that leaves a choice passes over devices that lack what the program needs, and `auto`
// takes the one that is predicted to be best; `picked`, unless it is null, gets what the choice
// stands on, and changes nothing of it.
Outcome open_device(const std::string& selector, Device& device, double time_limit_s = 0,
                    unsigned threads = 0, const Compilation* program = nullptr,
                    Pick* picked = nullptr);

// The same for a program that hands over from device to device where the selector leaves a choice:
// opens none yet, and take_device() must be told of each that is opened. One name alone is opened.
Outcome open_runner(const std::string& selector, Compilation program, const RunnerOptions& options,
                    ProgramRunner& runner, double time_limit_s = 0, unsigned threads = 0,
                    Pick* picked = nullptr);

// For a list of selectors with semicolons between, which has been checked: loads the plugins that
// any of them means. take_device() must be told of each device that is opened.
Runtime runtime_for_devices(const std::string& list, double time_limit_s = 0, unsigned threads = 0);

// From here on it is this device's plugin that works, crashes or changes the process.
void take_device(const Device& device);

// Call it after the plugin's work, and before anything is written. If the plugin has changed the
// process since open_device() (the working folder, the outputs, limits), that is the plugin's
// failure, for what is written would go elsewhere. A copy of the process that it has forked ends
// here.
Outcome check_process();

// Ends the plugins whose devices were opened (driver.shutdown: they may write caches and traces),
// once the verb has dropped all that came from them. What goes wrong there is said on stderr, and
// takes no result away.
void end_plugins();

}  // namespace stria::command
