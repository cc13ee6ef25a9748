// SPDX-License-Identifier: Apache-2.0
#include "threads/at_once.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace stria::conformance {

Status at_once(int threads, const std::function<Status(int thread)>& work) {
  std::mutex mutex;
  std::condition_variable changed;
  int here = 0;
  std::vector<Status> found(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      {
        std::unique_lock lock(mutex);
        ++here;
        changed.notify_all();
        changed.wait(lock, [&] { return here == threads; });
      }
      found[static_cast<size_t>(t)] = work(t);
    });
  for (std::thread& thread : all) thread.join();
  for (int t = 0; t < threads; ++t)
    if (!found[static_cast<size_t>(t)].ok())
      return found[static_cast<size_t>(t)].with_context(
          fmt::format("on thread {} of {}", t + 1, threads));
  return Status();
}

}  // namespace stria::conformance
