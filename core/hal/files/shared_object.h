// SPDX-License-Identifier: Apache-2.0
// What an ELF file says of itself, read without loading it: loading runs its constructors, and a
// damaged file ends the process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "stria/base/status.h"

namespace stria::hal {

struct SharedObject {
  uint16_t machine = 0;              // e_machine
  bool executable_stack = false;     // loading it makes all stacks of the process executable
  bool writable_code = false;        // a segment that may be written and executed
  bool text_relocations = false;     // loading it writes into its code
  std::vector<std::string> exports;  // sorted
  std::vector<std::string> unique;   // symbols of one definition per process: it cannot be unloaded
  std::vector<std::string> needed;   // shared objects that it is linked with
  std::vector<std::string> run_paths;  // folders where those are looked for first
};

// data_loss if the file ends before what its headers name, incompatible if it is no 64-bit ELF
// shared object of this machine's byte order.
Result<SharedObject> read_shared_object(const std::filesystem::path& file);

// Ok if `file` may be loaded as a plugin: for this machine, whole, without an executable stack, and
// exporting `symbol` and nothing else.
Status check_shared_object(const std::filesystem::path& file, const std::string& symbol);

}  // namespace stria::hal
