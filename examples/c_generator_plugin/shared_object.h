// SPDX-License-Identifier: Apache-2.0
// Compiled kernels in this process.
#pragma once

#include <string>

#include "stria/reader.h"

namespace c_generator {

class SharedObject {
 public:
  // From the bytes of its file; throws sdk::Error.
  explicit SharedObject(const std::string& bytes);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  stria_c_kernel kernel(const std::string& symbol) const;
  // Tells the code which function of the plugin `name` is. Before a kernel runs that calls it.
  void set_micro_kernel(const std::string& name, stria_micro_kernel function) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace c_generator
