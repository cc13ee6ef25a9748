// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host/host.h"

#include "stria/hal/guard/watchdog.h"
#include "stria/hal/host/cores.h"
#include "stria/hal/host/thread_pool.h"

namespace stria::hal {
namespace {

unsigned threads_of(unsigned asked, const HostFunctions& functions) {
  if (asked > 0) return asked;
  const Result<unsigned> from_environment = threads_asked_for();
  if (from_environment.ok() && *from_environment > 0) return *from_environment;
  const unsigned cores = usable_cores();
  if (!from_environment.ok() && functions.log)
    functions.log(LogLevel::warning, fmt::format("{}; the {} usable cores are used",
                                                 from_environment.status().message(), cores));
  return cores;
}

}  // namespace

Host::Host(HostFunctions functions, unsigned threads, uint64_t wait_limit_ns)
    : functions_(std::move(functions)),
      pool_(std::make_unique<ThreadPool>(threads_of(threads, functions_))),
      wait_limit_ns_(wait_limit_ns) {
  // Beyond a year nobody would look.
  constexpr uint64_t kLongest = uint64_t{366} * 24 * 3600 * 1'000'000'000;
  if (functions_.on_hang && wait_limit_ns < kLongest)
    watchdog_ =
        std::make_unique<Watchdog>(std::chrono::nanoseconds(wait_limit_ns), functions_.on_hang);
}

Host::~Host() = default;

unsigned Host::concurrency() const { return pool_->concurrency(); }
void Host::quiesce() const { pool_->quiesce(); }

}  // namespace stria::hal
