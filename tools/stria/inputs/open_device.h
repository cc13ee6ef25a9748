// SPDX-License-Identifier: Apache-2.0
// Opens the device that --device names, with the right exit code for what may go wrong, and ends
// what was opened.
#pragma once

#include <string>

#include "failure.h"
#include "stria/runtime/runtime.h"

namespace stria::command {

// Options as every verb wants them: plugins' warnings and errors go to stderr. `time_limit_s`
// bounds each wait for a device and each call into a plugin: one that does not come back ends the
// process with `device` and a message; 0: no bound. `threads` as in RuntimeOptions.
RuntimeOptions runtime_options(double time_limit_s = 0, unsigned threads = 0);

// Usage for a malformed selector, device for all else. Loads only the plugin asked for, unless it
// is not there.
Outcome open_device(const std::string& selector, Device& device, double time_limit_s = 0,
                    unsigned threads = 0);

// After the plugin's work and before anything is written: what it has changed in the process since
// open_device() (the working folder, the outputs, limits) is its failure, for what is written then
// would go elsewhere. A copy of the process that it has forked ends here.
Outcome check_process();

// Ends the plugins whose devices were opened (driver.shutdown: they may write caches and traces),
// once the verb has dropped all that came from them. What goes wrong there is said on stderr and
// takes no result away.
void end_plugins();

}  // namespace stria::command
