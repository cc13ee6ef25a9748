// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include "buffer.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

void InterpretedKernel::launch(const std::vector<sdk::Argument>& arguments) const {
  std::vector<HostView> views;
  std::vector<stria_memory> memory;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const sdk::ArgumentInfo& info = info_.arguments[i];
    // What is not written keeps its value, so results are read as well.
    views.emplace_back(buffer_of(arguments[i]), arguments[i].offset, info.bytes);
    memory.push_back({views.back().data(), info.bytes});
  }
  kernel_.run(memory.data(), memory.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (info_.arguments[i].direction != STRIA_IN) views[i].write_back();
}

}  // namespace acme_plugin
