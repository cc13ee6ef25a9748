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
  std::vector<std::string> exports;  // sorted
};

// data_loss if the file ends before what its headers name, incompatible if it is no 64-bit ELF
// shared object of this machine's byte order.
Result<SharedObject> read_shared_object(const std::filesystem::path& file);

// Ok if `file` may be loaded as a plugin: for this machine, whole, without an executable stack, and
// exporting `symbol` and nothing else.
Status check_shared_object(const std::filesystem::path& file, const std::string& symbol);

}  // namespace stria::hal
