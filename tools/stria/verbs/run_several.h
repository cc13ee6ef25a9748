// SPDX-License-Identifier: Apache-2.0
// `stria run --devices`: one program on several devices at once.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/program.h"
#include "stria/type/host_tensor.h"
#include "verbs/run.h"

namespace stria::command {

// ExitCode::usage for a malformed selector of the list, and for options that one device alone
// keeps.
Outcome check_devices(const RunOptions& options);

struct SeveralResults {
  std::vector<HostTensor> outputs;  // in the order of the program's
  FlushedTypes flushed;             // on any of the devices
};
// Says on stderr what each device has of the program, and what has failed.
Outcome run_on_several(const RunOptions& options, const Program& program, Compilation generic,
                       const CompileOptions& how, const std::vector<HostTensor>& inputs,
                       SeveralResults& results);

}  // namespace stria::command
