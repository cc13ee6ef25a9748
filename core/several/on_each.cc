// SPDX-License-Identifier: Apache-2.0
#include "stria/several/on_each.h"

#include <system_error>
#include <thread>

namespace stria {

std::vector<Status> on_each(size_t count, const std::function<Status(size_t)>& work) {
  std::vector<Status> out(count);
  std::vector<std::thread> threads;
  for (size_t n = 1; n < count; ++n) {
    try {
      threads.emplace_back([&, n] { out[n] = work(n); });
    } catch (const std::system_error&) {
      out[n] = work(n);
    }
  }
  if (count > 0) out[0] = work(0);
  for (std::thread& thread : threads) thread.join();
  return out;
}

Status first_failure(const std::vector<Status>& outcomes, const std::vector<std::string>& devices) {
  for (size_t n = 0; n < outcomes.size(); ++n)
    if (!outcomes[n].ok()) return outcomes[n].with_context(devices[n]);
  return Status();
}

}  // namespace stria
