// SPDX-License-Identifier: Apache-2.0
// Work in a child process, which may crash or hang: what it says comes back line by line.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace stria::trust {

using Say = std::function<void(const std::string& line)>;

class ChildProcess {
 public:
  // Starts it. `work` says lines without line ends.
  explicit ChildProcess(const std::function<void(const Say&)>& work);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  int descriptor() const { return fd_; }
  // Reads what there is, waiting for something, and appends whole lines; false at the end.
  bool read(std::vector<std::string>& lines);
  // After the end: "" or how it died: "signal 11 (Segmentation fault)", "no end within 20 s".
  std::string wait();

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string buffer_;
};

// In a child: it dies unless this is called again within so much processor time.
void limit_time();

// All that the child says; `died` is how it ended.
std::vector<std::string> run_in_child(const std::function<void(const Say&)>& work,
                                      std::string& died);

}  // namespace stria::trust
