// SPDX-License-Identifier: Apache-2.0
#include "replay_file.h"

#include <cstdio>

#include "open_device.h"
#include "stria/base/file.h"
#include "stria/runtime/replay.h"

namespace stria::command {

Outcome replay_file(const std::string& path, bool may_open_device) {
  STRIA_OR_FAIL(std::string text, ExitCode::program, read_file(path, kMaxStripeBytes));
  const SourceText file{path, std::move(text)};
  STRIA_OR_FAIL(Reproducer reproducer, ExitCode::program, parse_reproducer(file));
  if (reproducer.written_by != stria_version())
    std::fprintf(stderr, "stria: %s was written by stria %s, this is %s\n", path.c_str(),
                 reproducer.written_by.c_str(), stria_version());
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
    std::fprintf(stderr, "stria: the program in %s is not legal: %s\n", path.c_str(),
                 legal.message().c_str());
  STRIA_FAIL_IF_ERROR(fault, replay.run());
  std::fprintf(stderr, "stria: %s does not fail\n", path.c_str());
  return Outcome();
}

}  // namespace stria::command
