// SPDX-License-Identifier: Apache-2.0
#include "repeat/replay_file.h"

#include "inputs/open_device.h"
#include "message.h"
#include "stria/base/file.h"
#include "stria/runtime/kernels/replay.h"

namespace stria::command {

Outcome replay_file(const std::string& path, bool may_open_device) {
  STRIA_OR_FAIL(std::string text, ExitCode::program, read_file(path, kMaxStripeBytes));
  const SourceText file{path, std::move(text)};
  STRIA_OR_FAIL(Reproducer reproducer, ExitCode::program, parse_reproducer(file));
  if (reproducer.written_by != stria_version())
    print_message(fmt::format("{} was written by stria {}, this is {}", path, reproducer.written_by,
                              stria_version()));
  // Whose mistake it was to whoever wrote the file.
  const ExitCode fault = reproducer.device.empty() ? ExitCode::program : ExitCode::device;
  std::optional<Device> device;
  if (reproducer.needs_device()) {
    if (!may_open_device)
      return Outcome(ExitCode::usage,
                     invalid_argument("'{}' needs the device '{}': stria run --run-repro {}", path,
                                      reproducer.device, path));
    STRIA_FAIL_IF(open_device(reproducer.device, device.emplace()));
  }
  STRIA_OR_FAIL(Replay replay, ExitCode::program,
                Replay::prepare(file, std::move(reproducer), std::move(device)));
  if (Status legal = replay.verify(); !legal.ok())
    print_message(fmt::format("the program in {} is not legal: {}", path, legal.message()));
  STRIA_FAIL_IF_ERROR(fault, replay.run());
  print_message(fmt::format("{} does not fail", path));
  return Outcome();
}

}  // namespace stria::command
