// SPDX-License-Identifier: Apache-2.0
// Runs the built `stria` as a user would, in a folder of its own, and reads and writes .npy files
// without the code under test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace stria::end_to_end {

struct Ended {
  int code = -1;   // exit code; -1 if it did not end by itself
  int signal = 0;  // that ended it, or 0
  std::string out, err;
};

// A folder that lives as long as the object; commands run in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Where `stria` looks for more plugins; "" is nowhere.
  void set_plugin_path(const std::string& path) { plugin_path_ = path; }
  // Runs bin/stria with these arguments. `before` is called in the new process first: it sets
  // limits and variables.
  Ended stria(const std::vector<std::string>& arguments,
              const std::function<void()>& before = {}) const {
    return end(start(arguments, before));
  }
  // The same in two steps, one command at a time: what it does meanwhile can be looked at.
  pid_t start(const std::vector<std::string>& arguments,
              const std::function<void()>& before = {}) const;
  Ended end(pid_t child) const;
  std::filesystem::path path(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const;  // "" if it is not there
  // Names of all files, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
  std::string plugin_path_;
};

// Splits at blanks: "run a.tile --device reference".
std::vector<std::string> words(const std::string& text);

// A dense array as numpy would hold it.
struct Array {
  std::string descr = "<f4";  // "<f4", "<i4", "|b1", …
  std::vector<int64_t> sizes;
  std::vector<double> values;
};
std::string npy_bytes(const Array& array);
Array parse_npy_bytes(const std::string& bytes);

}  // namespace stria::end_to_end
