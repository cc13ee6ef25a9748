// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host.h"

#include "stria/hal/thread_pool.h"

namespace stria::hal {

Host::Host(HostFunctions functions, unsigned threads, uint64_t wait_limit_ns)
    : functions_(std::move(functions)),
      pool_(std::make_unique<ThreadPool>(threads == 0 ? usable_cores() : threads)),
      wait_limit_ns_(wait_limit_ns) {}

Host::~Host() = default;

unsigned Host::concurrency() const { return pool_->concurrency(); }
void Host::quiesce() const { pool_->quiesce(); }

}  // namespace stria::hal
