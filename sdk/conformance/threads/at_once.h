// SPDX-License-Identifier: Apache-2.0
// Several threads that do a thing at the same time.
#pragma once

#include <functional>

#include "stria/base/status.h"

namespace stria::conformance {

// `work(thread)` on that many threads, which begin together; threads are numbered from 0. The first
// failure, by number.
Status at_once(int threads, const std::function<Status(int thread)>& work);

}  // namespace stria::conformance
