// SPDX-License-Identifier: Apache-2.0
#include "chip_compiler.h"

#include <cstdlib>
#include <thread>

#include "chip_kernel.h"
#include "chosen.h"
#include "generator.h"
#include "stripe_text.h"

namespace third_chip {
namespace {

// No mistake: not a letter is changed.
std::string code_of(std::string_view stripe) {
  return makes(Mistake::none) ? std::string(stripe) : generate(stripe);
}

}  // namespace

namespace sdk = stria::sdk;

sdk::Ref<sdk::Library> ChipCompiler::compile(std::string_view stripe, std::string_view) {
  if (makes(Mistake::compile_thread_throws)) {
    sdk::Ref<sdk::Library> library;
    std::thread([&] { library = sdk::make<ChipLibrary>(host_, stripe); }).join();
    return library;
  }
  if (makes(Mistake::exit_on_bad_stripe)) {
    try {
      return sdk::make<ChipLibrary>(host_, stripe);
    } catch (const sdk::Error&) {
      std::exit(1);  // as the compiler does where it is a program
    }
  }
  return sdk::make<ChipLibrary>(host_, stripe);
}

ChipLibrary::ChipLibrary(const sdk::Host& host, std::string_view stripe)
    : host_(host),
      program_(host, code_of(stripe)),
      infos_(program_.kernels()),
      told_(infos_),
      element_bytes_(element_sizes(stripe)) {
  for (sdk::KernelInfo& info : told_) {
    // `stria run --profile` shows it.
    if (!makes(Mistake::interpreted_hidden)) info.interpreted = "third generates no code";
    if (makes(Mistake::argument_bytes_zero))
      for (sdk::ArgumentInfo& argument : info.arguments) argument.bytes = 0;
  }
}

sdk::Ref<sdk::Kernel> ChipLibrary::prepare(uint64_t index) {
  const sdk::KernelInfo& info = infos_[index];
  std::vector<uint64_t> sizes;
  for (const sdk::ArgumentInfo& argument : info.arguments) {
    const auto at = element_bytes_.find(argument.name);
    sizes.push_back(at == element_bytes_.end() ? 1 : at->second);
  }
  return sdk::make<ChipKernel>(host_, program_.prepare(index), info, std::move(sizes));
}

}  // namespace third_chip
