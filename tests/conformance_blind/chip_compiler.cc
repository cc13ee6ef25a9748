// SPDX-License-Identifier: Apache-2.0
#include "chip_compiler.h"

#include <sys/stat.h>

#include <optional>

#include "chip_kernel.h"
#include "mistake.h"
#include "stripe_lines.h"

namespace stria::blind {
namespace {

// The mistake overlap_claimed: whatever is computed may be computed in place.
void claim_overlaps(sdk::KernelInfo& kernel) {
  std::vector<uint32_t> inputs;
  for (uint32_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].direction == STRIA_IN) inputs.push_back(i);
  for (sdk::ArgumentInfo& argument : kernel.arguments)
    if (argument.direction != STRIA_IN) argument.may_overlap = inputs;
}

// The mistake cache_key_too_short: what was compiled for the same tensors, by their names, types
// and sizes, is taken for this program.
std::string cached(const sdk::Host& host, std::string_view stripe) {
  const std::string key =
      "blind plugin 1.0.0, " + std::string(stripe.substr(0, stripe.find("#main")));
  if (std::optional<std::string> kept = host.cache_get(key)) return *kept;
  host.cache_put(key, stripe);
  return std::string(stripe);
}

}  // namespace

ChipLibrary::ChipLibrary(const sdk::Host& host, std::string_view stripe)
    : host_(host), program_(host, stripe), kernels_(program_.kernels()) {
  for (sdk::KernelInfo& kernel : kernels_) {
    if (!makes(Mistake::interpreted_hidden))
      kernel.interpreted = "the chip's own code generator is not part of this plugin";
    if (makes(Mistake::overlap_claimed)) claim_overlaps(kernel);
  }
}

sdk::Ref<sdk::Kernel> ChipLibrary::prepare(uint64_t index) {
  return sdk::make<ChipKernel>(host_, program_.prepare(index), kernels_[index].part);
}

sdk::Ref<sdk::Library> ChipCompiler::compile(std::string_view stripe, std::string_view) {
  // Files that a compiler writes are to be the user's alone; the process's mask is not given back.
  if (makes(Mistake::umask_left)) ::umask(077);
  const std::string text =
      makes(Mistake::cache_key_too_short) ? cached(host_, stripe) : std::string(stripe);
  return sdk::make<ChipLibrary>(host_, with_wrong_numbers(text));
}

}  // namespace stria::blind
