// SPDX-License-Identifier: Apache-2.0
// The system's C compiler: from the text of kernels to the bytes of a shared object.
#pragma once

#include <string>

namespace c_generator {

class SystemCompiler {
 public:
  // `cc` of PATH.
  SystemCompiler();
  // Why there is none; empty if there is one.
  const std::string& missing() const { return missing_; }
  // Changes whenever the same text may give other code: the compiler's file, and its options.
  const std::string& identity() const { return identity_; }
  // Throws sdk::Error with what the compiler said. Leaves no file behind.
  std::string compile(const std::string& text) const;

 private:
  std::string path_, missing_, identity_;
};

}  // namespace c_generator
