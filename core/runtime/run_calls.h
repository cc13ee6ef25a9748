// SPDX-License-Identifier: Apache-2.0
// Calls that are known while an ONNX model becomes a program, run on a device. Not installed.
#pragma once

#include <memory>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/translate/translate.h"
#include "stria/runtime/device.h"
#include "stria/runtime/program.h"

namespace stria {

// The calls as one program: its inputs are the tensors that they take ("X0", "X1", …, those of
// `arguments`, each once), its outputs the results that are wanted, in order.
struct CallsProgram {
  Program program;
  std::vector<std::shared_ptr<const HostTensor>> arguments;
};
Result<CallsProgram> program_of_calls(const std::vector<onnx::KnownCall>& calls);

// Runs it on that device. Results that are not wanted are null.
Result<onnx::KnownResults> run_calls(const Device& device, const CallsProgram& made,
                                     const std::vector<onnx::KnownCall>& calls);

}  // namespace stria
