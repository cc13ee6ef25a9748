// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include "kernel.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

sdk::Ref<sdk::Library> AcmeCompiler::compile(std::string_view stripe, std::string_view) {
  return sdk::make<AcmeLibrary>(host_, stripe);
}

AcmeLibrary::AcmeLibrary(const sdk::Host& host, std::string_view stripe)
    : host_(host), program_(host, stripe), infos_(program_.kernels()) {
  // `stria run --profile` shows it.
  for (sdk::KernelInfo& info : infos_) info.interpreted = "acme generates no code yet";
}

sdk::Ref<sdk::Kernel> AcmeLibrary::prepare(uint64_t index) {
  return sdk::make<InterpretedKernel>(host_, program_.prepare(index), infos_[index]);
}

}  // namespace acme_plugin
