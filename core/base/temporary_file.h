// SPDX-License-Identifier: Apache-2.0
// Files of ours in folders of other people, on their way to the names they are for. None stays:
//   - its object removes it, also when an exception passes;
//   - a signal that ends the process removes all of them, where remove_temporaries_on_signals() was
//     called;
//   - what a killed process has left is removed by the next one that makes a file in that folder.
//
// Whether a process still writes is told by a lock: the files of one batch in one folder share a
// lock file, which is made before them, held while any of them is there, and removed after them. A
// name ends in a hash of the rest of it, so no file that only looks like one of ours is taken for
// one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "stria/base/output_target.h"

namespace stria {

namespace temporary {
struct Registered;
class Lock;
}  // namespace temporary

// One name in a folder that is ours; removed with the object, unless given away.
class TemporaryFile {
 public:
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  const OutputFolder& folder() const { return *folder_; }
  const std::string& name() const { return name_; }
  // There is no file of that name any more, or it is somebody else's.
  void forget();

 private:
  friend class TemporaryBatch;
  TemporaryFile(std::shared_ptr<OutputFolder> folder, std::string name);
  std::shared_ptr<OutputFolder> folder_;
  std::string name_;
  temporary::Registered* registered_ = nullptr;
};

// The temporary files of one task. It outlives them.
class TemporaryBatch {
 public:
  TemporaryBatch();
  ~TemporaryBatch();
  TemporaryBatch(const TemporaryBatch&) = delete;
  TemporaryBatch& operator=(const TemporaryBatch&) = delete;

  // A name in `folder` that is ours and stands for no file yet; nullptr and errno if there can be
  // none. `like`: what the name begins with; `suffix`: how it ends.
  std::unique_ptr<TemporaryFile> reserve(const std::shared_ptr<OutputFolder>& folder,
                                         std::string_view like, std::string_view suffix = ".part");
  // The same, with an empty file open for writing; mode 0666 as the process masks it.
  std::unique_ptr<TemporaryFile> create(const std::shared_ptr<OutputFolder>& folder,
                                        std::string_view like, int* descriptor,
                                        std::string_view suffix = ".part");

 private:
  std::map<std::pair<dev_t, ino_t>, std::unique_ptr<temporary::Lock>> locks_;
};

// A folder that was made for files that may not come to be; removed with the object unless kept.
class TemporaryFolder {
 public:
  TemporaryFolder(std::shared_ptr<OutputFolder> parent, std::string name);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  void keep();

 private:
  std::shared_ptr<OutputFolder> parent_;
  std::string name_;
  temporary::Registered* registered_ = nullptr;
};

// SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGPIPE and SIGALRM, where they would end the process,
// do so after the temporary files are gone, and by the same signal; the first process of a
// container, which no signal ends, with exit code 128 and the signal's number. For commands; a
// library leaves signals to its application.
void remove_temporaries_on_signals();
// Unlinks them all. Safe in a signal handler.
void unlink_temporaries();

// While one lives, such a signal waits: steps that belong together are all done, or none is.
class SignalsWait {
 public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
};

}  // namespace stria
