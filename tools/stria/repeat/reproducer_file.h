// SPDX-License-Identifier: Apache-2.0
// Puts reproducers into files: of a failure when it has happened, and of a crash (a fatal signal, a
// broken assumption, an exception that nobody caught) while the process dies.
//
// The file is stria-repro-HASH.stripe in the working directory or in --repro-dir. The same failure
// gives the same file again; a file that holds anything else is never replaced.
#pragma once

#include <functional>
#include <string>

#include "failure.h"
#include "stria/runtime/compilation.h"

namespace stria::command {

// One at a time in a process: crashes are the process's.
class ReproducerFile : public FailureRecorder {
 public:
  // `folder`: as --repro-dir gives it, "" is the working directory.
  explicit ReproducerFile(std::string folder);
  ~ReproducerFile() override;
  ReproducerFile(const ReproducerFile&) = delete;
  ReproducerFile& operator=(const ReproducerFile&) = delete;

  // Runs a verb. If it fails, and failed() was told how to see that again, writes the file and
  // names it in the message. ExitCode::program if the folder is not there.
  Outcome around(const std::function<Outcome()>& verb);

  void begin(const std::string& reproducer) override;
  void end() override;
  void failed(const std::string& reproducer) override { failed_ = reproducer; }
  // What has failed does not matter any more: another device goes on.
  void forget() { failed_.clear(); }

 private:
  const std::string folder_;
  std::string failed_;
};

}  // namespace stria::command
