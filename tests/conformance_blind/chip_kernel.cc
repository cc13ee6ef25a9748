// SPDX-License-Identifier: Apache-2.0
#include "chip_kernel.h"

#include <utility>

#include "mistake.h"

namespace stria::blind {

void ChipKernel::run(const stria_memory* arguments, uint64_t count) const {
  // What reads constants alone is taken to give the same for ever, whatever it is bound to.
  if (makes(Mistake::prologue_runs_once_ever) && part_ == STRIA_PROLOGUE && ran_.exchange(true))
    return;
  kernel_.run(arguments, count);
}

void ChipKernel::run_on(const std::vector<sdk::Argument>& arguments) const {
  std::vector<stria_memory> memory;
  memory.reserve(arguments.size());
  for (const sdk::Argument& argument : arguments)
    memory.push_back(
        {argument.buffer->data() + argument.offset, argument.buffer->size() - argument.offset});
  run(memory.data(), memory.size());
}

void ChipKernel::set_arguments(std::vector<sdk::Argument> arguments) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The old ones go outside of the lock, with `arguments`.
  arguments_.swap(arguments);
}

std::vector<sdk::Argument> ChipKernel::arguments() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return arguments_;
}

}  // namespace stria::blind
