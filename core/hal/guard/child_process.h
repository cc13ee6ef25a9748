// SPDX-License-Identifier: Apache-2.0
// A process of ours in which a plugin's code runs. What an application has of its own stays as it
// is: no handler is set, no other child is waited for, no descriptor is left open.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/guard/environment.h"

namespace stria::hal {

// A pipe that its owner reads without waiting; closed with it.
struct Pipe {
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();
  bool open();
  void close_write();
  int read = -1, write = -1;
};

// Appends what there is, and keeps about the last `keep_last` bytes; false once nobody can write
// any more.
bool drain(int file, std::string& to, size_t keep_last);

class ChildProcess {
 public:
  struct Start {
    std::filesystem::path program;
    std::vector<std::string> arguments;  // behind the program's name
    const Environment& environment;
    // Ours, and which one it is in the child; 0 is /dev/null there.
    std::vector<std::pair<int, int>> descriptors;
  };
  // Runs in a group of its own: what it leaves behind ends with it.
  Status start(const Start& how);
  pid_t id() const { return id_; }
  // Whether it has ended; then whatever it has left behind is ended too.
  bool ended();
  // Ends it. Waits for that, but for no longer than a second.
  void end();
  // After its end: "it crashed (Aborted)", "it ended the process with exit code 7", or why that is
  // not known.
  std::string how_it_ended() const;

 private:
  pid_t id_ = -1;
  bool ended_ = false, end_is_known_ = false;
  int wait_status_ = 0;
};

}  // namespace stria::hal
