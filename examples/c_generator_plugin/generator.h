// SPDX-License-Identifier: Apache-2.0
// From device Stripe to a library: C of every kernel that C can say, compiled by the system's
// compiler and kept in the host's cache; the host interprets the others.
#pragma once

#include <string_view>

#include "stria/sdk/host.h"
#include "stria/sdk/library.h"
#include "system_compiler.h"

namespace c_generator {

class Generator final : public stria::sdk::Compiler {
 public:
  Generator(const stria::sdk::Host& host, const SystemCompiler& compiler)
      : host_(host), compiler_(compiler) {}
  stria::sdk::Ref<stria::sdk::Library> compile(std::string_view stripe,
                                               std::string_view options) override;

 private:
  // The shared object's bytes, from the cache where it has them.
  std::string code_of(const std::string& text) const;

  const stria::sdk::Host& host_;
  const SystemCompiler& compiler_;
};

}  // namespace c_generator
