// SPDX-License-Identifier: Apache-2.0
// What a path names that is to be written: the folder, by descriptor, and the name in it, behind
// all links. A descriptor stays right when the process changes its folder or the path is long.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "stria/base/status.h"

namespace stria {

// A folder, open by descriptor for what lies in it.
class OutputFolder {
 public:
  // nullptr and errno if there is none.
  static std::shared_ptr<OutputFolder> open(const std::filesystem::path& path);
  static std::shared_ptr<OutputFolder> open_in(const OutputFolder& parent,
                                               const std::filesystem::path& name);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  int descriptor() const { return descriptor_; }
  dev_t device() const { return device_; }
  ino_t inode() const { return inode_; }

 private:
  static std::shared_ptr<OutputFolder> open_at(int parent, const std::filesystem::path& path);
  OutputFolder(int descriptor, dev_t device, ino_t inode)
      : descriptor_(descriptor), device_(device), inode_(inode) {}
  const int descriptor_;
  const dev_t device_;
  const ino_t inode_;
};

struct OutputTarget {
  enum class Kind {
    replaced,   // a regular file or none yet: what is made beside it takes its name
    direct,     // a pipe or a device: written as it is
    descriptor  // a descriptor of this process
  };
  // The old file, where there is one.
  struct Old {
    dev_t device = 0;
    ino_t inode = 0;
    mode_t mode = 0;
    uid_t owner = 0;
    gid_t group = 0;
  };
  Kind kind = Kind::replaced;
  std::string shown;  // as messages show it: 'r.npy', or 'r.npy' (a link to '/data/r.npy')
  std::shared_ptr<OutputFolder> folder;
  std::string name;
  std::optional<Old> old;
  int descriptor = -1;  // Kind::descriptor
};

// Files by what they are, whatever their paths: behind links, by other hard links, through other
// ways to the folder, behind a descriptor.
class OutputSet {
 public:
  // Which call of add() was the first with the same file, from 0: to write one is to write the
  // other. Nothing if none was. Character devices keep nothing, so none is the same as another.
  std::optional<size_t> add(const OutputTarget& target);
  std::optional<size_t> find(const OutputTarget& target) const;

 private:
  // Device and inode of the file, or of the folder with the name; or a descriptor of what is no
  // regular file: two ends of one pipe, or of a socket, are two streams.
  using Key = std::tuple<dev_t, ino_t, std::string, int>;
  static std::optional<Key> key_of(const OutputTarget& target);
  std::map<Key, size_t> files_;
  size_t count_ = 0;
};

// Why writing failed, of an errno.
Status write_error(const std::string& shown, int number);

// Writes all of it, and waits for a reader that is slow; `shown` stands in messages. No signal of
// the write ends the process.
Status write_all(int descriptor, std::string_view bytes, const std::string& shown);

// Follows links, as open() would. Fails if there can be no file: the folder is not there, a link
// leads to itself, the path names a folder, a block device or a socket, or what is there may not be
// written. Touches nothing.
Result<OutputTarget> resolve_output(const std::filesystem::path& path);

// Of a file that is only read: what to write there would be to write. Nothing if there is no such
// file.
std::optional<OutputTarget> resolve_input(const std::filesystem::path& path);

}  // namespace stria
